"""Gamma prior times the likelihood of irregular intervals: the posterior's moments, by quadrature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import digamma, gammaln

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.rates.estimators.likelihood import Likelihood

#: nodes in standard deviations of log λ about the mode; the left tail falls only as a power of λ
NODES = np.linspace(-8.0, 4.4, 18)
RUN = 32  #: factors multiplied before a logarithm is taken: so few do not underflow where it matters


@dataclass(frozen=True, slots=True)
class Moments:
    """Of the posterior of each page's rate."""

    mean: NDArray[np.float64]
    spread: NDArray[np.float64]  #: standard deviation
    log_mean: NDArray[np.float64]  #: E[log λ]
    evidence: NDArray[np.float64]  #: log ∫ λ^{shape − 1} e^{−λ scale} L(λ) dλ


def moments(likelihood: Likelihood, shape: NDArray[np.float64], scale: NDArray[np.float64]) -> Moments:
    """The posterior under Gamma priors, shape and inverse scale > 0 per page.

    Without a changed interval it is a Gamma distribution. Else its density in log λ is log-concave, and the trapezoidal
    rule about its mode is exact to about 2e-4.
    """
    product = likelihood.times(shape, scale)
    a, b = product.shape, product.scale
    result = Moments(a / b, np.sqrt(a) / b, digamma(a) - np.log(b), gammaln(a) - a * np.log(b))
    hit = product.hits > 0
    if hit.any():
        found = _quadrature(product.select(hit))
        result.mean[hit], result.spread[hit], result.log_mean[hit] = found.mean, found.spread, found.log_mean
        result.evidence[hit] = found.evidence
    return result


def _quadrature(product: Likelihood) -> Moments:
    """Pages with as many changed intervals together: their lengths are then a matrix."""
    mode = product.mode()
    width = (mode * product.slope(mode)[1]) ** -0.5
    found = Moments(*(np.empty(len(mode)) for _ in range(4)))
    counts = np.bincount(product.own, minlength=len(mode))
    starts = np.cumsum(counts) - counts
    for count in np.unique(counts).tolist():
        pages = np.flatnonzero(counts == count)
        rows = starts[pages] + np.arange(count)[:, None]
        weights = None if product.weights is None else product.weights[rows]
        alike = _Alike(-product.lengths[rows], weights, product.shape[pages], product.scale[pages])
        first, second, place, evidence = alike.moments(mode[pages], width[pages])
        found.mean[pages] = mode[pages] * (1.0 + first)
        found.spread[pages] = mode[pages] * np.sqrt(second - first * first)
        found.log_mean[pages] = np.log(mode[pages]) + width[pages] * place
        found.evidence[pages] = evidence
    return found


@dataclass(frozen=True, slots=True)
class _Alike:
    """Pages with equally many changed intervals."""

    negative: NDArray[np.float64]  #: minus the lengths of the changed intervals, shape (intervals, pages)
    weights: NDArray[np.float64] | None
    shape: NDArray[np.float64]
    scale: NDArray[np.float64]

    def moments(self, mode: NDArray[np.float64], width: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Means of λ/mode − 1, of its square, and of the place of log λ in widths from the mode: sums over nodes.

        At last, the logarithm of the integral itself.
        """
        beside = np.multiply.outer(NODES, width)  # of log λ from that of the mode; rows: nodes
        density = self.shape * beside
        np.exp(beside, out=beside)
        density -= self.scale * mode * beside
        density += self._hits(mode * beside)
        peak = self._hits(mode[None])[0] - self.scale * mode
        density -= peak
        weight = np.exp(density, out=density)
        total, place = weight.sum(0), NODES @ weight
        beside -= 1.0
        weight *= beside
        first = weight.sum(0)
        weight *= beside
        evidence = peak + self.shape * np.log(mode) + np.log(total * width * (NODES[1] - NODES[0]))
        return first / total, weight.sum(0) / total, place / total, evidence

    def _hits(self, rates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log Π (1 − e^{−λ t}) over the changed intervals, of rates in rows; −inf where it is lost in rounding."""
        if self.weights is not None:
            with np.errstate(divide="ignore"):
                return np.stack([(np.log(self._shown(rate)) * self.weights).sum(0) for rate in rates])
        result = np.zeros_like(rates)
        for start in range(0, len(self.negative), RUN):
            products = np.stack([np.multiply.reduce(self._shown(rate, start)) for rate in rates])
            with np.errstate(divide="ignore"):
                result += np.log(products, out=products)
        return result

    def _shown(self, rate: NDArray[np.float64], start: int | None = None) -> NDArray[np.float64]:
        """Probabilities of a change, by interval: of all, or of a run of them."""
        negative = self.negative if start is None else self.negative[start : start + RUN]
        shown = rate * negative
        np.exp(shown, out=shown)
        return np.subtract(1.0, shown, out=shown)
