"""Read WARC files strictly: each record must be a gzip member of its own, without surplus bytes."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from sharc_crawler.bodies.spool import LARGE, Octets

if TYPE_CHECKING:
    from sharc_crawler.bodies.spooling import Spooling

_BLOCK = 1 << 13  # equal to Python's buffer: most records are smaller, and a seek within it costs nothing
_START = b"WARC/1."
_END = b"\r\n\r\n"
_PART = 1 << 20  #: bytes unpacked at once
TRIES = 8  #: large damaged records that may be read to their ends
VAIN = 1 << 24  #: bytes that may be read of further damaged ones, plus twice the bytes before them
_UNLIKE = "not of the length that it states"
_ANSWERS = ("response", "revisit")
_SIZE = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Record:
    """A whole record as it lies in its file."""

    offset: int
    length: int  #: packed
    fields: tuple[tuple[str, str], ...]
    block: Octets  #: may be on disk for an answer; else bytes
    _first: dict[str, str] = field(init=False, repr=False, compare=False)  #: lower-case name → first value

    def __post_init__(self) -> None:
        object.__setattr__(self, "_first", {name.lower(): value for name, value in reversed(self.fields)})

    @property
    def end(self) -> int:
        """The offset at which the next record starts."""
        return self.offset + self.length

    @property
    def text(self) -> bytes:
        """The block as bytes, for records that are never large."""
        return self.block if isinstance(self.block, bytes) else bytes(self.block)

    @property
    def kind(self) -> str:
        """The record's WARC-Type."""
        return self._first.get("warc-type", "")

    def get(self, name: str) -> str | None:
        """The first value of a field; case does not matter."""
        return self._first.get(name.lower())


@dataclass(frozen=True, slots=True)
class Damage:
    """A place where no whole record could be read."""

    offset: int
    reason: str


def records(
    stream: IO[bytes], offset: int = 0, progress: Callable[[int], None] = lambda _: None
) -> Iterator[Record | Damage]:
    """The records of a WARC file from ``offset`` on; a damaged place is followed by the next whole record."""
    vain = tries = 0
    while (found := _read(stream, offset, progress)) is not None:
        if isinstance(found, Damage) and (read := stream.tell() - found.offset) > _BLOCK:
            tries += 1
            vain += read if tries > TRIES else 0
        yield found
        if isinstance(found, Record):
            offset = found.end
            continue
        from sharc_crawler.archive.after_damage import next_start  # rarely needed

        if (following := next_start(stream, found.offset + 1)) is None:
            return
        if vain > VAIN + 2 * following:
            yield Damage(following, "not read, nor what follows: too many places before begin as records and are none")
            return
        offset = following


def read_at(stream: IO[bytes], offset: int) -> Record | Damage:
    """The record that starts at an offset."""
    return _read(stream, offset, lambda _: None) or Damage(offset, "the file ends before it")


def _read(stream: IO[bytes], offset: int, progress: Callable[[int], None]) -> Record | Damage | None:
    """The record at an offset; ``None``: the file ends here."""
    stream.seek(offset)
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    unpacked, read, said = _Unpacked(), 0, 0
    try:
        while not unpacker.eof:
            data = unpacker.unconsumed_tail or stream.read(_BLOCK)
            read += 0 if unpacker.unconsumed_tail else len(data)
            if not data:
                return Damage(offset, "cut short") if read else None
            if why := unpacked.add(unpacker.decompress(data, _PART)):
                return Damage(offset, why)
            if unpacked.large:
                progress(read - said)
                said = read
        length = read - len(unpacker.unused_data)
        progress(length - said)
        return unpacked.parsed(offset, length)
    except zlib.error as error:
        return Damage(offset, f"damaged ({error})")
    finally:
        unpacked.discard()


class _Unpacked:
    """An unpacked member: in memory, or if it is large with its block on disk."""

    def __init__(self) -> None:
        self.large: Spooling | None = None
        self._parts: list[bytes] = []
        self._size = self._stated = 0

    def add(self, part: bytes) -> str:
        """Add a part; returns why it is no record, as far as that is known; else empty."""
        if self.large:
            self.large.write(part)
            return _UNLIKE if self.large.size > self._stated + len(_END) else ""
        self._parts.append(part)
        self._size += len(part)
        return self._spill() if self._size > LARGE else ""

    def _spill(self) -> str:
        from sharc_crawler.bodies.spooling import Spooling  # of a large body

        head, blank, rest = b"".join(self._parts).partition(_END)
        self._stated = _fields(head)[1]
        if not blank or self._stated < 0:
            return "not a WARC record"
        self._parts, self.large = [head], Spooling(data=[rest])
        return ""

    def parsed(self, offset: int, length: int) -> Record | Damage:
        """The record, once all parts were added."""
        if self.large is None:
            head, blank, rest = b"".join(self._parts).partition(_END)
            return _parsed(offset, length, head, blank, rest, rest[-len(_END) :])
        end, block = self.large.cut(min(len(_END), self.large.size)), self.large.done()
        self.large = None
        return _parsed(offset, length, self._parts[0], _END, block, end, len(end))

    def discard(self) -> None:
        """Remove what lies on disk."""
        if self.large:
            self.large.discard()


def _parsed(
    offset: int, length: int, head: bytes, blank: bytes, rest: Octets, end: bytes, taken: int = 0
) -> Record | Damage:
    """The record of a member; ``rest``: its block and end, without the last ``taken`` bytes."""
    fields, size = _fields(head)
    if not blank or size < 0:
        return Damage(offset, "not a WARC record")
    if len(rest) + taken != size + len(_END) or end != _END:
        return Damage(offset, _UNLIKE)
    if isinstance(rest, bytes):
        return Record(offset, length, fields, rest[:size])
    answer = any(name.lower() == "warc-type" and value in _ANSWERS for name, value in fields)
    return Record(offset, length, fields, rest if answer else bytes(rest))


def _fields(head: bytes) -> tuple[tuple[tuple[str, str], ...], int]:
    """A record's fields, and the length of its block; negative: it is no WARC record."""
    lines = head.decode("utf-8", "replace").split("\r\n")
    fields = tuple((name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines[1:]))
    size = next((value for name, value in fields if name.lower() == "content-length"), "")
    return fields, int(size) if head.startswith(_START) and _SIZE.fullmatch(size) else -1
