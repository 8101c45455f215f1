"""One site's part of an instant crawl: its hubs by their page numbers, and which further pages may be hubs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import cast

from sharc_crawler.model import Instant, PageId
from sharc_crawler.polling.polls import Polls


class SitePolls:
    """Says what :class:`~sharc_crawler.polling.polls.Polls` says, of one site."""

    def __init__(self, polls: Polls) -> None:
        self._polls = polls

    @property
    def room(self) -> int:
        """How many more hubs of this site may be tried."""
        return self._polls.room

    def open(self, now: Instant) -> bool:
        """Does the site have hubs that are still to be polled?"""
        return self._polls.open(self, now)

    def add(self, page: PageId, host: int, trial: bool = False) -> None:
        """Add a hub."""
        self._polls.add((self, page), (self, host), self, trial)

    def drop(self, page: PageId, host: int) -> None:
        """The hub is none."""
        self._polls.drop((self, page), (self, host), self)

    def due(self, host: int, now: Instant) -> Instant:
        """When a hub of the host is to be polled, or the crawl ends; inf: never."""
        return self._polls.due((self, host), now)

    def take(self, host: int, now: Instant) -> PageId | None:
        """The hub of this host that has waited longest for its poll; ``None``: none is due."""
        hub = self._polls.take((self, host), now)
        return None if hub is None else cast("tuple[SitePolls, PageId]", hub)[1]

    def on_trial(self, page: PageId) -> bool:
        """Whether a hub found on a new page has yet to show what no other shows."""
        return self._polls.on_trial((self, page))

    def barren(self, page: PageId) -> bool:
        """Whether it is a found hub that shows nothing which the others do not show."""
        return self._polls.barren((self, page))

    def last(self, page: PageId) -> Instant | None:
        """Start of the hub's last poll that brought an answer."""
        return self._polls.last((self, page))

    def news(self, page: PageId) -> None:
        """The hub's answer that is being read names a page that was not known."""
        self._polls.news((self, page))

    def polled(self, page: PageId, started: Instant, alone: bool = False) -> None:
        """A poll brought an answer."""
        self._polls.polled((self, page), started, alone)

    def missed(self, page: PageId, started: Instant) -> None:
        """A poll brought none."""
        self._polls.missed((self, page), started)


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
