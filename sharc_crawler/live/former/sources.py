"""| The sources of change rates that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.live.monitoring.stopping import stoppable
from sharc_crawler.model import Instant, RateEstimate, Sighting
from sharc_crawler.rates.chain import Chain
from sharc_crawler.rates.make import make_sources
from sharc_crawler.rates.sitemap import CHANGEFREQ_RATES, DAY
from sharc_crawler.rates.sources import capture_length

if TYPE_CHECKING:
    from sharc_crawler.live.config import Config
    from sharc_crawler.rates.base import RateSource
    from sharc_crawler.storage.observations import ObservationStore

MANY = 1_000  #: pages from which on learning their rates is reported


class AloudChain(Chain):
    """A chain that reports long work (if ``told``), and that Ctrl-C can interrupt."""

    def __init__(self, sources: Sequence[RateSource], told: bool) -> None:
        super().__init__(sources)
        self._told = told

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> Sequence[RateEstimate]:
        """One estimate per sighting, in their order; raises StoppedError."""
        if len(sightings) < MANY:
            return super().rates(sightings, now)
        with busy("learning how often pages change", self._told), stoppable():
            return super().rates(sightings, now)


def chain_of(site: str, history: ObservationStore | None, config: Config) -> Chain:
    """The named sources, in order."""
    changefreq = {**CHANGEFREQ_RATES, **{name: 1 / period for name, period in config.changefreq}}
    offers: dict[str, Callable[[], object]] = {"changefreq": lambda: changefreq, "horizon": lambda: DAY}
    if history is not None and (pages := history.size(site)):
        offers |= {
            "history": lambda: history.histories(site),
            "links": lambda: history.links(site),
            "documents": lambda: history.documents(site),
            "horizon": lambda: capture_length(pages, config.politeness.delay),
        }
    return AloudChain(make_sources(config.rates, offers), config.progress)
