"""Conformance tests of a seed ranker: subclass :class:`RankerContract`, make yours in ``make``; pytest collects them.

.. code-block:: python

    class TestMine(RankerContract):
        def make(self):
            return Mine()
"""

# ruff: noqa: D102 - the name of a test says it

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from itertools import pairwise

import numpy as np

from sharc_crawler.seeds.base import WEEK, RankingTask, SeedRanker
from sharc_crawler.seeds.hacs.histories import UpdateHistories
from sharc_crawler.seeds.hacs.rank import RankedSeed, rank
from sharc_crawler.seeds.hacs.sites import SeedHistories

DAY = 86_400.0


def seeds(count: int = 40, seed: int = 0) -> SeedHistories:
    """Random histories: rates from one change a day to one in three years, 0 to 30 captures within 100 days."""
    rng = np.random.default_rng(seed)
    times, bits = [], []
    for _ in range(count):
        seen = np.unique(np.ceil(rng.uniform(0, 100 * DAY, rng.integers(0, 31))))
        rate = 10 ** rng.uniform(-3, 0) / DAY
        changed = rng.random(len(seen)) < -np.expm1(-rate * np.diff(seen, prepend=0.0))
        times.append(seen)
        bits.append(np.where(np.arange(len(seen)) == 0, -1, changed))
    return SeedHistories.of_pages(UpdateHistories.of([f"http://h{n % 7}.org/{n}" for n in range(count)], times, bits))


class RankerContract(ABC):
    """The tests that every ranker must pass."""

    @abstractmethod
    def make(self) -> SeedRanker:
        """Make a new ranker."""

    def ranked(self, histories: SeedHistories, back: float = math.inf) -> list[RankedSeed]:
        """The ranking after 100 days."""
        return rank(histories, self.make(), RankingTask(100 * DAY, WEEK, back))

    def test_every_seed_once_in_decreasing_order(self) -> None:
        for back in (math.inf, 5 * DAY):
            found = self.ranked(seeds(), back)
            assert sorted(one.url for one in found) == sorted(seeds().urls)
            assert [one.place for one in found] == [*range(1, 41)]
            values = [one.value for one in found]
            assert values == sorted(values, reverse=True)
            assert not any(map(math.isnan, values))

    def test_ties_go_to_the_longest_not_seen(self) -> None:
        found = self.ranked(seeds())
        for before, after in pairwise(found):
            if before.value == after.value:
                assert (before.last_seen or -math.inf) <= (after.last_seen or -math.inf)

    def test_probabilities_are_some(self) -> None:
        for one in self.ranked(seeds()):
            assert (one.p is not None) == self.make().probabilities
            assert one.p is None or 0.0 <= one.p <= 1.0

    def test_the_same_histories_bring_the_same_order(self) -> None:
        assert self.ranked(seeds()) == self.ranked(seeds())

    def test_the_future_does_not_matter(self) -> None:
        pages = seeds().pages
        later = [[*pages.times[a:b], 101 * DAY] for a, b in zip(pages.offsets[:-1], pages.offsets[1:], strict=True)]
        bits = [[*pages.changed[a:b], 1] for a, b in zip(pages.offsets[:-1], pages.offsets[1:], strict=True)]
        with_future = SeedHistories.of_pages(UpdateHistories.of(pages.urls, later, bits))
        assert self.ranked(with_future) == self.ranked(seeds())

    def test_budget(self) -> None:
        for budget in (0, 1, 13, 400):
            found = rank(seeds(), self.make(), RankingTask(100 * DAY), budget=budget)
            assert [one.place for one in found if one.chosen] == [*range(1, min(budget, 40) + 1)]
            assert all(one.reason for one in found)
