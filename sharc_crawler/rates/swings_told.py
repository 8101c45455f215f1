"""The swings of a site (:mod:`~sharc_crawler.rates.swings`), told by the ages of its pages' last changes.

Where captures have not watched a site for long, its lastmods still show busy and quiet times: backwards from now, how
many of the pages that did not change later had their last change in each time of a length. How many were to have it
there, one Gamma prior says that is learned from all ages. What comes is held to be negative binomial about that; its
deviation is the likeliest one, the stated figure being thought likely beforehand. One time in ten may be out of the
ordinary, and of any number: what four captures of five meet is asked. The same bursts, in the time that the ages are
of, are in the rates; so they count a second time.
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
WIDTH = 1.5  #: standard deviation of the logarithm of one about the stated figure, beforehand
FEW = 10  #: changes that must be dated
MOST = 400  #: times of one length that are looked at
SHIFTS = 4  #: the times of a length are laid so many ways
PRESENT = 0.3  #: share of the pages that must not have changed later
ODD = 0.1  #: of the times are out of the ordinary: of the last of :data:`DEVIATIONS`


class _Ages(NamedTuple):
    """Of the last changes, sorted, and the Gamma prior of the rates behind them."""

    changes: Column
    all: Column  #: those that date no change among them
    shape: float
    scale: float  #: inverse, seconds


def told_swings(lastmods: Column, now: Instant) -> Swings:
    """How far the changes swing that these lastmods (NaN: none) tell of; where they are few, the stated figure."""
    histories = age_histories(lastmods, now)
    dated = histories.changed == DATED
    if dated.sum() < FEW:
        return Swings.usual()
    shape, mean = learn(Likelihood.of(histories), Prior(0.5, 1.0 / (100 * DAY)), 1.0)
    ages = _Ages(np.sort(histories.lengths[dated]), np.sort(histories.lengths), shape, shape / mean)
    ahead = Swings(tuple(_deviation(ages, length) for length in KNOTS))
    behind = ahead.at(len(ages.all) / float(np.sum(1.0 / (ages.scale + ages.all))))
    return Swings(tuple(math.hypot(one, behind) for one in ahead.deviations))


def _deviation(ages: _Ages, length: Seconds) -> float:
    """The likeliest deviation in times of this length; times that overlap count for less."""
    likelihood = -0.5 * (np.log(DEVIATIONS / usual(length)) / WIDTH) ** 2
    for shift in np.linspace(0.0, 1.0, SHIFTS, endpoint=False):
        likelihood += _likelihood(ages, length, float(shift)) / SHIFTS
    return float(DEVIATIONS[likelihood.argmax()])


def _likelihood(ages: _Ages, length: Seconds, shift: float) -> Column:
    """Logarithm of the likelihood of each deviation, by the times that begin so large a part of one ago."""
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
