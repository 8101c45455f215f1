r"""Rates and weights of pages from their sitemap entries.

lastmod and changefreq count as observations of the page's Poisson process, with a Gamma posterior of its rate:

* ``changefreq`` with rate r: one change seen in 1/r. Posterior Gamma(1, 1/r), mean r.
* ``lastmod`` at an age of t: one change, and none in t since. Posterior Gamma(1, a + t), mean 1/(a + t), where a keeps
  a page that has just changed from an infinite rate.
* * both: Gamma(2, 1/r + t), mean 2/(1/r + t). So an old lastmod overrules a high changefreq.

A lastmod is not trusted if it is in the future; if a large share of the site's lastmods are equal (the site's
generation); or if nearly all are right before the reading (a server that answers "now", see
:mod:`~sharc_crawler.rates.trust`). ``priority`` p becomes the weight 1/2 + p: 1 for the default of 0.5, never 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sharc_crawler.model import Hints, Instant, Rate, RateEstimate, Seconds, Sighting

HOUR, DAY, YEAR = 3_600.0, 86_400.0, 31_557_600.0
SOURCE = "sitemap"
MOST = 0.9  #: share of lastmods that counts as "nearly all"
NOW = 120.0  #: seconds before an access that count as "now"
LEAST_AGE: Seconds = DAY  #: a, added to the age of a lastmod
SHARED = 0.5  #: share of equal lastmods above which they are not trusted
JUDGED_FROM = 10  #: minimum of lastmods before any is distrusted as shared

CHANGEFREQ_RATES: Mapping[str, Rate] = MappingProxyType(
    {
        "always": 60 / HOUR,
        "hourly": 1 / HOUR,
        "daily": 1 / DAY,
        "weekly": 1 / (7 * DAY),
        "monthly": 12 / YEAR,
        "yearly": 1 / YEAR,
        "never": 1 / (20 * YEAR),
    }
)


class SitemapRates:
    """Rates of one site's pages from its sitemaps; abstains on pages without trusted hints.

    >>> from sharc_crawler.model import Hints, Sighting
    >>> weekly, silent = Sighting("http://h/a", hints=Hints(changefreq="weekly")), Sighting("http://h/b")
    >>> [estimate and round(estimate.rate * 7 * 86_400) for estimate in SitemapRates().rates([weekly, silent], now=0.0)]
    [1, None]
    """

    def __init__(self, changefreq: Mapping[str, Rate] = CHANGEFREQ_RATES) -> None:
        self._changefreq = changefreq
        self._lastmods: Counter[Instant] = Counter()
        self._known = 0
        self._just_now = 0

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> list[RateEstimate | None]:
        """Return one estimate per sighting with hints; pages of a sitemap given together are compared."""
        for sighting in sightings:
            if sighting.hints is not None:
                self._compare(sighting.hints, now)
        return [None if sighting.hints is None else self._estimate(sighting.hints, now) for sighting in sightings]

    def _compare(self, hints: Hints, now: Instant) -> None:
        if hints.lastmod is not None:
            self._known += 1
            self._lastmods[hints.lastmod] += 1
            self._just_now += now - hints.lastmod <= NOW

    def _believed(self, hints: Hints, now: Instant) -> bool:
        """Is the lastmod trusted?"""
        if hints.lastmod is None or hints.lastmod > now:
            return False
        if self._known < JUDGED_FROM:
            return True
        of_now = self._just_now >= MOST * self._known and now - hints.lastmod <= NOW
        return self._lastmods[hints.lastmod] <= SHARED * self._known and not of_now

    def _estimate(self, hints: Hints, now: Instant) -> RateEstimate | None:
        """Return the Gamma posterior, see the module's documentation."""
        changes, time = 0, 0.0
        stated = self._changefreq.get(hints.changefreq or "")
        if stated:
            changes, time = 1, 1 / stated
        if hints.lastmod is not None and self._believed(hints, now):
            age = max(0.0, now - hints.lastmod - hints.lastmod_precision / 2)
            changes, time = changes + 1, (time or LEAST_AGE) + age
        if not changes:
            return None
        rate = changes / time
        return RateEstimate(rate, SOURCE, shape=changes, observations=changes, spread=rate / changes**0.5)


def weight(hints: Hints | None) -> float:
    """Return a page's weight by its sitemap priority.

    >>> from sharc_crawler.model import Hints
    >>> weight(Hints(priority=1.0)), weight(Hints()), weight(None)
    (1.5, 1.0, 1.0)
    """
    return 1.0 if hints is None or hints.priority is None else 0.5 + hints.priority
