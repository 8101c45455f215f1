"""Which of a site's sitemaps an instant crawl polls."""

from __future__ import annotations

import pytest

from sharc_crawler.model import Kind
from sharc_crawler.polling.reading import sitemap_sightings

NEWS = 'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
PAGE = "<url><loc>http://h/a</loc></url>"
DATED = (
    "<url><loc>http://h/a</loc><news:news><news:publication_date>2026-11-20</news:publication_date></news:news></url>"
)


@pytest.mark.parametrize(
    ("name", "spaces", "entries", "polled"),
    [
        ("sitemap.xml", "", PAGE, False),
        ("sitemap.xml", NEWS, PAGE, False),  # of all pages, none dated
        ("sitemap.xml", NEWS, DATED, True),
        ("latest.xml", NEWS, "", True),  # a quiet site's: it lists the last two days
        ("news-sitemap.xml", "", "", True),
        ("news-sitemap.xml", "", PAGE, True),
        ("sitemap.xml", "", "", False),
    ],
)
def test_those_of_news_are_polled(name, spaces, entries, polled):
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    body = f'<?xml version="1.0"?><urlset xmlns="{space}" {spaces}>{entries}</urlset>'.encode()
    found = sitemap_sightings(body, f"http://h/{name}")
    assert [one.url for one in found if one.kind is Kind.HUB] == [f"http://h/{name}"] * polled
    assert [one.url for one in found if one.kind is Kind.PAGE] == ["http://h/a"] * (polled and bool(entries))


def test_what_cannot_be_read_is_none():
    assert sitemap_sightings(b"<html>not found</html>", "http://h/news.xml") == []
