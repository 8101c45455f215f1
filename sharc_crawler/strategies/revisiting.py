"""Order revisits anew once all visits are made and more is known of the pages."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.evidence.survival import log_survival
from sharc_crawler.model import Seconds
from sharc_crawler.strategies.base import Candidates

Column = NDArray[np.float64]

STEPS = 32  #: weights are rounded up to multiples of 1/STEPS of the largest


def revisit_order(rates: Column, weights: Column, shapes: Column, elapsed: Column, step: Seconds) -> NDArray[np.int64]:
    """Return the positions of pages in the order of their revisits.

    A page must stay unchanged from T to its revisit, so the slots have the intervals 0, Δ, 2Δ, …. The greedy split of
    SHARC-selective assigns pages to them, with the weights w·P(unchanged until T). The given order (0, 1, 2, …) is kept
    if it is expected to do as well.

    Parameters
    ----------
    weights: 0 for pages known to have changed since their visit
    elapsed: seconds between visit and T; 0 for pages known to be unchanged

    >>> few = np.array([0.1, 0.1, 0.3]), np.array([0.0, 1.0, 1.0]), np.full(3, np.inf), np.zeros(3)
    >>> revisit_order(*few, step=1.0).tolist()
    [2, 1, 0]

    """
    from sharc_crawler.strategies.planned import PlannedPages  # 1,100 lines, needed only at T
    from sharc_crawler.strategies.selective import selective

    alive = weights * np.exp(log_survival(rates, elapsed, shapes))
    top = alive.max(initial=0.0)
    if top <= 0:
        return np.arange(len(rates))
    coarse = np.ceil(alive / top * STEPS) / STEPS
    hope = np.flatnonzero(coarse)
    waiting = PlannedPages(partial(selective, width=step), ())
    waiting.put(Candidates.of(hope, rates[hope], coarse[hope], shapes[hope]))
    planned = [waiting.take(0, step).page for _ in range(len(hope))][::-1]
    order = np.array([*planned, *np.flatnonzero(coarse == 0)], np.int64)

    def expected(pages: NDArray[np.int64]) -> float:
        until = elapsed[pages] + step * np.arange(len(pages))
        return float((weights[pages] * np.exp(log_survival(rates[pages], until, shapes[pages]))).sum())

    given = np.arange(len(rates))
    return order if expected(order) > expected(given) else given
