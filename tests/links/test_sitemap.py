"""Sitemaps: limits, garbage, robots.txt, and real files."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.links.entries import SitemapKind
from sharc_crawler.links.robots_rules import robots_sitemaps
from sharc_crawler.links.sitemap import mended, read

if TYPE_CHECKING:
    from pathlib import Path

HTML_PAGE = "an HTML page, not a sitemap"
URL = "http://h/sitemap.xml"


def address_list(count: int) -> bytes:
    return b"<urlset>%s</urlset>" % b"".join(b"<url><loc>http://h/%d</loc></url>" % i for i in range(count))


def test_the_limit_on_entries() -> None:
    for body in (address_list(12), b"\n".join(b"http://h/%d" % i for i in range(12))):
        found = read(body, URL, most_entries=10)
        assert len(found.entries) == 10
        assert found.problems == ("1 × address above the limit of 10, and all after it",)
    assert read(address_list(10), URL, most_entries=10).problems == ()


def test_the_limit_on_bytes() -> None:
    body = address_list(1_000)
    for packed in (body, gzip.compress(body)):
        found = read(packed, URL, most_bytes=1_000)
        assert 10 < len(found.entries) < 40
        assert found.problems[0] == "more than 1,000 bytes: the rest is left out"


@pytest.mark.slow
def test_a_full_sitemap_is_read() -> None:
    assert len(read(address_list(50_000), URL).entries) == 50_000


@pytest.mark.parametrize("filler", [b"<a/>", b"<a", b"<x:a b='c'/>", b"</a>", b"&#0;", b"<url>", b"<!-- a -->"])
def test_bombs_without_entries_end(filler: bytes) -> None:
    """In time that grows with their size: else they would not, before a test's time is over."""
    found = read(b"<urlset><url><loc>http://h/</loc></url>" + filler * (8_000_000 // len(filler)), URL)
    assert [entry.loc for entry in found.entries] in (["http://h/"], [])


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"{}", "neither XML nor a list of addresses"),
        (b"<", "not XML"),
        (b"<!-- -->", "XML, but neither a sitemap nor a feed"),
        (b"<a><b/></a>", "XML, but neither a sitemap nor a feed"),
        (b"<html><url><loc>http://h/</loc></url></html>", HTML_PAGE),
        (b"<HTML><BODY></BODY></HTML>", HTML_PAGE),
        (b"\x89PNG\r\n\x1a\n", "neither XML nor a list of addresses"),
        (b"\x89PNG\r\n\x1a\n\x00\n/\xa7\x12\n/x", "neither XML nor a list of addresses"),
        (b"/\x00a\n/\x07b\n", "neither XML nor a list of addresses"),
        (b"To whom it may concern:\nsee\nhttp://h/a\n", "neither XML nor a list of addresses"),
        (b"<!doctype html><title>x</title>", HTML_PAGE),
        (b"\n<!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 4.01//EN'><p>x", HTML_PAGE),
        (b"\xef\xbb\xbf<!-- a\n --> <!-- b --><!DocType\nHtml><body>", HTML_PAGE),
        ("\ufeff<!doctype html>".encode("utf-16-le"), HTML_PAGE),
        (b"<?xml version='1.0'?><!doctype html><Html lang=en>", HTML_PAGE),
        (b"<!-- -->" * 50_000 + b"<htm>", "XML, but neither a sitemap nor a feed"),
    ],
)
def test_what_is_no_sitemap_is_named(body: bytes, problem: str) -> None:
    found = read(body, URL)
    assert (found.kind, found.entries) == (SitemapKind.UNREADABLE, ())
    assert found.problems[0] == problem


def test_sitemaps_without_entries_have_their_kind() -> None:
    for body, kind in ((b"<urlset/>", SitemapKind.URLSET), (b"<sitemapindex><sitemap/>", SitemapKind.INDEX)):
        assert (read(body, URL).kind, read(body, URL).entries) == (kind, ())


def test_markup_within_an_address_is_not_believed() -> None:
    found = read(b"<urlset><url><loc>http://h/<b>a</b></loc></url></urlset>", URL)
    assert (found.entries, found.problems) == ((), ("1 × address with an entity or markup in it",))


def test_an_entity_between_the_elements_is_passed_over() -> None:
    body = b"<!DOCTYPE a [<!ENTITY x 'y'>]><urlset><url>&x;<loc>http://h/</loc></url></urlset>"
    assert [entry.loc for entry in read(body, URL).entries] == ["http://h/"]


def test_an_address_is_absolute_or_from_the_root() -> None:
    locs = ["/a", "//g/b", "c", "ftp://h/d", "HTTP://H/e", "http://", "http://h/f#g", "javascript:h()"]
    body = b"<urlset>%s</urlset>" % "".join(f"<url><loc>{loc}</loc></url>" for loc in locs).encode()
    assert [entry.loc for entry in read(body, URL).entries] == ["http://h/a", "http://g/b", "HTTP://H/e", "http://h/f"]


PIECES = st.sampled_from(
    ["<urlset>", "<url>", "<loc>", "</loc>", "</url>", "<lastmod>", "</lastmod>", "http://h/", "<?xml version='1.0'?>",
     "<![CDATA[", "]]>", "<!--", "-->", "&", "&amp;", "&x;", "<!DOCTYPE a [", "<!ENTITY x 'y'>", "]>", "<rss>",
     "<item>", "<link>", "<feed>", "<entry>", "<link href='/a'/>", "2020", "\0", "\ufeff", "<html>", "\n"]
)  # fmt: skip


@pytest.mark.slow
@given(st.lists(PIECES | st.text(max_size=3)).map("".join), st.sampled_from(["utf-8", "utf-16", "utf-32", "latin-1"]))
def test_never_raises(text: str, encoding: str) -> None:
    for body in (text.encode(encoding, "replace"), gzip.compress(text.encode(encoding, "replace"))):
        found = read(body, URL)
        assert all(entry.loc.lower().startswith("http") for entry in found.entries)
        assert found.kind is not SitemapKind.UNREADABLE or (found.problems and not found.entries)


@given(st.binary())
def test_never_raises_on_bytes(body: bytes) -> None:
    read(body, URL)


@pytest.mark.slow
@given(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1), unique=True))
def test_what_is_written_is_read(names: list[str]) -> None:
    locs = [f"http://h/{number}?a=b&amp;c={name}" for number, name in enumerate(names)]
    body = "<urlset>" + "".join(f"<url><loc>{loc}</loc></url>" for loc in locs) + "</urlset>"
    found = read(body.encode(), URL)
    assert len(found.entries) == len(names)
    assert found.problems == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sitemap: http://h/a.xml", ["http://h/a.xml"]),
        ("User-agent: *\r\n  SITEMAP :\t/a.xml # comment\r\nSite-map: b.xml", ["http://h/a.xml", "http://h/b.xml"]),
        ("\ufeffsitemap:http://h/a.xml\nsitemap: http://h/a.xml", ["http://h/a.xml"]),
        ("# Sitemap: http://h/a.xml\nSitemap:\nDisallow: /sitemap: x", []),
        ("Sitemap: ftp://h/a.xml", []),
    ],
)
def test_robots(text: str, expected: list[str]) -> None:
    assert list(robots_sitemaps(text, "http://h/robots.txt")) == expected


#: name: kind, entries, problems, lastmods, changefreqs
REAL = {
    "0install.txt": ("text", 4, 0, 0, 0),
    "360sports18-news.xml": ("urlset", 2, 0, 0, 0),
    "ache-duplicate-loc.xml": ("urlset", 3, 1, 1, 2),
    "ajitsing-unrendered-jekyll-news.xml": ("urlset", 0, 2, 0, 0),
    "crawler-commons-badns.xml": ("urlset", 2, 0, 0, 2),
    "crawler-commons-bom.txt": ("text", 2, 0, 0, 0),
    "derived-utf8-bom.xml": ("urlset", 3, 0, 0, 0),
    "digitalpebble-basic.xml": ("urlset", 5, 0, 5, 5),
    "digitalpebble-ext-all.xml": ("urlset", 6, 0, 5, 5),
    "digitalpebble-ext-image.xml": ("urlset", 5, 0, 5, 5),
    "digitalpebble-ext-news.xml": ("urlset", 5, 0, 5, 5),
    "digitalpebble-ext-video.xml": ("urlset", 5, 0, 5, 5),
    "feedparser-invalid-bytes-bom-feed.xml": ("rss", 0, 1, 0, 0),
    "feedparser-utf16le-bom-feed.xml": ("rss", 0, 0, 0, 0),
    "guardian.rss.gz": ("rss", 169, 0, 169, 0),
    "nutch-latin1.rss": ("rss", 2, 0, 0, 0),
    "refinebio-oneline-index.xml": ("index", 2, 0, 0, 0),
    "scrapy-alternate.xml": ("urlset", 3, 0, 0, 0),
    "scrapy-comment.xml": ("urlset", 1, 0, 0, 0),
    "scrapy-sitemap-blanklines.xml": ("index", 3, 0, 3, 0),
    "scrapy-sitemap-strip.xml": ("urlset", 2, 0, 1, 1),
    "scrapy-sitemap-wrong-ns.xml": ("urlset", 2, 0, 1, 1),
    "shinpaideshou-wordpress-news.xml": ("urlset", 3, 0, 0, 0),
    "sitemaps.org.xml": ("urlset", 84, 0, 84, 0),
    "sitemaps.org.xml.gz": ("urlset", 84, 0, 84, 0),
    "trafilatura-hreflang.xml": ("urlset", 3, 0, 0, 0),
    "trafilatura-index-cdata-gz.xml": ("index", 2, 0, 2, 0),
    "tripadvisor-index.xml": ("index", 4, 0, 4, 0),
}


@pytest.mark.parametrize("name", REAL)
def test_real_files(name: str, shared_data: Path) -> None:
    found = read((shared_data / "sitemaps" / name).read_bytes(), URL)
    lastmods = sum(entry.hints.lastmod is not None for entry in found.entries)
    frequencies = sum(entry.hints.changefreq is not None for entry in found.entries)
    assert (found.kind, len(found.entries), len(found.problems), lastmods, frequencies) == REAL[name]


def test_real_robots(shared_data: Path) -> None:
    text = (shared_data / "sitemaps" / "scrapy-sitemap-urls-from-robots.robots.txt").read_text()
    assert robots_sitemaps(text, "http://example.com/robots.txt")[1:] == (
        "http://example.com/sitemap-product-index.xml",
        "HTTP://example.com/sitemap-uppercase.xml",
        "http://example.com/sitemap-relative-url.xml",
    )


def test_an_index_whose_entries_have_no_address_is_a_problem() -> None:
    found = read(b"<sitemapindex><sitemap><url>http://h/a.xml</url></sitemap><sitemap/></sitemapindex>", URL)
    assert found.entries == ()
    assert "2 × entry without <loc>" in found.problems


def test_what_follows_the_beginning_of_a_section_without_end_belongs_to_it():
    """Looked for from each of 100,000 beginnings, an end that is not there would take minutes."""
    body = b"<urlset>" + b"<![CDATA[ & " * 100_000 + b"<loc>"
    assert mended(body) == (body, [])


def test_pages_in_other_languages_are_named() -> None:
    """With an entry of its own, or without: the entry's lastmod stays."""
    body = b"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:x="http://www.w3.org/1999/xhtml"
        xmlns:i="http://www.google.com/schemas/sitemap-image/1.1" xmlns:v="http://www.google.com/schemas/sitemap-video/1.1">
      <url><loc>http://h/a</loc><x:link rel="alternate" hreflang="de" href="http://h/de/a"/>
        <x:link rel="alternate" hreflang="fr" href="http://h/fr/a"/><i:image><i:loc>http://h/1.png</i:loc></i:image>
        <i:image><i:loc>http://h/2.png</i:loc></i:image></url>
      <url><loc>http://h/de/a</loc><lastmod>1970-01-02</lastmod><v:video><v:thumbnail_loc>/t.jpg</v:thumbnail_loc>
        <v:content_loc>http://h/f.mp4</v:content_loc><v:player_loc>http://p/</v:player_loc></v:video></url></urlset>"""
    found = read(body, "http://h/s.xml")
    assert [(entry.loc, entry.hints.lastmod) for entry in found.entries] == [
        ("http://h/a", None),
        ("http://h/de/a", 86_400.0),
        ("http://h/fr/a", None),
    ]
    assert found.problems == ()
