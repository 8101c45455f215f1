"""What a page leaves to scripts to load, when it is seen."""

from __future__ import annotations

import pytest

from sharc_crawler.links.html import extract


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<img src='data:image/gif;base64,R0lGOD' data-src=a.png data-srcset='b.png 2x'>", ["a.png", "b.png"]),
        (
            "<img data-original='/d/a.JPEG?b'><img data-lazy=b/c><img data-src=' d e.png '>",
            ["a.JPEG?b", "b/c", "d%20e.png"],
        ),
        ("<img data-lazy-src=//h/d/a.png data-lazy-srcset='b.png 1x, c.png 2x'>", ["a.png", "b.png", "c.png"]),
        ("<picture><source data-srcset=a.webp></picture>", ["a.webp"]),
        ("<iframe data-src=a.html></iframe><iframe data-lazy-src=http://h/d/b></iframe>", ["a.html", "b"]),
        ("<video data-poster=a.jpg data-src=b.mp4></video>", ["b.mp4", "a.jpg"]),
        ("<div data-bg=a.png></div><p data-background-image='b.png'></p>", ["a.png", "b.png"]),
        ("<div data-bg='url(a.png)'></div><div data-background=\"url('b.png')\"></div>", ["a.png", "b.png"]),
        ("<img data-src=true data-lazy=lazy data-original=1.5>", []),
        ("<img data-src='{{ a.png }}' data-srcset='${a}/b.png 2x'><img data-src='<%= a.png %>'>", []),
        ("<div data-bg=dark></div><div data-background='#fff'></div><div data-bg='none'></div>", []),
        ("<div data-src=a.png></div><script data-src=a.js></script>", []),
    ],
)
def test_what_scripts_load_late(body: str, expected: list[str]) -> None:
    assert extract(body.encode(), "http://h/d/page").resources == tuple(f"http://h/d/{name}" for name in expected)
