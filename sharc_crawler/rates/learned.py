"""Rates learned from a site's own past: how what was known some weeks ago foretold the weeks that followed.

The history is cut at several instants in the past. What was known of each page at a cut (its changes, recent ones
counting more; the age of its last change; the company it keeps) is set against whether it changed in the time after
the cut, as long as the capture to come. Over all pages and cuts a log-linear regression learns what each is worth, and
boosted trees what each is worth where another is low; both are asked about the pages as they are now. The answer is
the geometric mean of theirs and of what the page's own changes say under the prior of its class: three that err in
different ways. Nothing after ``now`` is looked at.
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
OLD = 400 * DAY  #: ages beyond are as good as this
CUTS = 10  #: at most
SHARE = 0.25  #: of the history, at most, that follows a cut
HEAD = 0.3  #: of the history, at least, that comes before one
LOOKS = 2.0  #: intervals between captures, at least, that follow a cut
SHAPES = np.geomspace(0.25, 64.0, 17)
EVENTS = 30  #: changes after the cuts, at least: a regression on fewer is not worth its while
WEIGHTS = (1.0, 1.0, 2.0)  #: in the mean of logarithms: counted, log-linear, trees
EXAMPLES = 100_000  #: that are learned from, at most: of all cuts together, equally many of each
FOREST = 200  #: examples of a change from which on trees are grown


def learnable(history: SiteHistory, now: Instant, horizon: Seconds) -> bool:
    """Did the captures in the times looked at, one after each cut, see enough changes to learn from?"""
    cuts, after = _cuts(history, now, horizon)
    times = history.times[history.changed == CHANGED]
    looked_at = [(cut < times) & (times <= cut + after) for cut in cuts]  # captures far apart can lie between them all
    return bool(looked_at and np.count_nonzero(np.any(looked_at, axis=0)) >= EVENTS)


def learned_rates(history: SiteHistory, now: Instant, horizon: Seconds, surroundings: Surroundings) -> Estimates:
    """Rates for a capture of length ``horizon`` that starts ``now``, changes per second, for every URL of the history.

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
    """The shape k of Gamma distributions about the learned rates under which what followed the cuts is most likely.

    A page whose rate is Gamma(k, λ) changes within t with probability 1 − (1 + λ t/k)^{−k}.
    """
    calm = -SHAPES[:, None] * np.log1p(mean / SHAPES[:, None])
    likelihood = np.log(-np.expm1(calm[:, hit])).sum(1) + calm[:, ~hit].sum(1)
    return float(SHAPES[likelihood.argmax()])


def _cuts(history: SiteHistory, now: Instant, horizon: Seconds) -> tuple[NDArray[np.float64], Seconds]:
    """Instants to cut the history at, latest first, and how long a time after each is looked at.

    None where all observations lie within a week: what is known of a page is told in days and weeks, and of captures
    minutes apart the regression would learn one rate for all, surely, from one comparison each.
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
    """Of pages seen before and after the cut: features then, whether the page changed later and in how long a time, and
    the rate that was counted then; of ``most`` pages drawn at random where there are more.
    """
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
    """What was known of every URL at an instant, shape (urls, features)."""
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
    """What more of each feature means: 1 more changes, -1 fewer, 0 nobody knows beforehand."""
    around = [1] * surroundings.relations
    own = [1] * len(HALF_LIVES) + [-1, 0, 0, 1]
    return own + around * len(NEAR_HALF_LIVES) + [0] * surroundings.place().shape[1]


def _recent(sums: Sums) -> NDArray[np.float64]:
    """The logarithm of X/T, drawn to the site's mean by a third of a change."""
    mean = float((sums.changed.sum() + 1.0) / (sums.time.sum() + WEEK))
    return np.asarray(np.log((sums.changed + 0.3) / (sums.time + 0.3 / mean)))


def _by_age(past: SiteHistory, at: Instant, surroundings: Surroundings) -> NDArray[np.float64]:
    """The logarithm of the rate that the sitemap alone would give: it reaches back further than the history."""
    rate = age_rates(past.latest(past.lastmods), at, surroundings).rate
    return np.zeros(len(rate)) if np.isnan(rate).all() else np.log(rate)
