"""Moments of the posterior: a Gamma prior times the likelihood of irregular intervals.

For few changed intervals the product Π (1 − e^{−λ t}) is expanded: the posterior is then a signed sum of Gamma
densities. Else, and if that sum cancels, it is integrated by quadrature.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from sharc_crawler.rates.estimators.likelihood import NEAR, Likelihood

FEW = 5  #: maximum of changed intervals to expand: 2⁵ densities take less time than quadrature
PORTION = 1 << 16  #: pages expanded at a time, to bound memory
LEFT = 1e-9  #: minimum of the sum of densities, so that rounding costs at most 1e-6 of it
#: nodes, in standard deviations of log λ about the mode; the left tail decays only as a power of λ
NODES = np.linspace(-8.0, 4.4, 18)
#: fewer nodes for pages with at least that many changed intervals, whose tail decays faster
SEVERAL, FEWER = 3, np.linspace(-6.0, 4.4, 12)
#: factors multiplied before taking a logarithm, without underflow (by bytes of a float)
RUN = {8: 32, 4: 8}
#: nodes times intervals times pages computed together, to fit the processor's cache
TOGETHER = 1 << 15
FILLED = 1_000  #: padding intervals that cost less than a group of their own
NEARER = 1e-3  #: relative Newton steps that end the search of a mode in double precision
#: bounds for single precision: λ t at the mode, and exponents
SMALL, LARGE = 0.01, 32.0


@dataclass(frozen=True, slots=True)
class Moments:
    """Moments of the posterior of each page's rate."""

    mean: NDArray[np.float64]
    spread: NDArray[np.float64]  #: standard deviation
    log_mean: NDArray[np.float64]  #: E[log λ]
    evidence: NDArray[np.float64]  #: log ∫ λ^{shape − 1} e^{−λ scale} L(λ) dλ

    def columns(self) -> tuple[NDArray[np.float64], ...]:
        """Return all columns."""
        return self.mean, self.spread, self.log_mean, self.evidence


def moments(
    likelihood: Likelihood, shape: NDArray[np.float64], scale: NDArray[np.float64], *, single: bool = False
) -> Moments:
    """Return the moments under Gamma priors, with shape and inverse scale > 0 by page.

    Without a changed interval the posterior is a Gamma distribution, with few a sum of some. Else its density in log λ
    is log-concave, and the trapezoidal rule about its mode is exact to about 1e-3, mostly 1e-4 or better. ``single``:
    use single precision where 1 − e^{−λt} allows it, about a less exact mode, which costs less than the rule's own
    error. Then only mean and spread are computed; the others are NaN.
    """
    product = likelihood.times(shape, scale)
    counts = np.bincount(product.own, minlength=len(product.hits))
    starts = np.cumsum(counts) - counts
    found = Moments(*(np.full(len(counts), np.nan) for _ in range(4)))
    most = FEW if product.weights is None else 0
    for count in range(most + 1):
        pages = np.flatnonzero(counts == count)
        for at in range(0, len(pages), PORTION):
            some = pages[at : at + PORTION]
            times = product.lengths[starts[some] + np.arange(count)[:, None]]
            _put(found, some, _expanded(times, product.shape[some], product.scale[some], single), single)
    left = np.isnan(found.mean)
    _put(found, left, _quadrature(product.select(left), single), single)
    return found


def _put(whole: Moments, pages: NDArray[np.generic], some: Moments, single: bool) -> None:
    computed = 2 if single else 4  # the others stay NaN
    for column, values in zip(whole.columns()[:computed], some.columns(), strict=False):
        column[pages] = values


def _expanded(times: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64], single: bool) -> Moments:
    """Expand pages with equally many changed intervals, in columns: Σ ± Γ(a)/B^a over subsets, B = b + Σ t.

    NaN if the sum cancels.
    """
    total, first, second, logs = (np.full_like(a, start) for start in (1.0, 1.0, 1.0, 0.0))
    grown = [(np.ones_like(a), 1)]
    for time in times / b:
        grown += [(base + time, -sign) for base, sign in grown]
    for base, sign in grown[1:]:
        log = np.log(base)
        term = np.exp(-a * log)
        term *= sign
        if not single:
            logs += term * log
        total += term
        for moment in (first, second):
            term /= base
            moment += term
    total[total < LEFT] = np.nan
    first, second = first / total, second / total
    mean, spread = a / b * first, np.sqrt(a * ((a + 1.0) * second - a * first * first)) / b
    if single:
        return Moments(mean, spread, np.full_like(a, np.nan), np.full_like(a, np.nan))
    return Moments(mean, spread, digamma(a) - np.log(b) - logs / total, gammaln(a) - a * np.log(b) + np.log(total))


def _quadrature(product: Likelihood, single: bool) -> Moments:
    """Integrate pages with similar numbers of changed intervals together: their lengths are a matrix padded with ∞."""
    mode, fall = product.mode(NEAR if single else NEARER)
    found = Moments(*(np.full(len(mode), np.nan) for _ in range(4)))
    counts = np.bincount(product.own, minlength=len(mode))
    starts = np.cumsum(counts) - counts
    fine = np.zeros(len(mode), np.bool_)
    if single:
        shortest = np.minimum.reduceat(product.lengths, starts) if len(starts) else mode
        fine = (shortest * mode >= SMALL) & (product.hits + product.shape <= LARGE)
    lengths = np.append(product.lengths, np.inf)
    weights = None if product.weights is None else np.append(product.weights, 0.0)
    for dtype, some in ((np.float64, ~fine), (np.float32, fine)):
        for count, pages in _alike(counts, some):
            own = np.arange(count)[:, None]
            rows = np.where(own < counts[pages], starts[pages] + own, len(lengths) - 1)
            at, shape, width = mode[pages], product.shape[pages], (mode[pages] * fall[pages]) ** -0.5
            group = _Alike(
                (lengths[rows] * -at).astype(dtype, copy=False),
                None if weights is None else weights[rows].astype(dtype, copy=False),
                shape.astype(dtype, copy=False),
                (product.scale[pages] * at).astype(dtype, copy=False),
            )
            first, second, place, evidence = group.moments(width.astype(dtype, copy=False))
            found.mean[pages] = at * (1.0 + first)
            found.spread[pages] = at * np.sqrt(second - first * first)
            if not single:
                found.log_mean[pages] = np.log(at) + width * place
                found.evidence[pages] = evidence + shape * np.log(at)
    return found


def _alike(counts: NDArray[np.int64], some: NDArray[np.bool_]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Group pages by their number of changed intervals; yield the maximum of each group, and its pages."""
    pages = np.bincount(counts[some])
    most, group = math.inf, np.zeros(len(pages), np.int64)
    for count in reversed(np.flatnonzero(pages).tolist()):
        if count < SEVERAL or (most - count) * pages[count] > FILLED:
            most = count
        group[count] = most
    of_page = np.where(some, group[np.minimum(counts, len(pages) - 1)], 0) if len(pages) else counts
    for most in np.unique(group[group > 0]).tolist():
        alike = np.flatnonzero(of_page == most)
        yield most, np.resize(alike, max(len(alike), 2))  # a single column would be summed in another order


@dataclass(frozen=True, slots=True)
class _Alike:
    """Pages with equally many changed intervals; rates are relative to the mode."""

    negative: NDArray[np.floating]  #: minus λ t at the mode of the changed intervals, shape (intervals, pages)
    weights: NDArray[np.floating] | None
    shape: NDArray[np.floating]
    calm: NDArray[np.floating]  #: λ times scale, at the mode

    def moments(self, width: NDArray[np.floating]) -> tuple[NDArray[np.floating], ...]:
        """Return the means of λ/mode − 1, of its square, and of log λ in widths from the mode, as sums over nodes.

        Also return the logarithm of the integral, with (λ/mode)^shape.
        """
        nodes = (NODES if len(self.negative) < SEVERAL else FEWER).astype(width.dtype)
        rates = np.multiply.outer(nodes, width)  # rows: nodes
        density = self.shape * rates
        np.exp(rates, out=rates)
        density -= self.calm * rates
        density += self._hits(rates)
        peak = density.max(axis=0)
        density -= peak
        weight = np.exp(density, out=density)
        total, place = weight.sum(0), nodes @ weight
        rates -= 1
        weight *= rates
        first = weight.sum(0)
        weight *= rates
        evidence = peak + np.log(total * width * (nodes[1] - nodes[0]))
        return first / total, weight.sum(0) / total, place / total, evidence

    def _hits(self, rates: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return log Π (1 − e^{−λ t}) over the changed intervals, for rates in rows; −inf on underflow."""
        each = max(1, TOGETHER // self.negative.size)
        with np.errstate(divide="ignore"):
            return np.concatenate([self._at(rates[start : start + each]) for start in range(0, len(rates), each)])

    def _at(self, rates: NDArray[np.floating]) -> NDArray[np.floating]:
        if self.weights is not None:
            shown = _shown(rates, self.negative)
            np.log(shown, out=shown)
            shown *= self.weights
            found: NDArray[np.floating] = shown.sum(1)
            return found
        result, run = np.zeros_like(rates), RUN[rates.itemsize]
        for start in range(0, len(self.negative), run):
            result += np.log(np.multiply.reduce(_shown(rates, self.negative[start : start + run]), axis=1))
        return result


def _shown(rates: NDArray[np.floating], negative: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the probabilities of a change, by node, interval and page."""
    shown = rates[:, None] * negative
    np.exp(shown, out=shown)
    return np.subtract(1, shown, out=shown)
