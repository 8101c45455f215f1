"""Up to when a download shows a page, and how far the clocks of servers are ahead of ours."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.evidence.intervals import Clocks, reach
from sharc_crawler.model import Outcome, Result


def download(at: float, date: float | None, took: float = 0.5, age: float | None = None) -> Outcome:
    return Outcome(Result.OK, at, at + took, 200, "A", date=date, age=age)


@pytest.mark.parametrize("same", ["http://A.example/b", "https://a.example?x=/y", "http://a.example"])
def test_each_server_has_its_own_clock_however_its_urls_are_written(same: str) -> None:
    clocks = Clocks()
    clocks.add("http://a.example/", download(10.0, 110.0))
    clocks.add("http://b.example/", download(10.0, 15.0))
    assert clocks.ahead(same, 50.0) == 100.0
    assert clocks.ahead("http://b.example/c", 50.0) == 5.0
    assert clocks.ahead("http://c.example/", 50.0) is None


def test_a_clock_is_told_by_what_began_before_t_and_had_a_date() -> None:
    clocks = Clocks()
    clocks.add("http://a/", download(10.0, None))
    assert clocks.ahead("http://a/", 20.0) is None
    clocks.add("http://a/", download(30.0, 37.0))
    assert clocks.ahead("http://a/", 30.0) is None
    assert clocks.ahead("http://a/", 30.1) == 7.0


def test_of_records_that_do_not_tell_how_long_an_answer_took_the_middle_counts() -> None:
    clocks = Clocks()
    for number, old in enumerate((0.0, 30.0, 60.0, 200.0, 300.0)):  # copies, all of them
        clocks.add("http://a/", download(float(number), number + 500.0 - old, took=0.0))
    assert clocks.ahead("http://a/", 1e6) == 440.0


@pytest.mark.parametrize(("apart", "clock"), [(0.9, 10.0), (1.0, 10.0), (1.1, 10.1)])
def test_an_answer_agrees_with_a_clock_that_its_date_cut_to_the_second_allows(apart: float, clock: float) -> None:
    """Two of four lie apart, each on its side: what took no time is behind the clock, or before it."""
    clocks = Clocks()
    for number, ahead in enumerate((10.0, 10.0, 10.0 + apart, 10.0 - apart)):
        clocks.add("http://a/", download(float(number), number + ahead, took=1e-3))
    found = clocks.ahead("http://a/", 1e6)
    assert (found == pytest.approx(10.0)) is (clock == 10.0)


@given(st.floats(-1000, 1000), st.lists(st.floats(0, 40), min_size=1, max_size=20), st.lists(st.booleans()))
def test_where_most_answers_are_fresh_the_clock_is_between_the_date_and_what_the_answer_took(ahead, took, copies):
    """A quarter of them may be copies, as old as may be."""
    clocks, few = Clocks(), len(took) // 4
    for number, seconds in enumerate(took):
        old = 300.0 if number < few and copies else 0.0
        clocks.add("http://a/", download(float(number), number + ahead + seconds / 2 - old, seconds))
    found = clocks.ahead("http://a/", 1e6)
    assert ahead - 1.0 <= found <= ahead + max(took) + 1.0


@pytest.mark.parametrize(
    ("revisit", "visit", "ahead", "shown"),
    [
        (download(100.0, None), None, None, 100.0),
        (download(100.0, None, age=0.0), None, None, 99.0),  # cut to the second
        (download(100.0, None, age=30.0), None, None, 69.0),
        (download(100.0, 100.0), None, 0.0, 100.0),
        (download(100.0, 98.0), None, 0.0, 100.0),  # kept for a second, and cut
        (download(100.0, 97.9), None, 0.0, 95.9),
        (download(100.0, 197.9), None, 100.0, 95.9),
        (download(100.0, 60.0, age=10.0), None, 0.0, 58.0),
        (download(100.0, 96.0, age=30.0), None, 0.0, 69.0),
        (download(100.0, 97.0), None, None, 100.0),  # nothing tells the clock
        # no later than its visit, by the server's own clock
        (download(100.0, 50.0), download(60.0, 50.0), None, 60.0),
        (download(100.0, 49.0), download(60.0, 50.0), None, 60.0),
        (download(100.0, 51.0), download(60.0, 50.0), None, 100.0),
        (download(62.0, 50.0), download(60.0, 50.0), None, 62.0),  # two seconds may have one Date
        (download(62.1, 50.0), download(60.0, 50.0), None, 60.0),
        (download(100.0, 50.0), download(60.0, None), None, 100.0),
    ],
)
def test_a_download_shows_the_page_up_to_its_start_or_to_when_the_copy_was_made(revisit, visit, ahead, shown) -> None:
    assert reach(revisit, visit, ahead) == pytest.approx(shown)


def test_what_is_known_of_a_visit_is_kept_in_a_few_bytes() -> None:
    clocks, visits = Clocks(), [download(float(number), float(number)) for number in range(2_000)]
    tracemalloc.start()
    for visit in visits:
        clocks.add("http://h/", visit)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 40 * len(visits)


def test_a_clock_whose_middle_lies_within_a_second_of_most_downloads_is_that_middle() -> None:
    clocks = Clocks()
    for ahead, took in ((10.0, 0.5), (11.0, 0.5), (13.0, 1.0)):
        clocks.add("http://a/", download(10.0, 10.0 + ahead, took))
    assert clocks.ahead("http://a/", 50.0) == 11.0


def test_what_a_clock_is_told_from_is_looked_through_in_columns():
    clocks = Clocks()
    for number in range(size := 20_000):
        clocks.add("http://h/", download(float(number), number + 30.0))
    tracemalloc.start()
    try:
        assert clocks.ahead("http://h/", float(size)) == 30.0
        assert tracemalloc.get_traced_memory()[1] < 120 * size
    finally:
        tracemalloc.stop()
