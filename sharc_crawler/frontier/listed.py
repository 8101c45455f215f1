"""Pages that long sitemaps name before a capture's first decision, taken in all at once; and dates told again.

The first does what :class:`~sharc_crawler.frontier.admission.Admitter` does URL by URL, of the usual kind alone: new
pages of one host of the site, whose addresses are canonical as they are. Any other document goes that way.
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

from sharc_crawler.frontier.ledger import NewUrl
from sharc_crawler.frontier.pages import UNRATED
from sharc_crawler.known_urls import UNSEEN
from sharc_crawler.links.unusual import unusual
from sharc_crawler.model import Kind
from sharc_crawler.urls import canonical, host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sharc_crawler.frontier.admission import Admitter, Queuer
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.model import Instant, PageId, Sighting


def enter(
    admitter: Admitter,
    ledger: Ledger,
    queuer: Queuer,
    capture: SiteCapture,
    named: Sequence[Sighting],
    found: Sequence[PageId],
    now: Instant,
    parent: PageId,
    depth: int,
) -> range:
    """They wait for their rates and the strategy; their numbers. None, and nothing is done: they are others.

    ``found``: the numbers of those that are known.
    """
    if not _wait(capture, depth) or not _are_usual(admitter, capture, named, found):
        return range(0)
    urls, host = [one.url for one in named], queuer.host(capture, named[0].url, named[0])
    ledger.hosts[host].has_pages = True
    capture.counts.known(len(named))
    weights = map(capture.rates.weight, named)
    columns = zip(urls, named, repeat(host), repeat(UNRATED), weights, repeat(""), strict=False)
    pages = ledger.add_pages(list(map(NewUrl._make, columns)), depth, parent)
    capture.front.unrated.put_all(pages, list(zip(urls, named, strict=True)))
    for page, sighting in zip(pages, named, strict=True):
        capture.mode.queued(page, parent, sighting, now)
    capture.front.wait(pages)
    return pages


def _wait(capture: SiteCapture, depth: int) -> bool:
    """Does all that is named wait for the first decision, and none is left for its number or its way here?"""
    spec = capture.spec
    bounded = spec.session or spec.limit or 0 < spec.hops < depth
    return capture.strategy is None and not capture.turned and capture.mode.whole and not bounded


def _are_usual(admitter: Admitter, capture: SiteCapture, named: Sequence[Sighting], found: Sequence[PageId]) -> bool:
    """Are they such pages?"""
    urls, kinds, _, _, keyed, hosts, known = zip(*named, strict=True)
    return (
        admitter.canonical is canonical
        and admitter.host_of is host_of
        and found.count(UNSEEN) == len(urls) == len(set(urls))
        and kinds.count(Kind.PAGE) == len(urls)
        and not (any(keyed) or any(hosts) or any(known))
        and not unusual(urls)
        and len(set(map(host_of, urls))) == 1
        and not any(map(capture.scope.why_not, urls))
    )


def ingest(
    ledger: Ledger,
    find_canonical: Callable[[str], str | None],
    capture: SiteCapture,
    named: Sequence[Sighting],
    read: Instant,
) -> None:
    """What sitemaps say of the last changes of pages, for who listens."""
    for sighting in named:
        hints = sighting.hints
        if hints is None or hints.lastmod is None:
            continue
        page = capture.seen.get(sighting.key or sighting.url)
        if page == UNSEEN and (key := sighting.key or sighting.canonical or find_canonical(sighting.url)):
            page = capture.seen.get(key)
        if page == UNSEEN:
            continue
        ledger.said(page, read, hints.lastmod, hints.lastmod_precision)
        capture.mode.ingest(page, read, hints)
