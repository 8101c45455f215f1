"""Resources that pages load while a browser shows them."""

from __future__ import annotations

from collections.abc import Callable

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.frontier.admission import Admitter
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.frontier.visits.leasing import Leases
from sharc_crawler.model import Fetch, Instant, Kind, Outcome, PageId, Sighting

LOADED = "#loaded"  #: suffix of the key of a loaded URL that is also a page, or was a resource and is data now


class PageLoads:
    """The resources that the pages of one frontier load while browsers show them."""

    def __init__(
        self, ledger: Ledger, canonical: Callable[[str], str | None], admitter: Admitter, leases: Leases
    ) -> None:
        self._ledger = ledger
        self._canonical = canonical
        self._admitter = admitter
        self._leases = leases

    def answered(self, fetch: Fetch, outcome: Outcome) -> None:
        """A page's exchange has ended, but not its visit: a browser loads its resources (:meth:`load`)."""
        self._leases.let_go(fetch, outcome)

    def go_on(self, fetch: Fetch) -> None:
        """Let other visits start while this one takes long."""
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
        """Add a resource or data that a page under visit loads; its host owes it before the next page.

        Return its number, or ``None`` if it is not admitted. A URL that is also a page gets a row of its own as a
        resource; so does data that was a resource before, and each request that ``mark`` tells from others. ``keep``
        is called with the number before it is committed.
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
        """Return the number of what was loaded by this URL before, or ``None``."""
        key = self._key_of(url, kind, mark)
        found = UNSEEN if key is None else self._ledger.capture.seen.get(key)
        return None if found == UNSEEN else found

    def _key_of(self, url: str, kind: Kind, mark: str) -> str | None:
        """Return the key: the URL with its mark, or with suffixes if the URL is known as something else."""
        key = self._canonical(url)
        if key is None or mark:
            return key and f"{key}#{mark}"
        seen, kinds = self._ledger.capture.seen, self._ledger.pages.kinds
        while (known := seen.get(key)) != UNSEEN and kinds[known] not in {kind, Kind.DATA}:
            key += LOADED
        return key
