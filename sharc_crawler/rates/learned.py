"""Rates learned from a site's own past: how well features of some weeks ago predicted the weeks that followed.

The history is cut at several past instants. Features of each page at a cut (its changes, recent ones with more weight;
the age of its last change; its surroundings) are compared with whether it changed in the time after the cut, which is
as long as the coming capture. A log-linear regression learns their weights over all pages and cuts, boosted trees their
interactions; both then predict from the pages' present features. The result is the geometric mean of both and of the
rate by the page's own changes under its class's prior: three predictions with different errors. Nothing after ``now``
is used.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Instant, Seconds
from sharc_crawler.rates.age import age_rates
from sharc_crawler.rates.counted import counted_rates
from sharc_crawler.rates.estimators.base import Estimates, Sums
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory
from sharc_crawler.rates.regression import LogLinear
from sharc_crawler.rates.surroundings import Surroundings
from sharc_crawler.rates.trees import Boosted

DAY = 86_400.0
WEEK = 7 * DAY
HALF_LIVES = (3 * WEEK, 12 * WEEK, 52 * WEEK)
NEAR_HALF_LIVES = (4 * WEEK, 26 * WEEK)  #: of activity in the surroundings
YOUNG = 60 * DAY
OLD = 400 * DAY  #: maximum age; older ones are cut
CUTS = 10  #: maximum of cuts
SHARE = 0.25  #: maximum share of the history after a cut
HEAD = 0.3  #: minimum share of the history before a cut
LOOKS = 2.0  #: minimum time after a cut, in intervals between captures
SHAPES = np.geomspace(0.25, 64.0, 17)
EVENTS = 30  #: minimum of changes after the cuts
WEIGHTS = (1.0, 1.0, 2.0)  #: in the mean of logarithms: counted, log-linear, trees
EXAMPLES = 100_000  #: maximum of examples, equally many of each cut
FOREST = 200  #: minimum of examples with a change for trees


def learnable(history: SiteHistory, now: Instant, horizon: Seconds) -> bool:
    """Did captures see enough changes after the cuts to learn from?"""
    cuts, after = _cuts(history, now, horizon)
    times = history.times[history.changed == CHANGED]
    looked_at = [(cut < times) & (times <= cut + after) for cut in cuts]  # all captures may be outside
    return bool(looked_at and np.count_nonzero(np.any(looked_at, axis=0)) >= EVENTS)


def learned_rates(history: SiteHistory, now: Instant, horizon: Seconds, surroundings: Surroundings) -> Estimates:
    """Return rates for a capture of length ``horizon`` from ``now``, changes per second, for every URL of the history.

    The history must be :func:`learnable`.
    """
    cuts, after = _cuts(history, now, horizon)
    most, rng = EXAMPLES // len(cuts), np.random.default_rng(0)
    examples = [_examples(history, cut, after, surroundings, most, rng) for cut in cuts]
    features, changed, lengths, counted = (np.concatenate(column) for column in zip(*examples, strict=True))
    present = _features(history.before(now), now, surroundings)
    models: list[LogLinear | Boosted] = [LogLinear().fit(features, changed, lengths)]
    if np.count_nonzero(changed == CHANGED) >= FOREST:
        models.append(Boosted(_directions(surroundings)).fit(features, changed, lengths))

    rate = _combined(counted_rates(history).rate, *(model.rate(present) for model in models))
    then = _combined(counted, *(model.fitted_ for model in models))
    shape = _dispersion(then * lengths, changed == CHANGED)
    observations = history.histories().observations()
    return Estimates(rate, rate / np.sqrt(shape), np.full(len(rate), shape), observations)


def _combined(*views: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.exp(np.average(np.log(views), axis=0, weights=WEIGHTS[: len(views)])))


def _dispersion(mean: NDArray[np.float64], hit: NDArray[np.bool_]) -> float:
    """Return the likeliest shape k of Gamma distributions about the learned rates, given the changes after the cuts.

    A page whose rate is Gamma(k, λ) changes within t with probability 1 − (1 + λ t/k)^{−k}.
    """
    calm = -SHAPES[:, None] * np.log1p(mean / SHAPES[:, None])
    likelihood = np.log(-np.expm1(calm[:, hit])).sum(1) + calm[:, ~hit].sum(1)
    return float(SHAPES[likelihood.argmax()])


def _cuts(history: SiteHistory, now: Instant, horizon: Seconds) -> tuple[NDArray[np.float64], Seconds]:
    """Return the instants of the cuts, latest first, and the time after each.

    There are none if all observations are within a week: features are in days and weeks, and from captures minutes
    apart the regression would only learn one rate for all pages.
    """
    lengths = history.histories().lengths
    if not len(lengths) or np.ptp(history.times) < WEEK:
        return np.zeros(0), horizon
    span = now - history.times.min()
    after = min(max(horizon, LOOKS * float(np.median(lengths))), SHARE * span)
    gap = max(after / 2.0, (span - after) / CUTS)
    return np.arange(now - after, now - (1.0 - HEAD) * span, -gap), after


def _examples(
    history: SiteHistory, cut: Instant, after: Seconds, surroundings: Surroundings, most: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.int8], NDArray[np.float64], NDArray[np.float64]]:
    """Return features, outcome, time watched and counted rate of up to ``most`` pages seen before and after a cut."""
    intervals = history.histories()
    inside = (intervals.ends > cut) & (intervals.ends <= cut + after) & (intervals.changed != UNKNOWN)
    seen = intervals.total(np.where(inside, intervals.lengths, 0.0))
    hits = intervals.total((inside & (intervals.changed == CHANGED)).astype(np.float64))
    use = np.flatnonzero((history.first() <= cut) & (seen > 0))
    if len(use) > most:
        use = np.sort(rng.choice(use, most, replace=False))
    changed = np.where(hits > 0, CHANGED, UNCHANGED).astype(np.int8)
    past = history.before(cut)
    return _features(past, cut, surroundings)[use], changed[use], seen[use], counted_rates(past, of=use).rate


def _features(past: SiteHistory, at: Instant, surroundings: Surroundings) -> NDArray[np.float64]:
    """Return the features of every URL at an instant, shape (urls, features)."""
    intervals = past.histories().known()
    columns = [_recent(Sums.of(intervals.discounted(at, half_life))) for half_life in HALF_LIVES]
    born = np.fmin(np.fmin(past.first(), at), past.earliest_lastmod())
    last = np.fmax(past.latest(past.lastmods), past.last_change())
    span = at - past.times.min() if len(past.times) else OLD
    ages = np.clip(at - np.fmax(last, born), DAY, min(span, OLD)), np.clip(at - born, DAY, OLD)
    columns += [np.log(ages[0] / DAY), np.log(ages[1] / DAY), (ages[1] < YOUNG).astype(np.float64)]
    columns.append(_by_age(past, at, surroundings))
    activity = [np.log1p(Sums.of(intervals.discounted(at, half)).changed) for half in NEAR_HALF_LIVES]
    around = [surroundings.columns(values) for values in activity]
    return np.concatenate([np.stack(columns, axis=1), *around, surroundings.place()], axis=1)


def _directions(surroundings: Surroundings) -> list[int]:
    """Return the sign of each feature's effect: 1 more changes, -1 fewer, 0 unknown."""
    around = [1] * surroundings.relations
    own = [1] * len(HALF_LIVES) + [-1, 0, 0, 1]
    return own + around * len(NEAR_HALF_LIVES) + [0] * surroundings.place().shape[1]


def _recent(sums: Sums) -> NDArray[np.float64]:
    """Return the logarithm of X/T, drawn to the site's mean by a third of a change."""
    mean = float((sums.changed.sum() + 1.0) / (sums.time.sum() + WEEK))
    return np.asarray(np.log((sums.changed + 0.3) / (sums.time + 0.3 / mean)))


def _by_age(past: SiteHistory, at: Instant, surroundings: Surroundings) -> NDArray[np.float64]:
    """Return the logarithm of the rate by the sitemap alone, which reaches back further than the history."""
    rate = age_rates(past.latest(past.lastmods), at, surroundings).rate
    return np.zeros(len(rate)) if np.isnan(rate).all() else np.log(rate)
