"""What may be claimed on a server's word: against servers whose every change is known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.changes.attested import Look, Word, weigh
from sharc_crawler.model import Change, Evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

T = 1000.0
DAY = 86_400.0


class Server:
    """A page whose changes are known, behind a clock that is wrong by ``skew``; words are cut to ``precision``."""

    def __init__(self, changes: Sequence[float], skew: float, precision: float, raised: bool) -> None:
        self.changes, self.skew, self.precision, self.raised = sorted(changes), skew, precision, raised

    def last(self, now: float) -> float:
        return max((t for t in self.changes if t <= now), default=-DAY) + self.skew

    def look(self, started: float, takes: float, waits: float) -> Look:
        """Made ``waits`` after the request, received ``takes`` after it."""
        made = started + waits * takes
        modified = math.ceil(self.last(made)) if self.raised else self.last(made) // 1
        date = (made + self.skew) // 1
        version = sum(t <= made for t in self.changes)
        return Look(started, started + takes, date, str(version), float(modified))

    def word(self, started: float, takes: float, waits: float) -> Word:
        last = self.last(started + waits * takes)
        earliest = last // self.precision * self.precision
        return Word(started, earliest, earliest + self.precision)


instants = st.floats(T - 30, T + 60)
latency = st.tuples(st.floats(0, 3), st.floats(0, 1))


@given(
    st.lists(instants, max_size=4),
    st.floats(-5000, 5000),
    st.sampled_from([1e-6, 1.0, 60.0, DAY]),
    st.booleans(),
    st.floats(1, 30),
    st.floats(0, 20),
    *[latency] * 4,
)
def test_an_honest_server_is_never_misread(changes, skew, precision, raised, before, after, v, r, s, e):
    server = Server(changes, skew, precision, raised)
    first = server.look(T - before - v[0], *v)
    second = server.look(T + after + s[0], *r)
    end = second.ended
    words = [server.word(T, *s), server.word(end, *e)]

    def kept_still(a: float, b: float) -> bool:
        return not any(min(a, b) < t <= max(a, b) for t in changes)

    for looks in ([first], [second], [first, second]):
        found = weigh(looks, words, T)
        assert not found.lies
        if found.comparison.change is Change.UNCHANGED:
            assert found.comparison.evidence is Evidence.ATTESTED
            # made somewhere between start and end: still throughout on one side of T
            assert any(kept_still(look.ended if look.ended <= T else look.started, T) for look in looks)
        if found.comparison.change is Change.CHANGED:
            assert not all(kept_still(look.started if look.ended <= T else look.ended, T) for look in looks)


@given(st.floats(2.5, 50), st.floats(2.5, 50))
def test_what_stands_still_is_attested(before, after):
    server = Server([], skew=77.0, precision=1.0, raised=False)
    words = [server.word(T, 0.1, 0.5), server.word(T + 99, 0.1, 0.5)]
    for start in (T - before, T + after):
        found = weigh([server.look(start, 0.1, 0.5)], words, T)
        assert found.comparison.change is Change.UNCHANGED


def test_a_bare_date_attests_only_once_its_day_is_over():
    look = Look(DAY + 100.0, DAY + 100.1, DAY + 100.0)
    for day, change in ((0.0, Change.UNCHANGED), (DAY, Change.UNKNOWN)):
        assert weigh([look], [Word(DAY + 500.0, day, day + DAY)], DAY + 500.0).comparison.change is change


def test_a_word_read_too_early_or_without_a_date_decides_nothing():
    look = Look(10.0, 10.1, 10.0)
    assert weigh([look], [Word(9.0, 1.0, 2.0)], 20.0).comparison.change is Change.UNKNOWN
    assert weigh([look._replace(date=None)], [Word(20.0, 1.0, 2.0)], 20.0).comparison.change is Change.UNKNOWN
    assert weigh([], [], 20.0).comparison.change is Change.UNKNOWN


def test_a_page_dated_to_its_own_delivery_says_nothing():
    look = Look(30.0, 30.1, 30.0, modified=30.0)
    assert weigh([look], [Word(40.0, 5.0, 6.0)], 20.0) == weigh(
        [look._replace(modified=None)], [Word(40.0, 5.0, 6.0)], 20.0
    )


@pytest.mark.parametrize(
    ("looks", "words", "lie"),
    [
        ([Look(10, 11, 10, "A"), Look(30, 31, 30, "B")], [Word(40, 1, 2)], "two downloads saw"),
        ([Look(10, 11, 10, "A"), Look(30, 31, 30, "B", modified=2.0)], [], "two downloads saw"),
        ([Look(10, 11, 10, "A")], [Word(20, 1, 2), Word(40, 15, 16)], "another one belies"),
        ([Look(10, 11, 10, "A")], [Word(20, 7, 8), Word(40, 1, 2)], "another one belies"),
    ],
)
def test_lies(looks, words, lie):
    found = weigh(looks, words, 20.0)
    assert found.lies
    assert all(lie in text for text in found.lies)


def test_what_is_no_lie():
    looks = [Look(10, 11, 10, "A"), Look(30, 31, 30, "B")]
    assert not weigh(looks, [Word(20, 1, 2), Word(40, 25, 26)], 20.0).lies, "it changed after T, and is said to"
    assert not weigh(looks[:1], [Word(20, 1, 2), Word(40, 1, 2)], 20.0).lies
    assert not weigh(looks, [Word(20, 1, 2)], 20.0).lies, "nobody was asked after the change"
