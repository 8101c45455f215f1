"""The history of a site as a source of rates (:class:`~sharc_crawler.rates.base.RateSource`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.rates.sitemap import DEFAULT_RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sharc_crawler.model import Instant, Rate, RateEstimate, Seconds, Sighting
    from sharc_crawler.rates.history import SiteHistory
    from sharc_crawler.rates.sitemap import SitemapRules

MONTH: Seconds = 30 * 86_400.0
SHORTEST: Seconds = 3_600.0  #: a capture is thought to take an hour at least
AHEAD: Seconds = 86_400.0  #: lastmods so much later than now may be of a clock or a time zone; beyond, they are errors
GROWTH = 1.25  #: more lastmods than this times those of the last estimate: estimate again


def capture_length(pages: int, step: Seconds) -> Seconds:
    """How long a capture of so many pages takes, two downloads of each, one per ``step``."""
    return max(SHORTEST, 2 * pages * step)


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
    rules:
        what a ``changefreq`` states; it counts beside lastmods and captures, never alone

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
        links: Iterable[tuple[str, str]] | None = None,
        rules: SitemapRules = DEFAULT_RULES,
    ) -> None:
        self._history = history
        self._horizon = horizon
        self._links = None if links is None else list(links)
        self._rules = rules
        self._stated: dict[str, Rate] = {}
        self._lastmods: dict[str, tuple[Instant, Seconds]] = {}
        self._estimated_from = -1
        self._estimates: dict[str, RateEstimate | None] = {}

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> list[RateEstimate | None]:
        """One estimate per sighting, in their order; None where nothing is known."""
        for sighting in sightings:
            hints = sighting.hints
            if hints is None:
                continue
            if hints.lastmod is not None and hints.lastmod <= now + AHEAD:
                self._lastmods[sighting.url] = hints.lastmod, hints.lastmod_precision
            if stated := self._rules.changefreq.get(hints.changefreq or ""):
                self._stated[sighting.url] = stated
        if len(self._lastmods) > self._estimated_from * GROWTH:
            self._estimate(now)
        return [self._estimates.get(sighting.url) for sighting in sightings]

    def _estimate(self, now: Instant) -> None:
        """Learn from all that is known at ``now``."""
        self._estimated_from = max(len(self._lastmods), 0)
        if not (self._history or self._lastmods):  # changefreq alone is SitemapRates'
            return
        from sharc_crawler.rates.together import learned  # what learns: only where there is something to

        self._estimates = learned(self._history, self._lastmods, self._stated, self._links, now, self._horizon)
