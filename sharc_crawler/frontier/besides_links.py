"""What is admitted besides a document's links, on some sites only.

These are targets of redirects, sitemaps that others name, what a browser loads, and URLs to which a shorter way was
found. A sitemap's lastmods are taken here, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urlsplit

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.addresses.urls import host_of, machine_of
from sharc_crawler.links.files import ENDING
from sharc_crawler.model import Kind, Sighting
from sharc_crawler.state.pages import NO_PARENT

if TYPE_CHECKING:
    from sharc_crawler.frontier.admission import Admitter
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.finishing import Ended
    from sharc_crawler.frontier.leasing import Leases
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.opening import Admission, Opener
    from sharc_crawler.model import Fetch, Instant, Outcome, PageId
    from sharc_crawler.state.pages import PageTable

Canonical = Callable[[str], str | None]

MOST = 20  #: redirects followed in a row, as in browsers
#: URLs of pages or log-ins; marks of a file's URL: its suffix, a signature, words
_PAGE = re.compile(
    r"/$|\.(?:[sx]?html?|php\d?|aspx?|jsp|cgi|do)$"
    r"|(?<![a-z])(?:log[-_]?[io]n|sign[-_]?[io]n|sso|saml\d?|oauth\d?|shibboleth|consent)(?![a-z])",
    re.IGNORECASE,
)
_FILE = re.compile(rf"\.(?:{ENDING}|jpe?g|png|gif|tiff?|webp|jp2)$", re.IGNORECASE)
_SIGNED = re.compile(r"(?:^|&)(?:response-content-|filename=|x-amz-|signature=|sig=)", re.IGNORECASE)
_WORDS = re.compile(r"\b(?:downloads?|bitstreams?|attachments?)\b", re.IGNORECASE)


MAX_SITEMAP_DEPTH = 5  #: index files within index files
MAX_NESTED_SITEMAPS = 1_000  #: named by nested index files, in one run: sitemaps.org allows none
TOO_DEEP = f"more than {MAX_SITEMAP_DEPTH} sitemap indexes within each other"
TOO_NESTED = f"more than {MAX_NESTED_SITEMAPS:,} sitemaps of indexes within indexes"
ELSEWHERE = "a sitemap index names another site's sitemap"
LOADED = "#loaded"  #: suffix of the key of a loaded URL that is also a page, or was a resource and is data now


def followed(admitter: Admitter, pages: PageTable, ended: Ended) -> list[Sighting]:
    """Return where a redirect leads, unless it is one too many in a row, or leads to a file on another host.

    Such a file is admitted at once, as a resource of the page that names it.
    """
    capture, fetch, location = ended.capture, ended.fetch, ended.outcome.location or ""
    first = pages.named_as(fetch.page)
    if pages.depths[fetch.page] - pages.depths[first] >= MOST:
        capture.note(f"a page redirects without end, and may want a cookie: {MOST} redirects in a row are followed")
        return []
    spec, parent = capture.spec, pages.parents[first]
    elsewhere = fetch.kind is Kind.PAGE and (capture.scope.why_not(location) or "").startswith("another ")
    if not (elsewhere and spec.discover and spec.resources and is_file(fetch.url, location)):
        return [redirected(admitter.canonical, capture, fetch, location)]
    if parent != NO_PARENT and pages.kinds[parent] is not Kind.PAGE:
        parent = NO_PARENT  # a sitemap's
    depth = pages.depths[fetch.page] + 1
    admitter.admit(capture, [Sighting(location, Kind.RESOURCE, fetch.url)], ended.now, parent, depth)
    return []


def is_file(url: str, location: str) -> bool:
    """Do the two URLs of a redirect look as if it leads to a file?

    >>> is_file("http://h/bitstreams/7/download", "https://s3.example/ab12?X-Amz-Signature=0")
    True
    >>> is_file("http://h/a.pdf", "https://login.example/sso?to=a.pdf"), is_file("http://h/7", "https://o.example/8")
    (False, False)
    """
    own, there = urlsplit(url), urlsplit(location)
    if _FILE.search(there.path):
        return True
    if not there.path or _PAGE.search(there.netloc + there.path):
        return False
    named = _FILE.search(own.path) or _SIGNED.search(there.query)
    return bool(named or _WORDS.search(own.path) or _WORDS.search(own.query))


def redirected(canonical: Canonical, capture: SiteCapture, fetch: Fetch, location: str) -> Sighting:
    """Return where a redirect leads. Another spelling of the same URL becomes a page of its own.

    This is done once only: a site may redirect to new spellings for ever (session ids).
    """
    target = urldefrag(location).url
    own = canonical(fetch.url)
    same = own == canonical(location) and target != fetch.url
    if own is None or not same or capture.seen.get(own) != fetch.page:
        return Sighting(location, fetch.kind, fetch.url)
    return Sighting(target, fetch.kind, fetch.url, key=target if target != own else f"{own}#")


def widen(pages: PageTable, capture: SiteCapture, page: PageId, location: str) -> bool:
    """Widen the scope if a seed redirects out of it."""
    seed = pages.depths[page] == 0 and pages.urls[page] in capture.spec.seeds
    moved = seed and pages.kinds[page] in (Kind.PAGE, Kind.HUB) and bool(capture.scope.why_not(location))
    if moved:
        capture.widen(location)
        capture.note(f"the seed {pages.urls[page]} redirects to {location}: the capture follows it there")
    return moved


def open_moved(opener: Opener, admitter: Admitter, capture: SiteCapture, location: str, now: Instant) -> None:
    """Open the host that a seed redirects to, and admit its pages that earlier sitemaps named."""
    target = admitter.canonical(location)
    if target is None:
        return
    opener.open_host(capture, admitter.host_of(target), target)
    listed = capture.front.take_elsewhere()
    admitter.admit(capture, listed, now)
    admitter.ingest(capture, listed, now)


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
    ledger: Ledger, canonical: Canonical, capture: SiteCapture, named: Sequence[Sighting], read: Instant
) -> None:
    """Pass the lastmods of known pages to the mode.

    Only a sitemap's word on its own host is evidence: any site may list another's pages.
    """
    for sighting in named:
        hints = sighting.hints
        if hints is None or hints.lastmod is None:
            continue
        page = capture.seen.get(sighting.key or sighting.url)
        if page == UNSEEN and (key := sighting.key or sighting.canonical or canonical(sighting.url)):
            page = capture.seen.get(key)
        if page == UNSEEN:
            continue
        if capture.mode.attests and not _speaks_for(sighting.via, ledger.pages.urls[page], canonical):
            continue
        ledger.dated(page, read, hints.lastmod, hints.lastmod_precision)
        capture.mode.ingest(page, read, hints)


def _speaks_for(sitemap: str, url: str, canonical: Canonical) -> bool:
    """Is the sitemap on the page's machine? One that no document named was given by whoever runs the crawl."""
    if "://" not in sitemap or host_of(sitemap) == host_of(url):
        return True
    one, other = (machine_of(host_of(canonical(text) or text)) for text in (sitemap, url))
    return one == other


class PageLoads:
    """The resources that the pages of one frontier load while browsers show them."""

    def __init__(self, ledger: Ledger, admitter: Admitter, leases: Leases) -> None:
        self._ledger = ledger
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
        key = self._admitter.canonical(url)
        if key is None or mark:
            return key and f"{key}#{mark}"
        seen, kinds = self._ledger.capture.seen, self._ledger.pages.kinds
        while (known := seen.get(key)) != UNSEEN and kinds[known] not in {kind, Kind.DATA}:
            key += LOADED
        return key


def take_in(ledger: Ledger, admitter: Admitter, now: Instant) -> bool:
    """Admit, before T, URLs left out for ``hops`` that are within them by all links known now.

    Return ``False`` until all links are followed: call again.
    """
    from sharc_crawler.traps.trails import AT_ONCE, MOST_IN_A_ROW, ShortestWays, trails  # on few sites only

    capture, pages = ledger.capture, ledger.pages
    if capture.turned:
        return True
    if capture.ways is None or capture.ways.pages != len(pages):
        capture.ways = ShortestWays(pages, ledger.links())
    ways, hops = capture.ways, capture.spec.hops
    if (depths := ways.after(AT_ONCE)) is None:
        return False
    left, capture.far, capture.ways = capture.far, {}, None
    lengths = trails(pages)
    for url, parent in left.items():
        depth = int(depths[parent] + ways.links[parent])
        if parent != NO_PARENT and depth <= hops and lengths[parent] < hops + MOST_IN_A_ROW:  # else another site's
            admitter.admit(capture, [Sighting(url, Kind.PAGE, pages.urls[parent])], now, parent, depth)
    return True
