"""What HACS foretells held against what followed, in the histories themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORTH = 50.0  #: seeds' worth of evidence that nothing is to be corrected
LEAST, MOST = 0.2, 2.0  #: of the power
STEPS = 25


@dataclass(frozen=True, slots=True)
class HazardCalibration:
    """p = 1 − exp(−e^level · H^power), H the hazard (the expected number of updates) that a posterior foretells.

    Pages of a site change together, updates come in bursts, rates drift: the longer the time, and the more pages, the
    more is H too great or too small. The power is more than 0, so that no order changes and p never falls by waiting.

    >>> HazardCalibration(power=2.0).p(np.array([0.0, 1.0, 1e300, np.inf])).round(3).tolist()
    [0.0, 0.632, 1.0, 1.0]
    """

    level: float = 0.0
    power: float = 1.0

    def p(self, hazard: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probability of an update, of hazards ≥ 0."""
        with np.errstate(over="ignore"):  # as good as infinite
            p: NDArray[np.float64] = -np.expm1(-np.exp(self.level) * hazard**self.power)
        return p


def calibrated(hazard: NDArray[np.float64], updated: NDArray[np.bool_]) -> HazardCalibration:
    """The most likely calibration, one hazard and one outcome a seed: log-log regression, Fisher's scoring.

    A normal prior about no correction counts as much as :data:`WORTH` seeds.

    >>> rng = np.random.default_rng(1); hazard = rng.gamma(0.5, 2.0, 20_000)
    >>> found = calibrated(hazard, rng.random(20_000) < HazardCalibration(-0.7, 0.5).p(hazard))
    >>> round(found.level, 1), round(found.power, 1)
    (-0.7, 0.5)
    """
    some = (hazard > 0) & np.isfinite(hazard)
    place = np.log(hazard[some])
    columns = np.stack([np.ones(len(place)), place])
    nothing, found = np.array([0.0, 1.0]), np.array([0.0, 1.0])
    for _ in range(STEPS):
        expected = np.exp(np.clip(found @ columns, -20.0, 3.0))
        likely = expected / np.expm1(expected)
        slope = columns @ np.where(updated[some], likely, -expected) - WORTH * (found - nothing)
        step = np.linalg.solve((columns * (likely * expected)) @ columns.T + WORTH * np.eye(2), slope)
        found += np.clip(step, -0.5, 0.5)
        found[1] = np.clip(found[1], LEAST, MOST)
    return HazardCalibration(float(found[0]), float(found[1]))
