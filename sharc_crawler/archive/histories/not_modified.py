"""What a 304 answer shows: the content of the capture that the server said to be unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from sharc_crawler.model import Instant

NOT_MODIFIED = 304


def shown_rows(
    owners: NDArray[np.int64],
    times: NDArray[np.float64],
    statuses: NDArray[np.int16],
    good: NDArray[np.bool_],
    refers: Mapping[int, tuple[int, Instant]],
) -> NDArray[np.int64]:
    """The row whose content each row shows: itself; for a 304 the one it refers to, else the URL's last before it.

    ``good``: which rows have content; ``refers``: row → owner and time that a revisit record names. A 304 of which
    neither is there shows itself.

    >>> owners, times, statuses = np.zeros(4, int), np.array([1.0, 2, 3, 4]), np.array([200, 200, 304, 304])
    >>> shown_rows(owners, times, statuses, statuses == 200, {3: (0, 1.0)}).tolist()
    [0, 1, 1, 0]
    """
    shown = np.arange(len(owners))
    unchanged = statuses == NOT_MODIFIED
    if not unchanged.any():
        return shown
    order = np.lexsort((unchanged, times, owners))  # of one instant, the content comes first
    places = np.maximum.accumulate(np.where(good[order], np.arange(len(order)), 0))
    before = order[places]
    follows = unchanged[order] & good[before] & (owners[before] == owners[order])
    shown[order[follows]] = before[follows]
    wanted = set(refers.values())
    rows = zip(owners.tolist(), times.tolist(), strict=True) if wanted else ()
    named = {one: row for row, one in enumerate(rows) if one in wanted and not unchanged[row]}
    for row, one in refers.items():
        shown[row] = named.get(one, shown[row])
    return shown
