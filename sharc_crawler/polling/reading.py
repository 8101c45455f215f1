"""Read a hub's answer: pages, with dates if it has any, and further hubs."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from sharc_crawler.links import document, sitemap
from sharc_crawler.links.entries import SitemapKind
from sharc_crawler.model import Kind, Sighting

NEWS = re.compile(r"news", re.IGNORECASE)  #: usual in the names of news sitemaps
NAMESPACE = b"schemas/sitemap-news/"
ROOT = re.compile(rb"<(?:rss|feed|rdf:RDF|urlset|sitemapindex)[\s>]")
HEAD = 2_000  #: bytes searched for the root element of a feed


def hub_sightings(body: bytes, url: str, content_type: str | None) -> list[Sighting]:
    """Return what a hub names: a feed's or news sitemap's entries, or an HTML page's feeds (as hubs) and links.

    >>> page = b'<link rel="alternate" type="application/rss+xml" href="/rss"><a href="/a">A</a>'
    >>> [(seen.url, seen.kind.value) for seen in hub_sightings(page, "http://h/", "text/html")]
    [('http://h/rss', 'hub'), ('http://h/a', 'page')]
    """
    if _is_list(body, (content_type or "").lower()):
        found = sitemap.read(body, url)
        if found.kind is not SitemapKind.UNREADABLE:
            return [Sighting(entry.loc, Kind.PAGE, url, entry.hints) for entry in found.entries]
    page = document.extract(body, url, content_type)
    return [
        *(Sighting(feed, Kind.HUB, url) for feed in page.feeds),
        *(Sighting(link, Kind.PAGE, url) for link in page.links),
    ]


def _is_list(body: bytes, media_type: str) -> bool:
    """Is it to be read as a feed or sitemap? Many a feed is served as text, some as HTML."""
    if "xml" in media_type and "xhtml" not in media_type:
        return True
    head = body[:HEAD]
    return "html" not in media_type or (bool(ROOT.search(head)) and b"<html" not in head.lower())


def sitemap_sightings(body: bytes, url: str) -> list[Sighting]:
    """Which of a site's sitemaps an instant crawl wants: those of its news, polled like a feed.

    That of a quiet site is empty: it lists the last two days.
    """
    found = sitemap.read(body, url)
    if found.kind is SitemapKind.INDEX:
        named = (entry.loc for entry in found.entries)
        return [Sighting(loc, Kind.HUB, url) for loc in named if NEWS.search(urlsplit(loc).path)]
    dated = any(entry.hints.published is not None for entry in found.entries)
    of_news = dated or NEWS.search(urlsplit(url).path) or (not found.entries and NAMESPACE in body[:HEAD])
    if found.kind is SitemapKind.UNREADABLE or not of_news:
        return []
    pages = (Sighting(entry.loc, Kind.PAGE, url, entry.hints) for entry in found.entries)
    return [Sighting(url, Kind.HUB, url), *pages]
