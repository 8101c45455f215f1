"""| ``every: auto``: the interval of each such site, from its history and the collection's budget."""

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

UNKNOWN: Seconds = DAY  #: of a site without history, until its second capture
AGAIN = 2.0  #: requests per page: visit and revisit
FEWEST_LOOKS = 6  #: at a page, for its site's rates to be tested
LEARNED = 2 / 3  #: share of the looks


def plan(collection: Collection) -> dict[str, Seconds]:
    """The interval of each site with ``every: auto``. A damaged history teaches nothing; the next crawl reports it."""
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
    """Computed anew when the history changes."""
    with ObservationStore(file, reading=True) as history:
        known = {name: history.histories(site, Kind.PAGE) for name, site in names}
    loads = {name: load for name, one in known.items() if (load := site_load(one))}
    trusted = trust([test for one in known.values() if (test := foretold(one))])
    planned = dict(zip(loads, intervals(list(loads.values()), budget, trusted), strict=True))
    return tuple((name, planned.get(name, UNKNOWN)) for name, _ in names)


def site_load(known: SiteHistory) -> SiteLoad | None:
    """The rates of a site's pages over its whole history, and the cost of a capture; ``None``: nothing is known.

    They apply to the days between captures, so recent looks count no more than older ones.
    """
    seen = known.histories()
    if not seen.observations().any():
        return None
    return SiteLoad(GammaPoisson().fit(seen).estimate(seen).rate, AGAIN * len(known))


def foretold(known: SiteHistory) -> Foretold | None:
    """Rates from the first two thirds of all looks, compared with the last third; ``None``: too few looks."""
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
