"""Conformance tests of a rate source: subclass :class:`RateSourceContract`, and make yours in ``make``.

.. code-block:: python

    class TestMine(RateSourceContract):
        def make(self):
            return Mine()
"""

# ruff: noqa: D102 - the name of a test says it

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from sharc_crawler.model import Hints, Sighting
from sharc_crawler.rates.base import RateSource
from sharc_crawler.rates.guarded import MOST

NOW = 1_700_000_000.0
SIGHTINGS = (
    Sighting("http://h.example/"),
    Sighting("http://h.example/hints", hints=Hints(NOW - 86_400, 1.0, "daily", 0.8)),
    Sighting("http://h.example/nothing-said", hints=Hints()),
    Sighting("http://h.example/future", hints=Hints(NOW + 1e9)),
    Sighting("http://h.example/long-ago", hints=Hints(-1e9, 366 * 86_400.0, "never", 0.0)),
    Sighting("http://h.example/unheard-of", hints=Hints(changefreq="sometimes")),
    Sighting("http://h.example/ä?b=c", via="http://h.example/"),
)


class RateSourceContract(ABC):
    """The tests of what a frontier relies on."""

    @abstractmethod
    def make(self) -> RateSource:
        """Make a source, as for a new capture."""

    def test_one_answer_per_sighting(self) -> None:
        source = self.make()
        for count in range(len(SIGHTINGS) + 1):
            asked = [*SIGHTINGS[:count]]
            assert len(source.rates(asked, NOW)) == count
            assert asked == [*SIGHTINGS[:count]], "what it is asked is not its own to change"

    def test_nothing_asked_nothing_said(self) -> None:
        assert list(self.make().rates([], NOW)) == []

    def test_rates_are_finite_and_say_where_they_are_from(self) -> None:
        for estimate in self.make().rates(SIGHTINGS, NOW):
            if estimate is not None:
                assert 0 <= estimate.rate <= MOST
                assert estimate.source
                assert estimate.shape > 0
                assert estimate.spread >= 0
                assert estimate.observations >= 0

    def test_answers_follow_their_pages(self) -> None:
        forth = self.make().rates(SIGHTINGS, NOW)
        back = self.make().rates(SIGHTINGS[::-1], NOW)
        for first, second in zip(forth, reversed(back), strict=True):
            assert (first is None) == (second is None)
            if first is not None and second is not None:
                assert first.source == second.source
                assert math.isclose(first.rate, second.rate, rel_tol=1e-6)  # sums in another order

    def test_asked_again_it_answers_the_same(self) -> None:
        source = self.make()
        assert list(source.rates(SIGHTINGS, NOW)) == list(source.rates(SIGHTINGS, NOW))
