"""Fits the interest curves of any number of pages: batched least squares from matched starts."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sharc_crawler.errors import DataError
from sharc_crawler.seeds.temporal.classify import Threshold
from sharc_crawler.seeds.temporal.curve import Curves, gathered
from sharc_crawler.seeds.temporal.shape import natural, values
from sharc_crawler.seeds.temporal.solver import Solved, solve
from sharc_crawler.seeds.temporal.starts import Dictionary, dictionary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.seeds.temporal.shape import Array, Frame

LEAST_DAYS = 5  #: fewest days: a curve has four parameters

#: pages per batch: many, so that NumPy's overhead is small; no power of two, so that rows do not collide in the cache
_BATCH = 6_000
_STARTS, _TRIED_STEPS, _TRIED_TOLERANCE = 10, 6, 1e-3
_SHARP, _SHARP_STEPS = 0.01, 12  #: extra steps for all starts, if the best leaves less than this share of the squares
_STEPS, _TOLERANCE = 40, 1e-5
_LAST_STEPS, _LAST_TOLERANCE = 60, 1e-6
_FIRST_VIEWS = 0.01  #: share of all views by which a page counts as seen, so that a stray view does not count
_MOVING = 0.01  #: a fit is not known if its last steps lowered its squares by more than this share of them,
_EXACT = 1e-4  #: plus this share of the views' squares (a perfect fit's squares shrink without end)
_RIVAL = 0.01  #: a curve whose squares are greater by less than this share fits nearly as well


def fit(
    views: NDArray[Any],
    threshold: Threshold | None = None,
    workers: int = 2,
    progress: Callable[[int], None] = lambda _: None,
) -> Curves:
    """Fit interest curves to daily views, shape (pages, days), by least squares.

    Ten starts per page descend a few steps in single precision. The best one continues until it converges, and is
    finished in double precision. A page is not ``known`` if nobody viewed it, if its fit still moves at the end, if
    the window ends within its first days, or if a curve from another start fits nearly as well and ``threshold`` puts
    it into the other class. ``progress`` is called with the number of pages of every batch done.

    >>> news = [0, 0, 80, 30, 10, 4, 2, 1, 0, 0, 0, 0]
    >>> curves = fit(np.array([news, [9] * 12]))
    >>> curves.known.tolist(), (curves.gathered(3) > 0.7).tolist()
    ([True, True], [True, False])
    >>> bool(2 < curves.birth[0] < 3)
    True

    Raises :class:`~sharc_crawler.errors.DataError` for fewer than :data:`LEAST_DAYS` days.
    """
    days = views.shape[1]
    if days < LEAST_DAYS:
        raise DataError(f"the views cover {days} day(s); a curve needs {LEAST_DAYS}, and better 60: give a longer log")
    starts, by = dictionary(days), threshold or Threshold()

    def part(begin: int) -> Curves:
        with np.errstate(all="ignore"):  # the solver refuses steps that overflow
            curves = _fit_batch(np.asarray(views[begin : begin + _BATCH], np.float64), starts, by)
        progress(len(curves))
        return curves

    with ThreadPoolExecutor(workers) as pool:
        return Curves.joined([_none(), *pool.map(part, range(0, len(views), _BATCH))])


def _none() -> Curves:
    none = np.empty(0)
    return Curves(none, none, none, none, none, none, none, np.empty(0, np.bool_))


def _fit_batch(views: NDArray[np.float64], starts: Dictionary, threshold: Threshold) -> Curves:
    """Curves of one batch; during the search, views are scaled to a peak of 1, so that single precision suffices."""
    viewed = views.any(axis=1)
    by_day = np.ascontiguousarray(views.T)
    peak = np.where(viewed, by_day.max(axis=0), 1.0)
    of_one = (by_day / peak).astype(np.float32)
    tried = _tried(of_one, starts)
    frame, theta = _converged(of_one, starts, tried)
    end = solve(by_day, frame, theta, _LAST_STEPS, _LAST_TOLERANCE)
    norm = (by_day**2).sum(axis=0)
    still = end.began - end.squares <= _MOVING * end.squares + _EXACT * norm
    curves = _curves(by_day, frame, end.theta, viewed & (still | end.converged))
    lived = curves.seen + threshold.days <= len(by_day)
    nearly = ((1 + _RIVAL) * end.squares + 1e-9 * norm) / peak**2
    return replace(curves, known=curves.known & lived & ~_contested(curves, by_day, nearly, starts, tried, threshold))


@dataclass(frozen=True, slots=True)
class _Tried:
    """One start per page, and the fit that it led to."""

    chosen: NDArray[np.int64]  #: curves of the dictionary
    solved: Solved


def _tried(views: NDArray[np.float32], starts: Dictionary) -> list[_Tried]:
    chosen = starts.match(np.ascontiguousarray(views.T), _STARTS)
    tried = [
        _Tried(row, solve(views, starts.frame(row, np.float32), starts.theta[:, row], _TRIED_STEPS, _TRIED_TOLERANCE))
        for row in chosen
    ]
    least = np.min([one.solved.squares for one in tried], axis=0)
    sharp = np.flatnonzero(least < _SHARP * (views * views).sum(axis=0))
    further = solve(  # all starts in one go: there are few such pages
        np.tile(views[:, sharp], len(tried)),
        starts.frame(np.concatenate([one.chosen[sharp] for one in tried]), np.float32),
        np.concatenate([one.solved.theta[:, sharp] for one in tried], axis=1),
        _SHARP_STEPS,
        _TOLERANCE,
    )
    for i, one in enumerate(tried):
        mine = slice(i * len(sharp), (i + 1) * len(sharp))
        one.solved.theta[:, sharp], one.solved.squares[sharp] = further.theta[:, mine], further.squares[mine]
    return tried


def _converged(views: NDArray[np.float32], starts: Dictionary, tried: list[_Tried]) -> tuple[Frame, Array]:
    """The converged curve of each page's best start, to be finished in double precision."""
    best = np.argmin([one.solved.squares for one in tried], axis=0)
    pages = np.arange(views.shape[1])
    chosen = np.array([one.chosen for one in tried])[best, pages]
    theta = np.array([one.solved.theta for one in tried])[best, :, pages].T
    end = solve(views, starts.frame(chosen, np.float32), theta, _STEPS, _TOLERANCE)
    return starts.frame(chosen, np.float64), end.theta.astype(np.float64)


def _contested(
    curves: Curves, views: Array, nearly: Array, starts: Dictionary, tried: list[_Tried], threshold: Threshold
) -> NDArray[np.bool_]:
    """Pages for which another start found a curve of the other class, with squares below ``nearly`` (peak 1)."""
    temporal, contested = threshold.temporal(curves), np.zeros(len(curves), np.bool_)
    for one in tried:
        near = np.flatnonzero(curves.known & (one.solved.squares <= nearly))
        frame, theta = starts.frame(one.chosen[near], np.float64), one.solved.theta[:, near].astype(np.float64)
        early = gathered(*natural(frame, theta), curves.seen[near], threshold.days) > threshold.share
        may = np.flatnonzero(temporal[near] | early)
        near = near[may]  # few pages, so that only their other curves are evaluated
        rivals = _curves(views[:, near], frame.take(may), theta[:, may], curves.known[near])
        contested[near] |= threshold.temporal(rivals) != temporal[near]
    return contested


def _curves(views: Array, frame: Frame, theta: Array, converged: NDArray[np.bool_]) -> Curves:
    at = values(views, frame, theta)
    birth, mu, sigma = natural(frame, theta)
    age = at.warp.age
    log_density = -np.log(age * sigma * np.sqrt(2 * np.pi)) - 0.5 * ((np.log(age) - mu) / sigma) ** 2
    log_area = np.log(at.factor) - at.height - log_density  # at the middle knot
    total = np.cumsum(views, axis=0)
    seen = np.argmax(total > _FIRST_VIEWS * total[-1], axis=0).astype(np.float64)
    covered = at.factor * at.density.sum(axis=0) / total[-1]
    return Curves(log_area, birth, mu, sigma, seen, at.squares, covered, converged & np.isfinite(log_area))
