"""Lines that were looked at before are told as if they were looked at for the first time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.changes import special
from sharc_crawler.changes.special import Special

LINES = st.frozensets(st.text("ab1", max_size=4).map(str.encode), max_size=12)


def numbers(lines):
    return {line for line in lines if b"1" in line}


@given(st.lists(LINES, max_size=8))
def test_what_was_seen_before_makes_no_difference(pages):
    found = Special(numbers)
    assert [found.among(lines) for lines in pages] == [numbers(lines) for lines in pages]


def test_lines_are_looked_at_once():
    asked = []
    found = Special(lambda lines: asked.append(lines) or numbers(lines))
    for lines in ({b"a", b"1"}, {b"a", b"1"}, {b"a", b"b"}):
        found.among(lines)
    assert asked == [{b"a", b"1"}, {b"b"}]


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(special, "MOST", 10 * (special.EACH + 2))
    found = Special(numbers)
    for number in range(0, 100, 4):
        lines = {b"%d" % one for one in range(number, number + 4)}
        assert found.among(lines) == numbers(lines)
    assert len(found._known) <= 10
    assert found.among({b"%d" % one for one in range(11)}) == {b"1", b"10"}


def test_long_lines_are_not_remembered_nor_do_many_pages_of_them_add_up():
    found = Special(numbers)
    assert found.among({b"1" * special.LONGEST, b"a"}) == {b"1" * special.LONGEST}
    assert not found._known
    for number in range(40):
        found.among({b"%09d" % number + b"a" * (special.LONGEST // 2)})
    assert sum(map(len, found._known)) < special.MOST
