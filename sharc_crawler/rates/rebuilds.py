"""Rebuilds: many pages changed at one instant are one event, not each page's own changes."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Instant
from sharc_crawler.rates.age import DAY, imported
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory

YEAR, USUAL = 365 * DAY, 100 * DAY
FORMER = 0.5  #: prior number of rebuilds, in the time :data:`USUAL`
MOST = 10_000  #: maximum of pages examined, drawn at random


class Rebuilds(NamedTuple):
    """How often a site is rebuilt, by lastmods that many pages share."""

    rate: float  #: per second
    touched: float  #: share of the pages that a rebuild changes


def sampled(pages: int) -> NDArray[np.int64]:
    """Sample the numbers of so many pages, in order."""
    if pages <= MOST:
        return np.arange(pages)
    return np.sort(np.random.default_rng(0).choice(pages, MOST, replace=False))


def seen_rebuilds(history: SiteHistory, now: Instant) -> Rebuilds | None:
    """Return the rate of rebuilds in the last year, by lastmods that later changes left visible; None: none seen.

    The rate is over the time since the first access, or since the oldest rebuild seen.
    """
    order = np.lexsort((history.lastmods, history.pages()))
    pages, lastmods = history.pages()[order], history.lastmods[order]
    once = (np.diff(pages, prepend=-1) > 0) | (np.diff(lastmods, prepend=np.nan) != 0)
    lastmods = lastmods[once & (lastmods > now - YEAR) & (lastmods < now)]
    values, counts = np.unique(lastmods, return_counts=True)
    many = imported(values, counts, len(history))
    if not many.any():
        return None
    since = min(float(values[many][0]), max(float(np.nanmin(history.first())), now - YEAR))
    return Rebuilds((int(many.sum()) + FORMER) / (now - since + USUAL), float(counts[many].mean()) / len(history))


def own_changes(history: SiteHistory) -> SiteHistory:
    """Return the history with an added access, at each rebuild, of the pages that it may have touched.

    Up to the rebuild it is unknown whether a page changed of its own. Since then it has not if its lastmod is the
    rebuild's, and has if it is later. This only works for dated rebuilds; for captures without lastmods see
    :mod:`~sharc_crawler.rates.evidence`.
    """
    hit = np.flatnonzero((history.changed == CHANGED) & ~np.isnan(history.lastmods))
    values, counts = np.unique(history.lastmods[hit], return_counts=True)
    rebuilds = values[imported(values, counts, len(history))]
    if not len(rebuilds):
        return history
    last = np.searchsorted(rebuilds, history.lastmods[hit], side="right") - 1
    at = rebuilds[last]
    inside = (last >= 0) & (history.times[hit - 1] < at) & (at < history.times[hit])
    hit, at = hit[inside], at[inside]
    changed, lastmods = history.changed.copy(), history.lastmods.copy()
    still = hit[lastmods[hit] == at]
    changed[still], lastmods[still] = UNCHANGED, np.nan
    return replace(
        history,
        offsets=history.offsets + np.searchsorted(hit, history.offsets),
        times=np.insert(history.times, hit, at),
        changed=np.insert(changed, hit, UNKNOWN),
        lastmods=np.insert(lastmods, hit, np.nan),
        precisions=np.insert(history.precisions, hit, np.nan),
        modified=np.insert(history.modified, hit, np.nan),
    )
