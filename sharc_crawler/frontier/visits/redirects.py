"""Follow redirects: to pages; from a seed out of the scope, which is then widened; to files on other hosts."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urldefrag, urlsplit

from sharc_crawler.frontier.admission import Admitter
from sharc_crawler.frontier.capture import SiteCapture
from sharc_crawler.frontier.opening import Opener
from sharc_crawler.frontier.visits.finishing import Ended
from sharc_crawler.links.files import ENDING
from sharc_crawler.model import Fetch, Instant, Kind, PageId, Sighting
from sharc_crawler.state.pages import NO_PARENT, PageTable

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
