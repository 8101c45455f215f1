"""Words of texts, by hash: those of a million URLs are not kept.

Two of a million different words share a hash of 64 bits with a probability of 3 in 10⁸, unless a site means them to.
They count as one then: a rate is a worse guess, and nothing else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

WORD = re.compile(r"[^\W\d_]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])|\d+")
_END, _GAP = "\n", "\0"  # no word has one
_WORD_OR_END = re.compile(f"{WORD.pattern}|{_END}")
_FACTOR = 0x9E3779B97F4A7C15  # odd: so are its powers, and none loses a character


def _kinds(letters: str, digits: str) -> NDArray[np.uint8]:
    """By byte: a word goes on as long as this stays the same; 0 is in none."""
    kinds = np.zeros(256, np.uint8)
    kinds[list(letters.encode())], kinds[list(digits.encode())] = 1, 2
    return kinds


_PLAIN = _kinds("abcdefghijklmnopqrstuvwxyz", "0123456789")
_APART = np.ones(256, np.uint8)
_APART[[ord(_END), ord(_GAP)]] = 0


def hashed(texts: Sequence[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The words of texts, one after the other, by hash; how many each text has.

    >>> words, counts = hashed(["page-1.html", "", "NewPage_1"])
    >>> counts.tolist(), len(set(words.tolist()))
    ([3, 0, 3], 5)
    """
    text = "".join([f"{one}{_END}" for one in texts])
    if text.count(_END) > len(texts):
        text = "".join([one.replace(_END, " ") + _END for one in texts])
    kinds = _PLAIN
    if not text.isascii() or text.lower() != text:  # where one ends is told by more than one character
        text, kinds = _GAP.join(_WORD_OR_END.findall(text)), _APART
    read = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    kind = kinds[read]
    begins = np.flatnonzero((kind > 0) & np.diff(kind, prepend=np.uint8(0)).astype(np.bool_))
    counts = np.diff(np.searchsorted(begins, np.flatnonzero(read == ord(_END))), prepend=0)
    if not len(begins):
        return np.zeros(0, np.uint64), counts
    places = np.arange(len(read))
    first = np.zeros(len(read), np.int64)
    first[begins] = begins
    offsets = places - np.maximum.accumulate(first)
    powers = np.cumprod(np.full(int(offsets[kind > 0].max()) + 1, _FACTOR, np.uint64))
    terms = np.where(kind > 0, read * powers[np.minimum(offsets, len(powers) - 1)], np.uint64(0))
    return np.add.reduceat(terms, begins), counts
