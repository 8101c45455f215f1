"""What a crawler could know of a site when the window begins: its sitemap, and weekly captures of the year before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.lab.site import Site
from sharc_crawler.lab.truth import Changes
from sharc_crawler.model import Hints, Instant, Sighting, Url
from sharc_crawler.rates.history import CHANGED, DATED, UNCHANGED, UNKNOWN, Histories, SiteHistory
from sharc_crawler.rates.sitemap import CHANGEFREQ_RATES

DAY = 86_400.0
WEEK = 7 * DAY
YEAR = 365 * DAY


def intervals(changes: Changes, begins: NDArray[np.float64], end: Instant) -> Histories:
    """Change times as intervals for an estimator: dated changes, and an unchanged interval after the last one.

    Parameters
    ----------
    changes: changes while the pages were observed
    begins: for each page the instant from which on it was observed; a page with ``end`` or later was not observed
    end: the instant at which all observations end

    >>> from sharc_crawler.lab.truth import Changes
    >>> found = intervals(Changes.of([[4.0], []]), np.array([0.0, 7.0]), 9.0)
    >>> found.lengths.tolist(), found.changed.tolist(), found.offsets.tolist()
    ([4.0, 5.0, 2.0], [0, 2, 0], [0, 2, 3])

    """
    starts = np.insert(changes.times, changes.offsets[:-1], begins)
    ends = np.insert(changes.times, changes.offsets[1:], end)
    kinds = np.full(len(ends), DATED, np.int8)
    kinds[changes.offsets[:-1] + np.arange(changes.size)] = UNCHANGED
    counts = np.where(begins < end, changes.counts() + 1, 0)
    kept = np.repeat(begins < end, changes.counts() + 1)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Histories(offsets, np.maximum(ends - starts, 1.0)[kept], kinds[kept], ends[kept])


def year_before(site: Site) -> Histories:
    """All changes of the year before the window."""
    begin = site.start - YEAR
    return intervals(site.past.within(begin, site.start), np.maximum(site.created, begin), site.start)


def links(site: Site) -> list[tuple[str, str]]:
    """Source and target of all links between the pages known when the window begins."""
    known = set(site.known)
    return [
        (site.urls[page], site.urls[target])
        for page in site.known
        for target in site.graph.links(page, site.start)
        if target in known
    ]


def sitemap(site: Site) -> list[Sighting]:
    """All pages; those that exist when the window begins have the hints of a sitemap: the last change, and the change
    frequency nearest to the past year's.
    """
    found = year_before(site)
    counts, exposures = found.total((found.changed == DATED).astype(np.float64)), found.total(found.lengths)
    names = np.array([name for name in CHANGEFREQ_RATES if name != "always"])
    classes = np.log([CHANGEFREQ_RATES[name] for name in names])
    rates = np.maximum(counts, 1e-9) / np.maximum(exposures, DAY)
    nearest = names[np.abs(np.log(rates)[:, None] - classes).argmin(axis=1)]
    last = site.past.latest(site.created)
    listed = zip(site.urls, site.created.tolist(), last.tolist(), nearest.tolist(), strict=True)
    return [
        Sighting(url, via="sitemap", hints=Hints(lastmod, changefreq=name)) if created < site.start else Sighting(url)
        for url, created, lastmod, name in listed
    ]


def weekly_captures(site: Site) -> SiteHistory:
    """Weekly captures of the year before, the last one a week before the window."""
    return captures(site, site.start - WEEK * np.arange(52, 0, -1, dtype=np.float64))


def captures(site: Site, times: NDArray[np.float64]) -> SiteHistory:
    """The history of captures at these instants, for the pages that a crawler reaches, breadth first.

    Every access has a lastmod, and shows whether the page changed; a page's first access is UNKNOWN.
    """
    known = np.array(site.known)
    there = site.created[known][:, None] <= times  # shape (pages, times)
    pasts = [site.past.within(-np.inf, time) for time in times]
    versions = np.stack([past.counts()[known] for past in pasts], axis=1)
    changed = np.where(np.diff(versions, axis=1, prepend=0) > 0, CHANGED, UNCHANGED).astype(np.int8)
    changed[np.diff(there, axis=1, prepend=False)] = UNKNOWN
    lastmods = np.stack([past.latest(site.created)[known] for past in pasts], axis=1)
    seen = there.any(axis=1)
    nothing = np.full(int(there.sum()), np.nan)
    return SiteHistory(
        site.name,
        [Url(site.urls[page]) for page in known[seen]],
        np.concatenate([[0], np.cumsum(there[seen].sum(axis=1))]).astype(np.int64),
        np.broadcast_to(times, there.shape)[there],
        changed[there],
        lastmods[there],
        np.zeros_like(nothing),
        nothing,
    )
