"""The coordinates in which curves are fitted. The data determines them well, unlike (μ, σ, b), which are correlated.

Up to a factor, a log-normal density is ``exp(p·v − q·v²)`` in the warped age ``v = u₂·ln(u/u₂)``, where u = x − b is
a page's age and u₂ its age at a middle knot (v → x − k₂ as b → −∞: normal densities are inside the family, not at
its end). It is described by

* ``slope``: the difference of the log density between the outer knots k₃ and k₁,
* ``bulge``: the logarithm of the height of the log density at k₂ above the chord between the outer knots,
* ``lead``: ln(f − b), f the first day after birth: a fit moves births to earlier days, never beyond f, which has
  views of the curve.

Knots are days of the window, so the first two are differences of (log) data and hardly depend on the third. The curve
is linear in its factor, which is eliminated (variable projection).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  #: float32 during the search, float64 for the final fit

WIDEST = 30.0  #: greatest σ: beyond it, a curve is a power of the age over any window
_LEAD = (math.log(1e-10), math.log(3000.0))  #: bounds of ``lead``: earlier or later births give equal curves
_STEEPEST = 6.0  #: bulge of a curve that is zero except on one day
_TILTED = 200.0  #: slope of a curve that is zero at a knot


def dot(a: Array, b: Array) -> Array:
    """Sums of products over days, for each page."""
    sums: Array = np.einsum("ij,ij->j", a, b)
    return sums


@dataclass(frozen=True, slots=True)
class Frame:
    """The window's days and the knots, in days since each curve's first day after birth."""

    first: Array  #: (n,) the first day after birth, f
    days: Array  #: (days, n), x − f
    knots: Array  #: (3, n), k − f

    @classmethod
    def of(cls, first: Array, knots: Array, window: int, dtype: type[np.floating[Any]]) -> Frame:
        """The frames of curves with these first days and knots (days of the window)."""
        days = np.arange(1, window + 1, dtype=dtype)[:, None] - first.astype(dtype)
        return cls(first, days, (knots - first).astype(dtype))

    def take(self, pages: Array) -> Frame:
        """The frames of some pages."""
        return Frame(self.first[pages], self.days[:, pages], self.knots[:, pages])


@dataclass(frozen=True, slots=True)
class Warp:
    """The warped ages of the knots, for a given birth."""

    since: Array  #: f − b
    age: Array  #: at the middle knot, u₂
    low: Array  #: v at the first knot, negative
    high: Array  #: v at the last knot

    @classmethod
    def of(cls, frame: Frame, lead: Array) -> Warp:
        """The warps of frames with these leads."""
        since = np.exp(lead)
        age = frame.knots[1] + since
        log_age = np.log(age)
        low, high = ((np.log(frame.knots[i] + since) - log_age) * age for i in (0, 2))
        return cls(since, age, low, high)

    def turned(self, at: Array, v: Array) -> Array:
        """∂v/∂lead at age ``at``."""
        return self.since * (self.age / at - 1 + v / self.age)


def bounded(frame: Frame, theta: Array) -> Array:
    """The nearest valid coordinates, with σ ≤ :data:`WIDEST`."""
    slope, bulge, lead = theta
    lead = np.clip(lead, *_LEAD)
    flattest = _flattest(Warp.of(frame, lead))
    return np.array([np.clip(slope, -_TILTED, _TILTED), np.clip(bulge, flattest, _STEEPEST), lead])


def _flattest(warp: Warp) -> Array:
    """The bulge of a curve with σ = :data:`WIDEST`."""
    bulge: Array = np.log(-warp.low * warp.high / (2 * WIDEST**2 * warp.age**2))
    return bulge


def held(warp: Warp, theta: Array, gradient: Array) -> Array:
    """Which coordinates (3, n) are at a bound and would be moved beyond it."""
    slope, bulge, lead = theta
    low = np.array([slope <= -_TILTED, bulge <= _flattest(warp), lead <= _LEAD[0]])
    high = np.array([slope >= _TILTED, bulge >= _STEEPEST, lead >= _LEAD[1]])
    beyond: Array = np.where(gradient < 0, low, high)
    return beyond


def quadratic(warp: Warp, theta: Array) -> tuple[Array, Array]:
    """P and q of ``exp(p·v − q·v²)``."""
    q = np.exp(theta[1]) / (-warp.low * warp.high)
    return theta[0] / (warp.high - warp.low) + q * (warp.low + warp.high), q


@dataclass(frozen=True, slots=True)
class Values:
    """Curves on the days of the window, with the best factor, and the residuals."""

    warp: Warp
    p: Array
    q: Array
    age: Array  #: (days, n), 1 before birth
    v: Array
    height: Array  #: logarithm of the highest day over the middle knot
    density: Array  #: (days, n), 1 at the highest day
    norm: Array  #: sum of its squares
    factor: Array
    rest: Array  #: (days, n), views − factor·density
    squares: Array


def values(views: Array, frame: Frame, theta: Array) -> Values:
    """Evaluate curves at coordinates ``theta`` (3, n) for ``views`` (days, n)."""
    warp = Warp.of(frame, theta[2])
    p, q = quadratic(warp, theta)
    age = frame.days + warp.since
    unborn = age <= 0
    np.copyto(age, 1, where=unborn)
    v = np.log(age)
    v -= np.log(warp.age)
    v *= warp.age
    density = q * v  # reused in place: memory bandwidth limits the speed
    np.subtract(p, density, out=density)
    density *= v
    np.copyto(density, -np.inf, where=unborn)
    height = density.max(axis=0)
    density -= height
    np.exp(density, out=density)
    norm = np.maximum(dot(density, density), 1e-30)
    factor = np.maximum(dot(density, views) / norm, 0)
    rest = factor * density
    np.subtract(views, rest, out=rest)
    return Values(warp, p, q, age, v, height, density, norm, factor, rest, dot(rest, rest))


def derivatives(frame: Frame, theta: Array, at: Values) -> tuple[Array, Array, Array]:
    """∂ ln density / ∂ (slope, bulge, lead), each (days, n)."""
    warp, q, v = at.warp, at.q, at.v
    width, middle = warp.high - warp.low, warp.low + warp.high
    low, high = (warp.turned(frame.knots[i] + warp.since, end) for i, end in ((0, warp.low), (2, warp.high)))
    by_bulge = middle - v
    by_bulge *= q * v
    along = q * (low + high) - theta[0] * (high - low) / width**2
    by_lead = warp.age / at.age
    by_lead += v / warp.age
    by_lead -= 1
    by_lead *= warp.since * at.p - (2 * warp.since * q) * v
    by_lead += along * v
    by_lead -= (low / warp.low + high / warp.high) * by_bulge
    return v / width, by_bulge, by_lead


def natural(frame: Frame, theta: Array) -> tuple[Array, Array, Array]:
    """(b, μ, σ) of coordinates."""
    warp = Warp.of(frame, theta[2])
    p, q = quadratic(warp, theta)
    sigma = 1 / (warp.age * np.sqrt(2 * q))
    # ln density = p·v − q·v² with v = u₂ (ln u − ln u₂), and the density's own factor 1/u adds 1 to the slope in ln u
    mu = np.log(warp.age) + (p * warp.age + 1) * sigma**2
    return frame.first - warp.since, mu, sigma
