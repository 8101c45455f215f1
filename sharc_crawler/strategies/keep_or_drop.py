"""Decide which pages SHARC-selective gives up: compare keep and drop, class by class.

For the hottest free page, *keep* (it gets the shortest free interval, the rest follow) is compared with *drop* (it gets
the longest one, and the rest one interval shorter). In a class the difference depends on the drops alone and changes
sign once (for posterior predictives: in all trials). So each class is "drop so many, keep the others". A class may drop
pages although a hotter one keeps them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Seconds
from sharc_crawler.strategies.classes import Classes

Column = NDArray[np.float64]

#: logarithms of what classes, from one of them on, lose by moving from some intervals to others
Losses = Callable[[int, "Column", "Column"], "Column"]

TIE = 1e-12  #: relative difference below which keep and drop are equal: the page is kept
FAR = 600.0  #: logarithms further apart are not compared by their exponentials, which might underflow to 0


def drops_of(classes: Classes, width: Seconds, asked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how many pages of each class are given up; ``asked``: classes in which that may gain something."""
    counts = classes.counts.tolist()
    ends = np.cumsum(classes.counts, dtype=np.float64)
    drops = np.zeros(len(classes), np.int64)
    at = shortest = 0  # class; shortest free interval
    dropped = 0.0  # share dropped of the class before; if 0, whole classes that are kept, too, are found at once
    with np.errstate(divide="ignore", invalid="ignore"):  # log(0) is intended: nothing to lose
        losses = _known_rates(classes, width) if classes.simple else _any_rates(classes, width)
        while asked[at:].any():
            last = shortest + ends[at:] - ends[at] + counts[at] - 1
            whole = 0 if dropped else _kept(losses, at, last, asked[at:])
            if not whole:
                most = counts[at] - (shortest == 0) if asked[at] else 0
                first = most - 1 if dropped == 1 and classes.simple else 0  # else the difference may change signs again
                drops[at] = _how_many(losses, at, last, most, first)
                dropped, whole = drops[at] / counts[at], 1
            at, shortest = at + whole, shortest + sum(counts[at : at + whole]) - int(drops[at])
    return drops


def _kept(losses: Losses, at: int, last: Column, asked: NDArray[np.bool_]) -> int:
    """Return how many classes from ``at`` on drop nothing: as by :func:`_how_many`, but all at once.

    As long as nothing is dropped, a class loses the same by moving down for any hotter one.
    """
    own, others = losses(at, last, last[-1:]), np.append(losses(at + 1, last[:-1], last[1:]), -np.inf)
    greater = np.maximum(own, np.maximum.accumulate(others[::-1])[::-1])  # the largest of the losses compared
    top = greater[0]
    kept, dropped = np.exp(own - top), np.cumsum(np.exp(others - top)[::-1])[::-1]
    drops = (kept - dropped < -TIE * (kept + dropped)) | ((greater < top - FAR) & (greater > -np.inf))
    return int(np.append(drops & asked, True).argmax())


def _how_many(losses: Losses, at: int, last: Column, most: int, middle: int) -> int:
    """Return the fewest drops of a class after which its next page is better kept; ``middle``: first guess.

    ``last``: the last intervals of the class and of each colder one, if all are kept. Keep and drop are compared by
    what they gain: keep spares the class the longest interval; drop moves each colder class one interval down.
    """
    low, high = 0, most
    while low < high:
        left = last - middle
        starts, ends = np.concatenate((left[:1], left[:-1])), np.concatenate((left[-1:], left[1:]))
        if _drops(losses(at, starts, ends)):
            low = middle + 1
        else:
            high = middle
        middle = (low + high) // 2
    return low


def _drops(logs: Column) -> bool:
    """Is drop better than keep? Scaled by the largest value, as sums would tie if rates are high."""
    top = float(logs.max())
    if top == -math.inf:
        return False
    losses = np.exp(logs - top)
    own, others = float(losses[0]), float(losses[1:].sum())
    return own - others < -TIE * (own + others)


def _known_rates(classes: Classes, width: Seconds) -> Losses:
    theta, weights = classes.rates * width, np.log(classes.weights)

    def losses(first: int, starts: Column, ends: Column) -> Column:
        return weights[first:] - theta[first:] * starts + np.log(-np.expm1(theta[first:] * (starts - ends)))

    return losses


def _any_rates(classes: Classes, width: Seconds) -> Losses:
    def losses(first: int, starts: Column, ends: Column) -> Column:
        logs = classes.log_values(starts * width, first)
        lost = logs + np.log(-np.expm1(classes.log_values(ends * width, first) - logs))
        return np.nan_to_num(lost, nan=-np.inf, neginf=-np.inf)

    return losses
