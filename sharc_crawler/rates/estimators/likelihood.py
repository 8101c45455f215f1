"""The likelihood of rates given intervals, and its maximum, for many pages at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.rates.history import CHANGED, DATED, Histories

#: relative Newton steps at which a solve ends; the remaining error is about their square
CLOSE, NEAR = 1e-6, 0.1
STEPS = 200
LARGE = 1e-3  #: from here on e^z − 1 is exact to 13 digits


def growth(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute e^z − 1 for z ≥ 0, in half the time of ``expm1``; large ``z`` are cut in place, where 1/e^z is 0.

    >>> growth(np.array([0.0, 1e-9, 1.0])).round(12).tolist()
    [0.0, 1e-09, 1.718281828459]
    """
    np.minimum(z, 700.0, out=z)
    grown = np.exp(z)
    grown -= 1.0
    if len(small := np.flatnonzero(z < LARGE)):
        grown[small] = np.expm1(z[small])
    return grown


@dataclass(frozen=True, slots=True)
class Likelihood:
    """L(λ) = Π_c (1 − e^{−λ t_c}) · λ^shape · e^{−λ scale} per page.

    c runs over the changed intervals; unchanged and dated ones add their lengths to ``scale``, dated ones 1 to
    ``shape``. A Gamma prior (shape, inverse scale) has the same form and is included by :meth:`times`.
    """

    own: NDArray[np.int64]  #: page of every changed interval, ascending
    lengths: NDArray[np.float64]  #: of the changed intervals
    weights: NDArray[np.float64] | None  #: of the changed intervals; None: 1
    hits: NDArray[np.float64]  #: per page: total weight of its changed intervals
    shape: NDArray[np.float64]  #: per page
    scale: NDArray[np.float64]  #: per page

    @classmethod
    def of(cls, known: Histories) -> Likelihood:
        """Make the likelihood of histories without unknown intervals."""
        changed = np.flatnonzero(known.changed == CHANGED)
        own, calm = known.pages()[changed], known.lengths.copy()
        calm[changed] = 0.0
        weights = None if known.weights is None else known.weights[changed]
        dated = known.changed == DATED
        return cls(
            own,
            known.lengths[changed],
            weights,
            np.bincount(own, weights, len(known)).astype(np.float64, copy=False),
            known.total(known.weighted(dated.astype(np.float64))) if dated.any() else np.zeros(len(known)),
            known.total(known.weighted(calm)),
        )

    def bounded(self, among: NDArray[np.bool_] | None = None) -> Likelihood:
        """Add half an unchanged interval to pages that always changed (``among`` these; None: all).

        Else their likelihood has no maximum; with it, the maximum is Cho and Garcia-Molina's estimator.
        """
        open_ = (self.hits > 0) & (self.scale <= 0)
        if among is not None:
            open_ &= among
        half = 0.5 * self._sum(self.lengths) / np.where(self.hits > 0, self.hits, 1.0)
        return self.times(np.zeros(len(half)), np.where(open_, half, 0.0))

    def times(self, shape: NDArray[np.float64], scale: NDArray[np.float64]) -> Likelihood:
        """Return the product with λ^shape e^{−λ scale}, by page."""
        return Likelihood(self.own, self.lengths, self.weights, self.hits, self.shape + shape, self.scale + scale)

    def select(self, pages: NDArray[np.bool_]) -> Likelihood:
        """Return the likelihoods of some pages."""
        if pages.all():
            return self
        use, rank = np.flatnonzero(pages.take(self.own)), np.cumsum(pages) - 1
        return Likelihood(
            rank.take(self.own[use]),
            self.lengths[use],
            None if self.weights is None else self.weights[use],
            self.hits[pages],
            self.shape[pages],
            self.scale[pages],
        )

    def slope(self, rate: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return h(λ) = ∂ log L/∂ log λ = Σ_c φ(λ t_c) + shape − λ scale, φ(z) = z/(e^z − 1), and −∂h/∂λ; λ > 0."""
        z = rate.take(self.own)
        z *= self.lengths
        grown = growth(z)
        phi = z / grown
        value = self._sum(phi) + self.shape - rate * self.scale
        return value, self._sum(self.lengths * (phi - (1.0 - phi) / grown)) + self.scale

    def mode(self, tolerance: float = CLOSE) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the λ that maximizes L, the root of h: 0 without a change, inf if all intervals changed.

        Also return −∂h/∂λ close to it; −∂² log L/∂λ² is that divided by λ. NaN if the mode is 0 or inf. h is decreasing
        and convex, so Newton's method from the left never passes the root and needs no safeguard.
        """
        some = self.hits + self.shape > 0
        rate, fall = np.where(some, np.inf, 0.0), np.full(len(some), np.nan)
        proper = some & (self.scale > 0)
        rate[proper], fall[proper] = self.select(proper)._climb(tolerance)
        return rate, fall

    def _climb(self, tolerance: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        rate = self._below()
        roots, falls = rate.copy(), np.ones(len(rate))
        pages, left, fall = np.arange(len(rate)), self, falls
        going = np.ones(len(rate), np.bool_)
        for _ in range(STEPS):
            value, here = left.slope(rate)
            step = value / here
            fall = np.where(going, here, fall)
            rate = np.where(going, rate + step, rate)  # finished pages stay: no page depends on others
            going &= np.abs(step) > tolerance * rate
            open_ = np.count_nonzero(going)
            if 2 * open_ < len(rate):  # else dropping finished pages costs more than solving them again
                roots[pages], falls[pages] = rate, fall
                left, rate, fall, pages = left.select(going), rate[going], fall[going], pages[going]
                going = np.ones(open_, np.bool_)
            if not open_:
                break
        roots[pages], falls[pages] = rate, fall
        return roots, falls

    def _below(self) -> NDArray[np.float64]:
        """Return a start left of the root: Newton's first step from 0, or the root for changed intervals of mean
        length.

        t/(e^{λ t} − 1) is convex in t, so that root is left of the true one.
        """
        total = self._sum(self.lengths)
        first = (self.hits + self.shape) / (total / 2.0 + self.scale)
        some = total > 0
        alike = self.hits[some] * np.log1p(total[some] / self.scale[some]) / total[some]
        first[some] = np.maximum(first[some], alike)
        return first

    def _sum(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        weighted = values if self.weights is None else values * self.weights
        return np.bincount(self.own, weighted, len(self.shape)).astype(np.float64, copy=False)
