"""What is not taken is listed once each, up to a number, and takes few bytes each."""

from __future__ import annotations

import tracemalloc

import pytest

from sharc_crawler.frontier.left_out import MOST_LISTED, LeftOut


def test_listed_once_each_up_to_a_number():
    left = LeftOut(most=100)
    left.was_listed("http://h/7")
    told = [number for number in range(300) if left.add(f"http://h/{number // 2}", "scope")]
    assert told == [number for number in range(0, 200, 2) if number != 14]
    assert left.reasons == {"scope": 300}


def test_of_one_capture_twenty_thousand_are_listed():
    left = LeftOut()
    assert sum(left.add(f"http://h/{number}", "scope") for number in range(20_001)) == 20_000


@pytest.mark.slow
@pytest.mark.parametrize(("count", "most"), [(0, 1_500), (5, 1_500), (MOST_LISTED, 45 * MOST_LISTED)])
def test_few_take_next_to_nothing_and_many_some_bytes_each(count, most):
    urls = [f"http://h/{number}" for number in range(count)]
    tracemalloc.start()
    left = LeftOut()
    assert all(left.add(url, "scope") for url in urls)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < most, "a set of their hashes took 140 each"
