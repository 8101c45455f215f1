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
from sharc_crawler.rates.base import PRIOR, Said
from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.history import SiteHistory
from sharc_crawler.rates.sitemap import CHANGEFREQ_RATES
from sharc_crawler.rates.swings import Swings
from sharc_crawler.rates.together import SitemapColumns

MONTH: Seconds = 30 * 86_400.0
SHORTEST: Seconds = 3_600.0  #: a capture is thought to take an hour at least
AHEAD: Seconds = 86_400.0  #: lastmods so much later than now may be of a clock or a time zone; beyond, they are errors
GROWTH = 1.25  #: more lastmods than this times those of the last estimate: estimate again
FEW = 500  #: URLs of a site without captures, of which each new lastmod is worth an estimate: it takes milliseconds

_SILENT = Hints()
AT_ONCE = 5_000  #: sightings that are looked up together


def capture_length(pages: int, step: Seconds) -> Seconds:
    """How long a capture of so many pages takes, two downloads of each, one per ``step``."""
    return max(SHORTEST, 2 * pages * step)


def _said(sightings: Any, rows: range) -> Said:
    """What is said in some rows: of many as they are kept."""
    if hasattr(sightings, "said"):
        return cast("Said", sightings.said(rows))
    some = sightings[rows.start : rows.stop]
    hints = [one.hints or _SILENT for one in some]
    dates = [nan if one.lastmod is None else one.lastmod for one in hints]
    return Said([one.url for one in some], dates, [one[1] for one in hints], [one[2] for one in hints])


class HistoryRates:
    """Rates from a site's captures and from the words of the sitemap that is being read, as one body of evidence.

    Asked first with a sitemap in bulk, as a capture does, it learns once from all of it; it learns again when much
    more of the sitemap has been seen. It abstains on URLs of which neither the history nor a sitemap says anything.

    Parameters
    ----------
    history:
        of the site (:meth:`~sharc_crawler.storage.observations.ObservationStore.histories`); None: no capture yet
    horizon:
        how long the capture will take: recent changes count the more, the shorter it is
    links:
        pairs of URLs, source and target, where links are known from the captures before

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
        # A row per URL, first those of the history; all else is in columns by row.
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
        """One estimate per sighting, in their order; None where nothing is known."""
        rows = np.empty(len(sightings), np.int64)
        for start in range(0, len(rows), AT_ONCE):
            some = range(start, min(start + AT_ONCE, len(rows)))
            rows[some.start : some.stop] = self._heard(_said(sightings, some), now)
        if self._dated > self._estimated_from * (1.0 if len(self._urls) <= FEW and not self._captured else GROWTH):
            self._estimate(now)
        return self._rates_of(rows)

    def _heard(self, said: Said, now: Instant) -> NDArray[np.int64]:
        """Take in what is said of URLs; the row of each: those that are dated get one."""
        lastmods = np.array(said.lastmods, np.float64)
        dated = lastmods <= now + AHEAD
        rows = np.array(self._rows.find(said.urls), np.int64)
        if (new := np.flatnonzero((rows == UNSEEN) & dated)).size:
            fresh = dict.fromkeys(map(said.urls.__getitem__, new.tolist()))
            self._rows.add_all(list(fresh), range(len(self._urls), len(self._urls) + len(fresh)))
            self._urls.extend(fresh)
            for column in (self._lastmods, self._precisions):
                column.extend(repeat(nan, len(fresh)))
            rows = np.array(self._rows.find(said.urls), np.int64)
        theirs, known = rows[dated], np.frombuffer(self._lastmods)
        self._dated += len(set(theirs[np.isnan(known[theirs])].tolist()))
        known[theirs] = lastmods[dated]  # the last word counts
        np.frombuffer(self._precisions)[theirs] = np.array(said.precisions, np.float64)[dated]
        for url, frequency in zip(said.urls, said.frequencies, strict=True):
            if frequency and (stated := CHANGEFREQ_RATES.get(frequency)):
                self._stated[url] = stated
        return rows

    def _rates_of(self, asked: NDArray[np.int64]) -> Sequence[RateEstimate | None]:
        """The estimates in these rows; those that came after the last estimate have none."""
        if self._found is None:
            return [None] * len(asked)
        captured = self._captured
        known = (asked > UNSEEN) & (asked < len(self._found))
        if not known.any():
            return [None] * len(asked)
        found = self._found.select(np.where(known, asked, 0))
        found = replace(found, rate=np.where(known, found.rate, np.nan))
        unheard = "sitemap" if self._stated else PRIOR  # a lastmod not believed, where no capture was, tells nothing
        if captured:
            own = self._sources
            return found.by_page([own[row] if UNSEEN < row < captured else "lastmod" for row in asked.tolist()])
        return found.by_page(["lastmod" if count else unheard for count in found.observations.tolist()])

    def swings(self) -> Swings | None:
        """How far the changes of the captures were off what their rates expect, and rebuilds that lastmods tell of."""
        if self._found is None:
            return None
        from sharc_crawler.rates.together import swings  # as below

        return swings(self._history, self._said(), self._read)

    def _said(self) -> SitemapColumns:
        from sharc_crawler.rates.together import SitemapColumns  # as below

        return SitemapColumns(
            cast("Sequence[str]", self._urls),
            np.frombuffer(self._lastmods),
            np.frombuffer(self._precisions),
            self._stated,
        )

    def _estimate(self, now: Instant) -> None:
        """Learn from all that is known at ``now``."""
        self._estimated_from, self._read = self._dated, now
        if not (self._captured or self._dated):  # changefreq alone is SitemapRates'
            return
        from sharc_crawler.rates.together import learned  # only where there is something to learn from

        self._sources = self._history.sources(self._lastmods) if self._history else []
        self._found = learned(self._history, self._said(), self._links, now, self._horizon)
