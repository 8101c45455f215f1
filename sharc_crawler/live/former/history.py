"""| The parts of a capture, above all its change rates: from the site's history (``history=FILE``), if there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sharc_crawler.frontier.opening import Parts, at_once
from sharc_crawler.rates.base import UnstatedRates

if TYPE_CHECKING:
    from concurrent.futures import Future

    from sharc_crawler.frontier.opening import Rates
    from sharc_crawler.live.config import Config
    from sharc_crawler.rates.chain import Chain
    from sharc_crawler.storage.observations import ObservationStore

LONG = 5_000  #: pages whose rates take 0.1 s of processor time
USUAL = "captures,sitemap"  #: sources of rates that without a history know only what the site states


def rates_of(site: str, history: ObservationStore | None, config: Config) -> Rates:
    """The source of a site's change rates."""

    def chain() -> Chain:
        from sharc_crawler.live.former.sources import chain_of  # only if there is something to learn from

        return chain_of(site, history, config)

    known = history is not None and history.size(site)
    return UnstatedRates(chain) if config.rates == USUAL and not known else chain()


def aside(work: Callable[[], Any], pages: int) -> Future[Any]:
    """Run long work in a thread, so that the reactor goes on."""
    if pages <= LONG:
        return at_once(work, pages)
    from sharc_crawler.live.in_thread import by_thread  # only for large sites

    return by_thread(work)


def parts_of(history: ObservationStore | None, config: Config) -> Parts:
    """The parts of a capture, with the site's history if there is one."""
    if history is None:
        return Parts(rates=lambda spec: rates_of(spec.site, history, config), aside=aside)
    from sharc_crawler.live.former.known import last_seen  # only then, too

    return Parts(
        aside=aside,
        rates=lambda spec: rates_of(spec.site, history, config),
        history=lambda spec: history.histories(spec.site),
        links=lambda spec: history.links(spec.site),
        seen=lambda spec, url, before: last_seen(spec.site, url, before, history),
    )
