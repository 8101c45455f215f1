"""Correct rates during a crawl by what sitemaps have shown since the rates were learned.

The past may mislead: a rebuild that touched all pages makes every page look hot. Lastmods of two successive periods
since then are a free test of the rates: which pages changed in each, and whether they are the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Instant, Seconds
from sharc_crawler.rates.age import imported

Column = NDArray[np.float64]
Mask = NDArray[np.bool_]

ENOUGH = 20  #: minimum of pages changed in either period
COLDEST = 1e-3  #: lower bound of rates, as a share of the mean rate
SURE = 3.0  #: minimum advantage in log-likelihood of classes that differ over equal ones
ALIKE = 1e6  #: shape of the factors of equal classes
PARTS = 15  #: parts of the time watched, to find classes that change in bursts
SPREAD = 3.0  #: prior standard deviation of the logarithms of factor and shape


def corrected(
    rates: Column,
    shapes: Column,
    early: Mask,
    late: Mask,
    periods: tuple[Seconds, Seconds],
    classes: NDArray[np.int64],
    dates: Column,
    read: Instant,
) -> tuple[Column, Column]:
    """Return rates and Gamma shapes of pages, given former ones and whether each changed in two periods.

    A page's rate is modelled as m·c·r·g: r is the former rate, m a factor for all pages, c one for its class, and g a
    Gamma variable of mean 1 and shape κ, the error of such rates. m and κ maximize the likelihood over all pages; the
    posterior of each page follows. If too few pages changed, nothing is corrected. A rebuild is no page's own change:
    pages that it touched last have been watched since.

    Parameters
    ----------
    rates, shapes: as known when the first period began, changes per second
    early, late: did the page change in the first period, in the second?
    periods: their lengths
    classes: of URLs, by number
    dates: of the pages' last changes; pages of a class with the same date count together as one edit
    read: end of the second period

    >>> held, seen = np.full(100, 0.01), np.arange(100) < 30
    >>> alike, dates = np.zeros(100, np.int64), np.arange(100.0) / 5
    >>> rates, shapes = corrected(held, np.full(100, 9.0), seen, seen, (10.0, 10.0), alike, dates, 20.0)
    >>> bool(rates[0] > 10 * rates[99]), len(shapes)
    (True, 100)

    """
    rebuilt = _rebuilt(dates)
    early, late = early & ~rebuilt, late & ~rebuilt
    if (early | late).sum() < ENOUGH:
        return rates, shapes
    begin = np.where(rebuilt, np.clip(dates, read - sum(periods), read), read - sum(periods))  # their clock may be fast
    parts = np.maximum(read - periods[1] - begin, 0.0), np.minimum(read - begin, periods[1])
    from scipy.optimize import minimize  # takes a third of a second

    held = np.maximum(rates, COLDEST * rates.mean())
    place, at_once = np.unique(np.column_stack([classes, dates]), axis=0, return_inverse=True, return_counts=True)[1:]
    changed, when = (early | late) / at_once[place.ravel()], 1 - (read - dates) / sum(periods)
    held = held * by_class(held * (read - begin), changed, classes, when)[classes]
    seen = 2 * early + late

    def unlikely(values: NDArray[np.float64]) -> float:
        factor, shape = np.exp(np.clip(values, -9, 9))
        chances = np.choose(seen, _chances(factor * held, shape, parts))
        return float(-np.log(np.maximum(chances, 1e-300)).sum() + (values**2).sum() / (2 * SPREAD**2))

    found = min((minimize(unlikely, (0.0, start), method="Nelder-Mead") for start in (-1.0, 2.0)), key=lambda o: o.fun)
    factor, shape = np.exp(found.x)
    chances = np.choose(seen, _chances(factor * held, shape, parts))
    means = np.choose(seen, _chances(factor * held, shape, parts, weighed=True)) / np.maximum(chances, 1e-300)
    return means, shape + early + late


def _rebuilt(dates: Column) -> Mask:
    """Return which pages were last changed by a rebuild."""
    values, place, counts = np.unique(dates, return_inverse=True, return_counts=True)
    return np.asarray(imported(values, counts, len(dates))[place.ravel()])


def by_class(expected: Column, changed: Column, classes: NDArray[np.int64], when: Column) -> Column:
    """Return factors by which pages of each class changed more often than expected from their rates.

    The number of changes per class is negative binomial: factors are Gamma variables of mean 1 with the likeliest
    shape. All are 1 unless different ones explain the changes much better. A class that changes in bursts (as when one
    author uploads all files within two hours) counts as fewer observations, by the variance of its changes beyond
    chance.

    Parameters
    ----------
    expected: expected changes of each page in the time watched
    changed: 1 for a changed page, less if others changed with it
    classes: by number
    when: instants of the changes, from 0 to 1 of the time watched

    >>> changed, classes, even = np.arange(90) < 60, np.repeat([0, 1, 2], 30), np.arange(90) % 30 / 30
    >>> [by_class(np.ones(90), changed, classes, when).round(1).tolist() for when in (even, np.full(90, 0.5))]
    [[1.5, 1.5, 0.0], [1.0, 1.0, 1.0]]

    """
    from scipy.optimize import minimize, minimize_scalar
    from scipy.special import gammaln, xlogy

    bursts = _bursts(changed, classes, when)
    count = np.bincount(classes, changed) / bursts

    def means(factor: float) -> Column:
        return np.asarray(np.bincount(classes, -np.expm1(-factor * expected)) / bursts)

    def likelihood(factor: float, shape: float) -> float:
        mean = means(factor)
        sums = gammaln(count + shape) - gammaln(shape) + shape * np.log(shape) + xlogy(count, mean)
        return float((sums - (count + shape) * np.log(mean + shape)).sum())

    def unlikely(values: NDArray[np.float64]) -> float:
        return float((values**2).sum()) / (2 * SPREAD**2) - likelihood(*np.exp(np.clip(values, -9, 9)))

    factor, shape = np.exp(np.clip(minimize(unlikely, (0.0, 0.0), method="Nelder-Mead").x, -9, 9))
    alike = -minimize_scalar(lambda value: -likelihood(np.exp(value), ALIKE), bounds=(-9, 9), method="bounded").fun
    if likelihood(factor, shape) - alike < SURE:
        return np.ones(len(count))
    return np.asarray((count + shape) / (means(factor) + shape))


def _bursts(changed: Column, classes: NDArray[np.int64], when: Column) -> Column:
    """Return the variance of each class's changes between parts of the time, relative to chance; at least 1."""
    parts = np.clip((when * PARTS).astype(np.int64), 0, PARTS - 1)
    counts = np.zeros((classes.max(initial=-1) + 1, PARTS))
    np.add.at(counts, (classes, parts), changed)
    means = np.maximum(counts.mean(axis=1), np.finfo(float).tiny)
    return np.asarray(np.maximum(counts.var(axis=1, ddof=1) / means, 1.0))


def _chances(rates: Column, shape: float, periods: tuple[Column, Column], *, weighed: bool = False) -> list[Column]:
    """Return the probabilities that a page changes in neither period, only the second, only the first, and both.

    ``weighed``: return the expectation of its rate times that.
    """

    def still(time: Column | float) -> Column:
        kept = (1 + rates * time / shape) ** -shape
        return kept * shape / (shape / rates + time) if weighed else kept

    none, first, second, both = (still(time) for time in (0.0, *periods, sum(periods)))
    return [both, first - both, second - both, none - first - second + both]
