"""Rates by each page's own observed changes, with a prior shared by its class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.estimators.gamma_poisson import GammaPoisson
from sharc_crawler.rates.history import SiteHistory
from sharc_crawler.rates.level import level
from sharc_crawler.rates.trust import classes


def counted_rates(
    history: SiteHistory, stated: NDArray[np.float64] | None = None, of: NDArray[np.int64] | None = None
) -> Estimates:
    """Return Gamma-Poisson posteriors, changes per second; only the prior for a URL without observations.

    After few changes the level of all rates is drawn to that of other sites (:mod:`~sharc_crawler.rates.level`).
    Pages of a class have the same class of URLs and the same changefreq (``stated``: per second, NaN for none). ``of``:
    the pages to estimate; None: all.
    """
    intervals, labels = history.histories(), classes(history.urls)[0]
    if stated is not None:
        labels = np.unique(np.column_stack([labels, np.nan_to_num(stated)]), axis=0, return_inverse=True)[1].ravel()
    estimator = GammaPoisson().fit(intervals, labels)
    some, own = (intervals, labels) if of is None else (intervals.select(of), labels[of])
    found = estimator.estimate(some, own)
    return found.scaled(np.full(len(found), level(intervals).factor))
