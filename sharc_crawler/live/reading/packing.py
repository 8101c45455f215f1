"""A reading as it goes to the crawl: JSON (:func:`~sharc_crawler.live.reading.readings.unpacked_reading` reads it)."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sharc_crawler.links.found import LIMIT
from sharc_crawler.links.unusual import unusual
from sharc_crawler.urls import canonical

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
        "said": (reading.robots, reading.unreadable, reading.text),
        "problems": reading.problems,
    }


def _named(kind: Kind, links: Iterable[Sighting]) -> tuple[Kind, list[str], list[Hints | None], dict[str, str | None]]:
    """Links of one kind, one after the other; their hints, where any has some; what is canonical of unusual ones."""
    named = list(links)
    hints = [link.hints for link in named] if any(link.hints for link in named) else []
    urls = [link.url for link in named]
    looked_at = urls if len(urls) <= LIMIT else ()  # a longer sitemap is taken in by portions: here it takes too long
    return kind, urls, hints, {url: canonical(url) for url in unusual(looked_at)}
