"""HACS: ranks seeds by the probability that they have changed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from sharc_crawler.errors import DataError
from sharc_crawler.rates.estimators.gamma_poisson import GammaPoisson
from sharc_crawler.rates.estimators.irregular import IrregularMle
from sharc_crawler.rates.history import CHANGED, UNKNOWN, Histories
from sharc_crawler.seeds.base import WEEK, RankingTask, Scores, SeedRanker
from sharc_crawler.seeds.hacs.calibration import HazardCalibration, calibrated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.model import Instant, Seconds
    from sharc_crawler.rates.estimators.base import Estimates
    from sharc_crawler.seeds.hacs.histories import UpdateHistories
    from sharc_crawler.seeds.hacs.sites import SeedHistories

    _Test = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]  # per seed: hazard, rate, updated?

OWN_PRIORS = 2_000  #: number of sites (the most often captured) with their own prior; all others share one
DAY = 86_400.0
#: in which what a capture tells of its page's rate comes to count half: in a burst of updates, a season, half a year;
#: slower ones where rates last
HALF_LIVES = ((25 * DAY, 60 * DAY, 150 * DAY), (200 * DAY, 500 * DAY, 1250 * DAY))
SURE = 1.645  #: standard errors by which slower half-lives must have predicted better to be used (95 % confidence)
BACK_TESTS = (45 * DAY, 120 * DAY, 365 * DAY)  #: back-tests predict from captures up to this long before the last one
FADED = 1e-3  #: captures with a lower weight are left out; it changes p by at most this, and halves the time
TESTED = 4_000  #: approximate number of pages that are back-tested
_AS_NAMED = "seeds as the histories have them (of a CDX line the first field names the page: com,example)/path)"


class HacsPlain(SeedRanker):
    """The paper's form of p: maximum likelihood λ̃ from interpolated updates, and the time since the last of them.

    The paper leaves out seeds without an interval between captures. Here such a seed gets the probability that an
    update followed its last capture, with a rate from the Gamma prior of all seeds.

    References
    ----------
    Jayawardana et al., Modeling updates of scholarly webpages using archived data, 2020.

    """

    probabilities: ClassVar[bool] = True
    since: ClassVar[str] = "its last update that was seen"

    def fit(self, seeds: SeedHistories, now: Instant) -> Self:
        """Learn the prior of unknown seeds."""
        self.prior_ = GammaPoisson(cautious=True).fit(_comparable(seeds, now))
        return self

    def score(self, seeds: SeedHistories, task: RankingTask) -> Scores:
        """The value is p."""
        fit = f(seeds.pages)
        known = seeds.sum(~np.isnan(fit.rate)) > 0
        rate, last_update = seeds.sum(fit.rate), seeds.latest(fit.last_update)
        until = task.now + task.ahead
        value = g(rate, last_update, until)
        if not known.all():
            estimates = self.prior_.estimate(seeds.pages.intervals(interpolated=False))
            alone = predictive(estimates, _unseen(seeds.last_seen(), task))
            value[~known] = _any(seeds, alone)[~known]
            rate[~known] = seeds.sum(estimates.rate)[~known]
        return Scores(value, rate, last_update, known)


class Hacs(SeedRanker):
    """HACS with a Gamma prior per site: seeds with few captures borrow from their site, and sites from all sites.

    p is the posterior predictive probability, integrated over the rates. It uses the captures in the window, and the
    earlier ones from which the priors are learned. As rates drift and updates come in bursts, captures lose weight
    with age, at three speeds (half-lives): the hazard is the geometric mean of the three predictions. Slower speeds
    are used if they would have predicted the captures' own past significantly better. Age counts from the page's last
    capture, not from now: a time without captures is no evidence, so p never falls by waiting. The prediction starts
    at the last capture, not at the last update: a Poisson process has no memory, and that no update was seen since is
    evidence too. A seed's hazard is the sum of its pages' hazards, corrected by back-tests
    (:mod:`~sharc_crawler.seeds.hacs.calibration`).
    """

    probabilities: ClassVar[bool] = True

    def fit(self, seeds: SeedHistories, now: Instant) -> Self:
        """Learn the priors, and calibrate them by back-tests."""
        intervals, urls = _comparable(seeds, now), seeds.pages.urls
        hosts = [_host(url) for url in urls]
        sites = _busiest(hosts, intervals.observations())
        self.labels_ = {url: sites.get(host, 0) for url, host in zip(urls, hosts, strict=True)}
        self.prior_ = GammaPoisson(cautious=True).fit(intervals, self._labels(urls))
        self.pages_, self.until_ = seeds.pages, now
        tests = self._back_tested(_sample(seeds.window(-np.inf, now)))
        gains = [told - tests[0][0] for told, _ in tests]
        best = int(np.argmax([gain.sum() - SURE * math.sqrt(len(gain)) * gain.std() for gain in gains]))
        self.half_lives_, self.calibration_ = HALF_LIVES[best], tests[best][1]
        return self

    def score(self, seeds: SeedHistories, task: RankingTask) -> Scores:
        """The value is p."""
        seeds = replace(seeds, pages=self._remembered(seeds.pages, task))
        duration = _unseen(seeds.last_seen(), task) if task.missed else np.full(len(seeds.pages), task.ahead)
        expected, rate = _mean(self._estimates(seeds.pages, self.half_lives_), duration)
        # A page without captures may not exist, so it counts only if its seed has no other page.
        captured = seeds.pages.counts() > 0
        aside = ~captured & (seeds.sum(captured.astype(np.float64)) > 0)[seeds.owners]
        expected[aside] = rate[aside] = 0.0
        compared = np.bincount(seeds.pages.owners(), seeds.pages.changed != UNKNOWN, len(captured))
        known = seeds.sum(compared.astype(np.float64)) > 0
        rates = seeds.sum(rate)
        p = self.calibration_.p(seeds.sum(expected), rates)
        return Scores(p, rates, seeds.latest(seeds.pages.last_update(interpolated=True)), known)

    def _estimates(self, pages: UpdateHistories, half_lives: Sequence[float]) -> list[Estimates]:
        """Estimates of the pages' rates, one for each half-life."""
        intervals, labels = pages.intervals(interpolated=False), self._labels(pages.urls)
        faded = [intervals.fading(half_life).weighing(FADED) for half_life in half_lives]
        return [self.prior_.estimate(intervals, labels) for intervals in faded]

    def _back_tested(self, seeds: SeedHistories) -> list[tuple[NDArray[np.float64], HazardCalibration]]:
        """Compare predictions from the captures up to each of :data:`BACK_TESTS` with the captures that followed.

        For each page, up to the first capture a week later, and up to its last one. Returns for each of
        :data:`HALF_LIVES` the seeds' log-likelihoods of what followed, calibrated, and the calibration.
        """
        pages, end = seeds.pages, float(seeds.pages.times.max(initial=-np.inf))
        updates = np.flatnonzero(pages.changed == CHANGED)
        owners, times = pages.owners()[updates], pages.times[updates]
        tests: list[list[_Test]] = [[] for _ in HALF_LIVES]
        for back in BACK_TESTS:
            past = seeds.window(-np.inf, end - back).pages
            fitted = [self._estimates(past, half_lives) for half_lives in HALF_LIVES]
            for until in (pages.first_from(end - back + WEEK), pages.last_seen()):
                since = until - past.last_seen()
                both = since > 0  # captured before and after
                hits = np.bincount(owners, (times > end - back) & (times <= until[owners]), len(both)) * both
                for estimates, found in zip(fitted, tests, strict=True):
                    expected, rate = _mean(estimates, np.where(both, since, 0.0))
                    sums = seeds.sum(np.where(both, expected, 0.0)), seeds.sum(np.where(both, rate, 0.0))
                    found.append((*sums, seeds.sum(hits.astype(np.float64)) > 0))
        return [_calibrated(found, len(seeds)) for found in tests]

    def _remembered(self, pages: UpdateHistories, task: RankingTask) -> UpdateHistories:
        """The captures that the priors were learned from, then those in the window."""
        if math.isinf(task.back):
            return pages
        end = min(self.until_, np.nextafter(task.now - task.back, -np.inf))
        return pages.following(self.pages_.named(pages.urls), end)

    def _labels(self, urls: list[str]) -> NDArray[np.int64]:
        return np.array([self.labels_.get(url, 0) for url in urls], np.int64)


def _calibrated(tests: list[_Test], seeds: int) -> tuple[NDArray[np.float64], HazardCalibration]:
    columns = [np.concatenate(column) for column in zip(*tests, strict=True)]
    calibration = calibrated(*columns)
    return calibration.likelihoods(*columns).reshape(-1, seeds).sum(axis=0), calibration


def _mean(estimates: list[Estimates], duration: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Hazard and rate of each page: geometric means of several estimates."""
    with np.errstate(divide="ignore"):  # a duration of 0 gives the hazard 0
        logs = np.mean([np.log([hazard(one, duration), one.rate]) for one in estimates], axis=0)
    expected, rate = np.exp(logs)
    return expected, rate


def _sample(seeds: SeedHistories) -> SeedHistories:
    """A sample of the seeds, with about :data:`TESTED` pages in all."""
    if len(seeds.pages) <= TESTED:
        return seeds
    order, pages = np.random.default_rng(0).permutation(len(seeds)), np.bincount(seeds.owners)
    chosen = np.zeros(len(seeds), np.bool_)
    chosen[order[np.cumsum(pages[order]) - pages[order] < TESTED]] = True
    return seeds.select(chosen)


def _comparable(seeds: SeedHistories, now: Instant) -> Histories:
    """The intervals between all captures up to ``now`` that can be compared."""
    known = seeds.window(-np.inf, now)
    pages = known.pages
    if not len(pages.times):
        raise DataError(
            f"histories: none of the seeds has a capture in them before now, {pages.urls[0]!r} neither: give a later"
            f" now, or {_AS_NAMED}"
        )
    intervals = pages.intervals(interpolated=False)
    if not intervals.observations().any():
        bare = len(seeds) - len(np.unique(known.owners[pages.owners()]))
        those = f", and {bare:,} of {len(seeds):,} have none" if bare else ""
        named = f"{_AS_NAMED}, " if bare else ""
        raise DataError(
            f"histories: no seed has two captures that can be compared before now{those}: give a later now, {named}or"
            " indexes with digests (CDX). TimeMaps say when, not what: rank by --ranker last-obs, or fetch the"
            " documents too (sharc seeds fetch --mementos) and rank with --updates link-addition"
        )
    return intervals


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0]


def _busiest(hosts: list[str], observations: NDArray[np.int64]) -> dict[str, int]:
    """The :data:`OWN_PRIORS` sites with the most observations, numbered from 1."""
    total = Counter[str]()
    for host, count in zip(hosts, observations.tolist(), strict=True):
        total[host] += count
    return {host: label for label, (host, count) in enumerate(total.most_common(OWN_PRIORS), 1) if count}


def _unseen(last_seen: NDArray[np.float64], task: RankingTask) -> NDArray[np.float64]:
    """The time in which a page may have been updated: since its last capture in the window, until t + e.

    Without a capture, it exceeds the window. If ``task.missed`` is false, it is the time ahead alone.
    """
    before = task.now - task.back if task.missed else task.now
    return task.now + task.ahead - np.where(np.isnan(last_seen), before, last_seen)


def _any(seeds: SeedHistories, p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Per seed, the probability that at least one of its pages is updated."""
    return -np.expm1(seeds.sum(np.log1p(-np.minimum(p, 1.0 - 1e-15))))


# -- f: captures → (λ, τ), and g: (λ, τ, e) → p, the two halves of the prediction (section II-E) -----------------------


@dataclass(frozen=True, slots=True)
class Fit:
    """For each page, how often it is updated, and when it was last updated."""

    rate: NDArray[np.float64]  #: λ, updates per second; NaN: unknown, as there is no interval between captures
    last_update: NDArray[np.float64]  #: τ; NaN: no update was seen


def f(pages: UpdateHistories, *, interpolated: bool = True) -> Fit:
    """λ and τ of all pages, by equation 5 (equation 4 if every capture shows an update), solved for all pages at once.

    >>> from sharc_crawler.seeds.hacs.histories import UpdateHistories
    >>> fit = f(UpdateHistories.of(["a", "b"], [[0.0, 4.0, 6.0], [1.0]], [[-1, 1, 0], [-1]]))
    >>> fit.rate.round(4).tolist(), fit.last_update.tolist()
    ([0.2027, nan], [2.0, nan])
    """
    estimates = IrregularMle().estimate(pages.intervals(interpolated=interpolated))
    return Fit(estimates.rate, pages.last_update(interpolated=interpolated))


def g(rate: NDArray[np.float64], last_update: NDArray[np.float64], until: Instant) -> NDArray[np.float64]:
    """The probability p = 1 − exp(−λ (t + e − τ)) of an update by ``until`` = t + e since the last one; 0 for λ = 0.

    >>> g(np.array([0.1, 0.0]), np.array([5.0, np.nan]), 15.0).round(4).tolist()
    [0.6321, 0.0]
    """
    return np.where(rate > 0, -np.expm1(-rate * np.nan_to_num(until - last_update)), 0.0)


def hazard(estimates: Estimates, duration: NDArray[np.float64] | Seconds) -> NDArray[np.float64]:
    """The hazard −ln(1 − p) of the probability of an update within ``duration``, see :func:`predictive`."""
    with np.errstate(invalid="ignore"):  # an infinite shape means a point estimate
        spread = estimates.shape * np.log1p(estimates.rate * duration / estimates.shape)
    return np.where(np.isinf(estimates.shape), estimates.rate * duration, spread)


def predictive(estimates: Estimates, duration: NDArray[np.float64] | Seconds) -> NDArray[np.float64]:
    """The probability of an update within ``duration``, averaged over the Gamma posteriors of the rates.

    1 − E[e^{−λd}] = 1 − (1 + d·mean/shape)^(−shape). NaN where nothing is known.
    """
    return -np.expm1(-hazard(estimates, duration))
