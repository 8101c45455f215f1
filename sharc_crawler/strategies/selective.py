"""SHARC-selective: as many pages as possible unchanged from visit to revisit (Algorithms 3 and 4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Plan, Seconds
from sharc_crawler.strategies.base import Setting
from sharc_crawler.strategies.classes import Classes, Run
from sharc_crawler.strategies.pyramid import PyramidStrategy

CALM = 1e-6  #: expected changes in the longest interval, up to which giving up a page gains less than CALM² pages


def split(classes: Classes, width: Seconds) -> NDArray[np.int64]:
    """Return how many pages of each class are hopeless on the intervals 0, width, 2 width, ... (seconds).

    The hottest page takes the interval of length zero without a test.

    >>> from sharc_crawler.strategies.classes import Classes
    >>> rates = np.array([0.40, 0.35, 0.30, 0.25, 0.20])  # Example 11 of the paper
    >>> split(Classes(rates, np.ones(5, int), np.ones(5)), 2.0)
    array([0, 1, 1, 0, 0])
    """
    asked = (classes.rates * (int(classes.counts.sum()) - 1) * width > CALM) | classes.either_side
    if not asked.any():
        return np.zeros(len(classes), np.int64)
    from sharc_crawler.strategies.keep_or_drop import drops_of  # only if giving up pages may gain something

    return drops_of(classes, width, asked)


def selective(classes: Classes, width: Seconds) -> list[Run]:
    """Return hopeless pages, hottest first, on the longest intervals; then hopeful ones, coldest first (a Planner)."""
    hopeless = split(classes, width).tolist()
    hopeful = [count - dropped for count, dropped in zip(classes.counts.tolist(), hopeless, strict=True)]
    runs = [Run(row, pages, Plan.HOPELESS) for row, pages in enumerate(hopeless) if pages]
    return runs + [Run(row, pages, Plan.HOPEFUL) for row, pages in reversed([*enumerate(hopeful)]) if pages]


class SharcSelective(PyramidStrategy):
    """Gives up pages that are too hot, so that the others get shorter intervals, offline and online.

    >>> from sharc_crawler.strategies.base import Candidates, Setting
    >>> strategy = SharcSelective(Setting(step=1.0))  # Example 11 of the paper
    >>> strategy.add(Candidates.of([0, 1, 2, 3, 4], [0.20, 0.25, 0.30, 0.35, 0.40]))
    >>> [(visit.page, visit.plan.value) for visit in map(strategy.next, range(5))]
    [(3, 'hopeless'), (2, 'hopeless'), (0, 'hopeful'), (1, 'hopeful'), (4, 'hopeful')]
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, selective)
