"""Compact columns of page numbers against deque and dict."""

from __future__ import annotations

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.strategies.waiting import ByPage, Line

PAGES = st.integers(0, 40)


@given(st.lists(st.one_of(PAGES, st.lists(PAGES, max_size=3), st.sampled_from(["popleft", "pop"])), max_size=200))
def test_a_line_is_a_deque(steps):
    line, model = Line(), deque()
    for step in steps:
        if isinstance(step, int):
            line.append(step)
            model.append(step)
        elif isinstance(step, list):
            line.extend(step)
            model.extend(step)
        elif model:
            assert getattr(line, step)() == getattr(model, step)()
        assert list(line) == list(model)


@given(st.lists(st.tuples(PAGES, st.integers(0, 3))))
def test_numbers_by_page_are_those_last_given(given_):
    numbers = ByPage()
    for page, number in given_:
        numbers[page] = number
    assert [numbers[page] for page in range(42)] == [dict(given_).get(page, 0) for page in range(42)]


def test_pages_between_gaps_are_found() -> None:
    numbers, given_ = ByPage(), {3: 1, 4: 2, 9: 3, 20: 4, 7: 5, 21: 6, 1: 7}
    for page, number in given_.items():
        numbers[page] = number
    assert [numbers[page] for page in range(25)] == [given_.get(page, 0) for page in range(25)]
    pages, each = numbers.columns()
    assert dict(zip(pages.tolist(), each.tolist(), strict=True)) == given_
    assert (pages[:-1] < pages[1:]).all()


def test_a_line_holds_less_than_twice_the_pages_that_wait() -> None:
    line = Line()
    line.extend(range(1000))
    for _ in range(900):
        line.popleft()
    assert len(line._pages) <= 200
