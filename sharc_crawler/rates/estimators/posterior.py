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
NODES = np.linspace(-8.0, 5.0, 33)


@dataclass(frozen=True, slots=True)
class Moments:
    """Of the posterior of each page's rate."""

    mean: NDArray[np.float64]
    spread: NDArray[np.float64]  #: standard deviation
    log_mean: NDArray[np.float64]  #: E[log λ]


def moments(likelihood: Likelihood, shape: NDArray[np.float64], scale: NDArray[np.float64]) -> Moments:
    """The posterior under Gamma priors, shape and inverse scale > 0 per page.

    Without a changed interval it is a Gamma distribution. Else its density in log λ is log-concave, and the trapezoidal
    rule about its mode is exact to about 1e-4.
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
    mode = product.mode()
    width = (mode * product.slope(mode)[1]) ** -0.5
    rates = mode[:, None] * np.exp(width[:, None] * NODES)
    density = np.stack([product.log(rates[:, k]) for k in range(len(NODES))], axis=1)
    weight = np.exp(density - density.max(1, keepdims=True))
    weight /= weight.sum(1, keepdims=True)
    mean = (weight * rates).sum(1)
    variance = (weight * (rates - mean[:, None]) ** 2).sum(1)
    return Moments(mean, np.sqrt(variance), (weight * np.log(rates)).sum(1))
