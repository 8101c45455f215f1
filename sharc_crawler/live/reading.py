"""What a response brings, read in one go: digests, fingerprint, what it names. Pure: a process of its own does it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from sharc_crawler import plugins
from sharc_crawler.changes.attributes import MADE_UP
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.changes.http import parse_response
from sharc_crawler.changes.masks import load_masks
from sharc_crawler.changes.noise import plain_text
from sharc_crawler.changes.payload import Payload, examine
from sharc_crawler.coding import unpacked
from sharc_crawler.evidence.headers import header_text
from sharc_crawler.links import document, sitemap
from sharc_crawler.links.entries import SitemapKind
from sharc_crawler.links.robots_text import robots_text
from sharc_crawler.live.readings import Order, Reading, Wants
from sharc_crawler.model import Kind, Sighting
from sharc_crawler.polling.reading import hub_sightings, sitemap_sightings

if TYPE_CHECKING:
    from collections.abc import Callable

    from sharc_crawler.changes.base import ChangeDetector
    from sharc_crawler.links.found import Found


_ENOUGH = 20  #: characters of text that tell one page from another
_DIGIT = re.compile(r"\d")
_PARTS = re.compile(r"[^/?&=#:]{4,}")  #: of an address: a page that was not found names it


def detector_of(detector: str, masks: str | None) -> ChangeDetector:
    """The plug-in of this name, with the masks of a file.

    Raises :class:`~sharc_crawler.errors.SharcError` where there is none, or it cannot be made.
    """
    made: ChangeDetector = plugins.load("detector", detector)(load_masks(Path(masks)) if masks else ())
    return made


def read(raw: bytes, order: Order, detector: ChangeDetector) -> Reading:
    """Read what a server sent, interim responses, head and body as they came."""
    message = parse_response(raw)
    if message is None:
        return Reading()
    codings = message.values(b"content-encoding")
    data, broken = unpacked(message.payload, codings) if codings else (bytes(message.payload), None)
    payload = Payload()
    if order.digests:
        payload = examine(message, None if broken else data, detector if order.compared else None)
    if order.wants is Wants.ROBOTS:
        text, unreadable = robots_text(bytes(message.payload), codings)
        return Reading(payload, robots=text, unreadable=unreadable and f"could not be read: {unreadable}")
    if order.wants is Wants.NOTHING or (order.known and payload.digest == order.known):
        return Reading(payload)
    kind = header_text(message.header(b"content-type"))
    return _READERS[order.wants](data, order, kind, payload, (broken,) if broken else ())


def _read_document(data: bytes, order: Order, kind: str | None, payload: Payload, problems: tuple[str, ...]) -> Reading:
    found = document.extract(data, order.url, kind)
    about = found.document
    if about and order.words:
        about = replace(about, words=words(found, order.url))
    problems = (*problems, *(f"without {what}" for what in found.unread))
    return Reading(payload, _sightings(found, order.url), found.feeds, about, problems=problems)


def _read_sitemap(data: bytes, order: Order, kind: str | None, payload: Payload, problems: tuple[str, ...]) -> Reading:  # noqa: ARG001
    links, more = _sitemap_links(data, order.url)
    return Reading(payload, links, problems=(*problems, *more))


def _read_news(data: bytes, order: Order, kind: str | None, payload: Payload, problems: tuple[str, ...]) -> Reading:  # noqa: ARG001
    return Reading(payload, sitemap_sightings(data, order.url), problems=problems)


def _read_hub(data: bytes, order: Order, kind: str | None, payload: Payload, problems: tuple[str, ...]) -> Reading:
    return Reading(payload, hub_sightings(data, order.url, kind), problems=problems)


_READERS: dict[Wants, Callable[[bytes, Order, str | None, Payload, tuple[str, ...]], Reading]] = {
    Wants.DOCUMENT: _read_document,
    Wants.SITEMAP: _read_sitemap,
    Wants.NEWS: _read_news,
    Wants.HUB: _read_hub,
}


def words(found: Found, url: str) -> str | None:
    """Digest of a page's text and pictures, without what is made up for its address or its visitor.

    ``None`` where there is next to nothing: pages that differ in something else would look alike.
    """
    text = without_made_up(plain_text(found.text))
    for part in sorted(set(_PARTS.findall(unquote(url))), key=len, reverse=True):
        text = text.replace(part, " ")
    text = " ".join(text.split())
    pictures = [address.partition("?")[0].rpartition("/")[2] for address in found.resources]
    return labelled_digest("\n".join((text, *pictures)).encode()) if len(text) >= _ENOUGH else None


def without_made_up(text: str) -> str:
    """Text without what looks made up. No such run is without a digit or has a blank: most words need no look.

    >>> without_made_up("page 3 of deadbeef00c0ffee")
    'page 3 of  '
    """
    return " ".join(
        MADE_UP.sub(" ", word) if not word.isalpha() and _DIGIT.search(word) else word for word in text.split(" ")
    )


def _sightings(found: Found, via: str) -> list[Sighting]:
    """Pages and resources that a document names."""
    resource, page = Kind.RESOURCE, Kind.PAGE
    return [
        *(Sighting(url, resource, via) for url in found.resources),
        *(Sighting(url, page, via) for url in found.links),
    ]


def _sitemap_links(data: bytes, url: str) -> tuple[list[Sighting], list[str]]:
    """Pages of a sitemap, and the sitemaps of an index (on its own host only)."""
    found = sitemap.read(data, url)
    host = urlsplit(url).netloc
    problems = list(found.problems)
    links = []
    for entry in found.entries:
        if found.kind is not SitemapKind.INDEX:
            links.append(Sighting(entry.loc, Kind.PAGE, url, entry.hints))
        elif urlsplit(entry.loc).netloc == host:
            links.append(Sighting(entry.loc, Kind.SITEMAP, url))
        else:
            problems.append(f"{entry.loc} is on another host and not followed")
    return links, problems
