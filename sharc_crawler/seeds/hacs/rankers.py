"""HACS: seeds by the probability that they have changed."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from sharc_crawler.errors import DataError
from sharc_crawler.rates.estimators.gamma_poisson import GammaPoisson
from sharc_crawler.seeds.base import RankingTask, Scores, SeedRanker
from sharc_crawler.seeds.hacs.prediction import f, g, predictive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.model import Instant
    from sharc_crawler.rates.history import Histories
    from sharc_crawler.seeds.hacs.histories import UpdateHistories
    from sharc_crawler.seeds.hacs.sites import SeedHistories

OWN_PRIORS = 2_000  #: sites with a prior of their own, the most often captured; all others share one
DAY = 86_400.0
#: in which what a capture tells of its page's rate comes to count half: in a burst of updates, in a season, in years
HALF_LIVES = (10 * DAY, 60 * DAY, 365 * DAY)


class HacsPlain(SeedRanker):
    """The paper's form of p: maximum likelihood λ̃ from interpolated updates, and the time since the last of them.

    A seed without an interval between captures is unknown: the paper leaves it out. Here it is given the probability
    that an update followed its last capture, at a rate drawn from what all seeds show (a Gamma prior).

    References
    ----------
    Jayawardana et al., Modeling updates of scholarly webpages using archived data, 2020.

    """

    probabilities: ClassVar[bool] = True

    def fit(self, seeds: SeedHistories, now: Instant) -> Self:
        """Learn the prior of unknown seeds."""
        self.prior_ = GammaPoisson().fit(_comparable(seeds, now))
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
    captures fade with their age, at three speeds: p is the mean of the three predictions. Age counts back from the
    page's last capture, not from now: time in which nothing was looked at is no evidence, so p never falls by waiting.
    Updates are counted from the last capture, not from the last update: that none was seen since is evidence too, and
    a Poisson process has no memory.
    """

    probabilities: ClassVar[bool] = True

    def fit(self, seeds: SeedHistories, now: Instant) -> Self:
        """Learn the priors."""
        intervals, urls = _comparable(seeds, now), seeds.pages.urls
        self.sites_ = _busiest([_host(url) for url in urls], intervals.observations())
        self.prior_ = GammaPoisson().fit(intervals, self._labels(urls))
        self.pages_, self.until_ = seeds.pages, now
        return self

    def score(self, seeds: SeedHistories, task: RankingTask) -> Scores:
        """The value is p."""
        pages = self._remembered(seeds.pages, task)
        intervals, labels = pages.intervals(interpolated=False), self._labels(pages.urls)
        duration = _unseen(seeds.last_seen(), task) if task.missed else task.ahead
        p, rate = np.zeros(len(pages)), np.zeros(len(pages))
        for half_life in HALF_LIVES:
            estimates = self.prior_.estimate(intervals.fading(half_life), labels)
            p += predictive(estimates, duration) / len(HALF_LIVES)
            rate += estimates.rate / len(HALF_LIVES)
        known = seeds.sum(intervals.observations().astype(np.float64)) > 0
        return Scores(_any(seeds, p), seeds.sum(rate), seeds.latest(pages.last_update(interpolated=True)), known)

    def _remembered(self, pages: UpdateHistories, task: RankingTask) -> UpdateHistories:
        """The captures in the window after those before it that were learned from."""
        if math.isinf(task.back):
            return pages
        end = min(self.until_, np.nextafter(task.now - task.back, -np.inf))
        return pages.after(self.pages_.window(-np.inf, end).named(pages.urls))

    def _labels(self, urls: list[str]) -> NDArray[np.int64]:
        return np.array([self.sites_.get(_host(url), 0) for url in urls], np.int64)


def _comparable(seeds: SeedHistories, now: Instant) -> Histories:
    """The intervals between all captures up to now, if any can be compared."""
    intervals = seeds.window(-np.inf, now).pages.intervals(interpolated=False)
    if not intervals.observations().any():
        raise DataError(
            "histories: no seed has two captures that can be compared before now: give a later now, or indexes with "
            "digests (CDX). TimeMaps say when, not what: rank by --ranker last-obs, or fetch the documents too (sharc "
            "seeds fetch --mementos) and rank with --updates link-addition"
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
