"""A trained predictor as a source of rates (:class:`~sharc_crawler.rates.base.RateSource`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sharc_crawler.model import Instant, RateEstimate, Sighting, Url
from sharc_crawler.observation import Observation
from sharc_crawler.rates.history import SiteHistory
from sharc_crawler.rates.predictor.examples import page_facts
from sharc_crawler.rates.predictor.features import PageTraits
from sharc_crawler.rates.predictor.model import Predictor

SOURCE = "predictor"


class PredictorRates:
    """Rates predicted from pages' features; never abstains.

    Parameters
    ----------
    model:
        file that ``sharc rates train`` wrote
    history, links, documents:
        of former captures (:func:`~sharc_crawler.rates.predictor.examples.page_facts`); unknown pages are predicted
        from their URLs, and the sitemap's lastmod if there is one

    """

    def __init__(
        self,
        model: str,
        history: SiteHistory | None = None,
        links: Iterable[tuple[str, str]] | None = None,
        documents: Mapping[Url, Observation] | None = None,
    ) -> None:
        self._predictor = Predictor.load(Path(model))
        self._history = SiteHistory.empty() if history is None else history
        self._links = None if links is None else list(links)
        self._documents = documents or {}
        self._facts: dict[str, PageTraits] = {}
        self._as_of: Instant | None = None

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> list[RateEstimate | None]:
        """Return one estimate per sighting, in their order."""
        if not sightings:
            return []
        means, spreads = self._predictor.rates([self._page(sighting, now) for sighting in sightings])
        return [
            RateEstimate(mean, SOURCE, (mean / spread) ** 2 if spread and mean else float("inf"), 0, spread)
            for mean, spread in zip(means.tolist(), spreads.tolist(), strict=True)
        ]

    def _page(self, sighting: Sighting, now: Instant) -> PageTraits:
        page = self._known(now).get(sighting.url) or PageTraits(sighting.url)
        hints = sighting.hints
        if hints is None or hints.lastmod is None or hints.lastmod > now:
            return page
        age = now - hints.lastmod
        return replace(page, idle=age if page.idle is None else min(age, page.idle))

    def _known(self, now: Instant) -> dict[str, PageTraits]:
        """Return the traits of pages known to former captures, as of ``now``."""
        if self._as_of != now:
            facts = page_facts(self._history, self._links, self._documents, now)
            self._facts, self._as_of = {page.url: page for page in facts}, now
        return self._facts
