"""What a style sheet names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.links.css import extract, references


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a { background: url(b.png) }", ["b.png"]),
        ("a { background: URL(  'b.png'  ) }", ["b.png"]),
        ('a { src: url("b.woff2") format("woff2"), url(c.woff) }', ["b.woff2", "c.woff"]),
        ("@import \"a.css\" screen; @import url(b.css); @IMPORT 'c.css';", ["a.css", "b.css", "c.css"]),
        ("@import/**/'a.css';", ["a.css"]),
        ("/* url(a) */ b { c: url(d) } /* @import 'e' ", ["d"]),
        ("/* a /* */ b { c: url(d) }", ["d"]),
        ("a::before { content: 'url(b)' }", []),
        ("a { content: '/*'; b: url(c) } /* */", ["c"]),
        ("a { b: url('c\\'d.png') }", ["c'd.png"]),
        ("a { b: url(c\\20 d\\(.png) }", ["c d(.png"]),
        ("a { b: url('c\\\nd') }", ["cd"]),
        ("a { b: url('\\0 \\FFFFFF x') }", ["\ufffd\ufffdx"]),
        ("a { b: url() url('') url(\"\") }", []),
        ("a { b: my-url(c) }", []),
        ("@namespace svg url(http://www.w3.org/2000/svg); a { b: url(c) }", ["c"]),
        ("a { b: url('c }\n d { e: url(f) }", ["f"]),
        ('a { b: image-set("c.png" 1x, "d.png" 2x) } e { content: "f" }', ["c.png", "d.png"]),
        ("a { b: -webkit-image-set(url(c.png) 1x, 'd.png' 2x) } e { content: 'f' }", ["c.png", "d.png"]),
        ("a { b: Image-Set('c.avif' type('image/avif'), 'd.png' calc(1x * 2)); content: 'e' }", ["c.avif", "d.png"]),
        ("a { b: image-set('c.png' 1x; content: 'd' } /* image-set('e') */ f { content: 'g' }", ["c.png"]),
        ("a { content: 'image-set(' 'b' url(c) }", ["c"]),
        ("url(", []),
        ("a{b:url(c", ["c"]),
    ],
)
def test_references(text: str, expected: list[str]) -> None:
    assert list(references(text)) == expected


def test_data_and_places_in_the_document_are_left_out() -> None:
    sheet = b"a { b: url(data:image/svg+xml;utf8,<svg>) url(#c) url('d.svg#e') }"
    assert extract(sheet, "http://h/css/a.css").resources == ("http://h/css/d.svg",)


def test_references_are_resolved_against_the_sheet() -> None:
    assert extract(b"@import '../b.css'", "http://h/css/sub/a.css").resources == ("http://h/css/b.css",)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("url(é?é)".encode("latin-1"), "text/css; charset=latin-1"),
        ('@charset "iso-8859-1"; url(é?é)'.encode("latin-1"), "text/css"),
        ('@charset "utf-8"; url(é?é)'.encode("latin-1"), "text/css; charset=latin-1"),
        ("url(é?é)".encode(), None),
    ],
)
def test_encodings(body: bytes, content_type: str | None) -> None:
    assert extract(body, "http://h/", content_type).resources[0].startswith("http://h/%C3%A9?%")


@given(
    st.lists(
        st.sampled_from(["url(", ")", "'", '"', "\\", "/*", "*/", "@import ", "image-set(", "\n", "a", "(", ";"])
    ).map("".join)
)
def test_never_raises(text: str) -> None:
    list(references(text))


@given(st.binary(), st.none() | st.text(max_size=20))
def test_never_raises_on_bytes(body: bytes, content_type: str | None) -> None:
    extract(body, "http://h/", content_type)


@given(st.text(st.characters(exclude_characters="\r\f", exclude_categories=["Cs"]), min_size=1))
def test_what_is_quoted_is_read_back(name: str) -> None:
    quoted = "".join(f"\\{ord(c):x} " if c in '"\\\n\0' and c != "\0" else c for c in name)
    assert list(references(f'a {{ b: url("{quoted}") }}')) == [name]
