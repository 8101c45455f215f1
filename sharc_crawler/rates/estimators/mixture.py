"""A prior of no fixed form: how many pages have which rate, on a grid from once in ten years to once in ten seconds.

One Gamma distribution cannot describe a site of many cold pages and a few hot ones; weights on a grid can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp, xlogy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.rates.estimators.likelihood import Likelihood

ROUNDS = 60
SAMPLE = 5_000  #: pages that the weights are learned from, at most
KERNEL = (0.25, 0.5, 0.25)  #: with which the weights are smoothed in each round
LENT = 1.0  #: pages' worth of even weights: no rate is ruled out


def learn_weights(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights of a grid's rates under which all pages' evidence is most likely, smoothed.

    Parameters
    ----------
    logs: log-likelihood of each page (rows) at each rate of an even grid of log rates (columns)

    References
    ----------
    Silverman, Jones, Wilson and Nychka, A smoothed EM approach to indirect estimation problems, JRSS B 1990.

    """
    weights = np.full(logs.shape[1], 1.0 / logs.shape[1])
    step = -(-len(logs) // SAMPLE) if len(logs) else 1
    for _ in range(ROUNDS):
        shares = posterior(logs[::step], weights).sum(0) + LENT / len(weights)
        weights = np.convolve(np.pad(shares / shares.sum(), 1, mode="edge"), KERNEL, mode="valid")
        weights /= weights.sum()
    return weights


def posterior(logs: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of each rate, page by page.

    >>> posterior(np.log([[0.5, 0.5], [0.9, 0.1]]), np.array([0.1, 0.9])).round(2).tolist()
    [[0.1, 0.9], [0.5, 0.5]]
    """
    joint = logs + np.log(weights)
    return np.asarray(np.exp(joint - logsumexp(joint, axis=1, keepdims=True)))


def log_likelihoods(likelihood: Likelihood, rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each page (rows) at each rate (columns)."""
    found = np.multiply.outer(likelihood.shape, np.log(rates)) - np.multiply.outer(likelihood.scale, rates)
    weights = np.ones(len(likelihood.own)) if likelihood.weights is None else likelihood.weights
    for column, rate in enumerate(rates):
        shown = xlogy(weights, -np.expm1(-rate * likelihood.lengths))
        found[:, column] += np.bincount(likelihood.own, shown, len(found))
    return np.asarray(found)
