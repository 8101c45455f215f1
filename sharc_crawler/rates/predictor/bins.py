"""Ten bins of change rates, as classes for classifiers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.rates.estimators.base import Estimates

BINS = 10


def equal_frequency(values: NDArray[np.float64], bins: int = BINS) -> NDArray[np.float64]:
    """Return the upper edges (inclusive, ascending) of bins with equally many values, as far as ties allow.

    Equal values share a bin: if most pages were never seen to change, one bin has all of these, and the others share
    the rest.

    >>> equal_frequency(np.array([0.0] * 7 + [1.0, 2.0, 3.0]), bins=4).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    distinct, counts = np.unique(values, return_counts=True)
    edges: list[float] = []
    held, left = 0, len(values)
    for place, (value, count) in enumerate(zip(distinct.tolist(), counts.tolist(), strict=True)):
        held += count
        if held >= left / (bins - len(edges)) or place == len(distinct) - 1:
            edges.append(value)
            left, held = left - held, 0
    return np.array(edges)


@dataclass(frozen=True, slots=True)
class RateBins:
    """Bins of rates, with the rates of the pages in each."""

    edges: NDArray[np.float64]  #: upper, inclusive; the last bin is open
    means: NDArray[np.float64]  #: changes per second
    variances: NDArray[np.float64]  #: of a page's rate, within the bin

    def __len__(self) -> int:
        return len(self.edges)

    @classmethod
    def of(cls, rates: NDArray[np.float64], posterior: Estimates) -> RateBins:
        """Make bins of point estimates; means and variances come from posteriors."""
        edges = equal_frequency(rates)
        own = np.minimum(np.searchsorted(edges, rates), len(edges) - 1)
        pages = np.bincount(own, minlength=len(edges))
        means = np.bincount(own, posterior.rate, len(edges)) / pages
        squares = np.bincount(own, posterior.rate**2 + posterior.spread**2, len(edges)) / pages
        return cls(edges, means, np.maximum(squares - means**2, 0.0))

    def number(self, rates: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the bin of each rate."""
        return np.minimum(np.searchsorted(self.edges, rates), len(self) - 1).astype(np.int64)

    def mixed(self, probabilities: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return mean and standard deviation of each page's rate, given the probabilities of its bins (pages, bins)."""
        mean = probabilities @ self.means
        square = probabilities @ (self.variances + self.means**2)
        return mean, np.sqrt(np.maximum(square - mean**2, 0.0))
