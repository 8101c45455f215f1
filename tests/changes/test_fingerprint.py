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
from sharc_crawler.model import Change, Outcome, Result
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
        ("#top", "#bottom"),
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
    variants = ["/a?x=1", "/a?x=1&token=5", "/a?x=1&_=99#f"]
    assert len({of(f"<a href='{link}'>a</a>") for link in variants}) == 1
    assert of("<a href='/a?sessionid=4'>a</a>") == of("<a href=/a>a</a>")
    assert of("<a href='/a;jsessionid=4'>a</a>") == of("<a href=/a>a</a>")
    assert of("<a href='/a?x_=1'>a</a>") != of("<a href='/a?x_=2'>a</a>")


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


@given(st.binary() | st.text().map(lambda text: f"<p>{text}<a href='{text}'>".encode("utf-8", "replace")))
def test_any_body_has_one_fingerprint(body: bytes) -> None:
    assert fingerprint(body, "text/html") == fingerprint(body, "text/html")


def test_the_detector_is_known_by_name() -> None:
    detector = load("detector", "content")()
    assert isinstance(detector, ContentDetector)
    assert detector.fingerprint(PAGE.encode(), "text/html") == of(PAGE)
    old, new = (Outcome(Result.OK, 0.0, 1.0, digest=digest, fingerprint="same") for digest in ("sha1:A", "sha1:B"))
    assert detector.compare(old, new).change is Change.CHANGED
