"""Numbers that no page can have are refused, by name and value."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.errors import UsageError
from sharc_crawler.plural import counted


def check_values(pages: NDArray[np.int64], what: str, values: NDArray[np.float64]) -> None:
    """Refuse values that are not one per page, not finite or negative.

    Raises :class:`~sharc_crawler.errors.UsageError` that names the first such page and its value.
    """
    if len(values) != len(pages):
        raise UsageError(f"{counted(len(pages), 'page')} need as many {what}s, not {len(values)}")
    # A page at a time is checked as often as a million: few by Python's min, since a sum with a NaN is one; in many,
    # argmin, a tenth of what NumPy's min costs, finds a NaN as well.
    if len(values) <= 8 and (not (few := values.tolist()) or (min(few) >= 0 and sum(few) < math.inf)):
        return
    if len(values) and not (values[values.argmin()] >= 0 and values[values.argmax()] < math.inf):
        at = int(np.argmin((values >= 0) & (values < math.inf)))
        raise UsageError(f"the {what} of page {pages[at]} is {values[at]}; it must be a finite number >= 0")
