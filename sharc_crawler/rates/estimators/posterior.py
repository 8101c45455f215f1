"""Gamma prior times the likelihood of irregular intervals: the posterior's moments, by quadrature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import digamma

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


def moments(likelihood: Likelihood, shape: NDArray[np.float64], scale: NDArray[np.float64]) -> Moments:
    """The posterior under Gamma priors, shape and inverse scale > 0 per page.

    Without a changed interval it is a Gamma distribution. Else its density in log λ is log-concave, and the trapezoidal
    rule about its mode is exact to about 2e-4.
    """
    product = likelihood.times(shape, scale)
    a, b = product.shape, product.scale
    result = Moments(a / b, np.sqrt(a) / b, digamma(a) - np.log(b))
    hit = product.hits > 0
    if hit.any():
        found = _quadrature(product.select(hit))
        result.mean[hit], result.spread[hit], result.log_mean[hit] = found.mean, found.spread, found.log_mean
    return result


def _quadrature(product: Likelihood) -> Moments:
    """Pages with as many changed intervals together: their lengths are then a matrix."""
    mode = product.mode()
    width = (mode * product.slope(mode)[1]) ** -0.5
    found = Moments(*(np.empty(len(mode)) for _ in range(3)))
    counts = np.bincount(product.own, minlength=len(mode))
    starts = np.cumsum(counts) - counts
    for count in np.unique(counts).tolist():
        pages = np.flatnonzero(counts == count)
        rows = starts[pages] + np.arange(count)[:, None]
        weights = None if product.weights is None else product.weights[rows]
        alike = _Alike(-product.lengths[rows], weights, product.shape[pages], product.scale[pages])
        first, second, place = alike.moments(mode[pages], width[pages])
        found.mean[pages] = mode[pages] * (1.0 + first)
        found.spread[pages] = mode[pages] * np.sqrt(second - first * first)
        found.log_mean[pages] = np.log(mode[pages]) + width[pages] * place
    return found


@dataclass(frozen=True, slots=True)
class _Alike:
    """Pages with equally many changed intervals."""

    negative: NDArray[np.float64]  #: minus the lengths of the changed intervals, shape (intervals, pages)
    weights: NDArray[np.float64] | None
    shape: NDArray[np.float64]
    scale: NDArray[np.float64]

    def moments(self, mode: NDArray[np.float64], width: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Means of λ/mode − 1, of its square, and of the place of log λ in widths from the mode: sums over nodes."""
        log_mode = np.log(mode)
        top = self._log(mode, log_mode)
        ratio, factor = np.exp(NODES[0] * width), np.exp((NODES[1] - NODES[0]) * width)
        total, first, second, place = (np.zeros(len(mode)) for _ in range(4))
        for node in NODES:
            weight = np.exp(self._log(mode * ratio, log_mode + node * width) - top)
            beside = ratio - 1.0
            total += weight
            place += weight * node
            first += weight * beside
            second += weight * beside * beside
            ratio = ratio * factor
        return first / total, second / total, place / total

    def _log(self, rate: NDArray[np.float64], log_rate: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log of the posterior's density in log λ; −inf where 1 − e^{−λ t} is lost in rounding."""
        shown = np.exp(rate * self.negative)
        np.subtract(1.0, shown, out=shown)
        with np.errstate(divide="ignore"):
            if self.weights is None:
                runs = (shown[start : start + RUN] for start in range(0, len(shown), RUN))
                hits = sum(np.log(np.multiply.reduce(run)) for run in runs)
            else:
                hits = (np.log(shown) * self.weights).sum(0)
        return np.asarray(hits + self.shape * log_rate - rate * self.scale)
