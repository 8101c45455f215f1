"""Pages of one site share most of their words: what was looked at before is not looked at again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Set

MOST = 10_000  #: words that are remembered
LONGEST = 100_000  #: characters of the words of one page that are


class Special:
    """Tells the words that are something special; ``find``: which are, whatever stands beside them.

    >>> digits = Special(lambda words: {word for word in words if word.isdigit()})
    >>> digits.among({"a", "1"}), digits.among({"a", "1", "b"})
    ({'1'}, {'1'})
    """

    def __init__(self, find: Callable[[Set[str]], Set[str]]) -> None:
        self._find = find
        self._known: set[str] = set()
        self._special: set[str] = set()

    def among(self, words: Set[str]) -> Set[str]:
        """Those of the words that are special."""
        new = words - self._known
        if not new:
            return words & self._special
        found = self._find(new)
        special = found | (words & self._special) if self._special else found
        if len(new) <= MOST and sum(map(len, new)) <= LONGEST:
            if len(self._known) > MOST:
                self._known, self._special = set(), set()
            self._known |= new
            self._special |= found
        return special
