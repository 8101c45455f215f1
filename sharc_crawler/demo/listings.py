"""| The demo site's robots.txt and sitemaps, whose hints are true in the site's own time."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from html import escape

from sharc_crawler.demo.layout import HOUR, PRIVATE, SECTIONS
from sharc_crawler.instants import second
from sharc_crawler.model import Instant, Rate, Seconds

INDEX = "/sitemap.xml"
#: path → section; one is gzipped
SITEMAPS = {
    "/sitemap-site.xml": "site",
    **{f"/sitemap-{s.name}.xml{'.gz' if s.name == 'docs' else ''}": s.name for s in SECTIONS if s.listed},
}

#: changefreq → mean time between changes of a site that lives in real time
PERIODS: dict[str, Seconds] = {
    "hourly": HOUR,
    "daily": 24 * HOUR,
    "weekly": 7 * 24 * HOUR,
    "monthly": 30 * 24 * HOUR,
    "yearly": 365 * 24 * HOUR,
}

XMLNS = "http://www.sitemaps.org/schemas/sitemap/0.9"


def changefreq(rate: Rate, scale: float) -> str:
    """The frequency nearest to a rate, on a logarithmic scale, in the time of a site that lives ``scale`` times faster.

    >>> changefreq(1 / 4000, scale=1), changefreq(1 / 100, scale=720)
    ('hourly', 'daily')
    """
    period = scale / rate
    return min(PERIODS, key=lambda name: max(PERIODS[name] / period, period / PERIODS[name]))


def robots(base: str, crawl_delay: Seconds | None, sitemaps: Iterable[str] = ()) -> bytes:
    """Closes one folder. ``base``: the site's address without a path; ``sitemaps``: further ones."""
    delay = [] if crawl_delay is None else [f"Crawl-delay: {crawl_delay:g}"]
    folder = PRIVATE.rpartition("/")[0]
    named = [f"Sitemap: {base}{path}" for path in (INDEX, *sitemaps)]
    return "\n".join(["User-agent: *", f"Disallow: {folder}/", *delay, "", *named, ""]).encode()


def sitemap_index(base: str) -> bytes:
    """The sitemap of sitemaps."""
    entries = "".join(f"<sitemap><loc>{escape(base + path)}</loc></sitemap>\n" for path in SITEMAPS)
    return _xml("sitemapindex", entries)


def entry(url: str, modified: Instant, frequency: str, priority: float) -> str:
    """The entry of a page; ``modified`` is cut to the second."""
    return (
        f"<url><loc>{escape(url)}</loc><lastmod>{second(modified)}</lastmod>"
        f"<changefreq>{frequency}</changefreq><priority>{priority}</priority></url>\n"
    )


def sitemap(path: str, entries: Iterable[str]) -> bytes:
    """A sitemap of pages, gzipped where its path says so."""
    body = _xml("urlset", "".join(entries))
    return gzip.compress(body, mtime=0) if path.endswith(".gz") else body


def _xml(root: str, entries: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="{XMLNS}">\n{entries}</{root}>\n'.encode()
