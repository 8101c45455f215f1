"""Coherence: how many pages did not change between two instants, or may be expected not to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.evidence.measured import check_measured, flatten
from sharc_crawler.evidence.survival import log_survival

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


def expected_coherence(
    rates: NDArray[np.float64],
    intervals: NDArray[np.float64],
    shapes: NDArray[np.float64] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> float:
    """Expected number (or weight) of coherent pages, Σ w e^{-λI} (Definition 5 of the paper).

    Parameters
    ----------
    rates: changes per second
    intervals: seconds from visit to revisit; nan: never revisited, which proves nothing
    shapes: of the rates' Gamma posteriors; the posterior predictive takes the place of e^{-λI}
    weights: of the pages; None: 1

    >>> rates = np.array([0.40, 0.35, 0.30, 0.25, 0.20])  # Example 9
    >>> round(expected_coherence(rates, np.array([0.0, 2.0, 4.0, 6.0, 8.0])), 4)
    2.2228

    """
    check_measured(len(intervals), rates, weights)
    survival = np.exp(log_survival(rates, intervals, shapes))
    return float(np.nansum(survival if weights is None else survival * weights))


def unchanged(
    changes: Sequence[ArrayLike], visits: NDArray[np.float64], revisits: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Which pages did not change after the visit, up to the revisit.

    Parameters
    ----------
    changes: of each page, the instants at which it changed, in any order
    visits, revisits: instants, one per page; a change at the very instant of the visit is seen by it

    >>> unchanged([[5.0], [5.0], []], np.array([1.0, 5.0, 1.0]), np.array([9.0, 9.0, 9.0]))
    array([False,  True,  True])

    """
    page, instants = flatten(changes, len(visits))
    between = (instants > visits[page]) & (instants <= revisits[page])
    same: NDArray[np.bool_] = np.bincount(page[between], minlength=len(visits)) == 0
    return same
