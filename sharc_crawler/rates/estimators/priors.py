"""Learn the Gamma priors of many classes of pages at once, each by the marginal likelihood of its pages."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from sharc_crawler.rates.estimators.likelihood import Likelihood
from sharc_crawler.rates.estimators.posterior import moments

WIDTH = 1.0  #: prior standard deviation of log shape
STEPS = 40
#: square of the slope per page, times pages, at which a class is done, far below its data's error
FLAT = 1e-4
LOST = 0.01  #: gain in log-likelihood below which a failed step ends the search: it is within the quadrature's error
LEAST, FARTHEST = math.log(0.01), 12.0  #: bounds of log shape (both signs), and of log mean about its start
FIRST = 0.5  #: length of the first step, in logarithms
ENOUGH = 1e-4  #: minimum share of the decrease promised by the slope (Armijo)


class Prior(NamedTuple):
    """A Gamma distribution of rates."""

    shape: float
    mean: float


def learn(likelihood: Likelihood, start: Prior, lent: float, guess: bool = False) -> Prior:
    """Learn the prior of one class; see :func:`learn_all`."""
    return learn_all(likelihood, np.zeros(len(likelihood.shape), np.int64), 1, start, lent, guess)[0]


def learn_all(
    likelihood: Likelihood, labels: NDArray[np.int64], classes: int, start: Prior, lent: float, guess: bool = False
) -> list[Prior]:
    """Return each class's Gamma prior that maximizes its marginal likelihood; ``labels``: the class of each page.

    ``start`` also counts like ``lent`` pages of data, so that a few pages cannot dominate the prior. Of a ``guess``
    only the mean counts so. The shape cannot be seen if most pages were accessed once or twice, so log shape has the
    prior Normal(that of ``start``, :data:`WIDTH`²), which matters little once pages have three accesses.

    The method is BFGS in (log shape, log mean), for all classes in parallel. By Fisher's identity the slope of the
    marginal likelihood is that of the complete one, at the posteriors' means.
    """
    task = _Task(likelihood, labels, classes, start, lent, guess)
    place, level = np.tile(np.log(start), (classes, 1)), math.log(start.mean)
    low, high = np.array([LEAST, level - FARTHEST]), np.array([-LEAST, level + FARTHEST])
    value, slope = task.at(place)
    flat = np.sqrt(FLAT / np.maximum(task.pages, 1))
    bend = np.eye(2) * np.minimum(1.0, FIRST / np.maximum(np.linalg.norm(slope, axis=1), 1e-12))[:, None, None]
    shorter = np.ones(classes)
    open_ = task.pages > 0
    for _ in range(STEPS):
        if not open_.any():
            break
        free = (slope > 0) & (place > low) | (slope < 0) & (place < high)  # no step beyond an active bound
        step = -np.einsum("cij,cj->ci", bend, slope * free) * free * shorter[:, None]
        step *= np.minimum(1.0, 2.0 / np.maximum(np.abs(step).max(axis=1), 1e-12))[:, None]
        there = np.clip(place + step, low, high)
        step = there - place
        new_value, new_slope = task.at(there, open_)
        promised = -(slope * step).sum(axis=1)
        taken = open_ & (new_value <= value - ENOUGH * promised)
        done = np.where(taken, np.abs(new_slope * free).max(axis=1) < flat, promised * task.pages < LOST)
        shorter = np.where(taken, 1.0, shorter * 0.3)
        _update(bend, step, new_slope - slope, taken)
        place[taken], value[taken], slope[taken] = there[taken], new_value[taken], new_slope[taken]
        open_ &= ~done
    return [Prior(*pair) for pair in np.exp(place).tolist()]


def _update(
    bend: NDArray[np.float64], step: NDArray[np.float64], turn: NDArray[np.float64], taken: NDArray[np.bool_]
) -> None:
    """Update the inverse Hessians by a step (BFGS)."""
    along = (step * turn).sum(axis=1)
    some = taken & (along > 1e-12)
    s, y, rho = step[some, :, None], turn[some, None, :], 1.0 / along[some, None, None]
    left = np.eye(2) - rho * s * y
    bend[some] = left @ bend[some] @ left.swapaxes(1, 2) + rho * s * s.swapaxes(1, 2)


class _Task:
    """The objective: minus the marginal log-likelihood per page of each class."""

    def __init__(
        self, likelihood: Likelihood, labels: NDArray[np.int64], classes: int, start: Prior, lent: float, guess: bool
    ) -> None:
        self.pages = np.bincount(labels, minlength=classes)
        self._likelihood, self._labels, self._classes = likelihood, labels, classes
        whole = 0.0 if guess else lent
        self._total = self.pages + whole
        self._sum, self._logs = whole * start.mean, whole * (digamma(start.shape) - np.log(start.shape / start.mean))
        self._usual, self._level = np.log(start)
        self._held = (lent - whole) * start.shape  #: precision of the log mean by the guess

    def at(
        self, place: NDArray[np.float64], of: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return values, shape (classes,), and slopes, shape (classes, 2); ``of``: only these classes matter."""
        likelihood, labels = self._likelihood, self._labels
        if of is not None and not of.all():
            use = of[labels]
            likelihood, labels = likelihood.select(use), labels[use]
        shape, mean = np.exp(place).T
        scale = shape / mean
        found = moments(likelihood, shape[labels], scale[labels])

        def summed(values: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.bincount(labels, values, self._classes).astype(np.float64, copy=False)

        logs, sums = summed(found.log_mean) + self._logs, summed(found.mean) + self._sum
        away = (place[:, 0] - self._usual) / WIDTH
        off = place[:, 1] - self._level
        value = summed(found.evidence) + shape * self._logs - scale * self._sum - away**2 / 2 - self._held * off**2 / 2
        value += self._total * (shape * np.log(scale) - gammaln(shape))
        by_shape = shape * (logs + self._total * (np.log(scale) - digamma(shape))) - away / WIDTH
        by_scale = scale * (self._total * mean - sums)
        slope = np.stack([by_shape + by_scale, -by_scale - self._held * off], axis=1)
        pages = np.maximum(self._total, 1.0)
        return -value / pages, -slope / pages[:, None]
