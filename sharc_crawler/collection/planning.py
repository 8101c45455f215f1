"""``every: auto``: how often each such site is captured, by what its history has taught and the collection's budget."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.collection.allocation import DAY, SiteLoad, intervals
from sharc_crawler.collection.terms import AUTO
from sharc_crawler.model import Kind, Sighting
from sharc_crawler.rates.sources import HistoryRates, capture_length
from sharc_crawler.storage.observations import ObservationStore

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.collection.folder import Collection
    from sharc_crawler.model import Instant, Seconds

UNKNOWN: Seconds = DAY  #: of a site of which nothing is known yet, until its second capture has taught
AGAIN = 2.0  #: requests of a capture for each of its pages: visit and revisit


def plan(collection: Collection) -> dict[str, Seconds]:
    """The interval of each site with ``every: auto``, by name."""
    sites = [site for site in collection.terms.sites if site.every == AUTO]
    if not sites:
        return {}
    if not collection.history.is_file():
        return {site.name: UNKNOWN for site in sites}
    names, stamp = tuple((site.name, site.site) for site in sites), collection.history.stat().st_mtime_ns
    return dict(_planned(collection.history, names, collection.terms.budget, stamp))


@lru_cache(maxsize=4)
def _planned(
    file: Path, names: tuple[tuple[str, str], ...], budget: int | None, _stamp: int
) -> tuple[tuple[str, Seconds], ...]:
    """Anew when a capture has taught the history something."""
    with ObservationStore(file, reading=True) as history:
        loads = {name: load for name, site in names if (load := site_load(history, site, time.time()))}
    planned = dict(zip(loads, intervals(list(loads.values()), budget), strict=True))
    return tuple((name, planned.get(name, UNKNOWN)) for name, _ in names)


def site_load(history: ObservationStore, site: str, now: Instant) -> SiteLoad | None:
    """Rates of a site's pages, as far as they are known, and what a capture costs; ``None``: nothing is known."""
    known = history.histories(site, Kind.PAGE)
    horizon = capture_length(len(known), 1.0)
    found = HistoryRates(known, horizon, history.links(site) or None).rates([Sighting(url) for url in known.urls], now)
    rates = np.array([one.rate for one in found if one is not None])
    return SiteLoad(rates, AGAIN * len(known)) if rates.size else None
