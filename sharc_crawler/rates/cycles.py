"""When pages change, not only how often: a daily and a weekly cycle of a site, or of a class of its URLs.

λ(t) = λ c(t), where c has mean 1 and is the same for all pages of a class: the exponential of a short Fourier series of
the time of day, or of the week (UTC). It is learned from dated changes: lastmods and ``Last-Modified``. The last change
before a look is mostly young where pages are hot, whatever the hour; what is to be expected of a page without cycles is
therefore taken off, change by change. Changes come in bursts, and rebuilds touch a thousand pages at once: the unit of
evidence is the day (or the week), not the change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import fdtrc

from sharc_crawler.rates.age import age_histories
from sharc_crawler.rates.estimators.likelihood import Likelihood
from sharc_crawler.rates.estimators.mixture import learn_weights, log_likelihoods, posterior
from sharc_crawler.rates.trust import dated

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sharc_crawler.model import Instant
    from sharc_crawler.rates.history import SiteHistory

DAY = 86_400.0
WEEK = 7 * DAY
PERIODS = {"day": DAY, "week": WEEK}
HARMONICS = 4
LATELY = 180 * DAY  #: habits change: older changes tell nothing
HOT = 2.0  #: changes between two looks from which on the last one tells of the look, not of the hour
LEVEL = 0.001  #: a cycle is believed if chance would show the like in fewer cases than these
CLUSTERS = 12  #: days (weeks) with changes, at least
CROWD = 0.9  #: quantile of the changes per day (week) from which on more of them count no more
RIDGE = 3.0  #: days (weeks) without a cycle that are mixed in, times the square of the harmonic
GRID = 168  #: points at which a cycle is summed up
STEPS = 50
FINE = 900.0  #: seconds within which c(t) hardly moves
CELLS = 2 * HARMONICS + 1  #: parts of a period that the waves tell apart
RATES = np.geomspace(0.1 / (365.25 * DAY), 0.1, 26)  #: that a page may have


@dataclass(frozen=True, slots=True)
class DatedChanges:
    """Instants at which pages are known to have changed, each the last one before a look at the page."""

    pages: NDArray[np.int64]  #: index into the history's URLs
    times: NDArray[np.float64]
    looks: NDArray[np.float64]  #: first look that found the change
    befores: NDArray[np.float64]  #: look before it; -inf: none
    precisions: NDArray[np.float64]  #: seconds
    odds: NDArray[np.float64]  #: probability of each of ``RATES`` for the page, whatever the hour of its changes

    def select(self, keep: NDArray[np.bool_] | NDArray[np.int64]) -> DatedChanges:
        """Some of them."""
        pages, times, looks = self.pages[keep], self.times[keep], self.looks[keep]
        return DatedChanges(pages, times, looks, self.befores[keep], self.precisions[keep], self.odds[keep])

    @classmethod
    def of(cls, history: SiteHistory) -> DatedChanges:
        """Every different lastmod (or, where there is none to believe, ``Last-Modified``) of each page."""
        told, pages = dated(history), history.pages()
        said, precise = told.lastmods, np.maximum(told.precisions, 1.0)
        again = np.zeros(len(said), np.bool_)
        again[1:] = (pages[1:] == pages[:-1]) & (said[1:] == said[:-1])
        before = np.full(len(said), -math.inf)
        before[1:][pages[1:] == pages[:-1]] = history.times[:-1][pages[1:] == pages[:-1]]
        keep = ~np.isnan(said) & ~again & (said < history.times) & (said > before)
        keep &= said > history.times.max(initial=0.0) - LATELY
        odds = _odds(told)
        keep &= ((odds @ RATES)[pages] * (history.times - before) < HOT) | np.isinf(before)
        pages, before = pages[keep], before[keep]
        return cls(pages, said[keep], history.times[keep], before, precise[keep], odds[pages])


def _odds(told: SiteHistory) -> NDArray[np.float64]:
    """The probability of each of ``RATES``, page by page, by what was seen between looks.

    How many pages have which rate is learned from the ages of their last changes, too: they reach back further than
    the looks. A page's own age is left out, since it is its hour that is in question.
    """
    seen = log_likelihoods(Likelihood.of(told.histories().known()), RATES)
    born, first = told.earliest_lastmod(), told.first()
    ages = age_histories(np.where(born < first, born, np.nan), first)
    return posterior(seen, learn_weights(seen + log_likelihoods(Likelihood.of(ages), RATES)))


@dataclass(frozen=True, slots=True)
class Cycle:
    """A cycle that was looked for."""

    period: float  #: seconds
    changes: int
    clusters: int  #: days, or weeks, with changes
    p_value: float  #: how often chance alone shows as much; 1: too few to tell
    coefficients: NDArray[np.float64]  #: of log c(t): cosine and sine of each harmonic; 0: no cycle

    @property
    def present(self) -> bool:
        """Do the changes show it?"""
        return self.p_value < LEVEL

    def factor(self, times: ArrayLike) -> NDArray[np.float64]:
        """c(t): how much more, or less, changes at these instants than on average.

        Few days (weeks) cannot tell an hour without changes from one with few: to what they show, one change in each
        part of the period that the waves tell apart is added.
        """
        instants = np.asarray(times, np.float64)
        logs = _waves(instants.ravel(), self.period) @ self.coefficients
        shown = (np.exp(logs) / np.exp(_phases() @ self.coefficients).mean()).reshape(instants.shape)
        return np.asarray((self.clusters * shown + CELLS) / (self.clusters + CELLS))


def find_cycle(changes: DatedChanges, period: float) -> Cycle:
    """Look for a cycle of ``period`` seconds in dated changes.

    The test is Hotelling's T² on the sums, day by day (week by week), of the waves at the changes less what pages
    without a cycle would show. c(t) is the most likely one given the mean of these, with a penalty that takes away what
    few days cannot show.
    """
    sharp = changes.select(changes.precisions <= period / 12)
    clusters, place, sizes = np.unique(np.floor(sharp.times / period), return_inverse=True, return_counts=True)
    count, waves = len(clusters), 2 * HARMONICS
    if count < max(CLUSTERS, waves + 2):
        return Cycle(period, len(sharp.times), count, 1.0, np.zeros(waves))
    weights = np.minimum(1.0, np.quantile(sizes, CROWD) / sizes)[place]
    surplus = (_waves(sharp.times, period) - _expected(sharp, period)) * weights[:, None]
    sums = np.stack([np.bincount(place, column, count) for column in surplus.T], axis=1)
    mean = sums.mean(0)
    t2 = count * float(mean @ np.linalg.pinv(np.cov(sums.T)) @ mean)
    p_value = float(fdtrc(waves, count - waves, t2 * (count - waves) / (waves * (count - 1))))
    fitted = _fitted(sums.sum(0) / weights.sum(), count) if p_value < LEVEL else np.zeros(waves)
    return Cycle(period, len(sharp.times), count, p_value, fitted)


def _fitted(target: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """The coefficients under which the waves have this mean, shrunken: Newton's method on a concave function."""
    waves, penalty = _phases(), RIDGE / count * np.repeat(np.arange(1.0, HARMONICS + 1), 2) ** 2
    beta = np.zeros(len(target))
    for _ in range(STEPS):
        density = np.exp(waves @ beta)
        density /= density.sum()
        mean = density @ waves
        spread = (waves * density[:, None]).T @ waves - np.outer(mean, mean)
        step = np.linalg.solve(spread + np.diag(penalty), target - mean - penalty * beta)
        beta += step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    return beta


def _phases() -> NDArray[np.float64]:
    return _waves(np.arange(GRID) / GRID, 1.0)


def _waves(times: NDArray[np.float64], period: float) -> NDArray[np.float64]:
    """Cosine and sine of each harmonic, shape (times, 2 × harmonics)."""
    angles = 2 * np.pi * np.outer(times, np.arange(1, HARMONICS + 1)) / period
    return np.stack([np.cos(angles), np.sin(angles)], axis=2).reshape(len(times), 2 * HARMONICS)


def _expected(changes: DatedChanges, period: float) -> NDArray[np.float64]:
    """The mean of the waves over where the change may lie if the page is Poisson at an even rate λ, one of ``RATES``.

    The last change before a look is of age a with density λ e^{−λa}, given that it came after the look before, that is
    a < L: E e^{iω(t−a)} = e^{iωt} λ/(λ+iω) (1 − e^{−(λ+iω)L})/(1 − e^{−λL}).
    """
    omega = 2 * np.pi * np.arange(1, HARMONICS + 1)[None, :] / period
    length = (changes.looks - changes.befores)[:, None]
    finite = np.minimum(length, 1e12)
    mean = np.zeros((len(length), HARMONICS), np.complex128)
    for rate, odds in zip(RATES, changes.odds.T, strict=True):
        share = -np.expm1(-rate * finite)
        cut = np.where(np.isinf(length), 0.0, np.exp(-(rate + 1j * omega) * finite))
        mean += odds[:, None] * rate / (rate + 1j * omega) * (1.0 - cut) / share
    mean *= np.exp(1j * omega * changes.looks[:, None])
    return np.stack([mean.real, mean.imag], axis=2).reshape(len(length), 2 * HARMONICS)


@dataclass(frozen=True, slots=True)
class Rhythm:
    """The cycles of one class of URLs, or of the site."""

    cycles: tuple[Cycle, ...]

    @property
    def present(self) -> bool:
        """Is there any?"""
        return any(cycle.present for cycle in self.cycles)

    def factor(self, times: ArrayLike) -> NDArray[np.float64]:
        """c(t), the product of the cycles that are there."""
        instants = np.asarray(times, np.float64)
        found = np.ones(instants.shape)
        for cycle in self.cycles:
            if cycle.present:
                found = found * cycle.factor(instants)
        return found

    def mean(self, start: ArrayLike, end: ArrayLike) -> NDArray[np.float64]:
        """The mean of c(t) from ``start`` to ``end``, element by element; 1 where there is no cycle, or no time."""
        begins, ends = np.broadcast_arrays(np.asarray(start, np.float64), np.asarray(end, np.float64))
        if not self.present:
            return np.ones(begins.shape)
        times, elapsed = self.elapsed(0.0, WEEK)
        weeks, spent = np.floor_divide([begins, ends], WEEK), np.interp(np.mod([begins, ends], WEEK), times, elapsed)
        whole = weeks * elapsed[-1] + spent
        lengths = ends - begins
        return np.where(lengths > 0, (whole[1] - whole[0]) / np.where(lengths > 0, lengths, 1.0), 1.0)

    def elapsed(self, start: Instant, end: Instant) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Instants from ``start`` to ``end``, and the integral of c(t) from ``start`` on: time as changes count it."""
        times = np.linspace(start, end, max(2, math.ceil((end - start) / FINE) + 1))
        middles = (times[1:] + times[:-1]) / 2
        return times, np.concatenate([[0.0], np.cumsum(self.factor(middles) * np.diff(times))])


def rhythm(changes: DatedChanges) -> Rhythm:
    """The daily and the weekly cycle of dated changes."""
    return Rhythm(tuple(find_cycle(changes, period) for period in PERIODS.values()))


def rhythms(history: SiteHistory, labels: NDArray[np.int64]) -> dict[int, Rhythm]:
    """The rhythm of each class of URLs (``labels``: one per URL): its own where it shows one, else the site's."""
    changes = DatedChanges.of(history)
    whole = rhythm(changes)
    own = labels[changes.pages]
    order, found = np.argsort(own, kind="stable"), dict.fromkeys(np.unique(labels).tolist(), whole)
    for part in np.split(order, np.flatnonzero(np.diff(own[order])) + 1):
        shown = rhythm(changes.select(part))
        if len(part) and shown.present:
            found[int(own[part[0]])] = shown
    return found
