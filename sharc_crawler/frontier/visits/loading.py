"""What pages load whose visits are under way: a browser shows them."""

from __future__ import annotations

from collections.abc import Callable

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.frontier.admission import Admitter
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.frontier.visits.leasing import Leases
from sharc_crawler.model import Fetch, Instant, Kind, Outcome, PageId, Sighting

LOADED = "#loaded"  #: ends the key of what a page loads, and is a page itself, or a resource that is data now


class PageLoads:
    """What the pages of one frontier load while browsers show them."""

    def __init__(
        self, ledger: Ledger, canonical: Callable[[str], str | None], admitter: Admitter, leases: Leases
    ) -> None:
        self._ledger = ledger
        self._canonical = canonical
        self._admitter = admitter
        self._leases = leases

    def answered(self, fetch: Fetch, outcome: Outcome) -> None:
        """A page's exchange is over, its visit is not: a browser loads what it needs (:meth:`load`)."""
        self._leases.let_go(fetch, outcome)

    def go_on(self, fetch: Fetch) -> None:
        """That takes long: others are visited meanwhile."""
        self._leases.hold_up_no_more(fetch)

    def load(
        self,
        fetch: Fetch,
        url: str,
        kind: Kind,
        now: Instant,
        mark: str = "",
        keep: Callable[[PageId], None] = lambda _: None,
    ) -> PageId | None:
        """A page whose visit is under way loads this: a resource or data, which its host owes before the next page.

        ``None``: the capture does not take it. What is a page of the site, too, is a resource of its own beside it;
        so is data that was a resource before, and each request for a URL that a ``mark`` tells from others. ``keep``
        is told of it before a crash would leave it known.
        """
        key = self._key_of(url, kind, mark)
        if key is None or fetch.page >= len(self._ledger.pages):
            return None
        sighting = Sighting(url, kind, fetch.url, key=key)
        self._admitter.admit(
            self._ledger.capture, [sighting], now, fetch.page, self._ledger.pages.depths[fetch.page] + 1
        )
        page = self.loaded(url, kind, mark)
        if page is not None:
            keep(page)
        self._ledger.commit()
        return page

    def loaded(self, url: str, kind: Kind, mark: str = "") -> PageId | None:
        """What a page loaded by this before; ``None``: nothing."""
        key = self._key_of(url, kind, mark)
        found = UNSEEN if key is None else self._ledger.capture.seen.get(key)
        return None if found == UNSEEN else found

    def _key_of(self, url: str, kind: Kind, mark: str) -> str | None:
        """What is loaded is known by its URL, its mark, and whether that is something else, too."""
        key = self._canonical(url)
        if key is None or mark:
            return key and f"{key}#{mark}"
        seen, kinds = self._ledger.capture.seen, self._ledger.pages.kinds
        while (known := seen.get(key)) != UNSEEN and kinds[known] not in {kind, Kind.DATA}:
            key += LOADED
        return key
