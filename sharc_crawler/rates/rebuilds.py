"""Rebuilds: what changed many pages at one instant is one event, and tells nothing of each page's own changes."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Instant
from sharc_crawler.rates.age import DAY, imported
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory

YEAR, USUAL = 365 * DAY, 100 * DAY
FORMER = 0.5  #: of a rebuild in :data:`USUAL` is held of every site, beside what is seen
MOST = 10_000  #: pages that are looked at, drawn at random where there are more


class Rebuilds(NamedTuple):
    """How often a site is rebuilt, by the lastmods that many pages shared."""

    rate: float  #: per second
    touched: float  #: share of the pages, of one rebuild


def sampled(pages: int) -> NDArray[np.int64]:
    """Some of so many pages, in their order."""
    if pages <= MOST:
        return np.arange(pages)
    return np.sort(np.random.default_rng(0).choice(pages, MOST, replace=False))


def seen_rebuilds(history: SiteHistory, now: Instant) -> Rebuilds | None:
    """Rebuilds of the last year that lastmods told of, each as far as later changes left it to be seen; None: none.

    They are held to come by chance, in the time since the first access, or since the oldest that is seen.
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
    """The history as if the pages that a rebuild may have touched had been accessed by it, too.

    Until then nobody can tell whether a page had changed of itself. Since then it has not where its lastmod is the
    rebuild's, and has where it is later. That is so of dated rebuilds alone: of captures without lastmods see
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
