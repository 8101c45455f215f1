"""Change histories of many pages as flat arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


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
