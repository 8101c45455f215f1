"""Rates of hubs' new pages: a Gamma–Poisson model that forgets the past."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Seconds

UNLIKE, ALIKE = 0.5, 20.0  #: bounds of the prior's shape: its weight, in new pages


class Novelty:
    """Rates of hubs' new pages, learned from polls; hubs are numbered from 0.

    New pages of hub i are a Poisson process of rate λᵢ. With n of them in T seconds, and a Gamma prior of shape a and
    mean μ (the rate of all hubs together), the posterior mean is (n + a) / (T + a/μ). The shape is learned from the
    differences of hubs (empirical Bayes, by moments): if hubs differ only by chance, none is preferred. Both n and T
    are halved every ``half_life`` seconds, since a hub's night says little about its morning.

    >>> rates = Novelty(half_life=1e9)
    >>> busy, quiet = rates.add(), rates.add()
    >>> rates.looked(busy, 600.0, new=6); rates.looked(quiet, 600.0, new=0)
    >>> [round(1 / rate) for rate in rates.rates()]
    [113, 680]
    """

    def __init__(self, half_life: Seconds) -> None:
        self._half_life = half_life
        self._new: list[float] = []
        self._seconds: list[float] = []

    def add(self) -> int:
        """Add an unknown hub; return its number."""
        self._new.append(0.0)
        self._seconds.append(0.0)
        return len(self._new) - 1

    def looked(self, hub: int, seconds: Seconds, new: int) -> None:
        """Enter a poll with so many new pages, so many seconds after the last one."""
        kept = 2.0 ** (-seconds / self._half_life)
        self._new[hub] = self._new[hub] * kept + new
        self._seconds[hub] = self._seconds[hub] * kept + seconds

    def rates(self) -> NDArray[np.float64]:
        """Return new pages per second, by hub (equal rates before anything is known)."""
        new, seconds = np.array(self._new), np.array(self._seconds)
        mean = (new.sum() + 1.0) / (seconds.sum() + 60.0)
        shape = _shape(new, seconds)
        rates: NDArray[np.float64] = (new + shape) / (seconds + shape / mean)
        return rates

    @property
    def total(self) -> float:
        """New pages per second of all hubs together; 0 before anything is known."""
        seconds = max(self._seconds, default=0.0)
        return sum(self._new) / seconds if seconds else 0.0


def _shape(new: NDArray[np.float64], seconds: NDArray[np.float64]) -> float:
    """Return the shape of the Gamma prior: μ² divided by the rates' variance beyond Poisson's.

    >>> _shape(np.array([9.0, 11.0, 10.0, 10.0]), np.full(4, 60.0)), _shape(np.array([40.0, 0, 0, 0]), np.full(4, 60.0))
    (20.0, 0.5)
    """
    looked = seconds > 0
    hubs, total = int(looked.sum()), float(seconds.sum())
    if hubs < 2 or not new.any():
        return UNLIKE
    mean = new.sum() / total
    rates = new[looked] / seconds[looked]
    between = (seconds[looked] * (rates - mean) ** 2).sum() / total - (hubs - 1) * mean / total
    return float(np.clip(mean**2 / between, UNLIKE, ALIKE)) if between > 0 else ALIKE
