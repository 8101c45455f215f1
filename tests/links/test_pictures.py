"""Pictures that galleries, sliders and magnifiers show."""

from __future__ import annotations

import pytest

from sharc_crawler.links.html import extract

URL = "http://h/d/page"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<a data-pswp-src=/a.jpg>", ["/a.jpg"]),
        ("<a data-src=/a.jpg data-responsive='/b.jpg 375, /c.jpg 480' data-poster=/d.jpg>", ["a", "b", "c", "d"]),
        ("<img data-flickity-lazyload=/a.jpg data-zoom-image=z/b.jpg>", ["/a.jpg", "/d/z/b.jpg"]),
        ("<p data-image-src=//g/a.jpg><li data-thumb=../b.JPG?c#d>", ["//g/a.jpg", "/b.JPG?c"]),
        ("<img data-orig-file=http://g/a.jpg data-large-file='/b c.jpg'>", ["//g/a.jpg"]),
        ('<div data-gallery=\'[{"src":"/a.jpg","thumb":"t/b.jpg"}]\'>', ["/a.jpg", "/d/t/b.jpg"]),
        (r'<div data-settings="[{&quot;url&quot;:&quot;http:\/\/h\/a.jpg&quot;}]">', ["/a.jpg"]),
        ("<div data-images='/a.jpg,/b.jpg|/w_3,h_2/c.jpg?d=1,2; /e.jpg'>", ["/a", "/b", "/w_3,h_2/c.jpg?d=1,2", "/e"]),
        (
            "<script>var s = ['/a.jpg', 'http://h/b.png?c']; o = {image: '/d.webp'}</script>",
            ["/a.jpg", "/b.png?c", "/d.webp"],
        ),
        ("<div data-name=a.jpg data-title='of /a.jpg' data-pin=/share?media=/a.jpg data-link=/a.jpg.html>", []),
        ("<div data-file=/wiki/File:a.jpg data-u='/{id}.jpg' data-v=/%s/a.jpg data-w=/[size].jpg data-x=/d/.jpg>", []),
        ("<script>p = '/' + d + '.jpg'; q = 'i/a.jpg'; r = 'http://g/a.jpg'; s = '/w/File:a.jpg'</script>", []),
        ('<script type=application/ld+json>{"image": "/a.jpg"}</script><!-- <p data-a=/a.jpg> -->', []),
    ],
)
def test_pictures_that_scripts_show(body: str, expected: list[str]) -> None:
    full = [one if "." in one else f"/{one.lstrip('/')}.jpg" for one in expected]
    found = extract(body.encode(), URL)
    assert list(found.resources) == [f"http:{'' if one.startswith('//') else '//h'}{one}" for one in full]
    assert found.links == ()


@pytest.mark.parametrize("text", ["/a.jpg?", "/a.jpg,", "/a.jpg,/", ", ", "%41", "//h/", ".jpg", "a/", "'/a.jpg", "|"])
def test_the_worst_values_are_read_in_linear_time(text: str) -> None:
    """A minute and more where it is a square."""
    long = text * (1_000_000 // len(text))
    extract(f'<p data-a="{long}"><script>{long}</script>'.encode(), URL)
    extract(f'<p data-a="/{long}.jpg"><p data-b="/{long}%.jpg">'.encode(), URL)
