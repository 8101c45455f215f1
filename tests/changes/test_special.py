"""Words that were looked at before are told as if they were looked at for the first time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.changes import special
from sharc_crawler.changes.special import Special

WORDS = st.frozensets(st.text("ab1", max_size=4), max_size=12)


def numbers(words):
    return {word for word in words if "1" in word}


@given(st.lists(WORDS, max_size=8))
def test_what_was_seen_before_makes_no_difference(pages):
    found = Special(numbers)
    assert [found.among(words) for words in pages] == [numbers(words) for words in pages]


def test_words_are_looked_at_once():
    asked = []
    found = Special(lambda words: asked.append(words) or numbers(words))
    for words in ({"a", "1"}, {"a", "1"}, {"a", "b"}):
        found.among(words)
    assert asked == [{"a", "1"}, {"b"}]


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(special, "MOST", 10)
    found = Special(numbers)
    for number in range(0, 100, 4):
        words = {str(one) for one in range(number, number + 4)}
        assert found.among(words) == numbers(words)
    assert len(found._known) <= 20
    assert found.among({str(one) for one in range(11)}) == {"1", "10"}
    assert found.among({"1" * special.LONGEST, "a"}) == {"1" * special.LONGEST}
    assert max(map(len, found._known)) < 10
