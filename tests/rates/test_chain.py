"""Every page gets a rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.errors import UsageError
from sharc_crawler.model import Hints, RateEstimate, Sighting
from sharc_crawler.plugins import load
from sharc_crawler.rates import chain as chain_module
from sharc_crawler.rates.base import ONCE_A_MONTH
from sharc_crawler.rates.chain import Chain, default_chain
from sharc_crawler.rates.constant import ConstantRates

if TYPE_CHECKING:
    from collections.abc import Sequence

DAY = 86_400.0


class Known:
    """A source that knows some pages by their URL."""

    def __init__(self, name: str, known: dict[str, float]) -> None:
        self.name = name
        self.known = known
        self.asked: list[str] = []

    def rates(self, sightings: Sequence[Sighting], now: float) -> list[RateEstimate | None]:
        self.asked += [sighting.url for sighting in sightings]
        return [
            RateEstimate(self.known[sighting.url], self.name) if sighting.url in self.known else None
            for sighting in sightings
        ]


def sightings(names: str) -> list[Sighting]:
    return [Sighting(name) for name in names]


def test_the_first_that_knows_is_heard_and_the_next_not_asked() -> None:
    first, second = Known("first", {"a": 1.0}), Known("second", {"a": 9.0, "b": 3.0})
    given = Chain([first, second]).rates(sightings("cab"), 0.0)
    assert [(estimate.rate, estimate.source) for estimate in given] == [(2.0, "prior"), (1.0, "first"), (3.0, "second")]
    assert second.asked == ["c", "b"]


def test_the_prior_is_the_mean_of_what_was_given_so_far() -> None:
    chain = Chain([Known("some", {"a": 1.0, "b": 3.0})], prior=7.0)
    assert [chain.rates(sightings(name), 0.0)[0].rate for name in "xaxbx"] == [7.0, 1.0, 1.0, 3.0, 2.0]


@pytest.mark.slow
@given(st.text("abcdef"), st.dictionaries(st.sampled_from("abc"), st.floats(0, 1)))
def test_one_rate_for_each_in_order(names: str, known: dict[str, float]) -> None:
    given = Chain([Known("some", known), ConstantRates(5.0)]).rates(sightings(names), 0.0)
    assert [estimate.rate for estimate in given] == [known.get(name, 5.0) for name in names]


def test_no_source_at_all() -> None:
    assert [estimate.rate for estimate in Chain([]).rates(sightings("ab"), 0.0)] == [ONCE_A_MONTH] * 2


def test_the_default_reads_sitemap_hints() -> None:
    chain = default_chain()
    hinted = Sighting("a", hints=Hints(changefreq="daily", priority=0.9))
    assert [(round(e.rate * DAY), e.source) for e in chain.rates([Sighting("b"), hinted], 0.0)] == [
        (1, "prior"),
        (1, "sitemap"),
    ]
    assert (chain.weight(hinted), chain.weight(Sighting("b"))) == (1.4, 1.0)


@pytest.mark.parametrize("rate", [-1.0, float("nan"), float("inf")])
def test_a_constant_must_be_a_rate(rate: float) -> None:
    with pytest.raises(UsageError, match="of the constant source must be"):
        ConstantRates(rate)


def test_constant_is_known_by_name() -> None:
    assert load("rates", "constant") is ConstantRates


def test_of_many_pages_some_are_enough_to_learn_what_a_second_word_is_worth(monkeypatch: pytest.MonkeyPatch):
    """A site of half a million is not asked about twice for one page."""
    monkeypatch.setattr(chain_module, "MOST_COMPARED", 50)
    asked: list[int] = []

    class Second:
        def rates(self, sightings: Sequence[Sighting], now: float) -> list[RateEstimate | None]:
            asked.append(len(sightings))
            return [RateEstimate(2.0, "second") for _ in sightings]

    class First:
        def rates(self, sightings: Sequence[Sighting], now: float) -> list[RateEstimate | None]:
            return [RateEstimate(0.5, "first") if at else None for at in range(len(sightings))]

    found = Chain([First(), Second()]).rates([Sighting(f"http://h/{at}") for at in range(1000)], 0.0)
    assert [one.source for one in found[:2]] == ["second", "first"]
    assert found[0].rate == pytest.approx(0.5)  # its word is worth what the others' was
    assert 1 + 30 <= asked[0] <= 1 + 50
