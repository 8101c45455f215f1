"""Pages that are made to cost time or memory: read with bounded work, and the same as before where they are not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharc_crawler.bodies.markup import MOST_ATTRIBUTES, MOST_BYTES, MOST_TAGS, Scanner, bounded, few_attributes, parse

PIECES = [
    b"<p ", b"<a ", b"</p ", b"<p", b">", b"/>", b"/", b" ", b"=", b'"', b"'", b"x", b"b=c ", b" d='e' ", b' f="g" ',
    b"h i j k ", b"<!--", b"-->", b"--!>", b"--", b"<![CDATA[", b"]]>", b"<!", b"<?", b"</", b"<", b"&quot;",
    b"<script>", b"</script>", b"<script ", b"<style>", b"</style ", b"<title>", b"</title>", b"<textarea>",
    b"</textarea>", b"<iframe ", b"</iframe>", b"<svg>", b"<noscript>", b"<noframes>", b"</noframes>", b"<xmp>",
    b"<plaintext>", b"\n", b"\t", b"\f", b"\0", b"\xc3\xa9",
]  # fmt: skip
SOUP = st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join)
FEW = Scanner(2)
THOROUGH = Scanner(2)  #: looks at every tag
THOROUGH.long = re.compile(rb"")


@pytest.mark.slow
@settings(max_examples=5 * settings.default.max_examples)
@given(SOUP)
def test_no_tag_keeps_more_attributes_than_allowed(data: bytes) -> None:
    """Whatever quotes, comments, CDATA sections and scripts are about."""
    root, _ = parse(few_attributes(data, FEW)[0])
    if root is not None:
        assert max(len(element.attrib) for element in root.iter()) <= 2


@pytest.mark.slow
@settings(max_examples=5 * settings.default.max_examples)
@given(SOUP)
def test_short_tags_are_told_without_a_closer_look(data: bytes) -> None:
    assert few_attributes(data, FEW) == few_attributes(data, THOROUGH)


@pytest.mark.parametrize(
    "page", [b"<p a='>' b c d>", b'<p a=">" b c d>', b"<p a = '>'b='>'c='>'>", b"<p a=b c d", b"<p/a/b/c>"]
)
def test_a_value_may_hold_the_sign_for_a_tags_end(page: bytes) -> None:
    assert few_attributes(page, FEW)[1] == 1


@given(SOUP)
def test_ordinary_markup_is_left_as_it_is(data: bytes) -> None:
    assert bounded(data) == (data, ())


def attributes(count: int) -> bytes:
    return b" ".join(b"a%d=%d" % (number, number) for number in range(count))


@pytest.mark.parametrize(
    "page",
    [
        b"<p %b>text</p><a href=/b>",
        b"<p x='<' %b>text</p><a href=/b>",
        b"<!-- <a '> --><p %b /><a href=/b>",
        b"<script>'<a'</script><p %b><a href=/b>",
        b"<p %b</p><a href=/b>",
        b"<script %b>'<a '</script><a href=/b>",
        b"<script><!-- <a '</script><p %b><a href=/b>",
        b"<p %b><p %b><a href=/b>",
    ],
)
def test_a_tag_with_100000_attributes_costs_no_more_than_its_length(page: bytes) -> None:
    """The parser would need minutes for each."""
    data, left_out = bounded(page.replace(b"%b", attributes(100_000)))
    assert len(data) < 10_000
    assert left_out
    root, _ = parse(data)
    assert len(root.xpath("//@a0")) == page.count(b"%b")
    if b"</p><a" not in page or b"%b>" in page:
        assert root.xpath("//a/@href") == ["/b"], "what follows is read"


def test_as_many_attributes_as_are_allowed() -> None:
    for count, left_out in ((MOST_ATTRIBUTES, ()), (MOST_ATTRIBUTES + 1, ("attributes after the first 256 of 1 tag",))):
        data = b"<p " + attributes(count) + b">"
        assert bounded(data).left_out == left_out


def test_long_documents_are_read_in_part() -> None:
    assert bounded(b"<b>" * MOST_TAGS).left_out == ()
    data, left_out = bounded(b"<b>" * (MOST_TAGS + 1))
    assert (data.count(b"<"), left_out) == (MOST_TAGS, ("all after its first 250,000 tags",))
    data, left_out = bounded(b"a" * (MOST_BYTES + 1))
    assert (len(data), left_out) == (MOST_BYTES, ("all after its first 16,777,216 bytes",))
