"""Links of a memento as the page had them: without the archive's banner and without its addresses around them."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from sharc_crawler.links.document import extract

_BANNER = b"<!-- BEGIN WAYBACK TOOLBAR INSERT -->", b"<!-- END WAYBACK TOOLBAR INSERT -->"
_ARCHIVED = re.compile(r"/\d{4,14}(?:[a-z]{2}_)?/(https?:/{1,2}.*)", re.IGNORECASE | re.DOTALL)
_STAMPED = re.compile(r"/\d{14}(?:[a-z]{2}_)?/(https?:/{1,2}.*)", re.IGNORECASE | re.DOTALL)
_ONE_SLASH = re.compile(r"(https?:)/+", re.IGNORECASE)


def memento_links(body: bytes, original: str, memento: str, content_type: str | None = None) -> frozenset[str]:
    """The links in a replayed document: relative ones against the original URL, the archive's own left out.

    >>> page = b'<a href="/web/20200101000000/http://a.org/b">b</a><a href="c">c</a><a href="http://x.net/help">?</a>'
    >>> sorted(memento_links(page, "http://a.org/", "http://x.net/web/20200101000000/http://a.org/"))
    ['http://a.org/b', 'http://a.org/c']
    """
    archive = urlsplit(memento).netloc
    links = extract(_without_banner(body), original, content_type).links
    plain = (_unwrapped(url) for url in links)
    return frozenset(url for url in plain if urlsplit(url).netloc != archive)


def _without_banner(body: bytes) -> bytes:
    """A page has one; a body that begins it a thousand times without an end is looked through once."""
    before, begin, rest = body.partition(_BANNER[0])
    _, end, after = rest.partition(_BANNER[1])
    return before + after if begin and end else body


def original_of(memento: str) -> str | None:
    """The URL that a memento's address is of, where it says so, with the instant of its capture.

    >>> original_of("https://x.net/web/20200101000000id_/http://a.org/b"), original_of("http://a.org/")
    ('http://a.org/b', None)
    """
    match = _STAMPED.search(memento)
    return _ONE_SLASH.sub(r"\1//", match[1], count=1) if match else None


def _unwrapped(url: str) -> str:
    match = _ARCHIVED.search(url)
    return _ONE_SLASH.sub(r"\1//", match[1], count=1) if match else url
