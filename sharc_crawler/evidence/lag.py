"""How late a site's sitemaps tell of changes: a claim on their word is provisional until they were read so much later.

A sitemap that is made anew once a day calls a page still that changed since. Read again a day later it tells of the
change. What was seen of that in former captures is the least that has to be waited for.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from sharc_crawler.evidence.lastmods import Lastmod
from sharc_crawler.model import Seconds
from sharc_crawler.rates.history import SiteHistory

_LONGEST: Seconds = 30 * 86_400.0  #: what is told later than that is not late, but dated anew
_MORE = 2.0  #: a change that was untold for so long was told some time later: at most this many times as late, we take


def learned(history: SiteHistory) -> Seconds:
    """The lag that a site's former captures let expect; 0 where no sitemap was seen to be late.

    Of a page with a lastmod at two accesses in a row: the second tells of a change before the first, which did not.
    """
    if len(history.times) < 2:
        return 0.0
    upper = history.lastmods + history.precisions
    same = np.diff(history.pages()) == 0
    told = same & (history.lastmods[1:] > upper[:-1])  # NaN, where nothing was said, is not
    untold = np.where(told, history.times[:-1] - upper[1:], 0.0)
    return _MORE * max(0.0, float(untold[untold <= _LONGEST].max(initial=0.0)))


def seen(readings: Iterable[Lastmod], behind: Seconds = 0.0) -> Seconds:
    """How late one page's lastmod was, by all its readings; ``behind``: least that the server's clock is ahead of ours.

    >>> from sharc_crawler.evidence.lastmods import Lastmod
    >>> seen([Lastmod(100.0, 10.0, 11.0), Lastmod(900.0, 70.0, 71.0)])  # at 100 it did not tell of 71
    58.0
    >>> seen([Lastmod(100.0, 10.0, 11.0), Lastmod(900.0, 170.0, 171.0)])
    0.0
    """
    told = (last.read + behind - one.latest for last, one in pairwise(sorted(readings)) if one.earliest > last.latest)
    return _MORE * max((untold for untold in told if 0.0 < untold <= _LONGEST), default=0.0)
