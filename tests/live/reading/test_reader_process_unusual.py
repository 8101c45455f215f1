"""Which of many addresses are not canonical as they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.addresses.urls import is_usual
from sharc_crawler.live.reading.reader_process import unusual

ODD = [
    "http://h/a\nb",
    "http://h/" + "a" * 500,
    "http://h/.a",
    "http://H/a",
    "http://h/a?b",
    "http://h",
    "http://h/a\n/b",
]


@given(st.lists(st.sampled_from(["http://h/a/b", "http://h/a/c", "http://h/", *ODD]) | st.text("htp:/.?%a\n")))
def test_the_unusual_among_many_are_those_that_are_unusual_alone(urls: list[str]) -> None:
    assert unusual(urls) == [url for url in urls if not is_usual(url)]


@pytest.mark.parametrize("odd", ODD)
def test_one_odd_address_is_told_among_usual_ones(odd: str) -> None:
    assert unusual(["http://h/a/b", odd, "http://h/a/c"]) == [odd]
