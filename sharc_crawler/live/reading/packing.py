"""A reading as it goes to the crawl: JSON (:func:`~sharc_crawler.live.reading.readings.unpacked_reading` reads it)."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sharc_crawler.live.reading.readings import Reading
    from sharc_crawler.model import Hints, Kind, Sighting


def packed(reading: Reading) -> dict[str, Any]:
    """A reading as JSON has it; all its links were found at one place."""
    return {
        "payload": reading.payload,
        "links": [_named(kind, links) for kind, links in groupby(reading.links, attrgetter("kind"))],
        "feeds": reading.feeds,
        "document": reading.document,
        "robots": reading.robots,
        "unreadable": reading.unreadable,
        "text": reading.text,
        "problems": reading.problems,
    }


def _named(kind: Kind, links: Iterable[Sighting]) -> tuple[Kind, list[str], list[Hints | None] | None]:
    """Links of one kind, one after the other, and their hints, where any has some."""
    named = list(links)
    hints = [link.hints for link in named] if any(link.hints for link in named) else None
    return kind, [link.url for link in named], hints
