"""The history of a site as a source of rates (:class:`~sharc_crawler.rates.base.RateSource`)."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import repeat
from math import nan
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.addresses.known_urls import UNSEEN, SeenUrls, Texts
from sharc_crawler.model import Hints, Instant, Rate, RateEstimate, Seconds, Sighting
from sharc_crawler.rates.base import PRIOR, Stated
from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.history import SiteHistory
from sharc_crawler.rates.sitemap import CHANGEFREQ_RATES
from sharc_crawler.rates.swings import Swings
from sharc_crawler.rates.together import SitemapColumns

MONTH: Seconds = 30 * 86_400.0
SHORTEST: Seconds = 3_600.0  #: minimum length assumed for a capture
AHEAD: Seconds = 86_400.0  #: lastmods may be so far in the future by clock or time zone; beyond, they are errors
GROWTH = 1.25  #: growth of the number of lastmods after which rates are estimated again
FEW = 500  #: up to so many URLs, without captures, each new lastmod leads to a new estimate: it takes milliseconds

_SILENT = Hints()
AT_ONCE = 5_000  #: sightings processed together


def capture_length(pages: int, step: Seconds) -> Seconds:
    """Return how long a capture takes, with two downloads per page, one per ``step``."""
    return max(SHORTEST, 2 * pages * step)


def _stated(sightings: Any, rows: range) -> Stated:
    """Return lastmods and changefreqs of some rows, from columns if the sightings have them."""
    if hasattr(sightings, "stated"):
        return cast("Stated", sightings.stated(rows))
    some = sightings[rows.start : rows.stop]
    hints = [sighting.hints or _SILENT for sighting in some]
    dates = [nan if hint.lastmod is None else hint.lastmod for hint in hints]
    return Stated([sighting.url for sighting in some], dates, [hint[1] for hint in hints], [hint[2] for hint in hints])


class HistoryRates:
    """Rates from a site's captures and its current sitemaps together.

    If first asked with a whole sitemap, as a capture does, it learns once from all of it; it learns again when it has
    seen much more. It abstains on URLs unknown to both history and sitemaps.

    Parameters
    ----------
    history:
        of the site (:meth:`~sharc_crawler.storage.observations.ObservationStore.histories`); None: no capture yet
    horizon:
        length of the coming capture: the shorter, the more recent changes count
    links:
        pairs of URLs, source and target, if known from former captures

    Examples
    --------
    >>> from sharc_crawler.model import Hints, Sighting
    >>> day = 86_400.0
    >>> listed = [Sighting(f"http://h/{age}", hints=Hints(lastmod=-age * day)) for age in range(1, 400, 10)]
    >>> new, old = HistoryRates().rates([listed[0], *listed[1:]], now=0.0)[:: len(listed) - 1]
    >>> new.rate > old.rate, new.source
    (True, 'lastmod')

    """

    def __init__(
        self,
        history: SiteHistory | None = None,
        horizon: Seconds = MONTH,
        links: Collection[tuple[str, str]] | None = None,
    ) -> None:
        self._history = history
        self._horizon = horizon
        self._links = links
        self._stated: dict[str, Rate] = {}
        # one row per URL, first those of the history
        self._urls, self._rows = Texts(), SeenUrls()
        if history:
            self._urls.extend(history.urls)
            self._rows.add_all(history.urls, range(len(history.urls)))
        self._captured = len(self._urls)
        self._lastmods, self._precisions = (array("d", [nan]) * self._captured for _ in range(2))
        self._dated = 0
        self._estimated_from, self._read = -1, nan
        self._found: Estimates | None = None
        self._sources: list[str] = []  #: of the history's URLs, by row

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> Sequence[RateEstimate | None]:
        """Return one estimate per sighting, in their order; None for unknown pages."""
        rows = np.empty(len(sightings), np.int64)
        for start in range(0, len(rows), AT_ONCE):
            some = range(start, min(start + AT_ONCE, len(rows)))
            rows[some.start : some.stop] = self._enter(_stated(sightings, some), now)
        if self._dated > self._estimated_from * (1.0 if len(self._urls) <= FEW and not self._captured else GROWTH):
            self._estimate(now)
        return self._rates_of(rows)

    def _enter(self, stated: Stated, now: Instant) -> NDArray[np.int64]:
        """Enter lastmods and changefreqs; return the row of each URL: dated ones get one."""
        lastmods = np.array(stated.lastmods, np.float64)
        dated = lastmods <= now + AHEAD
        rows = np.array(self._rows.find(stated.urls), np.int64)
        if (new := np.flatnonzero((rows == UNSEEN) & dated)).size:
            fresh = dict.fromkeys(map(stated.urls.__getitem__, new.tolist()))
            self._rows.add_all(list(fresh), range(len(self._urls), len(self._urls) + len(fresh)))
            self._urls.extend(fresh)
            for column in (self._lastmods, self._precisions):
                column.extend(repeat(nan, len(fresh)))
            rows = np.array(self._rows.find(stated.urls), np.int64)
        theirs, known = rows[dated], np.frombuffer(self._lastmods)
        self._dated += len(set(theirs[np.isnan(known[theirs])].tolist()))
        known[theirs] = lastmods[dated]  # the last one counts
        np.frombuffer(self._precisions)[theirs] = np.array(stated.precisions, np.float64)[dated]
        for url, frequency in zip(stated.urls, stated.frequencies, strict=True):
            if frequency and (rate := CHANGEFREQ_RATES.get(frequency)):
                self._stated[url] = rate
        return rows

    def _rates_of(self, asked: NDArray[np.int64]) -> Sequence[RateEstimate | None]:
        """Return the estimates of these rows; None for rows added since the last estimate."""
        if self._found is None:
            return [None] * len(asked)
        captured = self._captured
        known = (asked > UNSEEN) & (asked < len(self._found))
        if not known.any():
            return [None] * len(asked)
        found = self._found.select(np.where(known, asked, 0))
        found = replace(found, rate=np.where(known, found.rate, np.nan))
        undated = "sitemap" if self._stated else PRIOR  # without captures, distrusted lastmods are no source
        if captured:
            own = self._sources
            return found.by_page([own[row] if UNSEEN < row < captured else "lastmod" for row in asked.tolist()])
        return found.by_page(["lastmod" if count else undated for count in found.observations.tolist()])

    def swings(self) -> Swings | None:
        """Return how far rates varied together in former captures, and rebuilds seen by lastmods."""
        if self._found is None:
            return None
        from sharc_crawler.rates.together import swings  # as below

        return swings(self._history, self._sitemaps(), self._read)

    def _sitemaps(self) -> SitemapColumns:
        from sharc_crawler.rates.together import SitemapColumns  # as below

        return SitemapColumns(
            cast("Sequence[str]", self._urls),
            np.frombuffer(self._lastmods),
            np.frombuffer(self._precisions),
            self._stated,
        )

    def _estimate(self, now: Instant) -> None:
        """Estimate all rates at ``now``."""
        self._estimated_from, self._read = self._dated, now
        if not (self._captured or self._dated):  # SitemapRates handles changefreq alone
            return
        from sharc_crawler.rates.together import learned  # only with something to learn from

        self._sources = self._history.sources(self._lastmods) if self._history else []
        self._found = learned(self._history, self._sitemaps(), self._links, now, self._horizon)
