"""Corrects the predictions of HACS by back-tests: earlier predictions compared with the captures that followed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WORTH = 50.0  #: weight of the prior for "no correction", in seeds
LEAST, MOST = np.array([-np.inf, 0.2, 0.0]), np.array([np.inf, 2.0, 2.0])  #: bounds of ``level, power, more``
MONTH = 30 * 86_400.0  #: seconds; the regression measures rates in updates per month
STEPS = 25
SHAPE = 4.0  #: shape of the Gamma-distributed factor between future and past rate: a standard deviation of 0.5
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class HazardCalibration:
    """Corrects a hazard H at rate λ: A = e^level · H^power · λ^more updates are expected, p = 1 − (1 + A/s)^−s.

    Pages of a site change together, updates come in bursts, and rates drift. So the error of H grows with the time
    and with the number of pages. H is the product of time and rate; ``more`` corrects the influence of the rate alone.
    As power > 0 and more ≥ 0, p never falls with time, nor with a greater rate.

    The future rate is uncertain, so A is the mean of a Gamma variable of shape s (:data:`SHAPE`); without it, high
    probabilities are too high. Back-tests use p = 1 − exp(−A), as their priors were learned from what followed.

    >>> HazardCalibration(power=2.0).p(np.array([0.0, 1.0, 1e300, np.inf]), np.ones(4)).round(3).tolist()
    [0.0, 0.59, 1.0, 1.0]
    """

    level: float = 0.0
    power: float = 1.0
    more: float = 0.0

    def p(self, hazard: NDArray[np.float64], rate: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probability of an update, from hazards ≥ 0 and rates (per second)."""
        p: NDArray[np.float64] = -np.expm1(-SHAPE * np.log1p(self._expected(hazard, rate) / SHAPE))
        return p

    def likelihoods(
        self, hazard: NDArray[np.float64], rate: NDArray[np.float64], updated: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """The log-likelihood of each outcome of a back-test; 0 where the hazard is 0.

        >>> HazardCalibration().likelihoods(np.array([0.0, 1.0]), np.ones(2), np.zeros(2, np.bool_)).round(3).tolist()
        [0.0, -1.0]
        """
        p = np.clip(-np.expm1(-self._expected(hazard, rate)), ROUNDING, 1.0 - ROUNDING)
        return np.where(hazard > 0, np.where(updated, np.log(p), np.log1p(-p)), 0.0)

    def _expected(self, hazard: NDArray[np.float64], rate: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):  # inf is a valid result
            expected: NDArray[np.float64] = np.exp(self.level) * hazard**self.power * (rate * MONTH) ** self.more
        return expected


def calibrated(hazard: NDArray[np.float64], rate: NDArray[np.float64], updated: NDArray[np.bool_]) -> HazardCalibration:
    """The most likely calibration, by log-log regression with Fisher scoring; the arrays have one entry per seed.

    A normal prior around "no correction" has the weight of :data:`WORTH` seeds.

    >>> rng = np.random.default_rng(1); rate, time = rng.gamma(0.5, 2.0, (2, 20_000)) / [[MONTH], [1 / MONTH]]
    >>> p = -np.expm1(-np.exp(-0.7) * (rate * time) ** 0.5 * (rate * MONTH) ** 0.3)
    >>> found = calibrated(rate * time, rate, rng.random(20_000) < p)
    >>> round(found.level, 1), round(found.power, 1), round(found.more, 1)
    (-0.7, 0.5, 0.3)
    """
    some = (hazard > 0) & np.isfinite(hazard) & (rate > 0)
    columns = np.stack([np.ones(int(some.sum())), np.log(hazard[some]), np.log(rate[some] * MONTH)])
    nothing = np.array([0.0, 1.0, 0.0])
    found = nothing.copy()
    for _ in range(STEPS):
        expected = np.exp(np.clip(found @ columns, -20.0, 3.0))
        likely = expected / np.expm1(expected)
        slope = columns @ np.where(updated[some], likely, -expected) - WORTH * (found - nothing)
        bend = (columns * (likely * expected)) @ columns.T + WORTH * np.eye(3)
        held = (found <= LEAST) & (slope < 0) | (found >= MOST) & (slope > 0)  # parameters at a bound stay there
        bend[held] = bend[:, held] = 0.0
        bend[held, held] = 1.0
        step = np.linalg.solve(bend, np.where(held, 0.0, slope))
        found = np.clip(found + np.clip(step, -0.5, 0.5), LEAST, MOST)
    return HazardCalibration(*found.tolist())
