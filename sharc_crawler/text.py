"""Telling text from images, archives and programs."""

from __future__ import annotations

from w3lib.encoding import read_bom

_LOOKED_AT = 8_000  #: bytes, as git does


def is_text(data: bytes) -> bool:
    r"""Whether a document may be text: it has a byte order mark, or no null byte near its beginning.

    Other control characters do occur in pages.

    >>> is_text("ä\x07\n".encode()), is_text("ä".encode("utf-16")), is_text(b"\x89PNG\r\n\x1a\n\0\0")
    (True, True, False)
    """
    return read_bom(data)[0] is not None or b"\0" not in data[:_LOOKED_AT]
