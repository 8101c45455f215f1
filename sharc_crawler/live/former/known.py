"""| What a site's history knows of its pages. Not loaded in a first capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.errors import DataError, StoreUnavailable
from sharc_crawler.frontier.opening import LastSeen
from sharc_crawler.model import Instant, Sighting

if TYPE_CHECKING:
    from sharc_crawler.storage.observations import ObservationStore


def known_pages(site: str, history: ObservationStore) -> list[Sighting]:
    """The pages that have shown content."""
    return [Sighting(url, via="history") for url in history.pages(site)]


def last_seen(site: str, url: str, before: Instant, history: ObservationStore) -> LastSeen | None:
    """What a URL showed last before an instant; a store that fails to answer ends no capture."""
    try:
        shown = history.shown(site, url, before)
    except (StoreUnavailable, DataError):
        return None
    return None if shown is None else LastSeen(*shown)
