"""The words of a page that is asked for once more: is it the same as another, but for what changes at each answer?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote
from zlib import crc32

MOST = 5_000  #: words
_WORD = re.compile(r"[^\W_]+")


def sayings(text: str, resources: Sequence[str], url: str) -> list[int]:
    """The words of a page and its pictures, but for those of its address, as numbers.

    >>> sayings("log in, log in", (), "http://h/in") == [crc32(b"log")]
    True
    """
    pictures = (one.partition("?")[0].rpartition("/")[2] for one in resources)
    said = {*_WORD.findall(text), *pictures} - {*_WORD.findall(unquote(url))}
    return sorted(crc32(one.encode(errors="replace")) for one in said)[:MOST]
