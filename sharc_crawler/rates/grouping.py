"""Do a site's changes come in groups: a rebuild that touches a thousand pages at once, and little in between?

Then the past holds few occasions, however many changes: what seems to tell pages apart in it is chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.rates.history import CHANGED, Histories

if TYPE_CHECKING:
    from sharc_crawler.rates.history import SiteHistory

MOST = (
    1.0  #: squared coefficient of variation of the site's rate from round to round: beyond it, changes come in groups
)


def grouped(history: SiteHistory) -> bool:
    """Does the site's rate vary so much that a few rounds of captures hold most of its changes?"""
    return grouping(history.histories().known()) > MOST


def grouping(known: Histories) -> float:
    """The squared coefficient of variation of the rate at which all pages together change, from round to round.

    A round is as long as the median interval. With the share p of the changes and q of the observed time that fall
    into each of R rounds, Σ p²/q is 1 + its square, and (R − 1)/n more than that by chance, for n changes.

    >>> weekly = Histories.of([[1.0] * 8] * 4, [[0, 1, 0, 1, 0, 1, 0, 1]] * 2 + [[1, 0, 1, 0, 1, 0, 1, 0]] * 2)
    >>> rebuilt = Histories.of([[1.0] * 8] * 4, [[0, 0, 0, 0, 1, 0, 0, 0]] * 4)
    >>> round(grouping(weekly), 2), round(grouping(rebuilt), 2)
    (-0.44, 5.25)
    """
    changed = known.changed >= CHANGED
    count = int(changed.sum())
    if not count:
        return 0.0
    place = np.unique(np.floor(known.ends / np.median(known.lengths)), return_inverse=True)[1]
    share = np.bincount(place, changed) / count
    time = np.bincount(place, known.lengths) / known.lengths.sum()
    return float((share**2 / time).sum() - 1.0 - (len(time) - 1) / count)
