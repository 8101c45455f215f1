"""Interest curves of any number of pages: batched least squares from matched starts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from sharc_crawler.errors import DataError
from sharc_crawler.seeds.temporal.curve import Curves
from sharc_crawler.seeds.temporal.shape import natural, values
from sharc_crawler.seeds.temporal.solver import solve
from sharc_crawler.seeds.temporal.starts import dictionary

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sharc_crawler.seeds.temporal.shape import Array, Frame
    from sharc_crawler.seeds.temporal.starts import Dictionary

LEAST_DAYS = 5  #: a curve has four parameters

_BATCH = 2048  #: pages at a time: so many that the time is spent on numbers, so few that they stay in the cache
_STARTS, _TRIED_STEPS = 6, 6
_FINALISTS, _STEPS = 2, 40
_LAST_STEPS = 10
_FIRST_VIEWS = 0.01  #: of all views: not every stray view is the first
_MOVING = 0.01  #: a fit that the last steps still improved by more than this share is not known
_EXACT = 1e-4  #: or by more than this share of all squares: a curve through all points has no floor


def fit(views: NDArray[Any], workers: int = 2, progress: Callable[[int], None] = lambda _: None) -> Curves:
    """Interest curves of daily views, shape (pages, days), by least squares.

    Six starts a page go down a few steps in single precision, the best two on until they settle, and the better one
    is finished in double precision. A page is not ``known`` if nobody viewed it or its fit still moves at the end.
    ``progress`` is told the number of pages of every batch done.

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
    starts = dictionary(days)

    def part(begin: int) -> Curves:
        with np.errstate(all="ignore"):  # steps beyond what a float holds are refused, not an accident
            curves = _fit_batch(np.asarray(views[begin : begin + _BATCH], np.float64), starts)
        progress(len(curves))
        return curves

    with ThreadPoolExecutor(workers) as pool:
        return Curves.joined([_none(), *pool.map(part, range(0, len(views), _BATCH))])


def _none() -> Curves:
    none = np.empty(0)
    return Curves(none, none, none, none, none, none, np.empty(0, np.bool_))


def _fit_batch(views: NDArray[np.float64], starts: Dictionary) -> Curves:
    """Curves of one batch; while searching, views have a peak of 1, so that single precision serves every page."""
    viewed = views.any(axis=1)
    by_day = np.ascontiguousarray(views.T)
    chosen, theta = _search((by_day / np.where(viewed, views.max(axis=1), 1.0)).astype(np.float32), starts)
    frame = starts.frame(chosen, np.float64)
    before = values(by_day, frame, theta.astype(np.float64))
    end = solve(by_day, frame, theta.astype(np.float64), _LAST_STEPS, 1e-6)
    still = before.squares - end.squares <= _MOVING * end.squares + _EXACT * (by_day**2).sum(axis=0)
    return _curves(by_day, frame, end.theta, viewed & (still | end.settled))


def _search(views: NDArray[np.float32], starts: Dictionary) -> tuple[Array, Array]:
    """For each page the dictionary curve from which the best fit came, and its θ so far."""
    pages = views.shape[1]
    chosen = starts.match(np.ascontiguousarray(views.T), _STARTS)
    theta = starts.theta[:, chosen.ravel()]
    for keep, steps in ((_FINALISTS, _TRIED_STEPS), (1, _STEPS)):
        tried = [
            solve(views, starts.frame(row, np.float32), theta[:, i * pages : (i + 1) * pages], steps, 1e-5)
            for i, row in enumerate(chosen)
        ]
        best = np.argsort([solved.squares for solved in tried], axis=0)[:keep]
        chosen = np.take_along_axis(chosen, best, axis=0)
        theta = np.concatenate([solved.theta for solved in tried], axis=1)[:, (best * pages + np.arange(pages)).ravel()]
    return chosen[0], theta


def _curves(views: Array, frame: Frame, theta: Array, settled: NDArray[np.bool_]) -> Curves:
    at = values(views, frame, theta)
    birth, mu, sigma = natural(frame, theta)
    age = at.warp.age
    log_density = -np.log(age * sigma * np.sqrt(2 * np.pi)) - 0.5 * ((np.log(age) - mu) / sigma) ** 2
    log_area = np.log(at.factor) - at.height - log_density  # at the middle knot
    gathered = np.cumsum(views, axis=0)
    seen = np.argmax(gathered > _FIRST_VIEWS * gathered[-1], axis=0).astype(np.float64)
    return Curves(log_area, birth, mu, sigma, seen, at.squares, settled & np.isfinite(log_area))
