"""Starts of fits: a dictionary of unit curves with many births, widths and skews, compared with all views at once.

The sum of squares has a minimum in nearly every unit interval of births, so the best-matching curve of each of the best
intervals is a start. This finds the global minimum far more often than moments do, and costs less than a descent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.seeds.temporal.shape import Frame

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.seeds.temporal.shape import Array

_LEADS = (0.05, 0.55)  #: times between a birth inside the window and the next day, in days
_BEFORE = (-1000, -150, -60, -30, -16, -9, -5.5, -3.5, -2.2, -1.3, -0.6, -0.05, 0.3, 0.6, 0.85, 0.98)
_SIGMAS = np.array([0.15, 0.3, 0.5, 0.8, 1.2, 1.8, 2.8, 4.5])
_WIDTHS = (0.25, 0.6, 1.5, 4.0, 12.0, 50.0)  #: of the curve around its mode, in days
_INSTANT = 1e-8  #: lead of curves that fit their first day's views almost independently of the later days
_FREE = ((1e-4, 6.0),)  #: age at the mode and σ of these curves
_OLD = -5.0  #: for births before this day, modes are spread over the window instead of set by σ
_ANCIENT = -40.0
_MATCHED = 512  #: pages matched at a time: their scores with all curves take about 17 MB


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Unit curves over one window, in groups with similar births."""

    window: int
    curves: NDArray[np.float32]  #: (days, curves), of norm 1
    group: NDArray[np.int64]  #: index of each group's first curve
    first: Array  #: each curve's first day after birth
    knots: Array  #: (3, curves), days
    theta: Array  #: (3, curves)

    def match(self, views: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """The best curve of each of the ``count`` best groups for ``views`` (pages, days): shape (count, pages)."""
        room = np.empty(
            (_MATCHED, self.curves.shape[1]), np.float32
        )  # allocated once: allocating takes as long as the product
        parts = [views[i : i + _MATCHED] for i in range(0, len(views), _MATCHED)]
        return np.concatenate([self._match(part, count, room[: len(part)]) for part in parts], axis=1)

    def _match(self, views: NDArray[np.float32], count: int, scores: NDArray[np.float32]) -> NDArray[np.int64]:
        np.matmul(views, self.curves, out=scores)
        tops = np.maximum.reduceat(scores, self.group, axis=1)
        count = min(count, len(self.group))
        best = np.argpartition(-tops, count - 1, axis=1)[:, :count]
        chosen = np.empty(best.size, np.int64)
        order = np.argsort(best.ravel(), kind="stable")  # group by group
        begins = np.append(self.group, scores.shape[1])
        places = np.searchsorted(best.ravel()[order], np.arange(len(begins)))
        for begin, end, some in zip(begins, begins[1:], np.split(order, places[1:-1]), strict=False):
            chosen[some] = begin + scores[some // count, begin:end].argmax(axis=1)
        return np.ascontiguousarray(chosen.reshape(best.shape).T)

    def frame(self, chosen: Array, dtype: type[np.floating]) -> Frame:
        """The frames of chosen curves."""
        return Frame.of(self.first[chosen], self.knots[:, chosen], self.window, dtype)


@lru_cache(maxsize=4)
def dictionary(window: int) -> Dictionary:
    """The dictionary for a window of this many days (at least 4)."""
    birth, mode, width = _parameters(window)
    sigma = width / (mode - birth)
    age = np.arange(1.0, window + 1)[:, None] - birth
    z = (np.log(np.maximum(age, 1e-9)) - np.log(mode - birth)) / sigma
    curves = np.where(age > 0, np.exp(-0.5 * z * z), 0.0)
    norms = np.sqrt((curves * curves).sum(axis=0))
    seen = norms > 1e-5
    birth, mode, sigma, curves = birth[seen], mode[seen], sigma[seen], curves[:, seen] / norms[seen]
    interval = np.where(birth > 0, np.floor(2 * birth), np.where(birth > _OLD, -1, np.where(birth > _ANCIENT, -2, -3)))
    _, group = np.unique(interval, return_index=True)
    first, knots, theta = _coordinates(birth, mode, sigma, window)
    return Dictionary(window, curves.astype(np.float32), group, first, knots, theta)


def _parameters(window: int) -> tuple[Array, Array, Array]:
    """Births (ascending), modes and widths."""
    inside = (np.arange(2.0, window + 1)[:, None] - np.sort(_LEADS)[::-1]).ravel()
    parts = [
        (birth, mode, width)
        for birth in np.concatenate([_BEFORE, inside])
        for width in _WIDTHS
        for mode in _modes(birth, width, window)
    ]
    parts += [
        (day - _INSTANT, day - _INSTANT + age, sigma * age) for day in range(1, window + 1) for age, sigma in _FREE
    ]
    birth, mode, width = np.array(sorted(parts, key=lambda part: part[0])).T
    return birth, mode, width


def _modes(birth: float, width: float, window: int) -> Array:
    if birth > _OLD:
        modes = birth + width / _SIGMAS
        return modes[(modes < window + width) & (modes > 1 - 1.5 * width)]
    modes = np.arange(1 - width, window + width, max(0.7 * width, 0.35))
    return modes[width < 4.5 * (modes - birth)]


def _coordinates(birth: Array, mode: Array, sigma: Array, window: int) -> tuple[Array, Array, Array]:
    """First day after birth, knots at the mode and about one width before and after it, and θ."""
    first = np.maximum(np.floor(birth) + 1, 1.0)
    peak_age = mode - birth
    middle = np.clip(np.round(mode), first + 1, np.maximum(window - 1, first + 1))
    low = np.clip(np.floor(birth + peak_age * np.exp(-sigma)), first, middle - 1)
    high = np.clip(np.ceil(birth + peak_age * np.exp(sigma)), middle + 1, np.maximum(window, middle + 1))
    ages = np.array([low, middle, high]) - birth
    logs = -((np.log(ages) - np.log(peak_age)) ** 2) / (2 * sigma**2)
    bulge = np.log(-np.log(ages[0] / ages[1]) * np.log(ages[2] / ages[1]) / (2 * sigma**2))
    theta = np.array([np.clip(logs[2] - logs[0], -40, 40), np.clip(bulge, -12, 5), np.log(first - birth)])
    return first, np.array([low, middle, high]), theta
