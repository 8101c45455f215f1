"""Rebuilds: what changed many pages at one instant is one event, and tells nothing of each page's own changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.rates.age import imported
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN

if TYPE_CHECKING:
    from sharc_crawler.rates.history import SiteHistory


def own_changes(history: SiteHistory) -> SiteHistory:
    """The history as if the pages that a rebuild may have touched had been accessed by it, too.

    Until then nobody can tell whether a page had changed of itself. Since then it has not where its lastmod is the
    rebuild's, and has where it is later. That is so of dated rebuilds alone: of captures without lastmods see
    :mod:`~sharc_crawler.rates.grouping`.
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
