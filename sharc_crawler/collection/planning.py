"""``every: auto``: how often each such site is captured, by what its history has taught and the collection's budget."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.collection.allocation import DAY, Foretold, SiteLoad, intervals, trust
from sharc_crawler.collection.terms import AUTO
from sharc_crawler.errors import DataError
from sharc_crawler.model import Kind, Seconds
from sharc_crawler.rates.estimators.gamma_poisson import GammaPoisson
from sharc_crawler.rates.history import UNCHANGED, SiteHistory
from sharc_crawler.rates.history import UNKNOWN as UNSEEN
from sharc_crawler.storage.observations import ObservationStore

if TYPE_CHECKING:
    from sharc_crawler.collection.folder import Collection

UNKNOWN: Seconds = DAY  #: of a site of which nothing is known yet, until its second capture has taught
AGAIN = 2.0  #: requests of a capture for each of its pages: visit and revisit
FEWEST_LOOKS = 6  #: at a page, so that its site's rates are tested
LEARNED = 2 / 3  #: of the looks


def plan(collection: Collection) -> dict[str, Seconds]:
    """The interval of each site with ``every: auto``, by name.

    A history that is damaged teaches nothing: the next capture's error tells of it.
    """
    sites = [site for site in collection.terms.sites if site.every == AUTO]
    if not sites:
        return {}
    if not collection.history.is_file():
        return {site.name: UNKNOWN for site in sites}
    names, stamp = tuple((site.name, site.site) for site in sites), collection.history.stat().st_mtime_ns
    try:
        return dict(_planned(collection.history, names, collection.terms.budget, stamp))
    except DataError:
        return {site.name: UNKNOWN for site in sites}


@lru_cache(maxsize=4)
def _planned(
    file: Path, names: tuple[tuple[str, str], ...], budget: int | None, _stamp: int
) -> tuple[tuple[str, Seconds], ...]:
    """Anew when a capture has taught the history something."""
    with ObservationStore(file, reading=True) as history:
        known = {name: history.histories(site, Kind.PAGE) for name, site in names}
    loads = {name: load for name, one in known.items() if (load := site_load(one))}
    trusted = trust([test for one in known.values() if (test := foretold(one))])
    planned = dict(zip(loads, intervals(list(loads.values()), budget, trusted), strict=True))
    return tuple((name, planned.get(name, UNKNOWN)) for name, _ in names)


def site_load(known: SiteHistory) -> SiteLoad | None:
    """Rates of a site's pages over all that was seen of them, and what a capture costs; ``None``: nothing is known.

    They are for the days between two captures: what was of late counts no more than what was.
    """
    seen = known.histories()
    if not seen.observations().any():
        return None
    return SiteLoad(GammaPoisson().fit(seen).estimate(seen).rate, AGAIN * len(known))


def foretold(known: SiteHistory) -> Foretold | None:
    """Rates learned from the first two thirds of all looks at a site, held against the last; ``None``: too few."""
    looks = np.diff(known.offsets)
    if not looks.size or np.median(looks) < FEWEST_LOOKS:
        return None
    cut = float(np.quantile(known.times, LEARNED, method="lower"))
    before, seen = known.before(cut).histories(), known.histories()
    rates = GammaPoisson().fit(before).estimate(before).rate[seen.pages()]
    late = (seen.ends > cut) & (seen.changed != UNSEEN) & (before.observations()[seen.pages()] > 0)
    expected = -np.expm1(-rates[late] * seen.lengths[late])
    changed = np.count_nonzero(seen.changed[late] != UNCHANGED)
    return Foretold(float(changed), float(expected.sum()), float(seen.lengths[late].sum()))
