"""Keeping copies fresh with change signals that may be wrong: a baseline from the literature.

R. Busa-Fekete et al., *A Scalable Crawling Algorithm Utilizing Noisy Change-Indicating Signals*, WWW 2025
(arXiv:2502.02430), after Y. Azar et al., *Tractable near-optimal policies for crawling*, PNAS 115 (2018). The formulas
below were derived anew from the model: only abstracts and second-hand notes of the paper were at hand.

A page changes as a Poisson process of rate Δ. A change is told of by a signal with probability λ (recall); signals that
tell of nothing come as a Poisson process of rate ν. So signals come at the rate γ = λΔ + ν, changes that none tells of
at α = (1 - λ)Δ. A copy of age τ, with n signals since, is fresh with probability exp(-x), where

    x = ατ + nb,  b = log(γ/ν)

(each signal is false with probability ν/γ). x/α is the paper's effective time. Who downloads a page whenever x reaches
a level, gains per cycle the fresh time w and spends the time ψ, both expectations:

    ψ(x) = Σ_k P(k+1, γ t_k) / γ,  w(x) = Σ_k (ν/(Δ+ν))^k P(k+1, (Δ+ν) t_k) / (Δ+ν),  t_k = (x - kb)/α,

over all k with kb < x, P being the regularized lower incomplete gamma function. (μw - c)/ψ, where c is the price of a
download, is greatest where c = μ(w(x) - exp(-x) ψ(x)): the *crawl value*. It grows with x, so to download the page of
the highest value at each turn is to pay one price for all. Without signals it is Azar's (μ/Δ)(1 - (1 + Δτ)exp(-Δτ)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammainc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]

TERMS = 200  #: of the sums, at most
LEAST = 1e-12  #: what is left out of them
WORTHLESS = 0.01  #: signals of a smaller b are passed over
GRID = 21  #: recalls and rates of false signals that are tried, each


class Signals(NamedTuple):
    """How good the signals of a site are."""

    recall: float  #: λ: share of the changes that a signal tells of
    false: float  #: ν: signals per second and page that tell of nothing


NO_SIGNALS = Signals(0.0, 0.0)


def staleness(rates: Column, ages: Column, told: Column, signals: Signals) -> Column:
    """Of each page, x: minus the logarithm of the probability that its copy is fresh.

    ``rates``: changes per second; ``ages``: of the copies, seconds; ``told``: signals since.

    >>> x = staleness(np.array([0.1, 0.1]), np.array([10.0, 10.0]), np.array([0.0, 1.0]), Signals(0.5, 0.05))
    >>> np.exp(-x).round(3).tolist()
    [0.607, 0.303]
    """
    unseen, _, _, weight = _columns(rates, signals)
    with np.errstate(invalid="ignore"):  # no signal that is never wrong
        x: Column = unseen * ages + np.where(told > 0, told * weight, 0.0)
    return x


def crawl_value(rates: Column, x: Column, signals: Signals) -> Column:
    """What a download of each page is worth now, in seconds of freshness, by its staleness.

    >>> crawl_value(np.array([0.1]), np.array([1.0]), NO_SIGNALS).round(3).tolist()  # (1 - 2/e) / 0.1
    [2.642]
    >>> crawl_value(np.array([0.1]), np.array([np.inf]), Signals(1.0, 0.0)).round(3).tolist()  # surely stale
    [10.0]
    """
    found = np.zeros(len(rates))
    moving = np.flatnonzero((rates > 0) & (x > 0))
    if len(moving):
        found[moving] = _value(rates[moving], x[moving], signals)
    return found


def _value(rates: Column, x: Column, signals: Signals) -> Column:
    unseen, all_told, false, weight = _columns(rates, signals)
    ever = rates + false
    cycle, fresh, left = np.zeros(len(rates)), np.zeros(len(rates)), x
    for k in range(TERMS):
        with np.errstate(divide="ignore", invalid="ignore"):
            until = np.where(left > LEAST, left / unseen, 0.0)
            longer = np.where(all_told > 0, gammainc(k + 1, all_told * until) / all_told, until if k == 0 else 0.0)
            left = np.where(np.isinf(weight) | (weight == 0), 0.0, x - (k + 1) * weight)
        cycle += longer
        fresh += (false / ever) ** k / ever * gammainc(k + 1, ever * until)
        if not (left > LEAST).any() or (longer <= LEAST * cycle).all():
            break
    survives = np.exp(-x)
    lost: Column = np.where(survives > 0, survives * cycle, 0.0)
    return np.maximum(fresh - lost, 0.0)


def _columns(rates: Column, signals: Signals) -> tuple[Column, Column, Column, Column]:
    """Of each page: α, γ, ν and b; as if there were no signals where these say next to nothing."""
    none = np.zeros(len(rates))
    if not signals.recall:
        return rates, none, none, none
    told = signals.recall * rates
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(told > 0, np.log1p(told / signals.false), 0.0)
    good = weight >= WORTHLESS
    false = np.where(good, signals.false, 0.0)
    return (
        np.where(good, rates - told, rates),
        np.where(good, told + false, 0.0),
        false,
        np.where(good, weight, 0.0),
    )


def learn(rates: Column, ages: Column, told: Column, changed: NDArray[np.bool_]) -> Signals:
    """The recall and the rate of false signals that past looks make likeliest, by a grid.

    One entry per look at a page: its rate, the time since the look before, the signals meanwhile, had it changed?
    """
    looks, counts = np.unique(np.array([rates, ages, told, changed]), axis=1, return_counts=True)
    rows = looks[0], looks[1], looks[2]
    highest = max(float(told.sum() / max(ages.sum(), 1.0)), 1e-12)
    tried = [0.0, *np.geomspace(1e-6, 1.0, GRID) * highest]
    found = [
        (_likelihood(staleness(*rows, one), looks[3] > 0, counts), one)
        for one in (Signals(float(recall), false) for recall in np.linspace(0, 1, GRID) for false in tried)
    ]
    return max(found)[1]


def _likelihood(x: Column, changed: NDArray[np.bool_], counts: NDArray[np.int64]) -> float:
    """Of looks that found a change or none; a thousandth of them may be as it cannot be."""
    same = 0.001 + 0.998 * np.exp(-x)
    return float((counts * np.log(np.where(changed, 1 - same, same))).sum())
