"""Hopeful or hopeless: the greedy split of SHARC-selective (Definition 6, Algorithm 3), by rate class.

The direct test sums over all pages for each page. Pages of one class on adjacent intervals telescope, so here a test
costs one term per class, and one class is decided by bisection.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.model import Seconds
    from sharc_crawler.strategies.classes import Classes

#: From the last intervals of a class and of each colder one, if all are kept, what they lose, as logarithms: the
#: class itself by going to the longest interval, each colder one by not moving one interval down.
Losses = Callable[[int, "NDArray[np.float64]"], "NDArray[np.float64]"]

TIE = 1e-12  #: keep and drop closer than this, relatively, are equal: the page is kept
CALM = 1e-6  #: changes in the longest interval; up to here giving a page up gains less than CALM² pages: it is kept


def split(classes: Classes, width: Seconds) -> NDArray[np.int64]:
    """How many pages of each class are hopeless, on the pyramid's intervals 0, width, 2 width, ... (seconds).

    The hottest page takes the interval of length zero, untested. For the hottest page still free, *keep* (on the
    shortest free interval, the rest behind it) is compared with *drop* (on the longest, the rest one interval
    shorter). For one class the difference depends on the drops alone and changes sign once (for posterior
    predictives: as far as tried), so each class is "drop so many, keep the others". That a drop may follow a keep of a
    hotter class is not excluded.

    >>> from sharc_crawler.strategies.classes import Classes
    >>> rates = np.array([0.40, 0.35, 0.30, 0.25, 0.20])  # Example 11 of the paper
    >>> split(Classes(rates, np.ones(5, int), np.ones(5)), 2.0)
    array([0, 1, 1, 0, 0])
    """
    ends = np.cumsum(classes.counts, dtype=np.float64)
    drops = np.zeros(len(classes), np.int64)
    shortest = 0  # free interval
    calm = classes.rates * (int(classes.counts.sum()) - 1) * width <= CALM
    with np.errstate(divide="ignore", invalid="ignore"):  # log(0) is meant: nothing to lose
        losses = _known_rates(classes, width) if classes.simple else _any_rates(classes, width)
        for at, count in enumerate(classes.counts.tolist()):
            last = shortest + count - 1 + ends[at:] - ends[at]
            if not calm[at] or classes.either_side:
                drops[at] = _how_many(losses, at, last, count - (shortest == 0))
            shortest += count - int(drops[at])
    return drops


def _how_many(losses: Losses, at: int, last: NDArray[np.float64], most: int) -> int:
    """The fewest drops of a class after which its next page is better kept."""
    low, high, middle = 0, most, 0  # most classes are kept as a whole: ask that first
    while low < high:
        if _drops(losses(at, last - middle)):
            low = middle + 1
        else:
            high = middle
        middle = (low + high) // 2
    return low


def _drops(logs: NDArray[np.float64]) -> bool:
    """Whether keep loses more than drop; scaled by the largest loss: sums would tie where rates are high."""
    top = float(logs.max())
    if top == -math.inf:
        return False
    losses = np.exp(logs - top)
    own, others = float(losses[0]), float(losses[1:].sum())
    return own - others < -TIE * (own + others)


def _known_rates(classes: Classes, width: Seconds) -> Losses:
    """A class loses the same share from its first to its last interval, wherever it lies."""
    theta, weights = classes.rates * width, np.log(classes.weights)
    shares = weights + np.log(-np.expm1(-theta * classes.counts))

    def losses(at: int, last: NDArray[np.float64]) -> NDArray[np.float64]:
        logs = np.empty(len(last))
        logs[1:] = shares[at + 1 :] - theta[at + 1 :] * last[:-1]
        logs[0] = weights[at] - theta[at] * last[0] + np.log(-np.expm1(-theta[at] * (last[-1] - last[0])))
        return logs

    return losses


def _any_rates(classes: Classes, width: Seconds) -> Losses:
    def losses(at: int, last: NDArray[np.float64]) -> NDArray[np.float64]:
        starts = np.concatenate((last[:1], last[:-1])) * width
        ends = np.concatenate((last[-1:], last[1:])) * width
        logs = classes.log_values(starts, at)
        return np.nan_to_num(logs + np.log(-np.expm1(classes.log_values(ends, at) - logs)), nan=-np.inf, neginf=-np.inf)

    return losses
