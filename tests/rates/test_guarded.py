"""A source of rates of somebody else's that fails, or answers badly, is named at that step."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sharc_crawler.errors import DataError
from sharc_crawler.model import RateEstimate, Sighting
from sharc_crawler.rates.guarded import checked

GOOD = RateEstimate(1e-6, "mine")


class Careless:
    def __init__(self, given: Any) -> None:
        self.given = given

    def rates(self, sightings: Any, now: float) -> Any:
        if isinstance(self.given, BaseException):
            raise self.given
        return [self.given]


@pytest.mark.parametrize(
    "given",
    [
        1e-6,
        GOOD._replace(rate=math.nan),
        GOOD._replace(rate=-1.0),
        GOOD._replace(rate=1e300),
        GOOD._replace(rate="often"),
        GOOD._replace(rate=None),
        GOOD._replace(shape=math.nan),
        GOOD._replace(shape=0.0),
        GOOD._replace(spread=math.nan),
        GOOD._replace(spread=1e300),
        GOOD._replace(observations=-1),
        GOOD._replace(source=None),
        GOOD._replace(source="\ud800"),
    ],
)
def test_what_is_no_rate_is_refused(given: Any) -> None:
    with pytest.raises(DataError, match=r"the rate source Careless gave .*, not RateEstimate\(rate, source\) or None"):
        checked(Careless(given))([Sighting("http://h/")], 0.0)


@pytest.mark.parametrize("given", [None, 3, iter([GOOD])])
def test_an_answer_that_is_no_sequence_is_refused(given: Any) -> None:
    class Single:
        def rates(self, sightings: Any, now: float) -> Any:
            return given

    with pytest.raises(DataError, match=f"Single answered with {type(given).__name__}, not a sequence"):
        checked(Single())([Sighting("http://h/")], 0.0)


def test_what_it_does_to_what_it_is_asked_changes_nothing() -> None:
    class Greedy:
        def rates(self, sightings: Any, now: float) -> Any:
            found = [GOOD for _ in sightings]
            sightings.clear()
            return found

    asked = [Sighting("http://h/")]
    assert checked(Greedy())(asked, 0.0) == [GOOD]
    assert len(asked) == 1
    Greedy.rates = lambda self, sightings, now: [] if sightings.clear() is None else None  # type: ignore[method-assign]
    with pytest.raises(DataError, match="gave 0 answers for 1 page"):
        checked(Greedy())(asked, 0.0)


@pytest.mark.parametrize("given", [ValueError("no"), SystemExit(3), RecursionError("deep")])
def test_what_it_raises_is_said(given: BaseException) -> None:
    with pytest.raises(DataError, match=f"Careless raised {type(given).__name__}: .* That is a fault of this plug-in"):
        checked(Careless(given))([Sighting("http://h/")], 0.0)


def test_what_is_one_or_none_is_taken() -> None:
    for given in (GOOD, None):
        assert checked(Careless(given))([Sighting("http://h/")], 0.0) == [given]


@pytest.mark.parametrize("number", [np.float32, np.float16, np.longdouble, np.array, Decimal, Fraction])
def test_numbers_of_other_libraries_are_taken_as_what_they_mean(number) -> None:
    """No store or report can keep them."""
    given = RateEstimate(number(0.25), "mine", number(2), np.int64(3), number(1))
    (found,) = checked(Careless(given))([Sighting("http://site.example/")], 0.0)
    assert found == RateEstimate(0.25, "mine", 2.0, 3, 1.0)
    assert [type(one) for one in found] == [float, str, float, int, float]
