"""Rates of many pages in columns are what they are one by one."""

from __future__ import annotations

from array import array

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.rates.base import PRIOR
from sharc_crawler.state.pages import PageTable
from sharc_crawler.state.rated import Rated
from sharc_crawler.testing.stores import page_row

ROWS = st.lists(st.tuples(st.floats(0, 1), st.sampled_from([PRIOR, "sitemap"]), st.floats(0.1, 9)), max_size=6)


class Found:
    """Estimates in columns."""

    def __init__(self, rows: list[tuple[float, str, float]]) -> None:
        self._rows = rows

    def columns(self) -> tuple[np.ndarray, np.ndarray, list[str]]:
        rates, sources, shapes = zip(*self._rows, strict=True) if self._rows else ((), (), ())
        return np.array(rates, float), np.array(shapes, float), list(sources)


@given(ROWS, ROWS)
def test_columns_are_rows(before, after):
    first = [(9 + number, *row) for number, row in enumerate(before)]
    table = PageTable()
    table.extend([page_row(number) for number in range(9)], {"h.example": 0})
    pages = [8 - number for number in range(len(after))]
    rated = Rated(first)
    rated.put_all(array("i", pages), Found(after), table)
    rows = first + [(page, *row) for page, row in zip(pages, after, strict=True)]
    assert list(rated) == rows
    assert len(rated) == len(rows)
    assert rated == rows == rated
    assert rated != [*rows, (0, 0.0, "", 1.0)]
    assert rated != tuple(rows)
    for page, rate, source, shape in rows[len(first) :]:
        assert (table.rates[page], table.shapes[page], table.guessed[page]) == (rate, shape, source == PRIOR)
    untouched = set(range(9)) - set(pages)
    assert {table.rates[page] for page in untouched} <= {page_row(0).rate}
