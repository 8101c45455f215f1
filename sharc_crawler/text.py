"""Telling text from images, archives and programs."""

from __future__ import annotations

import re

from w3lib.encoding import read_bom

#: Bytes that no text has, and how many of a document are looked at (https://mimesniff.spec.whatwg.org/)
_BINARY, _SNIFFED = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]"), 1_445


def is_text(data: bytes) -> bool:
    r"""Whether a document may be text: it has a byte order mark, or none of the bytes that only other files have.

    >>> is_text("ä\n".encode()), is_text("ä".encode("utf-16")), is_text(b"\x89PNG\r\n\x1a\n")
    (True, True, False)
    """
    return read_bom(data)[0] is not None or _BINARY.search(data, 0, _SNIFFED) is None
