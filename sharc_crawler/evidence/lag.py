"""The lag of a site's sitemaps: claims on their word are provisional until the sitemaps are read that much later.

A sitemap generated once a day does not show a change since. Read again a day later, it does. The lag observed in former
captures is the minimum wait.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from sharc_crawler.evidence.lastmods import Lastmod
from sharc_crawler.model import Seconds
from sharc_crawler.rates.history import SiteHistory

_LONGEST: Seconds = 30 * 86_400.0  #: longer delays are assumed to be redating, not lag
_MORE = 2.0  #: assumed ratio of the lag to the longest time that a change was seen missing


def learned(history: SiteHistory) -> Seconds:
    """Return the lag expected from a site's history; 0 if no sitemap was seen to be late.

    A sitemap was late if a page's lastmod at one access is before the last access, whose lastmod did not show it.
    """
    if len(history.times) < 2:
        return 0.0
    upper = history.lastmods + history.precisions
    same = np.diff(history.pages()) == 0
    moved = same & (history.lastmods[1:] > upper[:-1])  # false for NaN, without a lastmod
    late = np.where(moved, history.times[:-1] - upper[1:], 0.0)
    return _MORE * max(0.0, float(late[late <= _LONGEST].max(initial=0.0)))


def seen(readings: Iterable[Lastmod], behind: Seconds = 0.0) -> Seconds:
    """Return the lag of one page's lastmod by all its readings; ``behind``: minimum the server's clock is ahead of
    ours.

    >>> from sharc_crawler.evidence.lastmods import Lastmod
    >>> seen([Lastmod(100.0, 10.0, 11.0), Lastmod(900.0, 70.0, 71.0)])  # at 100 it did not tell of 71
    58.0
    >>> seen([Lastmod(100.0, 10.0, 11.0), Lastmod(900.0, 170.0, 171.0)])
    0.0
    """
    pairs = ((last, new) for last, new in pairwise(sorted(readings)) if new.earliest > last.latest)
    late = (last.read + behind - new.latest for last, new in pairs)
    return _MORE * max((seconds for seconds in late if 0.0 < seconds <= _LONGEST), default=0.0)
