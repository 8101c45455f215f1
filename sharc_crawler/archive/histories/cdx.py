"""CDX and CDXJ: text indexes of captures, one line each, from files and from servers.

CDX: fields parted by blanks, named by a header `` CDX N b a m s k …``; without one they start as the usual 7, 9, 10 and
11 fields all do: key, timestamp, URL, media type, status, digest. CDXJ: key, timestamp, a JSON object.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from sharc_crawler.archive.histories.dates import instant, instants
from sharc_crawler.archive.histories.gathering import NO_STATUS, NOT_WEB, numbered, status_of
from sharc_crawler.archive.histories.pages import UNSAID, MediaTypes
from sharc_crawler.plural import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sharc_crawler.archive.histories.gathering import Gathering

BLOCK = 8_192  #: lines at once


@dataclass(frozen=True, slots=True)
class Legend:
    """Where in a line the fields are that we read."""

    counts: frozenset[int] = frozenset({7, 9, 10, 11})  #: fields of a line
    key: int = 0
    time: int = 1
    url: int = 2
    media: int | None = 3  #: media type; None: it is not told
    status: int = 4
    digest: int = 5

    @classmethod
    def of(cls, header: Sequence[bytes]) -> Legend:
        """The legend that a header states; :class:`ValueError` where it lacks what we read.

        >>> Legend.of(b"CDX N b a m s k r M S V g".split()).digest
        5
        """
        letters = [letter.decode("latin-1") for letter in header[1:]]
        key = "N" if "N" in letters else "A"
        lacking = [letter for letter in ("a", "b", "s", "k") if letter not in letters]
        if lacking:
            raise ValueError(f"CDX header without field {', '.join(lacking)}")
        where = letters.index
        first = where(key) if key in letters else where("a")
        media = where("m") if "m" in letters else None
        return cls(frozenset({len(letters)}), first, where("b"), where("a"), media, where("s"), where("k"))


class _Statuses(dict[bytes, int]):
    """Status codes by their text, remembered."""

    def __missing__(self, text: bytes) -> int:
        if not (text.isdigit() and len(text) == 3):
            raise ValueError("status is no number")
        return self.setdefault(text, int(text))


_STATUSES = _Statuses({b"-": NO_STATUS})
_KINDS = MediaTypes()
_REVISIT = b"warc/revisit"


def read_cdx(lines: Iterable[bytes], file: str, gathering: Gathering) -> None:
    """Append the captures of a CDX index, a block at a time: whole where all its lines are good, else line by line."""
    reader, source, done = _Lines(file, gathering), iter(lines), 0
    while block := list(islice(source, BLOCK)):
        if not _append_block(block, reader.legend, gathering):
            for number, line in enumerate(block, done + 1):
                reader.read(number, line.split())
        done += len(block)


class _Lines:
    """Reads line by line; a header may also come in the middle (joined files)."""

    def __init__(self, file: str, gathering: Gathering) -> None:
        self.legend: Legend | None = Legend()
        self._file = file
        self._gathering = gathering
        self._blank = False

    def read(self, number: int, fields: list[bytes]) -> None:
        """One line; what is wrong with it becomes a problem."""
        try:
            if fields[:1] == [b"CDX"]:  # first: with its name one of 9 letters has as many fields as some lines
                self.legend = None  # until the header is understood, its lines cannot be
                self.legend = Legend.of(fields)
            elif self.legend is not None and len(fields) in self.legend.counts:
                _append(fields, self.legend, self._gathering)
            elif not fields:
                self._blank = True
            elif self._blank and len(fields) == 1:
                self._gathering.resume_key = fields[0].decode("latin-1")
            else:
                raise ValueError(counted(len(fields), "field") if self.legend else "fields of an unknown header")
        except ValueError as error:
            self._gathering.problems.add(self._file, number, str(error))


def _append_block(block: list[bytes], legend: Legend | None, gathering: Gathering) -> bool:
    """Append all lines, column by column, or none of them.

    The fields of all lines are cut at once. Were one line short and the next one long, a time would be out of place.
    """
    text = b"\n".join(block)
    fields = text.split()
    width, rest = divmod(len(fields), len(block))
    if legend is None or rest or width not in legend.counts:
        return False
    try:
        times = instants(fields[legend.time :: width])
        statuses = [_STATUSES[status] for status in fields[legend.status :: width]]
    except ValueError:
        return False
    media = [] if legend.media is None else fields[legend.media :: width]
    if _REVISIT in media and b"-" in fields[legend.digest :: width]:
        return False
    owners = gathering.numbers(fields[legend.key :: width], fields[legend.url :: width])
    if NOT_WEB in owners:
        return False
    gathering.owners.extend(owners)
    gathering.times.frombytes(times.tobytes())
    gathering.statuses.extend(statuses)
    gathering.kinds.extend(map(_KINDS.__getitem__, media) if media else [UNSAID] * len(block))
    gathering.digests.extend(map(numbered if b"sha1:" in text else hash, fields[legend.digest :: width]))
    return True


def _append(fields: list[bytes], legend: Legend, gathering: Gathering) -> None:
    time = instant(fields[legend.time])
    status = _STATUSES[fields[legend.status]]
    media, digest = b"-" if legend.media is None else fields[legend.media], fields[legend.digest]
    status = status_of(status, revisit=media == _REVISIT, digest=None if digest == b"-" else digest.decode("latin-1"))
    gathering.append(fields[legend.key], fields[legend.url], time, digest, status, _KINDS[media])


def read_cdxj(lines: Iterable[bytes], file: str, gathering: Gathering) -> None:
    """Append the captures of a CDXJ index; lines that start with ``!`` are its header."""
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith(b"!"):
            continue
        try:
            key, stamp, text = line.split(None, 2)
            append_record({"urlkey": key.decode(), "timestamp": stamp.decode(), **json.loads(text)}, gathering)
        except (ValueError, TypeError, AttributeError) as error:
            gathering.problems.add(file, number, _reason(error))


def append_record(record: dict[str, str | None], gathering: Gathering) -> None:
    """Append a capture from named fields, by the names of either dialect; :class:`ValueError` for one that is none."""
    url = record.get("original") or record.get("url")
    if not isinstance(url, str):
        raise ValueError("no URL")
    time = instant(str(record.get("timestamp") or "").encode())
    status = _STATUSES[str(record.get("statuscode") or record.get("status") or "-").encode()]
    key, digest = record.get("urlkey") or url, record.get("digest") or "-"
    media = record.get("mime") or record.get("mimetype") or "-"
    status = status_of(status, revisit=media == "warc/revisit", digest=None if digest == "-" else digest)
    gathering.append(str(key).encode(), url.encode(), time, str(digest).encode(), status, _KINDS[str(media).encode()])


def _reason(error: Exception) -> str:
    return "not JSON" if isinstance(error, json.JSONDecodeError) else str(error)
