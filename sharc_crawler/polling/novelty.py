"""How often hubs bring something new: Gamma–Poisson, with what is long ago forgotten."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Seconds

UNLIKE, ALIKE = 0.5, 20.0  #: least and greatest shape of the prior: what it weighs against, in new pages


class Novelty:
    """Rates of new pages of hubs, numbered from 0, from what each poll brought.

    New pages of hub i are a Poisson process of rate λᵢ. With n of them in T seconds looked at, and a Gamma prior of
    shape a and mean μ (the rate of all hubs together), the posterior mean is (n + a) / (T + a/μ). The shape is learned,
    too, from how unlike the hubs are (empirical Bayes, by moments): among hubs that do not differ by more than chance,
    none is preferred. Both n and T are halved every ``half_life`` seconds, since what a hub does by night says little
    of its morning.

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
        """Add a hub of which nothing is known; returns its number."""
        self._new.append(0.0)
        self._seconds.append(0.0)
        return len(self._new) - 1

    def looked(self, hub: int, seconds: Seconds, new: int) -> None:
        """A poll showed so many pages that the one so many seconds before did not."""
        kept = 2.0 ** (-seconds / self._half_life)
        self._new[hub] = self._new[hub] * kept + new
        self._seconds[hub] = self._seconds[hub] * kept + seconds

    def rates(self) -> NDArray[np.float64]:
        """New pages per second, one rate per hub (equal ones before anything is known)."""
        new, seconds = np.array(self._new), np.array(self._seconds)
        mean = (new.sum() + 1.0) / (seconds.sum() + 60.0)
        shape = _shape(new, seconds)
        rates: NDArray[np.float64] = (new + shape) / (seconds + shape / mean)
        return rates

    @property
    def total(self) -> float:
        """New pages per second that all hubs together bring; 0 before anything is known."""
        seconds = max(self._seconds, default=0.0)
        return sum(self._new) / seconds if seconds else 0.0


def _shape(new: NDArray[np.float64], seconds: NDArray[np.float64]) -> float:
    """Of the Gamma distribution that hubs' rates come from: μ² over what their variance exceeds a Poisson one by.

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
