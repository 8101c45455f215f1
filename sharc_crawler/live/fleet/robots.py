"""Shares robots.txt of machines that several sites ask: what one worker read, the others use for a day.

A site's own robots.txt is always read by its capture, which needs the record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from sharc_crawler.addresses.urls import machine_of
from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.instants import second
from sharc_crawler.links.robots import DISALLOW_ALL, MAX_AGE
from sharc_crawler.model import Fetch, HowMade, Instant, Kind, Outcome, Result

if TYPE_CHECKING:
    from sharc_crawler.frontier.sites import Sites
    from sharc_crawler.live.fleet.clerk import Clerk
    from sharc_crawler.state.rows import HostRow


class SharedRobots:
    """The robots.txt of hosts, in the ledger."""

    def __init__(self, clerk: Clerk) -> None:
        self._clerk = clerk
        self._taken: dict[str, Instant] = {}  #: by host, when it was read
        self._asked: dict[str, Fetch] = {}  #: by site, the fetch that waits for the ledger

    def __contains__(self, site: str) -> bool:
        return site in self._asked

    def may_be_known(self, fetch: Fetch) -> bool:
        """Is it a robots.txt that another site may have read? Then call :meth:`look`."""
        return fetch.kind is Kind.ROBOTS and machine_of(fetch.host) != fetch.site

    async def look(self, fetch: Fetch) -> tuple[Instant, str] | None:
        """When it was read, and its rules; ``None``: not within a day, or the site was dropped meanwhile."""
        self._asked[fetch.site] = fetch
        known = None
        with suppress(StoreUnavailable):  # renewing logs it; robots.txt is read again
            known = await self._clerk.ask(self._clerk.ledger.robots, fetch.host, MAX_AGE)
        if known is not None:
            self._taken[fetch.host] = known[0]
        return known

    def answered(self, fetch: Fetch) -> bool:
        """Whether the answer is still wanted."""
        waits = self._asked.get(fetch.site) is fetch
        if waits:
            del self._asked[fetch.site]
        return waits

    def taken_back(self, site: str) -> Iterator[Fetch]:
        """The fetch of a site, which is not to be made any more."""
        if fetch := self._asked.pop(site, None):
            yield fetch

    async def keep(self, rows: Iterable[HostRow], now: Instant) -> None:
        """Share what a capture read; where a server gave no answer, others ask for themselves."""
        for row in rows:
            known = now - self._taken.get(row.name, 0.0) < MAX_AGE
            if row.robots is not None and row.robots != DISALLOW_ALL and not known:
                self._taken[row.name] = now
                with suppress(StoreUnavailable):
                    await self._clerk.ask(self._clerk.ledger.keep_robots, row.name, row.robots)


def take(sites: Sites, fetch: Fetch, read: Instant, text: str, now: Instant) -> None:
    """Give a site the rules that another one's capture read. Raises :class:`~sharc_crawler.errors.SiteError`."""
    frontier = sites[fetch.site]
    with sites.one_step(fetch.site):
        known = f"{fetch.url} was not asked for: another site's capture read it at {second(read)}"
        frontier.note(HowMade(known))
        sites.finished(fetch, Outcome(Result.OK, now, now, robots=text))
        for host in frontier.ledger.hosts:
            if host.name == fetch.host:
                host.read = read
