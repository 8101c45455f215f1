"""The paper's two evaluations: rankers compared with the updates that followed, for several lengths of history w."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.errors import DataError
from sharc_crawler.rates.history import CHANGED
from sharc_crawler.seeds.base import WEEK, RankingTask, SeedRanker
from sharc_crawler.seeds.hacs.baselines import Frequency, LastObserved, Random
from sharc_crawler.seeds.hacs.measures import Chosen, ChosenByThreshold, likely_best, weighted_precision
from sharc_crawler.seeds.hacs.rank import ordered
from sharc_crawler.seeds.hacs.rankers import Hacs, HacsPlain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.model import Instant
    from sharc_crawler.seeds.hacs.sites import SeedHistories

#: name → ranker for choices by probability (Frequency: that of an update within e at its rate)
CHOOSERS = ("hacs", "hacs-plain", "frequency")
RANKERS = (*CHOOSERS, "last-obs", "random")


@dataclass(frozen=True, slots=True)
class Truth:
    """The instants at which each seed was updated, in order of time; seed i owns ``offsets[i]:offsets[i + 1]``."""

    offsets: NDArray[np.int64]
    times: NDArray[np.float64]

    @classmethod
    def of(cls, updates: Sequence[Sequence[Instant]]) -> Truth:
        """The updates from one sequence per seed."""
        offsets = np.cumsum([0, *map(len, updates)])
        return cls(offsets, np.concatenate([np.zeros(0), *(np.sort(np.asarray(row, float)) for row in updates)]))

    @classmethod
    def seen(cls, seeds: SeedHistories) -> Truth:
        """The captures' own interpolated updates, as in the paper; for histories whose true updates are unknown."""
        pages = seeds.pages
        updated = pages.changed == CHANGED
        owners, times = seeds.owners[pages.owners()[updated]], pages.placed(interpolated=True)[updated]
        order = np.lexsort((times, owners))
        return cls(np.searchsorted(owners[order], np.arange(len(seeds) + 1)), times[order])

    def following(self, instant: Instant) -> NDArray[np.float64]:
        """The instant of each seed's first update after ``instant``; inf if none follows."""
        before = np.concatenate([[0], np.cumsum(self.times <= instant)])
        index = self.offsets[:-1] + before[self.offsets[1:]] - before[self.offsets[:-1]]
        found = np.concatenate([self.times, [np.inf]])[index]
        return np.where(index < self.offsets[1:], found, np.inf)


@dataclass(frozen=True, slots=True)
class Period:
    """Reference points t: one a week from ``start`` on, as long as t + e is before ``end``."""

    start: Instant
    end: Instant

    def points(self) -> NDArray[np.float64]:
        """All t."""
        return np.arange(self.start, self.end - WEEK + 1.0, WEEK)


@dataclass(slots=True)
class PeriodOutcome:
    """Results for one length of history in one period; lists have one entry per reference point."""

    selections: dict[str, list[ChosenByThreshold]] = field(default_factory=lambda: {name: [] for name in CHOOSERS})
    lots: dict[str, list[ChosenByThreshold]] = field(default_factory=lambda: {name: [] for name in CHOOSERS})
    likely: dict[str, list[Chosen]] = field(default_factory=lambda: {name: [] for name in CHOOSERS})
    precisions: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in RANKERS})
    instants: list[Instant] = field(default_factory=list)  #: the reference points
    seeds: list[int] = field(default_factory=list)  #: number of seeds with captures in the window
    known: list[float] = field(default_factory=list)  #: share of these seeds with an interval between captures


def evaluate(
    seeds: SeedHistories,
    truth: Truth,
    period: Period,
    weeks: Sequence[int],
    progress: Callable[[float], None] = lambda _: None,
) -> dict[int, PeriodOutcome]:
    """Run every ranker at every reference point t, for each length of history. Each learns from captures up to t."""
    outcomes = {week: PeriodOutcome() for week in weeks}
    points = period.points()
    for place, now in enumerate(points.tolist()):
        following, rankers = truth.following(now), _learned(seeds, now)
        for week, outcome in outcomes.items():
            _measure(seeds, following, rankers, RankingTask(now, WEEK, week * WEEK, missed=False), outcome)
        progress((place + 1) / len(points))
    empty = [week for week, outcome in outcomes.items() if not outcome.seeds]
    if empty:
        raise DataError(
            f"evaluation: no seed was captured in the {empty[0]} weeks before any instant that is evaluated"
        )
    return outcomes


def _learned(seeds: SeedHistories, now: Instant) -> dict[str, SeedRanker]:
    return {
        "hacs-plain": HacsPlain().fit(seeds, now),
        "hacs": Hacs().fit(seeds, now),
        "frequency": Frequency(),
        "last-obs": LastObserved(),
        "random": Random(),
    }


def _measure(
    seeds: SeedHistories,
    following: NDArray[np.float64],
    rankers: dict[str, SeedRanker],
    task: RankingTask,
    outcome: PeriodOutcome,
) -> None:
    window = seeds.window(task.now - task.back, task.now)
    here = window.captures() > 0  # D_{w,t}(0)
    if not here.any():
        return
    window, following = window.select(here), following[here]
    last_seen = window.latest(window.pages.last_seen())
    updated = following <= task.now + task.ahead
    rng = np.random.default_rng(int(task.now))
    for name, ranker in rankers.items():
        scores = ranker.score(window, task)
        outcome.precisions[name].append(weighted_precision(ordered(scores.value, last_seen), following))
        if name in CHOOSERS:
            p = scores.value if ranker.probabilities else -np.expm1(-scores.value * task.ahead)
            selection = ChosenByThreshold.of(p, updated)
            outcome.selections[name].append(selection)
            outcome.lots[name].append(selection.random(updated, rng))
            outcome.likely[name].append(Chosen.of(p >= likely_best(p), updated))
        if name == "hacs-plain" and scores.known is not None:
            outcome.known.append(float(scores.known.mean()))
    outcome.instants.append(task.now)
    outcome.seeds.append(int(here.sum()))
