"""What counts as content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.changes.content import ContentDetector
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.changes.fingerprint import fingerprint
from sharc_crawler.changes.masks import Mask
from sharc_crawler.errors import UsageError
from sharc_crawler.plugins import load

PAGE = """<!DOCTYPE html><html><head><title>A page</title><meta name=csrf content=1><script nonce=a>var t = 1;</script>
<style>p { color: red }</style></head><body class=one><!-- served by 7 -->
<p>Some <b>text</b> here, <time datetime=2026-01-01T00:00:00Z>today</time>.</p>
<form><input type=hidden name=csrf value=abc></form>
<a href="/next?page=2&amp;csrf_token=abc#top">next</a> <img src="/a.png?v=1" alt="A picture"></body></html>"""


def of(page: str, masks: tuple[Mask, ...] = ()) -> str:
    return fingerprint(page.encode(), "text/html", masks)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("content=1", "content=2"),
        ("nonce=a", "nonce=b"),
        ("var t = 1;", "var t = 2; document.write('x')"),
        ("color: red", "color: blue"),
        ("class=one", "class=two data-time=7"),
        ("<!-- served by 7 -->", "<!-- served by 8 -->"),
        ("datetime=2026-01-01T00:00:00Z", "datetime=2026-01-02T00:00:00Z"),
        ("value=abc", "value=def"),
        ("csrf_token=abc", "csrf_token=def"),
        ("?v=1", "?v=2"),
        ("Some <b>", " Some\n\t<b>"),
        ("</form>", "</form><script>1</script>"),
    ],
)
def test_what_does_not_count(old: str, new: str) -> None:
    assert old in PAGE
    assert of(PAGE.replace(old, new)) == of(PAGE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<b>text</b>", "<b>prose</b>"),
        ("A page", "A book"),
        ("today", "yesterday"),
        ("page=2", "page=3"),
        ("/next?", "/last?"),
        ("#top", "#bottom"),
        ("/a.png", "/b.png"),
        ("A picture", "A photo"),
        (">next</a>", ">next</a><a href=/more></a>"),
        ("</html>", "</html><p>more</p>"),
    ],
)
def test_what_counts(old: str, new: str) -> None:
    assert old in PAGE
    assert of(PAGE.replace(old, new)) != of(PAGE)


def test_text_behind_what_is_left_out_counts() -> None:
    assert of("<p>a<script>x</script>b") != of("<p>a<script>x</script>c")
    assert of("<p>a<input>b") != of("<p>a<input>c")


def test_parameters_are_taken_out_cleanly() -> None:
    volatile = ["", "&token=5", "&_=99#edit-4f2a9c0b", "&ts=1795000000", f"&PHPSID={SESSION}", "&X-Amz-Signature=f"]
    variants = [f"/a?x=1{added}" for added in volatile]
    assert len({of(f"<a href='{link}'>a</a>") for link in variants}) == 1
    assert of("<a href='/a?sessionid=4'>a</a>") == of("<a href=/a>a</a>")
    assert of("<a href='/a;jsessionid=4'>a</a>") == of("<a href=/a>a</a>")


SESSION, OTHER = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"


@pytest.mark.parametrize(
    ("tag", "old", "new"),
    [
        ("<a href='{}'>a</a>", "/a?x_=1", "/a?x_=2"),
        ("<a href='{}'>a</a>", "/a?tokenId=1", "/a?tokenId=2"),
        ("<a href='{}'>a</a>", "/talks?session_id=12", "/talks?session_id=13"),
        ("<a href='{}'>a</a>", "/#/news/5", "/#/news/6"),
        ("<a href='{}'>a</a>", f"/media/{SESSION}/minutes.pdf", f"/media/{OTHER}/minutes.pdf"),
        ("<a href=/a title='{}'></a>", "Open until 5", "Open until 6"),
        ("<a href=/a aria-label='{}'></a>", "Page 5", "Page 6"),
        ("<img src='{}'>", "/image.php?id=5", "/image.php?id=6"),
        ("<img src='{}'>", "/_next/image?url=%2Fa.jpg&w=640", "/_next/image?url=%2Fb.jpg&w=640"),
        ("<img src='{}'>", "data:image/gif;base64,AAAA", "data:image/gif;base64,BBBB"),
        ("<img src=/blank.gif data-src='{}'>", "/a.jpg", "/b.jpg"),
        ("<img srcset='{}'>", "/a-1.jpg 1x, /a-2.jpg 2x", "/a-1.jpg 1x, /b-2.jpg 2x"),
        ("<picture><source srcset='{}'><img src=/a.jpg></picture>", "/a.webp", "/b.webp"),
        ("<div style=\"background: url('{}')\"></div>", "/a.jpg", "/b.jpg"),
        ("<video poster='{}'></video>", "/a.jpg", "/b.jpg"),
        ("<object data='{}'></object>", "/a.pdf", "/b.pdf"),
        ("<iframe data-src='{}'></iframe>", "https://video.example/a", "https://video.example/b"),
        ("<video data-poster='{}'></video>", "/a.jpg", "/b.jpg"),
        ("<svg><image xlink:href='{}'/></svg>", "/a.png", "/b.png"),
        ("<map><area href=/a alt='{}'></map>", "North", "South"),
        ("<input placeholder='{}'>", "Search 400 books", "Search 500 books"),
        ("<ol start={}><li>a</ol>", "3", "4"),
        ("<progress value={} max=9></progress>", "3", "4"),
        ("<div><template shadowrootmode=open>{}</template></div>", "Price 5", "Price 6"),
    ],
)
def test_what_counts_in_attributes_and_addresses(tag: str, old: str, new: str) -> None:
    assert of(tag.format(old)) != of(tag.format(new))


def test_a_session_is_told_from_a_document_by_how_many_links_have_its_id() -> None:
    pages = ["".join(f"<a href='/{name}/{page}'>a</a>" for page in "abc") for name in (SESSION, OTHER)]
    assert len(set(map(of, pages))) == 1


@pytest.mark.parametrize(
    ("tag", "old", "new"),
    [
        ("<img src='{}'>", "/a.png?cache=1", "/a.png?cache=2"),
        ("<img srcset='{}'>", "/a.png?v=1 1x", "/a.png?v=2 640w"),
        ("<div style='{}'></div>", "width: 3px", "width: 4px"),
        ("<a href='{}'>a</a>", "#collapse-5f3a2b", "#collapse-77c1d9"),
        ("<input value='{}'>", "5", "6"),
        ("<input type=hidden title=a value='{}'>", "5", "6"),
    ],
)
def test_what_does_not_count_in_attributes_and_addresses(tag: str, old: str, new: str) -> None:
    assert of(tag.format(old)) == of(tag.format(new))


def test_masks() -> None:
    masks = (Mask("//*[@id='visitors']"), Mask("//footer"))
    one, two = ("<p>Hi<b id=visitors>{0}</b> you</p><footer>{0} ms</footer>".format(n) for n in (1, 2))  # noqa: UP032
    assert of(one) != of(two)
    assert of(one, masks) == of(two, masks)
    assert of(one.replace("you", "me"), masks) != of(one, masks)


@pytest.mark.parametrize("mask", ["//[", "count(//a)", "//a/@href"])
def test_a_mask_that_selects_no_elements_is_named(mask: str) -> None:
    with pytest.raises(UsageError, match="masks="):
        of("<a href=b>c</a>", (Mask(mask),))


def test_a_mask_that_cannot_be_read_stops_before_the_first_page() -> None:
    with pytest.raises(UsageError, match=r"masks='//\[' is not an XPath expression"):
        Mask("//[")


@pytest.mark.parametrize("media_type", ["text/plain", "image/png", None, ""])
@pytest.mark.parametrize("body", [b"<p>a <b>", b""])
def test_of_other_kinds_every_byte_counts(body: bytes, media_type: str | None) -> None:
    assert fingerprint(body, media_type) == labelled_digest(body)


def test_one_text_in_two_encodings_is_one_content() -> None:
    page = "<p>café"
    assert fingerprint(page.encode("latin-1"), "text/html; charset=latin-1") == fingerprint(
        page.encode(), "Text/HTML; charset=utf-8"
    )


@pytest.mark.parametrize("encoding", ["koi8-r", "windows-1251"])
@pytest.mark.parametrize("meta", ["<meta charset={}>", ""])
def test_an_edit_of_a_page_in_another_encoding_than_is_said(encoding: str, meta: str) -> None:
    one, other = (f"{meta.format(encoding)}<p>{word}</p>".encode(encoding) for word in ("дом", "том"))
    assert fingerprint(one, "text/html; charset=utf-8") != fingerprint(other, "text/html; charset=utf-8")


def test_of_a_page_that_is_too_deep_to_be_read_every_byte_counts() -> None:
    assert of("<div>" * 5_000 + "<p>a") != of("<div>" * 5_000 + "<p>b")


@pytest.mark.slow
@given(st.binary() | st.text().map(lambda text: f"<p>{text}<a href='{text}'>".encode("utf-8", "replace")))
def test_any_body_has_one_fingerprint(body: bytes) -> None:
    assert fingerprint(body, "text/html") == fingerprint(body, "text/html")


def test_the_detector_is_known_by_name() -> None:
    detector = load("detector", "content")()
    assert isinstance(detector, ContentDetector)
    assert detector.fingerprint(PAGE.encode(), "text/html") == of(PAGE)
