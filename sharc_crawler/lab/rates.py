"""The sources of the rates that a simulated crawler believes at its beginning.

A capture with single visits lies in the middle of the window. "The window" is then the part after its beginning.

``oracle``
    The number of changes in the window divided by its length; for a synthetic site, the true rate.
``history``
    The changes of the year before the window, with a prior learned from the site itself.
``lastmod``
    The time since each page's last change, from a sitemap when the window begins.
``sitemap``
    Change frequency and lastmod, as a site that knows its history would publish them, read as in a live crawl.
``constant``
    The mean rate for all pages.

Any other name is a rate source by entry point or dotted path, with options, or several that are asked in turn
(``captures,predictor:model=FILE``). They are asked when the window begins, about the pages of that sitemap. A factory
gets the arguments that it names: ``history``, weekly captures of the year before; ``horizon``, the length of the
window; ``links``, the links between the pages known when it begins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sharc_crawler import plugins
from sharc_crawler.errors import UsageError
from sharc_crawler.lab.belief import Belief
from sharc_crawler.lab.published import WEEK, links, sitemap, weekly_captures, year_before
from sharc_crawler.lab.site import Site
from sharc_crawler.model import Instant
from sharc_crawler.rates.age import age_rates
from sharc_crawler.rates.base import PRIOR, RateSource
from sharc_crawler.rates.chain import Chain
from sharc_crawler.rates.estimators.gamma_poisson import GammaPoisson
from sharc_crawler.rates.history import Histories
from sharc_crawler.rates.make import make_sources
from sharc_crawler.rates.sitemap import SitemapRates
from sharc_crawler.rates.surroundings import Surroundings

Column = NDArray[np.float64]


def believe(site: Site, source: str, when: Instant | None = None) -> Belief:
    """The rates of a source, and Olston and Pandey's utilities (from all changes); no lastmod is trusted.

    ``when``: the instant at which the source is asked; None: the beginning of the window.
    """
    then, known = site if when is None else site.as_of(when), source in SOURCES
    rates, shapes, guessed = (*SOURCES[source](then), 0) if known else _asked(_named(source, then), then)
    attested = np.zeros(len(site.urls), np.bool_)
    return Belief(source, rates, shapes, utilities(site), attested, guessed, _seen(then, source))


def _seen(site: Site, source: str) -> Instant | None:
    """The instant of the last capture that the source uses."""
    if source == "history":
        return site.start
    return None if source in SOURCES else site.start - WEEK


def utilities(site: Site) -> Column:
    """(1/(o_e−o_s)) Σ (h_j − o_s) over each page's changes in the window (section 9.2 of the paper)."""
    late = (site.changes.times - site.start) / (site.end - site.start)
    return np.bincount(site.changes.pages, late, len(site.urls)).astype(np.float64)


def _points(rates: Column) -> tuple[Column, Column]:
    return rates, np.full(len(rates), math.inf)


def _history(site: Site) -> tuple[Column, Column]:
    _require_past(site)
    return posterior(year_before(site))


def posterior(histories: Histories) -> tuple[Column, Column]:
    """Means and shapes of the rates' Gamma posteriors, with a prior learned from all pages."""
    found = GammaPoisson().fit(histories).estimate(histories)
    return found.rate, found.shape


def _lastmod(site: Site) -> tuple[Column, Column]:
    _require_past(site)
    lastmods = np.where(site.created < site.start, site.past.latest(site.created), np.nan)
    found = age_rates(lastmods, site.start, Surroundings(site.urls))
    return found.rate, found.shape


def _require_past(site: Site) -> None:
    if not (site.created < site.start).any():
        raise UsageError(f"{site.name} has no history before the window: choose rates=oracle or rates=constant")


def _sitemap(site: Site) -> tuple[Column, Column]:
    _require_past(site)
    return _asked([SitemapRates()], site)[:2]


def _named(spec: str, site: Site) -> list[RateSource]:
    """Make the plug-ins, with the arguments that they name."""
    named = [part.partition(":")[0].strip() for part in spec.split(",")]
    if alone := next((name for name in named if name in SOURCES and name not in plugins.names("rates")), None):
        raise UsageError(f"rates={spec!r}: {alone} stands alone, with no other source and no option: rates={alone}")
    offers: dict[str, Callable[[], object]] = {
        "history": lambda: weekly_captures(site),
        "horizon": lambda: site.end - site.start,
        "links": lambda: links(site),
    }
    return make_sources(spec, offers, also=SOURCES)


def _asked(sources: Sequence[RateSource], site: Site) -> tuple[Column, Column, int]:
    """Rates and shapes from sources, or from the chain's prior if all abstain; and the number of such pages."""
    estimates = Chain(sources).rates(sitemap(site), site.start)
    guessed = sum(e.source == PRIOR for e in estimates)
    return np.array([e.rate for e in estimates]), np.array([e.shape for e in estimates]), guessed


SOURCES: dict[str, Callable[[Site], tuple[Column, Column]]] = {
    "oracle": lambda site: _points(site.rates),
    "history": _history,
    "lastmod": _lastmod,
    "sitemap": _sitemap,
    "constant": lambda site: _points(np.full(len(site.urls), site.rates.mean())),
}
