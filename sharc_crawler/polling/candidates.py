"""Pages that may be hubs: those that new pages lead back to, as articles do to their section and to an index."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LEAST = 3  #: new pages that name a candidate
KEPT = 5_000  #: URLs that are counted, so that a crawl without end needs no memory without end


class HubCandidates:
    """How many new pages name which URL.

    >>> candidates = HubCandidates()
    >>> for article in ("/a", "/b", "/c"): candidates.named(["/politics/", article])
    >>> list(candidates.taken()), list(candidates.taken())
    (['/politics/'], [])
    """

    def __init__(self) -> None:
        self._pages: Counter[str] = Counter()

    def named(self, urls: Iterable[str]) -> None:
        """A new page names these URLs."""
        self._pages.update(set(urls))
        if len(self._pages) > KEPT:
            self._pages = Counter(dict(self._pages.most_common(KEPT // 2)))

    def taken(self) -> Iterator[str]:
        """Pages that enough new pages name, the most named first; each that is asked for is counted anew."""
        for url, pages in self._pages.most_common():
            if pages < LEAST:
                return
            del self._pages[url]
            yield url
