"""Read CDX and CDXJ: text indexes with one capture per line, from files and from servers.

CDX has fields separated by blanks, named in a header `` CDX N b a m s k …``. Without a header, lines of 7, 9, 10 or 11
fields are read: they all start with key, timestamp, URL, media type, status, digest. CDXJ has key, timestamp and a JSON
object.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.archive.histories.gathering import NO_STATUS, NOT_WEB, Gathering, numbered, status_of
from sharc_crawler.archive.histories.pages import UNSAID, MediaTypes
from sharc_crawler.errors import MALFORMED
from sharc_crawler.plural import counted

BLOCK = 8_192  #: lines read at once


@dataclass(frozen=True, slots=True)
class Legend:
    """The positions of fields in a line."""

    counts: frozenset[int] = frozenset({7, 9, 10, 11})  #: numbers of fields that a line may have
    key: int = 0
    time: int = 1
    url: int = 2
    media: int | None = 3  #: media type; None: there is none
    status: int = 4
    digest: int = 5

    @classmethod
    def of(cls, header: Sequence[bytes]) -> Legend:
        """The positions by a header; raises :class:`ValueError` if it lacks a field that is needed.

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
    """Status codes by their text, cached."""

    def __missing__(self, text: bytes) -> int:
        if not (text.isdigit() and len(text) == 3):
            raise ValueError("status is no number")
        return self.setdefault(text, int(text))


_STATUSES = _Statuses({b"-": NO_STATUS})
_KINDS = MediaTypes()
_REVISIT = b"warc/revisit"


def read_cdx(lines: Iterable[bytes], file: str, gathering: Gathering) -> None:
    """Append the captures of a CDX index in blocks: at once if all lines of a block are good, else line by line."""
    reader, source, done = _Lines(file, gathering), iter(lines), 0
    while block := list(islice(source, BLOCK)):
        if not _append_block(block, reader.legend, gathering):
            for number, line in enumerate(block, done + 1):
                reader.read(number, line.split())
        done += len(block)


class _Lines:
    """Reads line by line. Joined files may have a header in the middle."""

    def __init__(self, file: str, gathering: Gathering) -> None:
        self.legend: Legend | None = Legend()
        self._file = file
        self._gathering = gathering
        self._blank = False

    def read(self, number: int, fields: list[bytes]) -> None:
        """Read a line; a malformed one is added to the problems."""
        try:
            if fields[:1] == [b"CDX"]:  # checked first: a header may have as many fields as a line
                self.legend = None  # lines after a header that cannot be read are problems
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
    """Append all lines by columns, or none of them.

    All lines are split together. If one had too few fields and the next too many, a timestamp would be invalid.
    """
    text = b"\n".join(block)
    fields = text.split()
    width, rest = divmod(len(fields), len(block))
    if legend is None or rest or width not in legend.counts:
        return False
    media = [] if legend.media is None else fields[legend.media :: width]
    if _REVISIT in media and b"-" in fields[legend.digest :: width]:
        return False
    try:
        times = instants(fields[legend.time :: width])
        statuses = [_STATUSES[status] for status in fields[legend.status :: width]]
        owners = gathering.numbers(fields[legend.key :: width], fields[legend.url :: width])
    except ValueError:
        return False
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
    """Append the captures of a CDXJ index; lines that start with ``!`` are headers."""
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith(b"!"):
            continue
        try:
            key, stamp, text = line.split(None, 2)
            append_record({"urlkey": key.decode(), "timestamp": stamp.decode(), **json.loads(text)}, gathering)
        except MALFORMED as error:
            gathering.problems.add(file, number, _reason(error))


def append_record(record: dict[str, str | None], gathering: Gathering) -> None:
    """Append a capture from named fields, in either dialect's names; raises :class:`ValueError`."""
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


# -- timestamps of fourteen digits -------------------------------------------------------------------------------------


_FIRST_YEAR = 1990  #: of the web
_DIGITS = 14


def instant(stamp: bytes) -> float:
    """Unix seconds of a timestamp ``YYYYMMDDhhmmss``; :class:`ValueError` for an impossible one.

    >>> instant(b"20010410213930")
    986938770.0
    """
    try:
        if len(stamp) != _DIGITS or not stamp.isdigit() or int(stamp[:4]) < _FIRST_YEAR:
            raise ValueError
        month, day, hour, minute, second = (int(stamp[at : at + 2]) for at in range(4, _DIGITS, 2))
        return datetime(int(stamp[:4]), month, day, hour, minute, second, tzinfo=UTC).timestamp()
    except ValueError:
        raise ValueError(f"impossible date {stamp.decode('latin-1')!r}") from None


def instants(stamps: Sequence[bytes]) -> NDArray[np.float64]:
    """The same for many timestamps at once; :class:`ValueError` if any is impossible.

    >>> instants([b"20010410213930"]).tolist()
    [986938770.0]
    """
    digits = np.frombuffer(b"".join(stamps), np.uint8).astype(np.int64) - ord("0")
    if set(map(len, stamps)) != {_DIGITS} or digits.min() < 0 or digits.max() > 9:
        raise ValueError("a timestamp is not 14 digits")
    pairs = digits[::2] * 10 + digits[1::2]
    century, year, month, day, hour, minute, second = pairs.reshape(-1, 7).T
    months = (century * 1200 + year * 12 + month - 1 - 1970 * 12).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + (day - 1)
    good = (month >= 1) & (month <= 12) & (day >= 1) & (days.astype("datetime64[M]") == months)
    good &= (hour < 24) & (minute < 60) & (second < 60) & (century * 100 + year >= _FIRST_YEAR)
    if not good.all():
        raise ValueError("a timestamp is impossible")
    seconds = days.astype(np.int64) * 86_400 + hour * 3_600 + minute * 60 + second
    return np.asarray(seconds, np.float64)


# -- JSON answers: Wayback's array of rows (its JSON TimeMap too), pywb's object per line -----------------------------

# Of a truncated answer the whole lines are used.

_NAMES = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]
_BETWEEN = " \t\r\n,"


def read_rows(text: bytes, file: str, gathering: Gathering) -> None:
    """Append the captures of an array of rows. The first row names the fields; an empty row precedes the resume key."""
    names, empty = _NAMES, False
    for number, row in _rows(text.decode("utf-8", "replace"), file, gathering):
        if not row:
            empty = True
        elif "timestamp" in row:
            names = row
        elif empty and len(row) == 1:
            gathering.resume_key = str(row[0])
        else:
            record = dict(zip(names, row, strict=True)) if len(row) == len(names) else None
            _append_row(record, file, number, gathering)


def read_objects(lines: Iterable[bytes], file: str, gathering: Gathering) -> None:
    """Append the captures of an answer with one JSON object per line."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        _append_row(record if isinstance(record, dict) else None, file, number, gathering)


def _append_row(record: dict[str, Any] | None, file: str, number: int, gathering: Gathering) -> None:
    try:
        if record is None:
            raise ValueError("not a record of the named fields")
        append_record(record, gathering)
    except ValueError as error:
        gathering.problems.add(file, number, str(error))


def _rows(text: str, file: str, gathering: Gathering) -> Iterator[tuple[int, list[Any]]]:
    """The arrays inside the outer one, each with the line it starts on; anything else is a problem."""
    decode = json.JSONDecoder().raw_decode
    line, end = 1, text.find("[") + 1
    while (start := text.find("[", end)) >= 0:
        if text[end:start].strip(_BETWEEN):
            gathering.problems.add(file, line, "not an array")
        line += text.count("\n", end, start)
        try:
            row, after = decode(text, start)
            yield line, row
        except (ValueError, RecursionError):
            gathering.problems.add(file, line, "not JSON")
            after = start + 1 + len(text[start + 1 :].partition("\n")[0])
        line += text.count("\n", start, after)
        end = after
    if text[end:].strip() != "]":
        gathering.problems.add(file, line, "cut short")
