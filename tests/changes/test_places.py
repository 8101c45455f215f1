"""Expressions for an element find it, and nothing else, on its own page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html

from sharc_crawler.changes.places import Places

NAMES = st.sampled_from(["p", "div", "b"])
CLASSES = st.sampled_from(["", " class=a", " class=b", " class='a b'", " class=p7", " id=x", " id=comment-17"])
ELEMENTS = st.recursive(
    st.builds("<{0}{1}>".format, NAMES, CLASSES),
    lambda inner: st.builds(
        lambda name, own, parts: f"<div{own}>{''.join(parts)}</div>", NAMES, CLASSES, st.lists(inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.slow
@given(st.lists(ELEMENTS, max_size=6))
def test_a_path_from_the_root_finds_its_element_alone(parts: list[str]) -> None:
    page = f"<html><body>{''.join(parts)}</body></html>"
    old, new = html.fromstring(page), html.fromstring(page)
    places = Places()
    for one, other in zip(old.iter(), new.iter(), strict=True):
        paths = places.paths(one, other)
        assert etree.XPath(paths[-1])(old) == [one], "by its place alone"
        for path in paths:
            assert one in etree.XPath(path)(old)
        assert paths == Places().paths(one, other), "what was counted before is the same"


def test_the_nearer_end_counts() -> None:
    page = html.fromstring("<body><ul><li>1<li>2<li>3<li>4</ul></body>")
    found = [Places().paths(one, one)[-1].rpartition("/")[2] for one in page.iter("li")]
    assert found == ["li[1]", "li[2]", "li[last()-1]", "li[last()]"]
