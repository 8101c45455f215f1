"""Dates of pages told again: by sitemaps that are read at T, and where changes are looked out for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.known_urls import UNSEEN
from sharc_crawler.model import Kind
from sharc_crawler.urls import host_of, machine_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence, Set

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.model import Instant, PageId, Sighting


def ingest(
    ledger: Ledger,
    find_canonical: Callable[[str], str | None],
    capture: SiteCapture,
    named: Sequence[Sighting],
    read: Instant,
) -> None:
    """What sitemaps say of the last changes of pages, for who listens.

    Evidence is only what is said of the owner's pages: any site may list another's.
    """
    speakers = _Speakers(ledger, find_canonical, capture)
    for sighting in named:
        hints = sighting.hints
        if hints is None or hints.lastmod is None:
            continue
        page = capture.seen.get(sighting.key or sighting.url)
        if page == UNSEEN and (key := sighting.key or sighting.canonical or find_canonical(sighting.url)):
            page = capture.seen.get(key)
        if page == UNSEEN:
            continue
        if capture.mode.attests and not speakers.speaks_for(sighting.via, ledger.pages.urls[page]):
            continue
        ledger.said(page, read, hints.lastmod, hints.lastmod_precision)
        capture.mode.ingest(page, read, hints)


class _Speakers:
    """Whom sitemaps speak for: their host, and those whose robots.txt names them, or a sitemap that led to them."""

    def __init__(self, ledger: Ledger, find_canonical: Callable[[str], str | None], capture: SiteCapture) -> None:
        self._ledger, self._canonical, self._seen = ledger, find_canonical, capture.seen
        self._owners: dict[str, Set[str]] = {}  # by sitemap

    def speaks_for(self, sitemap: str, url: str) -> bool:
        """Does it, for the owner of a URL? What nothing fetched named, whoever runs the crawl did."""
        if "://" not in sitemap or (owner := _owner(url)) == _owner(sitemap):
            return True
        if sitemap not in self._owners:
            self._owners[sitemap] = set(self._found(self._seen.get(self._canonical(sitemap) or sitemap)))
        return owner in self._owners[sitemap]

    def _found(self, sitemap: PageId) -> Iterator[str]:
        pages = self._ledger.pages
        while sitemap != NO_PARENT and pages.kinds[sitemap] is Kind.SITEMAP:
            url = pages.urls[sitemap]
            yield _owner(url)
            for host in self._ledger.hosts:
                if host.rules and any(self._canonical(one) == url for one in host.rules.sitemaps):
                    yield machine_of(host.name)
            sitemap = pages.parents[sitemap]


def _owner(url: str) -> str:
    return machine_of(host_of(url))
