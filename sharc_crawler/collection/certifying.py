"""| Certificates for any instant, made from the captures around it, and verified by making them again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sharc_crawler.archive.drafts import Drafts
from sharc_crawler.certificate.at_instant import FORMAT, VERSION, ReadCapture, Written, certificate_at, name_at, sealed
from sharc_crawler.certificate.canonical import DIGEST, canonical, to_text
from sharc_crawler.certificate.examining import lag_of
from sharc_crawler.certificate.fixity import fixity, pages_name
from sharc_crawler.certificate.judging import Judge, servers_word
from sharc_crawler.certificate.material import text_lines, write_entries
from sharc_crawler.certificate.named_sitemaps import answered
from sharc_crawler.certificate.sources import open_source
from sharc_crawler.certificate.verify import verify
from sharc_crawler.certificate.witness import Finding, Witness, ingest
from sharc_crawler.collection.damage import in_former, referred
from sharc_crawler.collection.referring import Referring
from sharc_crawler.errors import MALFORMED, DataError, UsageError, nearest
from sharc_crawler.instants import iso, unix

if TYPE_CHECKING:
    from sharc_crawler.certificate.material import Entry, Material
    from sharc_crawler.collection.folder import Collection
    from sharc_crawler.model import Instant

CERTIFICATES = "certificates"  #: folder in the collection
_DRAFT = re.compile(r"\..+Z(-pages)?\.jsonl?\.\d+")  #: of a command that was killed, or is still writing


class _Certified(NamedTuple):
    """A capture with a certificate."""

    name: str
    folder: Path
    document: dict[str, Any]
    former: list[Path]

    def began(self) -> Instant:
        return unix(self.document["capture"]["started"])

    def ended(self) -> Instant:
        return unix(self.document["capture"]["ended"])


def certify_at(collection: Collection, instant: Instant, site: str = "") -> list[Path]:
    """Write a certificate for an instant, for a site or all sites with captures on both sides of it.

    Raises :class:`~sharc_crawler.errors.UsageError` if there are none, and :class:`~sharc_crawler.errors.DataError` for
    a capture that does not verify.
    """
    if site and site not in collection.names():
        raise UsageError(f"--site {site!r} has no captures in {collection.folder}{nearest(site, collection.names())}")
    instant = unix(iso(instant))  # with the certificate's precision
    written, apart = [], []
    for name in [site] if site else collection.names():
        captures = _certified(collection, name)
        chosen = _around(captures, instant)
        if chosen is None:
            apart.append(_reach(name, captures))
        else:
            for capture in chosen:
                _check(capture)
            try:
                written.append(_write(collection.folder, name, instant, chosen, captures))
            except OSError as error:
                raise UsageError(
                    f"{collection.folder / CERTIFICATES} cannot be written to: {error.strerror or error}"
                ) from error
    if not written:
        raise UsageError(f"--at {iso(instant)} lies outside of the captures with certificates: {'; '.join(apart)}")
    return written


def check_at(collection: Collection) -> Iterator[tuple[dict[str, Any], list[Finding]]]:
    """Each of these certificates, and how it differs from its captures, which are verified by themselves."""
    folder = collection.folder / CERTIFICATES
    if strange := list(_unexpected_files(folder) if folder.is_dir() else ()):
        yield {}, strange
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        name = path.relative_to(collection.folder).as_posix()
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            if (document["format"], document["version"]) != (FORMAT, VERSION):
                raise DataError(f"{path} is of another format or version than {FORMAT}, {VERSION}")
            yield document, [Finding(what, name) for what in _altered(collection, path, document)]
        except (DataError, OSError, *MALFORMED) as error:
            yield {}, [Finding(f"it cannot be read as a certificate: {error!r}", name)]


def _unexpected_files(folder: Path) -> Iterator[Finding]:
    """Files in the folder that are neither a certificate nor the pages of one."""
    own = {path.name for path in folder.glob("*.json")}
    own |= {pages_name(name) for name in own}
    for path in sorted(folder.iterdir()):
        if path.name not in own:
            if not _DRAFT.fullmatch(path.name):
                way_out = "what an interrupted sharc certify left, its command makes whole; else remove it"
                yield Finding(f"it belongs to no certificate: {way_out}", f"{folder.name}/{path.name}")
        elif path.is_symlink():
            yield Finding("a link where a file belongs", f"{folder.name}/{path.name}")


def _altered(collection: Collection, path: Path, document: dict[str, Any]) -> Iterator[str]:
    captures = {capture.name: capture for capture in _certified(collection, document["name"])}
    named = {entry["name"]: entry["digest"] for entry in document["captures"]}
    if missing := sorted(name for name in named if name not in captures):
        yield f"the captures that it is made of are not there, or have no certificate: {', '.join(missing)}"
        return
    if other := sorted(name for name, digest in named.items() if captures[name].document[DIGEST] != digest):
        yield f"these captures have another certificate by now: {', '.join(other)}"
        return
    instant = unix(document["reference"]["instant"])
    around = {capture.name for capture in _around(list(captures.values()), instant) or ()}
    if around != named.keys():
        yield f"the captures around its instant are {', '.join(sorted(around)) or 'none'} (sharc certify makes it anew)"
    file = path.with_name(pages_name(path.name))
    with file.open("rb") as lines:
        made_of, known = [captures[name] for name in named], list(captures.values())
        again, (made, same) = _at(document["name"], instant, made_of, known, partial(_compared, text_lines(lines)))
    stated = {"name": file.name, "lines": made, **fixity(file)}
    if not same:
        yield f"its pages, {file.name}, are not what the captures show"
    if path.read_bytes() != to_text(sealed(again, stated)).encode():
        yield "it is not what the captures show; what later ones found counts, too (sharc certify makes it anew)"


def _compared(lines: Iterator[bytes], entries: Iterator[Entry]) -> tuple[int, bool]:
    """The number of entries, and whether they equal those of a file."""
    same = [next(lines, b"") == canonical(dict(entry)) + b"\n" for entry in entries]
    return len(same), all(same) and not next(lines, b"")


def _certified(collection: Collection, name: str) -> list[_Certified]:
    """The captures of a site that have a certificate, oldest first, with those that they refer to."""
    captures = sorted(collection.captures(), key=lambda one: one.time)
    referring, found = Referring([one.folder for one in captures]), []
    for capture in captures:
        try:
            former = referring.former(capture.folder)
        except (OSError, ValueError, KeyError) as error:
            raise DataError(f"{capture.folder} has an index that cannot be read: {error}") from error
        certificates = open_source(capture.folder).certificates if capture.site == name else {}
        for text in certificates.values():
            shown = capture.folder.relative_to(collection.folder).as_posix()
            try:
                document = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise DataError(f"{shown} has a certificate that cannot be read: {error}") from error
            found.append(_Certified(shown, capture.folder, document, former))
    return found


def _around(captures: Sequence[_Certified], instant: Instant) -> list[_Certified] | None:
    """The captures under way at the instant, and the nearest before and after; None: one side has none."""
    begun = [capture for capture in captures if capture.began() <= instant]
    ending = [capture for capture in captures if capture.ended() >= instant]
    if not begun or not ending:
        return None
    before = [capture for capture in begun if capture.ended() < instant][-1:]
    after = [capture for capture in ending if capture.began() > instant][:1]
    return [*before, *(capture for capture in begun if capture in ending), *after]


def _reach(name: str, captures: Sequence[_Certified]) -> str:
    if not captures:
        return f"{name} has none"
    return f"{name} from {iso(captures[0].began())} to {iso(max(capture.ended() for capture in captures))}"


def _check(one: _Certified) -> None:
    found = verify(one.folder, one.former).findings
    if holders := in_former(one.folder, one.former, found):
        named = referred(one.folder, one.former)
        found = [it for place, it in enumerate(found) if place not in holders or (it.file, it.offset) in named]
    if found:
        raise DataError(f"{one.name} does not agree with its own certificate: {found[0]} (sharc verify)")


def _at(
    site: str,
    instant: Instant,
    chosen: Sequence[_Certified],
    captures: Sequence[_Certified],
    write: Callable[[Iterator[Entry]], Written] = list,  # type: ignore[assignment]
) -> tuple[dict[str, Any], Written]:
    """The certificate of an instant, and what became of its pages; ``captures``: all of the site."""
    read, recorded = [], []
    for capture in chosen:
        source = open_source(capture.folder)
        recorded.append((ingest(source.warcs), source.warcs))
        read.append(_read(capture, source, recorded[-1][0]))
    entries = chain.from_iterable(capture.entries for capture in read)
    lag = max(map(lag_of, (capture.document for capture in chosen)), default=0.0)
    names = {capture.name for capture in chosen}
    others = [capture.document for capture in captures if capture.name not in names]
    return certificate_at(site, instant, read, lambda: servers_word(recorded, entries, lag), others, write)


def _read(one: _Certified, source: Material, witness: Witness) -> ReadCapture:
    others = Witness()
    for folder in one.former:
        ingest(open_source(folder).warcs, into=others)
    entries = source.entries(one.document)
    word = partial(servers_word, [(witness, source.warcs)], entries, 0.0)
    judge = Judge(witness, others, {}, entries, word, source.warcs)
    answer = partial(answered, witness=witness, warcs=source.warcs)
    return ReadCapture(one.name, one.document, entries, judge, answer)


def _write(
    folder: Path, site: str, instant: Instant, chosen: Sequence[_Certified], captures: Sequence[_Certified]
) -> Path:
    path = folder / CERTIFICATES / name_at(site, instant)
    path.parent.mkdir(exist_ok=True)
    pages = path.with_name(pages_name(path.name))
    try:
        with Drafts() as drafts:
            with drafts.open(pages) as out:
                document, stated = _at(site, instant, chosen, captures, partial(write_entries, out, pages.name))
            with drafts.open(path) as out:
                out.write(to_text(sealed(document, stated)).encode())
    finally:
        if not path.exists():  # the disk was full between its two files
            pages.unlink(missing_ok=True)
    return path
