"""Pictures that galleries, sliders and magnifiers show."""

from __future__ import annotations

import pytest

from sharc_crawler.bodies.markup import parsed
from sharc_crawler.links.files import told
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
        ("<div data-images='/a.jpg,/b.jpg|/w_3,h_2/c.jpg?d=1,2; /e.jpg'>", ["a", "b", "/w_3,h_2/c.jpg?d=1,2", "e"]),
        ("<p DATA-A = '&#47;a&#46;jpg'><p data-bg\n=/b><p data-b=/c&period;png>", ["/a.jpg", "/b", "/c.png"]),
        ('<p title="data-x=\'" data-a="/a.jpg"><p title= data-b= data-c = "/b.jpg">', ["/a.jpg", "/b.jpg"]),
        ("data-x=\"<!-- data-y=' --><a data-z data-a=/a.jpg>", ["/a.jpg"]),
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
    full = [one if "." in one or one[0] == "/" else f"/{one}.jpg" for one in expected]
    found = extract(body.encode(), URL)
    assert list(found.resources) == [f"http:{'' if one.startswith('//') else '//h'}{one}" for one in full]
    assert found.links == ()


@pytest.mark.matrix
@pytest.mark.parametrize("text", ["/a.jpg?", "/a.jpg,", "/a.jpg,/", ", ", "%41", "//h/", ".jpg", "a/", "'/a.jpg", "|"])
def test_the_worst_values_are_read_in_linear_time(text: str) -> None:
    """A minute and more where it is a square."""
    long = text * (1_000_000 // len(text))
    extract(f'<p data-a="{long}"><script>{long}</script>'.encode(), URL)
    extract(f'<p data-a="/{long}.jpg"><p data-b="/{long}%.jpg">'.encode(), URL)


@pytest.mark.parametrize("text", ["data-", "data-=", "data-='", "data-a = ", 'data-x="a" '])
def test_many_values_are_looked_at_in_linear_time(text: str) -> None:
    assert told(parsed(b"<p>", None).root, text.encode() * (1_000_000 // len(text))) == []


def test_elements_are_looked_at_where_a_value_tells_something() -> None:
    """Documentation made by Sphinx has such attributes on each page, and no file in any."""
    assert told(None, b"<script data-url_root=\"../\" src='a.js'></script><p data-x=a data-y='b c'>data-a.jpg") == []
    root = parsed(page := b"<p data-x=a.b data-y=c d=e>", None).root
    assert told(root, page) == [("data-x", "a.b"), ("data-y", "c")]
