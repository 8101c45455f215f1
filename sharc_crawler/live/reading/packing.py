"""A reading as it goes to the crawl: JSON (:func:`~sharc_crawler.live.reading.readings.unpacked_reading` reads it)."""

from __future__ import annotations

import re
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sharc_crawler.links.found import LIMIT
from sharc_crawler.urls import PLAIN_NAME, USUAL, canonical, is_plain, is_usual

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sharc_crawler.live.reading.readings import Reading
    from sharc_crawler.model import Hints, Kind, Sighting

_PLAIN_NAMES = re.compile(rf"{PLAIN_NAME.pattern}(?:\n{PLAIN_NAME.pattern})*+", re.ASCII)


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


def unusual(urls: Sequence[str]) -> list[str]:
    """Those that :func:`~sharc_crawler.urls.is_usual` is not true of: one match for all, as most pages have none.

    >>> unusual(["http://h/a/b", "http://h/a/c"]), unusual(["http://h/a", "http://h/a/../b"])
    ([], ['http://h/a/../b'])
    """
    parts = [url.rpartition("/") for url in urls]
    names = "\n".join([name for _, _, name in parts])
    if _PLAIN_NAMES.fullmatch(names) and names.count("\n") < len(parts) and max(map(len, urls)) <= USUAL:
        folders = {folder for folder, _, _ in parts}
        if all(is_plain(f"{folder}/") for folder in folders):
            return []
    return [url for url in urls if not is_usual(url)]
