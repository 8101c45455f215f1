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
