"""The words of a page that is asked for once more: does it equal another but for what changes each time?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote
from zlib import crc32

MOST = 5_000  #: words
_WORD = re.compile(r"[^\W_]+")


def word_checksums(text: str, resources: Sequence[str], url: str) -> list[int]:
    """Checksums of the words and pictures of a page, without words of its address.

    >>> word_checksums("log in, log in", (), "http://h/in") == [crc32(b"log")]
    True
    """
    pictures = (resource.partition("?")[0].rpartition("/")[2] for resource in resources)
    words = {*_WORD.findall(text), *pictures} - {*_WORD.findall(unquote(url))}
    return sorted(crc32(word.encode(errors="replace")) for word in words)[:MOST]
