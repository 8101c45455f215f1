"""Read histories from CDX, CDXJ, answers of CDX servers, TimeMaps, WARC and WACZ files, and our own captures."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from warcio.exceptions import ArchiveLoadFailed

from sharc_crawler.archive.bounded_heads import bounded_records
from sharc_crawler.archive.histories import cdx, timemap
from sharc_crawler.archive.histories.gathering import (
    NO_STATUS,
    NOT_MODIFIED,
    OK,
    Gathering,
    Problems,
    numbered,
    status_of,
)
from sharc_crawler.archive.histories.pages import MediaTypes
from sharc_crawler.archive.histories.timemap import memento_links, original_of
from sharc_crawler.archive.lines import CountingReader, ends_whole, lines
from sharc_crawler.archive.wacz import NO_ZIP
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.errors import DataError
from sharc_crawler.links.document import extract
from sharc_crawler.model import Instant, Result
from sharc_crawler.plural import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from warcio.recordloader import ArcWarcRecord
    from warcio.statusandheaders import StatusAndHeaders

    from sharc_crawler.observation import Observation
    from sharc_crawler.seeds.hacs.captures import Answered, Captures

_WARC = (".warc", ".warc.gz")
_KINDS = MediaTypes()


def read_warc(stream: IO[bytes], file: str, gathering: Gathering, *, links: bool) -> None:
    """Append the responses and revisits of a WARC file; ``links``: also the links of their documents (slower).

    A revisit gets the links of a response with the same payload, if that was read before.
    """
    number, known = 0, dict[str, frozenset[str]]()
    try:
        for number, record in enumerate(bounded_records(stream), 1):
            if record.rec_type in {"response", "revisit"}:
                try:
                    _append(record, known if links else None, gathering)
                except (ValueError, OverflowError) as error:
                    gathering.problems.add(file, number, str(error))
    except (ArchiveLoadFailed, AttributeError, OSError) as error:  # AttributeError: a header without its URL
        gathering.problems.add(file, number + 1, f"cut short: {error}")
        return
    stream.seek(0)
    if not ends_whole(stream):  # warcio does not notice a truncated file
        gathering.problems.add(file, number + 1, "cut short")


def read_wacz(path: Path, gathering: Gathering, *, links: bool) -> None:
    """Append the captures in the WARC files of a WACZ file."""
    try:
        with zipfile.ZipFile(path) as package:
            warcs = [name for name in package.namelist() if name.endswith(_WARC)]
            if not warcs:
                gathering.problems.add(str(path), 1, "no WARC file in it")
            for name in warcs:
                with package.open(name) as stream:
                    read_warc(stream, f"{path}/{name}", gathering, links=links)
    except (*NO_ZIP, RuntimeError, zlib.error, EOFError, ValueError) as error:
        gathering.problems.add(str(path), 1, f"not a WACZ that can be read: {error}")


def _append(record: ArcWarcRecord, known: dict[str, frozenset[str]] | None, gathering: Gathering) -> None:
    head, http = record.rec_headers, record.http_headers
    url, date = head.get_header("WARC-Target-URI"), head.get_header("WARC-Date")
    if not url or not date:
        raise ValueError("record without WARC-Target-URI or WARC-Date")
    url, digest = url.strip("<>"), head.get_header("WARC-Payload-Digest")
    body = record.raw_stream.read() if known is None and digest else record.content_stream().read()
    if record.raw_stream.limit:
        raise ValueError("record is cut short")
    page, time = _of_what(http, url, date)
    if page is None:
        gathering.problems.left_out["an archive's answer without a memento"] += 1
        return
    revisit = record.rec_type == "revisit"
    if page != url:
        digest = None  # an archive may send the payload with another coding
    elif digest is None and not revisit:
        digest = labelled_digest(body)
    code = http.get_statuscode() if http else ""
    status = int(code) if code and code.isdigit() else NO_STATUS
    status = status_of(status, revisit=revisit and page == url, digest=digest)
    kind = _KINDS[((http.get_header("Content-Type") if http else None) or "-").encode()]
    row = gathering.append(page.encode(), page.encode(), time, (digest or "-").encode(), status, kind)
    if row is not None and status == NOT_MODIFIED:
        _refer(head, row, gathering)
    if known is None or row is None or status == NOT_MODIFIED:
        return
    links = known.get(digest or "") if revisit else _links(body, page, url, http)
    if links is not None:
        gathering.links[row] = links
    if digest and links is not None:
        known[digest] = links


def _refer(head: StatusAndHeaders, row: int, gathering: Gathering) -> None:
    """Note which capture a 304 refers to, if its record says so."""
    url, date = head.get_header("WARC-Refers-To-Target-URI"), head.get_header("WARC-Refers-To-Date")
    if url and date:
        gathering.refers[row] = url.strip("<>").encode(), _instant(datetime.fromisoformat(date))


def _of_what(http: StatusAndHeaders | None, url: str, date: str) -> tuple[str | None, Instant]:
    """The URL and instant of a capture; for a capture of an archive's replay those of the original.

    No URL: the archive had no such memento, or redirected to it.
    """
    original, remembered = original_of(url), http.get_header("Memento-Datetime") if http else None
    time = parsedate_to_datetime(remembered) if original and remembered else datetime.fromisoformat(date)
    page = url if original is None else original if remembered else None
    return page, _instant(time)


def _instant(time: datetime) -> Instant:
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def _links(body: bytes, page: str, url: str, http: StatusAndHeaders | None) -> frozenset[str]:
    media_type = http.get_header("Content-Type") if http else None
    return (
        frozenset(extract(body, url, media_type).links) if page == url else memento_links(body, page, url, media_type)
    )


_ZIP = b"PK\x03\x04"
_CDXJ = re.compile(rb"\S+ \d{1,14} \{|!")
_OURS = re.compile(
    r"\.|report[\w-]*\.(?:jsonl?|html)$|(?:fetch|seeds|learned-masks|keep|distrusted)\.json$"
    r"|certificate[\w.-]*\.jsonl?$|frontier\.db|control(?:-status)?\.json$|crawl(?:-\d{5})?\.(?:jsonl|log)$"
)
_ANSWER = re.compile(r"\d{5}")
_HTML = re.compile(rb"<(?:!doctype|html|head|\?xml)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class History:
    """A history that was read, with its problems."""

    captures: Captures
    kinds: NDArray[np.int8]  #: the kind of each URL: see :mod:`.pages`
    problems: Problems
    resume_key: str | None = None  #: of a CDX server's answers whose continuation is missing
    missing: tuple[str, ...] = ()  #: pages of TimeMaps that are named but were not read
    answered: Mapping[str, Answered] = field(default_factory=dict)  #: by sort key, URLs without a capture of content


def read_history(
    paths: Iterable[Path],
    observations: Iterable[Observation] = (),
    *,
    links: bool = False,
    progress: Callable[[float], None] = lambda _: None,
) -> History:
    """Read files of any kind, and all files in folders; add the observations of our own captures.

    Files that our own crawls write beside their WARC files are passed over.

    ``links``: read the links of archived documents, which link additions need. ``progress`` is given the share read so
    far. Raises :class:`~sharc_crawler.errors.DataError` if there is nothing usable.
    """
    gathering, files = Gathering(), [file for path in paths for file in _files(path)]
    unfinished: dict[Path, str | None] = {}
    share = _share(files, progress)
    for file in files:
        try:
            _read(file, gathering, share, links=links)
            unfinished[_series(file)], gathering.resume_key = gathering.resume_key, None
        except OSError as error:
            raise DataError(f"history {str(file)!r} cannot be read: {error.strerror or error}") from error
    _observed(observations, gathering)
    captures, kinds = gathering.captures()
    if not len(captures.times):
        raise DataError(_nothing(files, gathering.problems))
    missing = tuple(sorted(gathering.pages - gathering.pages_read))
    key = next(filter(None, unfinished.values()), None)
    return History(captures, kinds, gathering.problems, key, missing, gathering.answered())


def _files(path: Path) -> Iterator[Path]:
    try:
        inside = sorted(file for file in path.rglob("*") if file.is_file() and not _beside(file))
    except OSError as error:
        raise DataError(f"history {str(error.filename)!r} cannot be read: {error.strerror or error}") from error
    yield from inside if path.is_dir() else [path]


def _series(file: Path) -> Path:
    """What a file belongs to: the answers that :mod:`.fetched` keeps form a series."""
    return file.parent if _ANSWER.fullmatch(file.name) else file


def _beside(file: Path) -> bool:
    """Is a file an index, state or report of the WARC files beside it?"""
    if file.suffix == ".cdxj":
        return file.with_suffix(".warc.gz").exists() or file.with_suffix(".warc").exists()
    return bool(_OURS.match(file.name))


def _share(files: list[Path], progress: Callable[[float], None]) -> Callable[[int], None]:
    """A function to call with the number of bytes read; it reports the share, at most 1."""
    total = sum(file.stat().st_size for file in files if file.exists()) or 1
    done = 0

    def read(size: int) -> None:
        nonlocal done
        done += size
        progress(min(1.0, done / total))

    return read


def _read(path: Path, gathering: Gathering, progress: Callable[[int], None], *, links: bool) -> None:
    with path.open("rb") as file:
        stream = cast("IO[bytes]", CountingReader(file, progress))
        if stream.read(len(_ZIP)) == _ZIP:
            read_wacz(path, gathering, links=links)
            return
        stream.seek(0)
        _read_stream(stream, str(path), gathering, links=links)


def _read_stream(stream: IO[bytes], file: str, gathering: Gathering, *, links: bool) -> None:
    """Read a file whose format is told by its first line."""
    text = lines(stream, file, gathering.problems)
    start = [next(text, b"").removeprefix(b"\xef\xbb\xbf")]
    while not start[-1].strip() and (line := next(text, None)) is not None:
        start.append(line)
    first = start[-1].lstrip()
    if first.startswith(b"WARC/"):
        stream.seek(0)
        read_warc(stream, file, gathering, links=links)
    elif _HTML.match(first):
        gathering.problems.add(file, len(start), "an HTML page, not an index")
    elif first.startswith((b"<", b"[", b"{")):
        _read_document(b"\n".join([*start, *text]), file, gathering)
    else:
        reader = cdx.read_cdxj if _CDXJ.match(first) else cdx.read_cdx
        reader(chain(start, text), file, gathering)


def _read_document(text: bytes, file: str, gathering: Gathering) -> None:
    start = text.lstrip()[:1]
    if start == b"<":
        timemap.read_link_format(text, file, gathering)
    elif start == b"[":
        cdx.read_rows(text, file, gathering)
    elif document := timemap.is_timemap(text):
        timemap.read_json(document, file, gathering)
    else:
        cdx.read_objects(text.splitlines(), file, gathering)


def _observed(observations: Iterable[Observation], gathering: Gathering) -> None:
    """Append our own captures: downloads in full, and 304s."""
    held, kinds = dict[str, bytes](), MediaTypes()
    for one in observations:
        if one.result is Result.OK and one.digest:
            held[one.url] = one.digest.encode()
        if one.result in {Result.OK, Result.NOT_MODIFIED}:
            url = one.url.encode()
            kind = kinds[(one.media_type or "-").encode()]
            row = gathering.append(url, url, one.time, held.get(one.url, b"-"), OK, kind)
            if one.fingerprint and row is not None:
                gathering.fingerprints[row] = numbered(one.fingerprint.encode())


def _nothing(files: list[Path], problems: Problems) -> str:
    named = "; ".join(map(str, problems.named[:3])) or ", ".join(
        f"{counted(count, 'capture')} left out: {why}" for why, count in problems.left_out.items() if count
    )
    where = ", ".join(map(str, files[:3]))
    found = f"in {where} ({counted(len(files), 'file')}): {named or 'empty'}" if files else "there: no files"
    return f"no usable capture {found}; give CDX, CDXJ, TimeMaps or WARCs"
