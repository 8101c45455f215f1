"""What is told of pages whose every change is known: the blur that a reader sees, and which pages stayed unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.errors import DataError
from sharc_crawler.evidence.blur import check_interval, check_measured, first_and_last

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from sharc_crawler.evidence.blur import Interval


def actual_blur(
    changes: Sequence[ArrayLike],
    visits: NDArray[np.float64],
    observation: Interval,
    revisits: NDArray[np.float64] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Blur of each page from the instants at which it changed (eqs. 23 and 24), times its weight.

    A change counts for the share of the observation interval from which it lies on the way to the nearest download.

    >>> actual_blur([[1.0, 4.0]], np.array([2.0]), (0.0, 5.0))  # (1 - 0 + 5 - 4) / 5
    array([0.4])
    """
    start, end = check_interval(observation)
    check_measured(len(visits), None, weights)
    page, instants = flatten(changes, len(visits))
    first, last = (instants_of[page] for instants_of in first_and_last(visits, revisits))
    middle = (first + last) / 2
    seen = np.where(
        instants <= middle,
        np.where(instants <= first, _overlap(start, end, -np.inf, instants), _overlap(start, end, instants, middle)),
        np.where(instants <= last, _overlap(start, end, middle, instants), _overlap(start, end, instants, np.inf)),
    )
    blur = np.bincount(page, seen, len(visits)) / (end - start)
    return blur if weights is None else blur * weights


def _overlap(start: float, end: float, low: ArrayLike, high: ArrayLike) -> NDArray[np.float64]:
    length: NDArray[np.float64] = np.maximum(np.minimum(end, high) - np.maximum(start, low), 0)
    return length


def unchanged(
    changes: Sequence[ArrayLike], visits: NDArray[np.float64], revisits: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Which pages did not change after the visit, up to the revisit.

    Parameters
    ----------
    changes: of each page, the instants at which it changed, in any order
    visits, revisits: instants, one per page; a change at the very instant of the visit is seen by it

    >>> unchanged([[5.0], [5.0], []], np.array([1.0, 5.0, 1.0]), np.array([9.0, 9.0, 9.0]))
    array([False,  True,  True])

    """
    page, instants = flatten(changes, len(visits))
    between = (instants > visits[page]) & (instants <= revisits[page])
    same: NDArray[np.bool_] = np.bincount(page[between], minlength=len(visits)) == 0
    return same


def flatten(changes: Sequence[ArrayLike], pages: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The page and the instant of every change.

    Raises :class:`~sharc_crawler.errors.DataError` where histories are not one per page, or an instant is not finite.

    >>> flatten([[1.0], [], [2.0, 3.0]], 3)
    (array([0, 2, 2]), array([1., 2., 3.]))
    """
    if len(changes) != pages:
        raise DataError(f"{pages} pages need as many change histories, not {len(changes)}")
    counts = np.fromiter(map(np.size, changes), np.int64, pages)
    some = (np.asarray(history, np.float64).ravel() for history in changes if np.size(history))
    page, instants = np.repeat(np.arange(pages), counts), np.concatenate([np.zeros(0), *some])
    if not np.isfinite(instants).all():
        raise DataError(f"page {page[~np.isfinite(instants)][0]} has a change at an instant that is not finite")
    return page, instants
