"""Rates and weights of pages 0, 1, ... that are measured are checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.evidence.checks import check_values

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_measured(pages: int, rates: NDArray[np.float64] | None, weights: NDArray[np.float64] | None) -> None:
    """Refuse rates and weights that pages 0, 1, ... cannot have; None: not given.

    >>> check_measured(2, np.array([0.1, -1.0]), None)
    Traceback (most recent call last):
    sharc_crawler.errors.UsageError: the rate of page 1 is -1.0; it must be a finite number >= 0
    """
    for what, values in (("rate", rates), ("weight", weights)):
        if values is not None:
            check_values(np.arange(pages), what, values)
