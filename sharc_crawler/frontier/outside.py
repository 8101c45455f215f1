"""Which URLs were listed already as not belonging to a capture: bounded, since the web is not."""

from __future__ import annotations

MOST_LISTED = 20_000  #: per capture; beyond that URLs are counted by reason, not listed


class Outside:
    """Remembers them by hash, some 60 bytes each.

    >>> outside = Outside(most=1)
    >>> outside.add("http://a/"), outside.add("http://a/"), outside.add("http://b/")
    (True, False, False)
    """

    def __init__(self, most: int = MOST_LISTED) -> None:
        self._most = most
        self._listed: set[int] = set()

    def add(self, url: str) -> bool:
        """Is it to be listed: new, and not one too many?"""
        number = hash(url)
        if number in self._listed or len(self._listed) >= self._most:
            return False
        self._listed.add(number)
        return True
