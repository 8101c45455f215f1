"""The baseline rankers that HACS is compared with (section III)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.rates.history import CHANGED
from sharc_crawler.seeds.base import RankingTask, Scores, SeedRanker

if TYPE_CHECKING:
    from sharc_crawler.seeds.hacs.sites import SeedHistories


class Frequency(SeedRanker):
    """Updates seen per second of the window, or since the seed's first capture if the window has no beginning."""

    def score(self, seeds: SeedHistories, task: RankingTask) -> Scores:
        """The value is the number of updates per second, so it is also the rate."""
        pages = seeds.pages
        updates = np.bincount(pages.owners(), pages.changed == CHANGED, len(pages)).astype(np.float64)
        seen = -seeds.latest(-pages.first_seen())
        length = np.full(len(seeds), task.back) if np.isfinite(task.back) else task.now - seen
        value = seeds.sum(updates) / np.where(length > 0, length, np.inf)
        return Scores(np.nan_to_num(value), value, seeds.latest(pages.last_update(interpolated=True)))


class LastObserved(SeedRanker):
    """The seed with the longest time since its last capture comes first; one never captured precedes all others."""

    def score(self, seeds: SeedHistories, task: RankingTask) -> Scores:
        """The value is the time since the last capture, in seconds."""
        return Scores(task.now - np.nan_to_num(seeds.latest(seeds.last_seen()), nan=-np.inf))


class Random(SeedRanker):
    """A random order, the same for equal ``seed`` and instant."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def score(self, seeds: SeedHistories, task: RankingTask) -> Scores:
        """The value is a random number."""
        return Scores(np.random.default_rng([self.seed, int(task.now)]).random(len(seeds)))


class All(SeedRanker):
    """Brute force: all seeds have the same value; ties put the one captured longest ago first."""

    def score(self, seeds: SeedHistories, task: RankingTask) -> Scores:  # noqa: ARG002
        """The value is 1."""
        return Scores(np.ones(len(seeds)))
