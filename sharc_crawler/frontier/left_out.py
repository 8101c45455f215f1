"""What a capture was shown and does not take."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sharc_crawler.known_urls import UNSEEN, SeenUrls

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_LISTED = 20_000  #: per capture; beyond that URLs are counted by reason, not listed
_FEW = 16  #: places: many sites leave out hardly any


class LeftOut:
    """URLs that a capture was shown and does not take: counted by reason, and listed once each, up to a number.

    Those that were listed are remembered by hash, in some 20 bytes each.

    >>> left = LeftOut(most=1)
    >>> left.add("http://a/", "scope"), left.add("http://a/", "scope"), left.add("http://b/", "scope")
    (True, False, False)
    >>> left.reasons["scope"]
    3
    """

    def __init__(self, most: int = MOST_LISTED) -> None:
        self.reasons: Counter[str] = Counter()  #: reason → URLs, as often as they were seen
        self._most = most
        self._listed = SeenUrls(_FEW)

    def add(self, url: str, reason: str) -> bool:
        """Is it to be listed: new, and not one too many?"""
        self.reasons[reason] += 1
        return len(self._listed) < self._most and self._listed.add(url, 0) == UNSEEN

    def was_listed(self, url: str) -> None:
        """By a former process."""
        self._listed.add(url, 0)

    def restore(self, reasons: Mapping[str, int]) -> None:
        """As counted by former processes."""
        self.reasons = Counter(reasons)
