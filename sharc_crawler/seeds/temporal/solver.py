"""Levenberg–Marquardt for many curves at once: every operation covers all pages of a batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.seeds.temporal.shape import bounded, derivatives, dot, held, values

if TYPE_CHECKING:
    from sharc_crawler.seeds.temporal.shape import Array, Frame, Values

_GOOD, _POOR = 0.9, 0.25  #: a step is good or poor if it lowers the squares by this share of the prediction
_SHORTER, _LONGER, _REFUSED = 0.3, 4.0, 20.0  #: factors of the damping after a good, a poor and a refused step
_DAMPING = 0.1  #: initial damping
_STUCK = 1e6  #: damping at which a fit ends, as no step lowers the squares any more
_STRIDE = np.array([[np.inf], [4.0], [4.0]])  #: longest step of each coordinate


@dataclass(frozen=True, slots=True)
class Solved:
    """The results of a batch of fits."""

    theta: Array  #: (3, n)
    squares: Array
    converged: Array  #: (n,) the sum of squares has stopped falling
    began: Array  #: (n,) sums of squares at the start


@dataclass(frozen=True, slots=True)
class _Equations:
    """Normal equations of the projected problem: six entries of JᵀJ (rows 11, 12, 13, 22, 23, 33) and Jᵀr."""

    matrix: Array  #: (6, n)
    gradient: Array  #: (3, n)

    def predicted(self, step: Array) -> Array:
        """The decrease of the squares by a step, if the curve were linear in its coordinates."""
        m11, m12, m13, m22, m23, m33 = self.matrix
        a, b, c = step
        bent = m11 * a * a + m22 * b * b + m33 * c * c + 2 * (m12 * a * b + m13 * a * c + m23 * b * c)
        fall: Array = 2 * (self.gradient * step).sum(axis=0) - bent
        return fall

    def where(self, better: Array, other: _Equations) -> _Equations:
        return _Equations(np.where(better, other.matrix, self.matrix), np.where(better, other.gradient, self.gradient))

    def take(self, pages: Array) -> _Equations:
        return _Equations(self.matrix[:, pages], self.gradient[:, pages])


@dataclass(frozen=True, slots=True)
class _Search:
    """The fits that have not ended yet."""

    page: Array  #: their indices in the batch
    views: Array
    frame: Frame
    theta: Array
    squares: Array
    factor: Array
    damping: Array
    equations: _Equations

    def take(self, keep: Array) -> _Search:
        return _Search(
            self.page[keep], self.views[:, keep], self.frame.take(keep), self.theta[:, keep], self.squares[keep],
            self.factor[keep], self.damping[keep], self.equations.take(keep),
        )  # fmt: skip


def solve(views: Array, frame: Frame, theta: Array, steps: int, tolerance: float) -> Solved:
    """Least-squares fits of ``views`` (days, n) from ``theta`` (3, n), in the precision of ``views``.

    A fit has converged when an accepted step lowers its sum of squares by less than the share ``tolerance``, or when
    no step lowers it.
    """
    search = _begin(views, frame, theta.astype(views.dtype))
    end = Solved(search.theta.copy(), search.squares.copy(), np.zeros(views.shape[1], bool), search.squares)
    for left in reversed(range(steps)):
        search, converged = _step(search, tolerance, goes_on=left > 0)
        end.theta[:, search.page] = search.theta
        end.squares[search.page] = search.squares
        end.converged[search.page] |= converged
        if converged.all():
            break
        if converged.mean() > 0.1:  # copying the remaining fits is expensive
            search = search.take(np.flatnonzero(~converged))
    return end


def _begin(views: Array, frame: Frame, theta: Array) -> _Search:
    theta = bounded(frame, theta)
    at = values(views, frame, theta)
    n = views.shape[1]
    damping = np.full(n, _DAMPING, views.dtype)
    return _Search(np.arange(n), views, frame, theta, at.squares, at.factor, damping, _equations(frame, theta, at))


def _step(search: _Search, tolerance: float, *, goes_on: bool) -> tuple[_Search, Array]:
    stride = _STRIDE.astype(search.theta.dtype)
    move = np.clip(_damped(search.equations, search.damping), -stride, stride)
    theta = bounded(search.frame, search.theta + move)
    at = values(search.views, search.frame, theta)
    better = at.squares < search.squares
    predicted = search.equations.predicted(theta - search.theta)
    gain = (search.squares - at.squares) / predicted
    damping = np.where(~better, _REFUSED, np.where(gain > _GOOD, _SHORTER, np.where(gain > _POOR, 1.0, _LONGER)))
    least = tolerance * np.minimum(at.squares, search.squares) + 1e-14 * at.norm * at.factor**2
    small = np.where(better, search.squares - at.squares, np.abs(predicted)) <= least
    equations = search.equations.where(better, _equations(search.frame, theta, at)) if goes_on else search.equations
    moved = replace(
        search,
        theta=np.where(better, theta, search.theta),
        squares=np.where(better, at.squares, search.squares),
        factor=np.where(better, at.factor, search.factor),
        damping=search.damping * damping.astype(search.damping.dtype),
        equations=equations,
    )
    return moved, small | (moved.damping > _STUCK)


def _equations(frame: Frame, theta: Array, at: Values) -> _Equations:
    """Variable projection (Kaufman's Jacobian): columns are made orthogonal to the density, which the factor fits."""
    columns = derivatives(frame, theta, at)
    for column in columns:
        column *= at.density
    along = [dot(column, at.density) for column in columns]
    pairs = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    matrix = np.array([dot(columns[i], columns[j]) - along[i] * along[j] / at.norm for i, j in pairs])
    gradient = np.array([dot(column, at.rest) for column in columns])
    free = ~held(at.warp, theta, gradient)  # coordinates at a bound stay fixed
    for row, (i, j) in zip(matrix, pairs, strict=True):
        if i != j:
            row *= free[i] & free[j]
    return _Equations(matrix * at.factor**2, gradient * free * at.factor)


def _damped(equations: _Equations, damping: Array) -> Array:
    """Solve (JᵀJ + damping·diag) δ = Jᵀr, scaled to a unit diagonal, by Cholesky; zero where singular."""
    m11, m12, m13, m22, m23, m33 = equations.matrix
    floor = 1e-7 * np.maximum(np.maximum(m11, m22), m33) + 1e-30
    scale = 1 / np.sqrt(np.maximum(np.array([m11, m22, m33]), floor))
    r12, r13, r23 = m12 * scale[0] * scale[1], m13 * scale[0] * scale[2], m23 * scale[1] * scale[2]
    g1, g2, g3 = equations.gradient * scale
    d1 = 1 + damping
    l21, l31 = r12 / d1, r13 / d1
    d2 = np.maximum(1 + damping - l21 * r12, 1e-7)
    l32 = (r23 - l31 * r12) / d2
    d3 = np.maximum(1 + damping - l31 * r13 - l32 * l32 * d2, 1e-7)
    z2 = g2 - l21 * g1
    z3 = g3 - l31 * g1 - l32 * z2
    x3 = z3 / d3
    x2 = z2 / d2 - l32 * x3
    x1 = g1 / d1 - l21 * x2 - l31 * x3
    steps: Array = np.nan_to_num(np.array([x1, x2, x3]) * scale, posinf=0.0, neginf=0.0)
    return steps
