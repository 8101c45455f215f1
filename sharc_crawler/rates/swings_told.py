"""The swings of a site (:mod:`~sharc_crawler.rates.swings`), estimated from the ages of its pages' last changes.

If captures have not watched a site for long, its lastmods still show busy and quiet times: backwards from now, how many
of the pages unchanged later had their last change in each time. The expected number follows from one Gamma prior
learned from all ages. The actual number is negative binomial about it, with the likeliest deviation, given a prior
around the usual value. One time in ten may be an outlier with any number: the deviation should describe four captures
of five. The same bursts also affected the rates, in the time of the ages; so they count a second time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from sharc_crawler.model import Instant, Seconds
from sharc_crawler.rates.age import YEAR, age_histories
from sharc_crawler.rates.estimators.likelihood import Likelihood
from sharc_crawler.rates.estimators.priors import Prior, learn
from sharc_crawler.rates.history import DATED
from sharc_crawler.rates.swings import DAY, KNOTS, Swings, usual

Column = NDArray[np.float64]

DEVIATIONS = np.geomspace(0.05, 12.0, 40)
WIDTH = 1.5  #: prior standard deviation of the log deviation about the usual one
FEW = 10  #: minimum of dated changes
MOST = 400  #: maximum of times of one length
SHIFTS = 4  #: shifted divisions into times of one length
PRESENT = 0.3  #: minimum share of pages unchanged later
ODD = 0.1  #: share of outliers, with the last of :data:`DEVIATIONS`


class _Ages(NamedTuple):
    """Sorted ages of last changes, and the Gamma prior of the rates."""

    changes: Column
    all: Column  #: including those that date no change
    shape: float
    scale: float  #: inverse, seconds


def told_swings(lastmods: Column, now: Instant) -> Swings:
    """Return the swings estimated from lastmods (NaN: none); the usual values if there are few."""
    histories = age_histories(lastmods, now)
    dated = histories.changed == DATED
    if dated.sum() < FEW:
        return Swings.usual()
    shape, mean = learn(Likelihood.of(histories), Prior(0.5, 1.0 / (100 * DAY)), 1.0)
    ages = _Ages(np.sort(histories.lengths[dated]), np.sort(histories.lengths), shape, shape / mean)
    ahead = Swings(tuple(_deviation(ages, length) for length in KNOTS))
    behind = ahead.at(len(ages.all) / float(np.sum(1.0 / (ages.scale + ages.all))))
    return Swings(tuple(math.hypot(deviation, behind) for deviation in ahead.deviations))


def _deviation(ages: _Ages, length: Seconds) -> float:
    """Return the likeliest deviation for a length of time; overlapping times count less."""
    likelihood = -0.5 * (np.log(DEVIATIONS / usual(length)) / WIDTH) ** 2
    for shift in np.linspace(0.0, 1.0, SHIFTS, endpoint=False):
        likelihood += _likelihood(ages, length, float(shift)) / SHIFTS
    return float(DEVIATIONS[likelihood.argmax()])


def _likelihood(ages: _Ages, length: Seconds, shift: float) -> Column:
    """Return the log-likelihood of each deviation, by times shifted by this part of one."""
    times = min(int(min(YEAR, ages.all[-1]) / length - shift), MOST)
    edges = (np.arange(max(times, 0) + 1) + shift) * length
    there = len(ages.all) - np.searchsorted(ages.all, edges[:-1])
    edges = edges[: np.count_nonzero(there > PRESENT * len(ages.all)) + 1]
    changed, scale = np.diff(np.searchsorted(ages.changes, edges)), ages.scale + edges[:-1]
    stay = (scale / (ages.scale + edges[1:])) ** ages.shape
    expected = there[: len(stay)] * (1.0 - stay)
    moved = there[: len(stay)] * ages.shape * stay * length / (scale + length)
    size = (expected / (moved * DEVIATIONS[:, None])) ** 2
    each = (
        gammaln(changed + size)
        - gammaln(size)
        - size * np.log1p(expected / size)
        + changed * np.log(expected / (size + expected))
    )
    mixed = np.logaddexp(each + math.log(1.0 - ODD), each[-1] + math.log(ODD))
    return np.asarray(mixed.sum(axis=1))
