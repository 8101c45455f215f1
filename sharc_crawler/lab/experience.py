"""What an archive that has captured a simulated site before learned of its sitemap."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, cast

import numpy as np

from sharc_crawler.rates.history import CHANGED, UNKNOWN, SiteHistory

if TYPE_CHECKING:
    from sharc_crawler.lab.site import Site
    from sharc_crawler.model import Instant, Url

SHORT = 1.0  #: seconds between a change and the access before it


def experience(site: Site, seen: Instant | None) -> SiteHistory:
    """Each page's last change before the archive saw it last, with the lastmod that told of it.

    Two accesses of each such page: just before the change, and when the archive saw it last. The sitemap told the truth
    then: liars begin to lie with the window.
    """
    pages, changes = [], []
    for page, row in enumerate(site.past.rows if seen is not None else ()):
        if done := bisect_right(row, seen):
            pages.append(page)
            changes.append(float(row[done - 1]))
    times = np.array([(change - SHORT, seen) for change in changes], np.float64).reshape(-1)
    lastmods = np.array([(np.nan, change // 1) for change in changes], np.float64).reshape(-1)
    return SiteHistory(
        site.name,
        cast("list[Url]", [site.urls[page] for page in pages]),
        2 * np.arange(len(pages) + 1),
        times,
        np.tile(np.array([UNKNOWN, CHANGED], np.int8), len(pages)),
        lastmods,
        np.where(np.isnan(lastmods), np.nan, SHORT),
        np.full(len(lastmods), np.nan),
    )
