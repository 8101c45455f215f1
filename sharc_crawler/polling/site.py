"""One site's view of the polls: it knows its hubs by their page numbers, its hosts by theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
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
        """One more hub."""
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
        """Is it a hub found on a new page that has yet to show what no other shows?"""
        return self._polls.on_trial((self, page))

    def barren(self, page: PageId) -> bool:
        """Is it one that shows nothing which the others do not show?"""
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
