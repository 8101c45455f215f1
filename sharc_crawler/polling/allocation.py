"""How polls are shared out among hubs, so that what is new waits as short as can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.model import Seconds


def intervals(rates: NDArray[np.float64], pace: float, shortest: Seconds, longest: Seconds) -> NDArray[np.float64]:
    """Seconds between two polls of each hub, ``pace`` polls a second in all.

    A page that hub i brings waits 1/(2fᵢ) on average, where fᵢ is how often the hub is polled. Σ λᵢ/(2fᵢ) under
    Σ fᵢ = F is least where fᵢ ∝ √λᵢ (Lagrange): the method here, with fᵢ held between 1/longest and 1/shortest and the
    factor found by bisection. Where even the longest intervals are more than the pace allows, all hubs share alike.

    >>> intervals(np.array([4.0, 1.0, 1.0]), 0.04, 10.0, 1000.0).round(1).tolist()
    [50.0, 100.0, 100.0]
    >>> intervals(np.array([4.0, 1.0]), 1.0, 10.0, 1000.0).tolist()  # more than is needed
    [10.0, 10.0]
    >>> intervals(np.array([4.0, 1.0]), 0.001, 10.0, 1000.0).tolist()  # less
    [2000.0, 2000.0]
    """
    least, most = 1 / longest, 1 / shortest
    hubs = len(rates)
    if pace >= hubs * most:
        return np.full(hubs, shortest)
    if pace <= hubs * least:
        return np.full(hubs, hubs / pace)
    roots = np.sqrt(rates)
    low, high = least / roots.max(), most / roots.min()
    for _ in range(60):
        middle = np.sqrt(low * high)
        if np.clip(middle * roots, least, most).sum() < pace:
            low = middle
        else:
            high = middle
    shares: NDArray[np.float64] = 1 / np.clip(high * roots, least, most)
    return shares
