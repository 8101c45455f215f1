"""Pages that begin to wait at once do so class by class, as they would one after the other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.strategies import waiting_many
from sharc_crawler.strategies.base import Candidates
from sharc_crawler.strategies.planned import MANY, PlannedPages
from sharc_crawler.strategies.waiting import ByPage, WaitingPages

LIMIT = 20  #: classes: more kinds of page than any bins can join are never drawn
RATES = st.sampled_from([number / 7 for number in range(200)])  # none is as near to two bins as rounding errs
KEYS = st.lists(
    st.tuples(RATES, st.sampled_from([1.0, 1.005]), st.sampled_from([math.inf, 2.0]), st.booleans()), max_size=120
)


def state(waiting: WaitingPages) -> tuple:
    classes = [(one.number, one.rate, one.known, one.waiting, list(one.line)) for one in waiting.classes]
    return waiting.width, len(waiting), classes, [column.tolist() for column in waiting.waiting()]


@pytest.mark.slow
@given(before=KEYS, after=KEYS, portion=st.integers(1, 50), ascending=st.booleans())
def test_many_at_once_are_as_one_after_the_other(before, after, portion, ascending):
    pages = [3 * number + 1 for number in range(len(before) + len(after))]
    in_turn, at_once = WaitingPages(LIMIT), WaitingPages(LIMIT)
    for page, key in zip(pages, before, strict=False):
        for waiting in (in_turn, at_once):
            waiting.put(page, *key)
    for waiting in (in_turn, at_once):
        for _ in range(len(before) // 3):  # some have left their lines
            waiting.pop(waiting.at(0))
    rest = sorted(pages[len(before) :], reverse=not ascending)
    for page, key in zip(rest, after, strict=True):
        in_turn.put(page, *key)
    rates, weights, shapes, attested = ([key[place] for key in after] for place in range(4))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waiting_many, "PORTION", portion)
        found = Candidates.of(rest, rates, weights, shapes)
        waiting_many.put_all(at_once, found, np.array(attested, np.bool_))
    assert state(at_once) == state(in_turn)
    left = in_turn.waiting()[0].tolist()
    for waiting in (in_turn, at_once):  # those that have left their lines since are passed over
        assert sorted(waiting.pop(waiting.at(0)) for _ in left) == left


def test_what_a_long_sitemap_names_is_not_put_page_by_page(monkeypatch):
    def put(*_):
        raise AssertionError("page by page")

    monkeypatch.setattr(WaitingPages, "put", put)
    monkeypatch.setattr(ByPage, "__getitem__", put)  # nor looked up so where classes are joined
    pages = PlannedPages(lambda _: [], ())
    pages.put(Candidates.of(range(MANY), [1.0 / (page + 1) for page in range(MANY)]))
    assert len(pages) == MANY
    assert pages._pages.width > 0.0


def test_bins_are_one_per_cent_wide_or_twice_as_wide_again_and_again_as_is_needed():
    waiting, widths = WaitingPages(limit=20), []
    for page in range(200):
        waiting.put(page, 1.004**page, 1.0, math.inf, False)
        widths += [waiting.width] if waiting.width not in widths else []
    assert widths == [0.0, 0.01, 0.02, 0.04, 0.08]
    assert [sum(column) for column in zip(*((one.known, one.waiting) for one in waiting.classes), strict=True)] == [
        200
    ] * 2


def test_those_that_wait_are_told_and_what_a_page_with_another_rate_belongs_to():
    waiting = WaitingPages(limit=20)
    for page, rate in enumerate([0.1, 0.2, 0.3]):
        waiting.put(page, rate, 1.0, math.inf, False)
    assert waiting.pop(waiting.at(0)) == 0
    assert [column.tolist() for column in waiting.waiting()] == [[1, 2], [2, 3]]
    assert waiting.reprice(1, 0.2).rate == 0.2
    assert waiting.reprice(1, 0.3).rate == 0.3
    assert waiting.reprice(0, 0.3) is None
    assert [(one.rate, one.known, one.waiting) for one in waiting.classes] == [(0.1, 1, 0), (0.2, 0, 0), (0.3, 2, 2)]


def test_what_is_nothing_or_beyond_all_bounds_has_a_bin_of_its_own():
    waiting = WaitingPages(limit=3)
    for page, rate in enumerate([0.0, 1.0, 1.001, 1.002]):
        waiting.put(page, rate, 1.0, math.inf, False)
    assert waiting.width > 0
    assert [(one.rate, one.shape, one.waiting) for one in waiting.classes] == [
        (0.0, math.inf, 1),
        (pytest.approx(1.0, rel=0.02), math.inf, 3),
    ]
