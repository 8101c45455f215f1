"""What a capture was shown and does not take."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_LISTED = 20_000  #: per capture; beyond that URLs are counted by reason, not listed


class LeftOut:
    """URLs that a capture was shown and does not take: counted by reason, and listed once each, up to a number.

    Those that were listed are remembered by hash, in some 60 bytes each.

    >>> left = LeftOut(most=1)
    >>> left.add("http://a/", "scope"), left.add("http://a/", "scope"), left.add("http://b/", "scope")
    (True, False, False)
    >>> left.reasons["scope"]
    3
    """

    def __init__(self, most: int = MOST_LISTED) -> None:
        self.reasons: Counter[str] = Counter()  #: reason → URLs, as often as they were seen
        self._most = most
        self._listed: set[int] = set()

    def add(self, url: str, reason: str) -> bool:
        """Is it to be listed: new, and not one too many?"""
        self.reasons[reason] += 1
        number = hash(url)
        if number in self._listed or len(self._listed) >= self._most:
            return False
        self._listed.add(number)
        return True

    def was_listed(self, url: str) -> None:
        """By a former process."""
        self._listed.add(hash(url))

    def restore(self, reasons: Mapping[str, int]) -> None:
        """As counted by former processes."""
        self.reasons = Counter(reasons)
