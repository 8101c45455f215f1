"""Choosing seeds: a ranker orders them, a threshold and a budget cut; each seed has a reason."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler import plugins
from sharc_crawler.errors import UsageError
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN
from sharc_crawler.seeds.base import RankingTask, Scores, SeedRanker, Threshold
from sharc_crawler.seeds.guarded import made, scored
from sharc_crawler.seeds.hacs.measures import likely_best

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.seeds.hacs.captures import Answered
    from sharc_crawler.seeds.hacs.sites import SeedHistories


COMPARED = 2  #: captures that a comparison needs


@dataclass(frozen=True, slots=True)
class RankedSeed:
    """A seed's place in the ranking, and whether it is to be crawled."""

    url: str
    place: int  #: from 1
    value: float  #: the ranker's score
    p: float | None  #: the value if it is a probability
    rate: float | None  #: λ, updates per second
    rate_least: float | None  #: lower bound of λ, updates seen per second, if all captures differ; else None
    last_update: float | None  #: τ, an instant
    last_seen: float | None  #: the instant of the last capture, or of the last response if none had content
    captures: int
    known: bool  #: whether its own history was enough; otherwise a prior was used
    chosen: bool
    reason: str


def make_ranker(name: str) -> SeedRanker:
    """Make the ranker with this name or dotted path.

    Raises :class:`~sharc_crawler.errors.UsageError` if it is unknown or no ranker,
    :class:`~sharc_crawler.errors.DataError` if its constructor fails.
    """
    ranker = made(name, plugins.load("ranker", name))
    if not isinstance(ranker, SeedRanker):
        port = f"{SeedRanker.__module__}.{SeedRanker.__name__}"
        raise UsageError(f"ranker={name!r} is no SeedRanker: derive its class from {port}")
    return ranker


def rank(
    seeds: SeedHistories,
    ranker: SeedRanker,
    task: RankingTask,
    *,
    theta: Threshold | None = None,
    budget: int | None = None,
) -> list[RankedSeed]:
    """All seeds, in the order in which to crawl them; those with p ≥ ``theta`` are chosen, at most ``budget``.

    ``theta="auto"`` is the threshold with the greatest expected F1 (``measures.likely_best``). Of seeds with equal
    values, the one captured longest ago comes first, and one never captured before all. Raises
    :class:`~sharc_crawler.errors.UsageError` for a threshold if the ranker's values are no probabilities, and
    :class:`~sharc_crawler.errors.DataError` if the ranker fails or answers badly.
    """
    check_cut(ranker, theta, budget)
    window = seeds.window(task.now - task.back, task.now)
    until_now = seeds.window(-math.inf, task.now)
    seen, answered = until_now.latest(until_now.last_seen()), until_now.answered
    urls, captures = tuple(seeds.urls), window.captures()  # before the ranker may change them
    least, older = _least(window), _least(until_now)
    scores = scored(ranker, seeds, window, task)
    if scores.known is not None:  # older captures may suffice if the window's do not
        least = np.where((captures < COMPARED) & scores.known, older, least)
    if theta == "auto":
        theta = likely_best(scores.value)
    chosen = _chosen(scores.value, theta, budget, order := ordered(scores.value, seen))
    return [
        RankedSeed(
            url=urls[seed],
            place=place,
            value=float(scores.value[seed]),
            p=float(scores.value[seed]) if ranker.probabilities else None,
            rate=_some(scores.rate, seed),
            rate_least=_some(least, seed),
            last_update=_some(scores.last_update, seed),
            last_seen=_some(seen, seed),
            captures=int(captures[seed]),
            known=scores.known is None or bool(scores.known[seed]),
            chosen=bool(chosen[seed]),
            reason=_reason(
                scores,
                seed,
                _lack(int(captures[seed]), answered.get(seed), task),
                chosen=bool(chosen[seed]),
                theta=theta,
            ),
        )
        for place, seed in enumerate(order.tolist(), 1)
    ]


def ordered(values: NDArray[np.float64], last_seen: NDArray[np.float64]) -> NDArray[np.int64]:
    """The seeds by decreasing value; of equal ones, that captured longest ago comes first.

    >>> ordered(np.array([0.5, 0.9, 0.5]), np.array([7.0, 8.0, np.nan])).tolist()
    [1, 2, 0]
    """
    return np.lexsort((np.nan_to_num(last_seen, nan=-np.inf), -values))


def check_cut(ranker: SeedRanker, theta: Threshold | None, budget: int | None) -> None:
    """Raise :class:`~sharc_crawler.errors.UsageError` for a threshold or budget that the ranker does not allow."""
    name = type(ranker).__name__
    if theta is not None and not ranker.probabilities:
        raise UsageError(f"theta={theta}: {name} gives no probabilities; choose by budget instead")
    if isinstance(theta, float) and not 0.0 <= theta <= 1.0:
        raise UsageError(f"theta={theta} is no probability; give 0 to 1")
    if budget is not None and budget < 0:
        raise UsageError(f"budget={budget} is negative; give a number of seeds")


def _least(seeds: SeedHistories) -> NDArray[np.float64]:
    """Updates seen per second of each seed with a page whose captures all differ from the one before; else NaN.

    Between its captures such a page may have been updated any number of times, so its rate comes from the prior alone.
    """
    seen = seeds.pages.intervals(interpolated=False)
    changed, same = (seen.total((seen.changed == one).astype(np.float64)) for one in (CHANGED, UNCHANGED))
    time = seen.total(np.where(seen.changed == UNKNOWN, 0.0, seen.lengths))
    unbounded = seeds.sum(((changed > 0) & (same == 0)).astype(np.float64)) > 0
    return np.where(unbounded, seeds.sum(changed / np.where(time > 0, time, np.inf)), np.nan)


def _chosen(
    values: NDArray[np.float64], theta: float | None, budget: int | None, order: NDArray[np.int64]
) -> NDArray[np.bool_]:
    chosen = np.ones(len(values), np.bool_) if theta is None else values >= theta
    if budget is not None:
        chosen[order[chosen[order]][budget:]] = False
    return chosen


def _lack(captures: int, answered: Answered | None, task: RankingTask) -> str:
    """The reason why a seed with this many captures has no rate of its own."""
    if answered is not None:
        return "archives hold redirects of it alone" if answered.redirected else "archives hold failures of it alone"
    what = {0: "no capture", 1: "one capture"}.get(captures)
    if what is None:
        return "no captures to compare"
    return what if math.isinf(task.back) else f"{what} in the window"


def _reason(scores: Scores, seed: int, lack: str, *, chosen: bool, theta: float | None) -> str:
    verdict = "chosen"
    if not chosen:
        below = theta is not None and scores.value[seed] < theta
        verdict = f"below θ = {theta:.3g}" if below else "beyond the budget"
    if scores.known is None or scores.known[seed]:
        return verdict
    return f"{verdict}; rate unknown ({lack}), prior used"


def _some(values: NDArray[np.float64] | None, seed: int) -> float | None:
    return None if values is None or np.isnan(values[seed]) else float(values[seed])
