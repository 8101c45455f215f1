"""Each kind of document goes to its reader."""

from __future__ import annotations

import pytest

from sharc_crawler.links.document import extract

BODY = b"<a href=a><style>b { c: url(d) }</style><image href=e />"


@pytest.mark.parametrize(
    ("content_type", "links", "resources"),
    [
        ("text/html; charset=utf-8", ("http://h/a",), ("http://h/d", "http://h/e")),
        (" Text/HTML", ("http://h/a",), ("http://h/d", "http://h/e")),
        (None, ("http://h/a",), ("http://h/d", "http://h/e")),
        ("", ("http://h/a",), ("http://h/d", "http://h/e")),
        ("image/svg+xml", ("http://h/a",), ("http://h/d", "http://h/e")),
        ("text/css", (), ("http://h/d",)),
        ("application/pdf", (), ()),
    ],
)
def test_readers(content_type: str | None, links: tuple[str, ...], resources: tuple[str, ...]) -> None:
    found = extract(BODY, "http://h/", content_type)
    assert (found.links, found.resources) == (links, resources)


def test_an_svg_document_links_as_it_embeds() -> None:
    body = b"""<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">
    <image xlink:href="/i.png"/><a xlink:href="/page"><use xlink:href="sprite.svg#x"/></a><a href="/other"/></svg>"""
    found = extract(body, "http://h/d/x.svg", "image/svg+xml")
    assert found.links == ("http://h/page", "http://h/other")
    assert found.resources == ("http://h/i.png", "http://h/d/sprite.svg")


@pytest.mark.parametrize("kind", ["text/xml", "application/xml; charset=utf-8", "application/tei+xml", "image/svg+xml"])
def test_an_xml_document_is_shown_by_its_style_sheets(kind: str) -> None:
    body = b"""<?xml version="1.0"?>
    <?xml-stylesheet type="text/css" href="a.css?b&amp;c"?>
    <?xml-stylesheet alternate="no" href = '/b.xsl' type="text/xsl"?>
    <?xml-stylesheet type="text/css"?><x:d xmlns:x="urn:x"/>"""
    assert extract(body, "http://h/d/x", kind).resources == ("http://h/d/a.css?b&c", "http://h/b.xsl")


@pytest.mark.parametrize("kind", ["text/xsl", "application/xslt+xml", "text/xml"])
def test_an_xsl_sheet_includes_others(kind: str) -> None:
    body = b"""<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
    <xsl:import href="a.xsl"/><xsl:include xml:lang="x" href='b.xsl' /><a href="no"/><xsl:import-schema href="no"/>"""
    assert extract(body, "http://h/d/x", kind).resources == ("http://h/d/a.xsl", "http://h/d/b.xsl")
    assert extract(body.replace(b"XSL/Transform", b"other"), "http://h/d/x", kind).resources == ()


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (
            b"""<TEI xmlns="http://www.tei-c.org/ns/1.0"><facsimile><surface><graphic width="9" url="a/1.jpg?b&amp;c"/>
            <graphic url="http://iiif.example/2.jpg"/></surface></facsimile><text><ref target="no"/>
            <media mimeType="audio/mpeg" url='/b.mp3'/><graphic/></text></TEI>""",
            ("http://h/d/a/1.jpg?b&c", "http://h/b.mp3"),
        ),
        (
            b"""<mets:mets xmlns:mets="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink"><mets:file>
            <mets:FLocat LOCTYPE="URL" xlink:href="http://h/1.tif"/></mets:file>
            <mets:mptr xlink:href="no"/></mets:mets>""",
            ("http://h/1.tif",),
        ),
        (
            b'<ead xmlns="urn:isbn:1-931666-22-9"><dao xlink:href="1.pdf"/><extref href="no"/></ead>',
            ("http://h/d/1.pdf",),
        ),
        (b'<rss><media url="no.jpg"/><graphic url="no.jpg"/></rss>', ()),
    ],
    ids=["TEI", "METS", "EAD", "another"],
)
def test_what_describes_a_work_names_its_files_on_its_own_host(body: bytes, named: tuple[str, ...]) -> None:
    assert extract(body, "http://h/d/x.xml", "application/xml").resources == named


HLS = b"""#EXTM3U\r
#EXT-X-VERSION:6
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",URI="audio/en.m3u8",NAME="English"
#EXT-X-KEY:METHOD=AES-128,URI="/key"
#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
low/list.m3u8
#EXTINF:4.0,a title\r
https://cdn.example/1.ts\r

#EXT-X-ENDLIST
"""


@pytest.mark.parametrize("kind", ["application/vnd.apple.mpegurl", "audio/x-mpegurl", "text/plain", None])
def test_a_playlist_names_the_pieces_of_a_film(kind: str | None) -> None:
    named = ("http://h/d/audio/en.m3u8", "http://h/key", "http://h/d/low/list.m3u8", "https://cdn.example/1.ts")
    assert extract(HLS, "http://h/d/x.m3u8", kind or "application/octet-stream").resources == named


def test_plain_playlists_and_bounds() -> None:
    assert extract(b"a.mp3\n# c\nhttp://h/b.mp3\n", "http://h/", "audio/mpegurl").resources == (
        "http://h/a.mp3",
        "http://h/b.mp3",
    )
    pls = b"[playlist]\nNumberOfEntries=1\nFile1=a.mp3\nTitle1=b\nLength1=-1\n"
    assert extract(pls, "http://h/", "audio/x-scpls").resources == ("http://h/a.mp3",)
    many = b"".join(b"%d.ts\n" % number for number in range(20_000))
    assert len(extract(many, "http://h/", "audio/mpegurl").resources) == 6_000
    assert extract(b"a.ts\n" * 300_000, "http://h/", "audio/mpegurl").resources == ()


@pytest.mark.parametrize(
    "body", [b"<?xml-stylesheet " * 60_000, b"<?xml-stylesheet " + b"href='a' " * 60_000, b"\xff" * 9]
)
def test_broken_xml_costs_little(body: bytes) -> None:
    assert len(extract(body, "http://h/", "text/xml").resources) <= 1


@pytest.mark.parametrize("kind", ["application/rss+xml", "application/atom+xml", "text/xml"])
def test_a_feed_in_pages_goes_on_at_its_host(kind: str) -> None:
    """RFC 5005."""
    body = b"""<?xml version="1.0"?><rss xmlns:atom="http://www.w3.org/2005/Atom"><channel>
    <atom:link rel="self" href="/feed"/><atom:link href="/feed?paged=2&amp;x=1" rel="next"/>
    <a:link rel='prev-archive' href='archive/2025.xml'/><link rel="next" href="http://g/feed?p=2"/><link>/next</link>
    <item><link href="/p.html" rel="alternate"/><description>&lt;link rel="next" href="/d"/&gt;</description></item>"""
    found = extract(body, "http://h/b/feed", kind)
    assert found.links == ("http://h/feed?paged=2&x=1", "http://h/b/archive/2025.xml")
    assert found.resources == ()
