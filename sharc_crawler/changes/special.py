"""Pages of one site share most of their lines and words: what was looked at before is not looked at again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Set

MOST = 1_000_000  #: bytes that are remembered, about
LONGEST = 100_000  #: of one page
EACH = 64  #: bytes that one takes, however short it is


class Special:
    """Tells the lines that are something special; ``find``: which are, whatever stands beside them.

    >>> digits = Special(lambda lines: {line for line in lines if line.isdigit()})
    >>> digits.among({b"a", b"1"}), digits.among({b"a", b"1", b"b"})
    ({b'1'}, {b'1'})
    """

    def __init__(self, find: Callable[[Set[bytes]], Set[bytes]]) -> None:
        self._find = find
        self._known: set[bytes] = set()
        self._special: set[bytes] = set()
        self._size = 0

    def among(self, lines: Set[bytes]) -> Set[bytes]:
        """Those of the lines that are special."""
        new = lines - self._known
        if not new:
            return lines & self._special if self._special else set()
        found = self._find(new)
        special = found | (lines & self._special) if self._special else found
        if (size := sum(map(len, new)) + EACH * len(new)) <= LONGEST:
            if self._size + size > MOST:
                self._known, self._special, self._size = set(), set(), 0
            self._known |= new
            self._special |= found
            self._size += size
        return special
