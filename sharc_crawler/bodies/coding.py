"""Decode content codings up to a limit (against bombs); broken data give what came before the break.

Two encodings of one body are the same content: servers that compress on the fly put times or random bytes into the gzip
header (against the BREACH attack), so the payloads of an unchanged page may differ.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


LIMIT = 64 * 2**20  #: bytes of a decoded body; larger ones are compared as sent
MOST_CODINGS = 5  #: maximum of codings applied in sequence; honest servers use at most two
_EARLY = "ends too early"
USED = "what could be unpacked is used"  #: ends problems
_NO_TEXT = bytes({*range(32)} - set(b"\t\n\v\f\r\x1b"))  # bytes that no text has
_LOOKED_AT = 1024  #: bytes searched for them
_OTHERS = {b"aes128gcm", b"compress", b"dcb", b"dcz", b"exi", b"pack200-gzip", b"x-compress"}  #: known to IANA only
_STEP = 65_536  #: bytes taken in and given out at once
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"  #: behind a byte from 0x50 to 0x5f
_GZIP_OR_ZLIB = 47
_RAW_DEFLATE = -15


class Unpacked(NamedTuple):
    """A decoded body, perhaps incomplete."""

    data: bytes
    problem: str | None = None  #: why it is incomplete

    @property
    def cut(self) -> bool:
        """Is its end missing?"""
        return self.problem is not None and _EARLY in self.problem


def decoded(payload: bytes | memoryview, codings: Sequence[bytes], limit: int = LIMIT) -> bytes | None:
    """Decode a payload by its ``Content-Encoding`` headers, last one first; all or nothing.

    Return ``None`` if a coding is unknown, or the data are broken, cut short or larger than ``limit`` bytes.

    >>> import gzip
    >>> decoded(gzip.compress(b"hello", mtime=1), [b"gzip"]) == decoded(gzip.compress(b"hello", mtime=2), [b"x-gzip"])
    True
    """
    data, problem = unpacked(payload, codings, limit)
    return None if problem or unheard_of(codings) else data


def unheard_of(codings: Sequence[bytes]) -> bool:
    """Is one of the codings unknown? Then the content is not compared decoded."""
    return any(name not in _STREAMS for name in _names(codings))


def _names(codings: Sequence[bytes]) -> list[bytes]:
    names = [name.strip().lower() for value in codings for name in value.split(b",")]
    return [name for name in names if name not in {b"", b"identity"}]


def undone_by(codings: Sequence[bytes]) -> list[bytes]:
    """Return normalised names of the codings, by their decoders.

    >>> undone_by([b"X-Gzip, br"]) == undone_by([b"identity", b"deflate", b"br"])
    True
    """
    return [b"gzip" if _STREAMS.get(name) is _inflated else name for name in _names(codings)]


def unpacked(payload: bytes | memoryview, codings: Sequence[bytes], limit: int = LIMIT) -> Unpacked:
    r"""Decode a body as far as possible; plain text with an unknown coding is taken as it is.

    >>> unpacked(b"\x1f\x9d\x90h", [b"compress"]), unpacked(b"hello", [b"aws-chunked"]).data
    (Unpacked(data=b'', problem="content coding 'compress' is not known"), b'hello')
    """
    names = _names(codings)
    if len(names) > MOST_CODINGS:
        return Unpacked(b"", f"{len(names)} content codings, more than {MOST_CODINGS}")
    data: bytes | memoryview = payload
    problem = None
    for name in reversed(names):
        stream = _STREAMS.get(name)
        if stream is None and name not in _OTHERS and _is_text(bytes(data[:_LOOKED_AT])):
            continue  # a charset's name, or an object store's
        if stream is None:
            return Unpacked(b"", f"content coding {name.decode('latin-1')!r} is not known")
        data, more = _collected(stream(data), name.decode().removeprefix("x-"), limit)
        problem = "; ".join(filter(None, (problem, more))) or None
    return _cut(Unpacked(bytes(data[: limit + 1]), problem), limit)


def _is_text(head: bytes) -> bool:
    return len(head.translate(None, _NO_TEXT)) == len(head)


def unpack(body: bytes, limit: int) -> Unpacked:
    """Return the body, decompressed if it is a gzip file (of one or several members).

    >>> import gzip
    >>> unpack(gzip.compress(b"a" * 100), limit=10)
    Unpacked(data=b'aaaaaaaaaa', problem='more than 10 bytes: the rest is left out')
    """
    return unpacked(body, [b"gzip"] if body.startswith(_GZIP) else [], limit)


def _cut(whole: Unpacked, limit: int) -> Unpacked:
    if len(whole.data) > limit:
        return Unpacked(whole.data[:limit], f"more than {limit:,} bytes: the rest is left out")
    return whole


def _collected(pieces: Iterable[bytes], name: str, limit: int) -> Unpacked:
    """Join pieces up to one byte beyond the limit, or up to an error."""
    parts: list[bytes] = []
    room = limit + 1
    try:
        for piece in pieces:
            parts.append(piece[:room])
            room -= len(parts[-1])
            if not room:
                break
    except EOFError:
        return Unpacked(b"".join(parts), f"{name} {_EARLY}: {USED}")
    except _LeftError as left:
        return Unpacked(b"".join(parts), f"{left} bytes behind the end of {name} are left out")
    except (zlib.error, brotli.error, zstd.ZstdError):
        return Unpacked(b"".join(parts), f"broken {name}: {USED}")
    return Unpacked(b"".join(parts))


def _blocks(data: bytes | memoryview) -> Iterator[memoryview]:
    """Yield small blocks, so that no step copies all the rest."""
    view = memoryview(data)
    for at in range(0, len(view), _STEP):
        yield view[at : at + _STEP]


def _inflated(data: bytes | memoryview) -> Iterator[bytes]:
    """Decompress all gzip members, or deflate with or without its zlib wrapper, since servers send both."""
    start, window = bytes(data[:2]), _GZIP_OR_ZLIB
    if not _GZIP.startswith(start) and start[0] & 0x0F != zlib.DEFLATED:
        window = _RAW_DEFLATE
    return _members(data, lambda: _Inflater(window), _next_member)


def _next_member(view: memoryview, at: int) -> int | None:
    """Return where the next member begins, if there is one, perhaps cut off after its first byte."""
    return at if _GZIP.startswith(view[at : at + 2]) else None


def _next_frame(view: memoryview, at: int) -> int | None:
    """Return where the next frame begins, after skippable ones (RFC 8878, 3.1.2); the end if there is none."""
    while view[at + 1 : at + 4] == _SKIPPABLE and view[at] & 0xF0 == 0x50:
        at += 8 + int.from_bytes(view[at + 4 : at + 8], "little")
    if at > len(view):
        raise EOFError
    return at if _ZSTD.startswith(view[at : at + 4]) else None


class _Inflater:
    """zlib's decompressor with the others' interface: it keeps unused input."""

    def __init__(self, window: int) -> None:
        self._stream = zlib.decompressobj(window)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes | memoryview, most: int) -> bytes:
        return self._stream.decompress(data or self._stream.unconsumed_tail, most)


def _members(
    data: bytes | memoryview, begin: Callable[[], Any], following: Callable[[memoryview, int], int | None]
) -> Iterator[bytes]:
    """Decompress all members; raise :class:`EOFError` if the last is cut short, :class:`_LeftError` if bytes follow."""
    view, at = memoryview(data), 0
    while at < len(view):
        place = following(view, at)
        if place is None and at:
            raise _LeftError(len(view) - at)
        at = at if place is None else place
        if at >= len(view):
            break
        member = begin()
        while not member.eof:
            if at == len(view):
                raise EOFError
            block = view[at : at + _STEP]
            at += len(block)
            yield from _given(member, block)
        at -= len(member.unused_data)


class _LeftError(Exception):
    """Bytes follow the content; other decoders may read them as content."""


def _given(member: Any, block: memoryview) -> Iterator[bytes]:
    """Yield the output of one block of input."""
    while (piece := member.decompress(block, _STEP)) and not member.eof:
        yield piece
        block = block[:0]
    yield piece


def _unbrotlied(data: bytes | memoryview) -> Iterator[bytes]:
    stream = brotli.Decompressor()
    for block in _blocks(data):
        if stream.is_finished():
            raise _LeftError(len(data) - _STEP)
        piece = stream.process(bytes(block), output_buffer_limit=_STEP)
        while piece:
            yield piece
            piece = stream.process(b"", output_buffer_limit=_STEP)
    if stream.is_finished() or not data:
        return
    raise EOFError


_STREAMS: dict[bytes, Callable[[bytes | memoryview], Iterator[bytes]]] = {
    b"gzip": _inflated,
    b"x-gzip": _inflated,
    b"deflate": _inflated,
    b"br": _unbrotlied,
    b"zstd": lambda data: _members(data, zstd.ZstdDecompressor, _next_frame),
}
