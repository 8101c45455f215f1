"""Rates put right, while a crawl runs, by what the site itself has said since they were learned.

The past may mislead: a rebuild that touched all pages makes every page look hot. What a sitemap says of two periods
since then, one after the other, is a test of the rates that costs nothing: which pages changed in either, and whether
they are the same ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Instant, Seconds

Column = NDArray[np.float64]
Mask = NDArray[np.bool_]

ENOUGH = 20  #: pages that changed in either period: from fewer nothing is concluded
COLDEST = 1e-3  #: of the mean rate: no page is colder
SURE = 3.0  #: by so much its logarithm of probability must be above that of classes that are alike
ALIKE = 1e6  #: shape of the factors of such
PARTS = 15  #: of the time that pages were watched, in which a class may change in bursts
SPREAD = 3.0  #: standard deviation, beforehand, of the logarithms of factor and shape


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
    """Rates and Gamma shapes of pages by what they were held for, and by whether they changed in two periods.

    A page's rate is taken for m·c·r·g: r what it was held for, m one factor for all, c one for its class, g a Gamma
    variable of mean 1 and shape κ, by which rates of that kind are wrong. Both m and κ are those under which what was
    seen of all pages is likeliest; the posterior of each page follows. Where too few pages changed, all stays as it is.

    Parameters
    ----------
    rates, shapes: as held when the first period began, changes per second
    early, late: did the page change in the first period, in the second?
    periods: their lengths
    classes: of URLs, by number
    dates: of the pages' last changes; those of a class that share one were edited at once, which counts once for it
    read: when the second period ended

    >>> held, seen = np.full(100, 0.01), np.arange(100) < 30
    >>> alike, dates = np.zeros(100, np.int64), np.arange(100.0) / 5
    >>> rates, shapes = corrected(held, np.full(100, 9.0), seen, seen, (10.0, 10.0), alike, dates, 20.0)
    >>> bool(rates[0] > 10 * rates[99]), len(shapes)
    (True, 100)

    """
    if (early | late).sum() < ENOUGH:
        return rates, shapes
    from scipy.optimize import minimize  # a third of a second, which most captures need not wait

    held, watched = np.maximum(rates, COLDEST * rates.mean()), sum(periods)
    place, at_once = np.unique(np.column_stack([classes, dates]), axis=0, return_inverse=True, return_counts=True)[1:]
    changed, when = (early | late) / at_once[place.ravel()], 1 - (read - dates) / watched
    held = held * by_class(held * watched, changed, classes, when)[classes]
    seen = 2 * early + late

    def unlikely(values: NDArray[np.float64]) -> float:
        factor, shape = np.exp(np.clip(values, -9, 9))
        chances = np.choose(seen, _chances(factor * held, shape, periods))
        return float(-np.log(np.maximum(chances, 1e-300)).sum() + (values**2).sum() / (2 * SPREAD**2))

    found = min((minimize(unlikely, (0.0, start), method="Nelder-Mead") for start in (-1.0, 2.0)), key=lambda o: o.fun)
    factor, shape = np.exp(found.x)
    chances = np.choose(seen, _chances(factor * held, shape, periods))
    means = np.choose(seen, _chances(factor * held, shape, periods, weighed=True)) / np.maximum(chances, 1e-300)
    return means, shape + early + late


def by_class(expected: Column, changed: Column, classes: NDArray[np.int64], when: Column) -> Column:
    """By how much pages of each class changed more often than the others, beside what they were held for.

    Their number is negative binomial: the factors are Gamma variables of mean 1, of the likeliest shape.
    All are 1 where that does not explain much better what was seen. A class that changes in bursts, as in the two hours
    in which one author puts up all files anew, is seen so much less often: by what its changes vary beyond chance.

    Parameters
    ----------
    expected: changes of each page in the time that it was watched
    changed: 1 where it did, less where others changed with it
    classes: by number
    when: the changes were, from 0 to 1 of the time watched

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

    def told(factor: float, shape: float) -> float:
        mean = means(factor)
        sums = gammaln(count + shape) - gammaln(shape) + shape * np.log(shape) + xlogy(count, mean)
        return float((sums - (count + shape) * np.log(mean + shape)).sum())

    def unlikely(values: NDArray[np.float64]) -> float:
        return float((values**2).sum()) / (2 * SPREAD**2) - told(*np.exp(np.clip(values, -9, 9)))

    factor, shape = np.exp(np.clip(minimize(unlikely, (0.0, 0.0), method="Nelder-Mead").x, -9, 9))
    alike = -minimize_scalar(lambda value: -told(np.exp(value), ALIKE), bounds=(-9, 9), method="bounded").fun
    if told(factor, shape) - alike < SURE:
        return np.ones(len(count))
    return np.asarray((count + shape) / (means(factor) + shape))


def _bursts(changed: Column, classes: NDArray[np.int64], when: Column) -> Column:
    """So many times as much as by chance the changes of each class vary from one part of the time to the next."""
    parts = np.clip((when * PARTS).astype(np.int64), 0, PARTS - 1)
    counts = np.zeros((classes.max(initial=-1) + 1, PARTS))
    np.add.at(counts, (classes, parts), changed)
    means = np.maximum(counts.mean(axis=1), np.finfo(float).tiny)
    return np.asarray(np.maximum(counts.var(axis=1, ddof=1) / means, 1.0))


def _chances(rates: Column, shape: float, periods: tuple[Seconds, Seconds], *, weighed: bool = False) -> list[Column]:
    """That a page changes in neither period, in the second alone, in the first alone, in both.

    ``weighed``: the expectation of its rate, times that.
    """

    def still(time: Seconds) -> Column:
        kept = (1 + rates * time / shape) ** -shape
        return kept * shape / (shape / rates + time) if weighed else kept

    none, first, second, both = (still(time) for time in (0.0, *periods, sum(periods)))
    return [both, first - both, second - both, none - first - second + both]
