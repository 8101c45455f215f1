"""The rates of all pages of a site, from its captures and sitemaps together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Instant, Rate, Seconds
from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.evidence import combined_rates
from sharc_crawler.rates.history import Links, SiteHistory
from sharc_crawler.rates.rebuilds import sampled, seen_rebuilds
from sharc_crawler.rates.swings import Swings
from sharc_crawler.rates.swings_learned import learned_swings
from sharc_crawler.rates.swings_told import told_swings
from sharc_crawler.rates.trust import dated

MOST = 0.5  #: share of the pages that counts as "most"


class SitemapColumns(NamedTuple):
    """Lastmods and changefreqs of a site's sitemaps, in columns."""

    urls: Sequence[str]  #: first those of the history, in its order
    lastmods: NDArray[np.float64]  #: NaN: none
    precisions: NDArray[np.float64]
    stated: Mapping[str, Rate]  #: rates by ``changefreq``

    def select(self, rows: NDArray[np.int64]) -> SitemapColumns:
        """Return the rows of some URLs, in their order."""
        if len(rows) == len(self.urls):
            return self
        urls = [self.urls[row] for row in rows.tolist()]
        return SitemapColumns(urls, self.lastmods[rows], self.precisions[rows], self.stated)


def learned(
    history: SiteHistory | None,
    sitemaps: SitemapColumns,
    links: Collection[tuple[str, str]] | None,
    now: Instant,
    horizon: Seconds,
) -> Estimates:
    """Return one estimate per URL known to captures or sitemaps, in the order of ``sitemaps.urls``.

    Parameters
    ----------
    history: of the site, up to ``now``; None: no capture yet
    sitemaps: as of now
    links: pairs of URLs, source and target; None: unknown
    horizon: length of the coming capture

    """
    stated = sitemaps.stated
    rates = np.array([stated.get(url, np.nan) for url in sitemaps.urls], np.float64) if stated else None
    return combined_rates(known(history, sitemaps, now), now, horizon, _numbered(sitemaps.urls, links), rates)


def swings(history: SiteHistory | None, sitemaps: SitemapColumns, now: Instant) -> Swings:
    """Return how far rates varied together in former captures, and rebuilds seen by lastmods.

    Without enough captures, lastmods are used if most pages have one.
    """
    found = learned_swings(history) if history else Swings.usual()
    pages = sampled(len(sitemaps.urls))
    of_these = history and history.select(pages[pages < len(history)])
    looked_at = dated(known(of_these, sitemaps.select(pages), now))
    lastmods, read = looked_at.latest_lastmods()
    if found.group > 1.0 and np.count_nonzero(read >= now) > MOST * len(looked_at):
        found = told_swings(lastmods[read >= now], now)
    seen = seen_rebuilds(looked_at, now)
    return found._replace(rebuilds=seen.rate, touched=seen.touched) if seen else found


def known(history: SiteHistory | None, sitemaps: SitemapColumns, now: Instant) -> SiteHistory:
    """Return the captures' history with the sitemaps as one more access."""
    before = SiteHistory.empty() if history is None else history
    return before.looked_at(now, sitemaps.urls, sitemaps.lastmods, sitemaps.precisions)


def _numbered(urls: Sequence[str], links: Collection[tuple[str, str]] | None) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the links between known pages, as numbers."""
    if links is None:
        return None
    numbers: dict[str, int] = {url: page for page, url in enumerate(urls)} if links else {}
    if isinstance(links, Links):
        return links.among(numbers)
    known = [(numbers[a], numbers[b]) for a, b in links if a in numbers and b in numbers and a != b]
    pairs = np.array(known, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]
