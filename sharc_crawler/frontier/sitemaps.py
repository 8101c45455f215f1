"""Sitemaps: which of those named by other sitemaps are read, and lastmods of known pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.addresses.urls import host_of, machine_of
from sharc_crawler.frontier.admission import Admitter
from sharc_crawler.frontier.capture import SiteCapture
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.frontier.parts import Admission
from sharc_crawler.model import Instant, PageId, Sighting
from sharc_crawler.state.pages import PageTable

MAX_SITEMAP_DEPTH = 5  #: index files within index files
MAX_NESTED_SITEMAPS = 1_000  #: named by nested index files, in one run: sitemaps.org allows none
TOO_DEEP = f"more than {MAX_SITEMAP_DEPTH} sitemap indexes within each other"
TOO_NESTED = f"more than {MAX_NESTED_SITEMAPS:,} sitemaps of indexes within indexes"
ELSEWHERE = "a sitemap index names another site's sitemap"


def why_not(admitter: Admitter, pages: PageTable, scope: Admission, key: str, parent: PageId, depth: int) -> str | None:
    """Return why a sitemap that ``parent`` names is not read, else ``None``.

    An index may name sitemaps of its own host or of the site; robots.txt and people may name any.
    """
    if depth > MAX_SITEMAP_DEPTH:
        return TOO_DEEP
    if admitter.host_of(key) != admitter.host_of(pages.urls[parent]) and scope.why_not(key) is not None:
        return ELSEWHERE
    if depth > 1:  # an index within an index
        admitter.nested += 1
        if admitter.nested > MAX_NESTED_SITEMAPS:
            return TOO_NESTED
    return None


def ingest(
    ledger: Ledger,
    find_canonical: Callable[[str], str | None],
    capture: SiteCapture,
    named: Sequence[Sighting],
    read: Instant,
) -> None:
    """Pass the lastmods of known pages to the mode.

    Only a sitemap's word on its own host is evidence: any site may list another's pages.
    """
    for sighting in named:
        hints = sighting.hints
        if hints is None or hints.lastmod is None:
            continue
        page = capture.seen.get(sighting.key or sighting.url)
        if page == UNSEEN and (key := sighting.key or sighting.canonical or find_canonical(sighting.url)):
            page = capture.seen.get(key)
        if page == UNSEEN:
            continue
        if capture.mode.attests and not _speaks_for(sighting.via, ledger.pages.urls[page], find_canonical):
            continue
        ledger.dated(page, read, hints.lastmod, hints.lastmod_precision)
        capture.mode.ingest(page, read, hints)


def _speaks_for(sitemap: str, url: str, find_canonical: Callable[[str], str | None]) -> bool:
    """Is the sitemap on the page's machine? One that no document named was given by whoever runs the crawl."""
    if "://" not in sitemap or host_of(sitemap) == host_of(url):
        return True
    one, other = (machine_of(host_of(find_canonical(text) or text)) for text in (sitemap, url))
    return one == other
