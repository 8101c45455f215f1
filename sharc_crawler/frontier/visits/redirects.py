"""Where redirects lead: to pages, and, from a seed, out of the scope, which takes its target in then."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from sharc_crawler.model import Kind, Sighting

if TYPE_CHECKING:
    from collections.abc import Callable

    from sharc_crawler.frontier.admission import Admitter
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.opening import Opener
    from sharc_crawler.frontier.pages import PageTable
    from sharc_crawler.model import Fetch, Instant, PageId

    Canonical = Callable[[str], str | None]

MOST = 20  #: redirects in a row that are followed, as browsers do


def followed(
    canonical: Canonical, pages: PageTable, capture: SiteCapture, fetch: Fetch, location: str
) -> list[Sighting]:
    """Where a redirect leads, if it is not one too many of those that led to it."""
    first = pages.named_as(fetch.page)
    if pages.depths[fetch.page] - pages.depths[first] < MOST - 1:
        return [redirected(canonical, capture, fetch, location)]
    capture.note(f"{pages.urls[first]} redirects on and on: it may want a cookie; {MOST} in a row are followed")
    return []


def redirected(canonical: Canonical, capture: SiteCapture, fetch: Fetch, location: str) -> Sighting:
    """Where a redirect leads; another spelling of the same URL is a page of its own, or it would be lost.

    Once: a site that never keeps to one spelling (session ids) leads nowhere.
    """
    target = urldefrag(location).url
    own = canonical(fetch.url)
    same = own == canonical(location) and target != fetch.url
    if own is None or not same or capture.seen.get(own) != fetch.page:
        return Sighting(location, fetch.kind, fetch.url)
    return Sighting(target, fetch.kind, fetch.url, key=target if target != own else f"{own}#")


def widen(pages: PageTable, capture: SiteCapture, page: PageId, location: str) -> bool:
    """A seed that redirects out of its scope takes the scope along."""
    seed = pages.depths[page] == 0 and pages.urls[page] in capture.spec.seeds
    moved = seed and pages.kinds[page] in (Kind.PAGE, Kind.HUB) and bool(capture.scope.why_not(location))
    if moved:
        capture.widen(location)
        capture.note(f"the seed {pages.urls[page]} redirects to {location}: the capture follows it there")
    return moved


def open_moved(opener: Opener, admitter: Admitter, capture: SiteCapture, location: str, now: Instant) -> None:
    """The host that a seed redirects to: its own robots.txt and sitemaps, and what had been read of it before."""
    target = admitter.canonical(location)
    if target is None:
        return
    opener.open_host(capture, admitter.host_of(target), target)
    listed = capture.front.take_elsewhere()
    admitter.admit(capture, listed, now)
    admitter.ingest(capture, listed, now)
