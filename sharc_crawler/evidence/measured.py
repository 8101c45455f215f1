"""What is measured of pages 0, 1, ...: their rates and weights, checked, and their changes as flat arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.errors import DataError
from sharc_crawler.evidence.checks import check_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


def check_measured(pages: int, rates: NDArray[np.float64] | None, weights: NDArray[np.float64] | None) -> None:
    """Refuse rates and weights that pages 0, 1, ... cannot have; None: not given.

    >>> check_measured(2, np.array([0.1, -1.0]), None)
    Traceback (most recent call last):
    sharc_crawler.errors.UsageError: the rate of page 1 is -1.0; it must be a finite number >= 0
    """
    for what, values in (("rate", rates), ("weight", weights)):
        if values is not None:
            check_values(np.arange(pages), what, values)


def flatten(changes: Sequence[ArrayLike], pages: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The page and the instant of every change.

    Raises :class:`~sharc_crawler.errors.DataError` where histories are not one per page, or an instant is not finite.

    >>> flatten([[1.0], [], [2.0, 3.0]], 3)
    (array([0, 2, 2]), array([1., 2., 3.]))
    """
    if len(changes) != pages:
        raise DataError(f"{pages} pages need as many change histories, not {len(changes)}")
    histories = [np.asarray(history, np.float64).ravel() for history in changes]
    page = np.repeat(np.arange(pages), [len(history) for history in histories])
    instants = np.concatenate([np.zeros(0), *histories])
    if not np.isfinite(instants).all():
        raise DataError(f"page {page[~np.isfinite(instants)][0]} has a change at an instant that is not finite")
    return page, instants
