"""What a hub's answer names: pages, with their dates where it has any, and further hubs."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from sharc_crawler.links import document, sitemap
from sharc_crawler.links.entries import SitemapKind
from sharc_crawler.model import Kind, Sighting

NEWS = re.compile(r"news", re.IGNORECASE)  #: in the name of a sitemap that lists what is new, as is the custom


def hub_sightings(body: bytes, url: str, content_type: str | None) -> list[Sighting]:
    """Of a feed or news sitemap: its entries. Of an HTML page: its feeds, as hubs, and its links.

    >>> page = b'<link rel="alternate" type="application/rss+xml" href="/rss"><a href="/a">A</a>'
    >>> [(seen.url, seen.kind.value) for seen in hub_sightings(page, "http://h/", "text/html")]
    [('http://h/rss', 'hub'), ('http://h/a', 'page')]
    """
    media_type = (content_type or "").lower()
    if "xml" in media_type and "xhtml" not in media_type:
        found = sitemap.read(body, url)
        if found.kind is not SitemapKind.UNREADABLE:
            return [Sighting(entry.loc, Kind.PAGE, url, entry.hints) for entry in found.entries]
    page = document.extract(body, url, content_type)
    return [
        *(Sighting(feed, Kind.HUB, url) for feed in page.feeds),
        *(Sighting(link, Kind.PAGE, url) for link in page.links),
    ]


def sitemap_sightings(body: bytes, url: str) -> list[Sighting]:
    """Of a site's sitemaps an instant crawl wants those of its news: polled like a feed, the others left alone."""
    found = sitemap.read(body, url)
    if found.kind is SitemapKind.INDEX:
        named = (entry.loc for entry in found.entries)
        return [Sighting(loc, Kind.HUB, url) for loc in named if NEWS.search(urlsplit(loc).path)]
    dated = [entry for entry in found.entries if entry.hints.published is not None]
    if not dated:
        return []
    return [Sighting(url, Kind.HUB, url), *(Sighting(entry.loc, Kind.PAGE, url, entry.hints) for entry in dated)]
