"""HACS: seeds by the probability that they have changed."""

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

OWN_PRIORS = 2_000  #: sites with a prior of their own, the most often captured; all others share one
DAY = 86_400.0
#: in which what a capture tells of its page's rate comes to count half: in a burst of updates, a season, half a year;
#: slower ones where rates last
HALF_LIVES = ((25 * DAY, 60 * DAY, 150 * DAY), (200 * DAY, 500 * DAY, 1250 * DAY))
SURE = 1.645  #: standard errors by which slower ones must have foretold better than the first: 95 % of chance
BACK_TESTS = (45 * DAY, 120 * DAY, 365 * DAY)  #: before the last capture of all: what was foretold then is known now
FADED = 1e-3  #: what counts less is left out: p differs by as much at the most, and half of the time is saved
TESTED = 4_000  #: pages of the seeds that are back-tested, about
_AS_NAMED = "seeds as the histories have them (of a CDX line the first field names the page: com,example)/path)"


class HacsPlain(SeedRanker):
    """The paper's form of p: maximum likelihood λ̃ from interpolated updates, and the time since the last of them.

    A seed without an interval between captures is unknown: the paper leaves it out. Here it is given the probability
    that an update followed its last capture, at a rate drawn from what all seeds show (a Gamma prior).

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
    """HACS with a Gamma prior per site: seeds with few captures borrow from their site, and sites from all.

    The rates' posterior given what was captured is integrated over (posterior predictive). Captures in the window
    speak, and of those before it the ones that the priors are learned from. Rates drift and updates come in bursts, so
    captures fade with their age, at three speeds: the hazard is the geometric mean of the three predictions. All three
    are slower where that would have foretold the captures' own past better, beyond chance. Age counts back from the
    page's last capture, not from now: time in which nothing was looked at is no evidence, so p never
    falls by waiting. Updates are counted from the last capture, not from the last update: that none was seen since is
    evidence too, and a Poisson process has no memory. The hazards of a seed's pages are added up, and corrected by what
    came of those that the same captures foretold some time before their end.
    """

    probabilities: ClassVar[bool] = True

    def fit(self, seeds: SeedHistories, now: Instant) -> Self:
        """Learn the priors, and how right they are."""
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
        # A page that nobody has captured counts where its seed has no other: who knows whether it was there?
        captured = seeds.pages.counts() > 0
        aside = ~captured & (seeds.sum(captured.astype(np.float64)) > 0)[seeds.owners]
        expected[aside] = rate[aside] = 0.0
        compared = np.bincount(seeds.pages.owners(), seeds.pages.changed != UNKNOWN, len(captured))
        known = seeds.sum(compared.astype(np.float64)) > 0
        rates = seeds.sum(rate)
        p = self.calibration_.p(seeds.sum(expected), rates)
        return Scores(p, rates, seeds.latest(seeds.pages.last_update(interpolated=True)), known)

    def _estimates(self, pages: UpdateHistories, half_lives: Sequence[float]) -> list[Estimates]:
        """The pages' rates, one estimate for each half-life."""
        intervals, labels = pages.intervals(interpolated=False), self._labels(pages.urls)
        faded = [intervals.fading(half_life).weighing(FADED) for half_life in half_lives]
        return [self.prior_.estimate(intervals, labels) for intervals in faded]

    def _back_tested(self, seeds: SeedHistories) -> list[tuple[NDArray[np.float64], HazardCalibration]]:
        """What the captures up to some instants before their end foretold, held against those that followed.

        Of each page up to the first capture a week later, and up to its last one. For each of :data:`HALF_LIVES`, per
        seed, the log-likelihood of what followed, calibrated; and the calibration.
        """
        pages, end = seeds.pages, float(seeds.pages.times.max(initial=-np.inf))
        updates = np.flatnonzero(pages.changed == CHANGED)
        owners, times = pages.owners()[updates], pages.times[updates]
        tests: list[list[_Test]] = [[] for _ in HALF_LIVES]
        for back in BACK_TESTS:
            past = seeds.window(-np.inf, end - back).pages
            foretold = [self._estimates(past, half_lives) for half_lives in HALF_LIVES]
            for until in (pages.first_from(end - back + WEEK), pages.last_seen()):
                since = until - past.last_seen()
                again = since > 0  # captured before and after
                hits = np.bincount(owners, (times > end - back) & (times <= until[owners]), len(again)) * again
                for estimates, found in zip(foretold, tests, strict=True):
                    expected, rate = _mean(estimates, np.where(again, since, 0.0))
                    told = seeds.sum(np.where(again, expected, 0.0)), seeds.sum(np.where(again, rate, 0.0))
                    found.append((*told, seeds.sum(hits.astype(np.float64)) > 0))
        return [_calibrated(found, len(seeds)) for found in tests]

    def _remembered(self, pages: UpdateHistories, task: RankingTask) -> UpdateHistories:
        """The captures in the window after those before it that were learned from."""
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
    """Hazard and rate of each page, the geometric means of several estimates."""
    with np.errstate(divide="ignore"):  # no time, no hazard
        logs = np.mean([np.log([hazard(one, duration), one.rate]) for one in estimates], axis=0)
    expected, rate = np.exp(logs)
    return expected, rate


def _sample(seeds: SeedHistories) -> SeedHistories:
    """Some of the seeds, with no more pages than are back-tested."""
    if len(seeds.pages) <= TESTED:
        return seeds
    order, pages = np.random.default_rng(0).permutation(len(seeds)), np.bincount(seeds.owners)
    chosen = np.zeros(len(seeds), np.bool_)
    chosen[order[np.cumsum(pages[order]) - pages[order] < TESTED]] = True
    return seeds.select(chosen)


def _comparable(seeds: SeedHistories, now: Instant) -> Histories:
    """The intervals between all captures up to now, if any can be compared."""
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
    """The sites that have most to say, numbered from 1."""
    total = Counter[str]()
    for host, count in zip(hosts, observations.tolist(), strict=True):
        total[host] += count
    return {host: label for label, (host, count) in enumerate(total.most_common(OWN_PRIORS), 1) if count}


def _unseen(last_seen: NDArray[np.float64], task: RankingTask) -> NDArray[np.float64]:
    """For how long each page may have been updated since its last capture in the window.

    Without one: for longer than the window; where only what lies ahead counts, for that long.
    """
    before = task.now - task.back if task.missed else task.now
    return task.now + task.ahead - np.where(np.isnan(last_seen), before, last_seen)


def _any(seeds: SeedHistories, p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Per seed, the probability that any of its pages is updated."""
    return -np.expm1(seeds.sum(np.log1p(-np.minimum(p, 1.0 - 1e-15))))


# -- f: captures → (λ, τ), and g: (λ, τ, e) → p, the two halves of the prediction (section II-E) -----------------------


@dataclass(frozen=True, slots=True)
class Fit:
    """For each page, how often it is updated, and when it last was."""

    rate: NDArray[np.float64]  #: λ, updates per second; NaN: unknown, there is no interval between captures
    last_update: NDArray[np.float64]  #: τ; NaN: no update was seen


def f(pages: UpdateHistories, *, interpolated: bool = True) -> Fit:
    """λ and τ of all pages, in one solve of equation 5 (equation 4 where every capture shows an update).

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
    with np.errstate(invalid="ignore"):  # an infinite shape is a point estimate
        spread = estimates.shape * np.log1p(estimates.rate * duration / estimates.shape)
    return np.where(np.isinf(estimates.shape), estimates.rate * duration, spread)


def predictive(estimates: Estimates, duration: NDArray[np.float64] | Seconds) -> NDArray[np.float64]:
    """The probability of an update within ``duration``, over all rates that the Gamma posteriors leave possible.

    1 − E[e^{−λd}] = 1 − (1 + d·mean/shape)^(−shape). NaN where nothing is known.
    """
    return -np.expm1(-hazard(estimates, duration))
