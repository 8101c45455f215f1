"""| Reads a response in one go: digests, fingerprint, links. Pure; it runs in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sharc_crawler import plugins
from sharc_crawler.addresses.unlikely import with_sayings
from sharc_crawler.bodies.coding import LIMIT, unheard_of, unpacked
from sharc_crawler.bodies.markup import parsed
from sharc_crawler.changes.content import ContentDetector
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.changes.http import HttpResponse, parse_response
from sharc_crawler.changes.masks import load_masks
from sharc_crawler.changes.noise import plain_text
from sharc_crawler.changes.packed import digest_unpacked
from sharc_crawler.errors import UsageError
from sharc_crawler.evidence.headers import header_text
from sharc_crawler.links import document, html, sitemap
from sharc_crawler.links.entries import SitemapKind
from sharc_crawler.links.found import LIMIT as MOST_LINKS
from sharc_crawler.links.found import Found
from sharc_crawler.links.robots_text import robots_text
from sharc_crawler.live.reading.readings import Order, Payload, Reading, Wants
from sharc_crawler.live.reading.word_digest import words
from sharc_crawler.model import Kind, LinkColumns, Sighting
from sharc_crawler.polling.reading import hub_sightings, sitemap_sightings

if TYPE_CHECKING:
    from sharc_crawler.bodies.spool import Octets
    from sharc_crawler.changes.base import ChangeDetector


_OK = 200
_FEEDS = {f"{kind}/{name}" for kind in ("application", "text") for name in ("rss+xml", "atom+xml", "rdf+xml", "xml")}


def detector_of(detector: str, masks: str | None) -> ChangeDetector:
    """The named detector with the masks of a file; raises SharcError if it cannot be made."""
    factory = plugins.load("detector", detector)
    given = (load_masks(Path(masks)),) if masks else ()
    try:
        made: ChangeDetector = factory(*given)
        made.fingerprint  # noqa: B018 - another class may have been named
    except Exception as error:
        why = f"{type(error).__name__}: {error}{'; one that knows no masks goes without masks=' if masks else ''}"
        raise UsageError(f"SHARC_DETECTOR={detector!r} does not make a detector: {why}") from error
    if type(made) is ContentDetector:
        return made
    from sharc_crawler.changes.base import GuardedDetector  # only for a detector plug-in

    return GuardedDetector(detector, made)


def read(raw: Octets, order: Order, detector: ChangeDetector) -> Reading:
    """Read what a server sent: interim responses, head and body as they came."""
    message = parse_response(raw)
    if message is None:
        return Reading()
    codings = message.values(b"content-encoding")
    data, broken = found = unpacked(message.payload, codings)
    odd = broken or unheard_of(codings)
    payload = Payload(message.digest, digest_unpacked(message, found)) if order.digests else Payload()
    kind = _media_type(message)
    if not order.digests or not order.compared or odd or message.status != _OK:
        detector = _NONE
    if order.wants is Wants.ROBOTS:
        text, unreadable = robots_text(bytes(message.payload[:LIMIT]), codings)
        payload = payload._replace(fingerprint=detector.fingerprint(data, kind))
        return Reading(payload, robots=text, unreadable=unreadable and f"could not be read: {unreadable}")
    if order.wants is Wants.DOCUMENT and document.is_markup(kind) and not _known(payload, order):
        return _read_page(message, data, order, payload, detector, broken)
    payload = payload._replace(fingerprint=detector.fingerprint(data, kind))
    if order.wants is Wants.NOTHING or _known(payload, order):
        return Reading(payload)
    return _READERS[order.wants](data, order, kind, payload, (broken,) if broken else ())


def _media_type(message: HttpResponse) -> str | None:
    """The media type as browsers read it: the last of several, which proxies may have joined."""
    media_types = [part for value in message.values(b"content-type") for part in value.split(b",")]
    types = (part for part in reversed(media_types) if b"/" in (kind := part.partition(b";")[0]) and b'"' not in kind)
    return header_text(next(types, media_types[0] if media_types else None))


def _known(payload: Payload, order: Order) -> bool:
    """Whether the payload is known, so that its links are, too."""
    return order.known is not None and payload.digest == order.known


class _NoDetector:
    """A detector for crawls that compare nothing."""

    def fingerprint(self, body: bytes, media_type: str | None) -> None:  # noqa: ARG002
        return None


_NONE = _NoDetector()


def _read_page(
    message: HttpResponse, data: bytes, order: Order, payload: Payload, detector: ChangeDetector, broken: str | None
) -> Reading:
    """Read a page from one tree: links first, then text, then content."""
    kind = _media_type(message)
    page = parsed(data, kind)
    found = html.named(page, order.url, message.values(b"link"), message.values(b"refresh"))
    about, text = found.document, None
    if about and order.words and page.root is not None:
        said = html.shown(page.root)
        about = about._replace(words=words(said, found.resources, order.url))
        if order.says:
            from sharc_crawler.live.reading.word_checksums import word_checksums  # only for pages fetched once more

            shown = word_checksums(said, found.resources, order.url)
            about = about._replace(words=with_sayings(about.words, shown))
        text = labelled_digest(plain_text(said).encode()) if order.text else None
    if type(detector) is ContentDetector:
        payload = payload._replace(fingerprint=detector.fingerprint_of(page, data, kind))
    else:
        payload = payload._replace(fingerprint=detector.fingerprint(data, kind))
    problems = (*((broken,) if broken else ()), *(f"without {what}" for what in found.unread))
    return Reading(payload, _links(found, order.url), found.feeds, about, text=text, problems=problems)


def _read_document(data: bytes, order: Order, kind: str | None, payload: Payload, problems: tuple[str, ...]) -> Reading:
    if is_feed(kind):
        found_in = sitemap.read(data, order.url)
        entries = found_in.entries if found_in.kind in (SitemapKind.RSS, SitemapKind.ATOM) else []
        links = [Sighting(entry.loc, Kind.PAGE, order.url, entry.hints) for entry in entries[:MOST_LINKS]]
        more = len(entries) - len(links)
        links += _links(document.extract(data, order.url, kind), order.url)  # its style sheets
        cut = (f"without {more:,} references after the first {MOST_LINKS:,}",) if more else ()
        return Reading(payload, links, problems=cut)
    found = document.extract(data, order.url, kind)
    return Reading(payload, _links(found, order.url), problems=problems if document.is_read(kind) else ())


def _read_sitemap(data: bytes, order: Order, kind: str | None, payload: Payload, problems: tuple[str, ...]) -> Reading:  # noqa: ARG001
    links, more = _sitemap_links(data, order.url)
    return Reading(payload, links, problems=(*problems, *more))


def _read_news(data: bytes, order: Order, kind: str | None, payload: Payload, problems: tuple[str, ...]) -> Reading:  # noqa: ARG001
    return Reading(payload, sitemap_sightings(data, order.url), problems=problems)


def _read_hub(data: bytes, order: Order, kind: str | None, payload: Payload, problems: tuple[str, ...]) -> Reading:
    return Reading(payload, hub_sightings(data, order.url, kind), problems=problems)


def is_feed(content_type: str | None) -> bool:
    """Whether a document of this type may be a feed.

    >>> is_feed("application/rss+xml; charset=utf-8"), is_feed("text/xml"), is_feed("image/svg+xml"), is_feed(None)
    (True, True, False, False)
    """
    return (content_type or "").partition(";")[0].strip().lower() in _FEEDS


_READERS: dict[Wants, Callable[[bytes, Order, str | None, Payload, tuple[str, ...]], Reading]] = {
    Wants.DOCUMENT: _read_document,
    Wants.SITEMAP: _read_sitemap,
    Wants.NEWS: _read_news,
    Wants.HUB: _read_hub,
}


def _links(found: Found, via: str) -> LinkColumns:
    """Pages and resources that a document names. A frameset's frames are pages first: they stay what they are."""
    sizes = (Kind.RESOURCE, len(found.resources)), (Kind.PAGE, len(found.links)), (Kind.RESOURCE, len(found.frames))
    kinds = [one for kind, size in sizes for one in [kind] * size]
    return LinkColumns(via, [*found.resources, *found.links, *found.frames], kinds)


def _sitemap_links(data: bytes, url: str) -> tuple[list[Sighting], list[str]]:
    """The pages of a sitemap, or the sitemaps of an index that are on its own host."""
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


def read_here(raw: Octets, order: Order, terms: Mapping[str, Any]) -> Reading:
    """Read in the crawl's own process; ``terms``: the arguments of :func:`detector_of`."""
    return read(raw, order, detector_of(**{**terms, "masks": order.masks or terms["masks"]}))
