"""WARC files read strictly: one gzip member per record, every byte of it checked."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK = 1 << 16
_MAGIC = b"\x1f\x8b\x08"
_START = b"WARC/1."
_END = b"\r\n\r\n"
_SIZE = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Record:
    """A whole record as it lies in its file."""

    offset: int
    length: int  #: packed
    fields: tuple[tuple[str, str], ...]
    block: bytes

    @property
    def end(self) -> int:
        """Where the next one starts."""
        return self.offset + self.length

    @property
    def kind(self) -> str:
        """Its WARC-Type."""
        return self.get("WARC-Type") or ""

    def get(self, name: str) -> str | None:
        """The first value of a field, however its name is spelt."""
        wanted = name.lower()
        return next((value for key, value in self.fields if key.lower() == wanted), None)


@dataclass(frozen=True, slots=True)
class Damage:
    """Where no whole record could be read."""

    offset: int
    reason: str


def records(stream: IO[bytes]) -> Iterator[Record | Damage]:
    """What a WARC file holds, in order; after a damaged place reading goes on with the next whole record."""
    offset = 0
    while (found := _read(stream, offset)) is not None:
        yield found
        if isinstance(found, Record):
            offset = found.end
        elif (following := _next_start(stream, found.offset + 1)) is not None:
            offset = following
        else:
            return


def read_at(stream: IO[bytes], offset: int) -> Record | Damage:
    """The record that starts at an offset."""
    return _read(stream, offset) or Damage(offset, "the file ends before it")


def _read(stream: IO[bytes], offset: int) -> Record | Damage | None:
    """``None``: the file ends here."""
    stream.seek(offset)
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    parts, read = [], 0
    while not unpacker.eof:
        data = stream.read(_BLOCK)
        read += len(data)
        if not data:
            return Damage(offset, "cut short") if read else None
        try:
            parts.append(unpacker.decompress(data))
        except zlib.error as error:
            return Damage(offset, f"damaged ({error})")
    return _parsed(offset, read - len(unpacker.unused_data), b"".join(parts))


def _parsed(offset: int, length: int, text: bytes) -> Record | Damage:
    head, blank, rest = text.partition(_END)
    lines = head.decode("utf-8", "replace").split("\r\n")
    fields = tuple((name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines[1:]))
    size = next((value for name, value in fields if name.lower() == "content-length"), "")
    if not head.startswith(_START) or not blank or not _SIZE.fullmatch(size):
        return Damage(offset, "not a WARC record")
    if len(rest) != int(size) + len(_END) or not rest.endswith(_END):
        return Damage(offset, "not of the length that it states")
    return Record(offset, length, fields, rest[: int(size)])


def _next_start(stream: IO[bytes], offset: int) -> int | None:
    """The next place from which on a record can be unpacked."""
    stream.seek(offset)
    base, window = offset, b""
    while data := stream.read(_BLOCK):
        window += data
        at = window.find(_MAGIC)
        while at >= 0:
            if _starts_record(stream, base + at):
                return base + at
            at = window.find(_MAGIC, at + 1)
        base, window = base + len(window) - len(_MAGIC) + 1, window[-len(_MAGIC) + 1 :]
        stream.seek(base + len(window))
    return None


def _starts_record(stream: IO[bytes], offset: int) -> bool:
    stream.seek(offset)
    try:
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(stream.read(_BLOCK), 64).startswith(_START)
    except zlib.error:
        return False
