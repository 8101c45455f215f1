"""Which recorded answers were read as sitemaps: those that a recorded robots.txt or sitemap index names or leads to.

Their content does not matter: for a sitemap that is not there, many sites answer with an error page of status 200.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any
from urllib.parse import urljoin, urlsplit

from sharc_crawler.addresses.urls import canonical
from sharc_crawler.archive.members import Record, read_at
from sharc_crawler.bodies.coding import decoded
from sharc_crawler.certificate.witness import RecordedExchange, Witness
from sharc_crawler.changes.http import HttpResponse, parse_response
from sharc_crawler.evidence.headers import header_text
from sharc_crawler.links import sitemap
from sharc_crawler.links.entries import SitemapKind
from sharc_crawler.links.robots_rules import robots_sitemaps
from sharc_crawler.links.robots_text import robots_text

Warcs = Mapping[str, Callable[[], IO[bytes]]]

_OK, _REDIRECTS = 200, range(300, 400)
_ROBOTS, _WELL_KNOWN = "/robots.txt", "/sitemap.xml"


def named_sitemaps(
    left: Sequence[RecordedExchange], witness: Witness, warcs: Warcs, documents: Iterable[Mapping[str, Any]]
) -> set[str | None]:
    """Canonical URLs of those unlisted exchanges (``left``) that were read as sitemaps or robots.txt."""
    by_url: dict[str | None, list[RecordedExchange]] = defaultdict(list)
    for exchange in left:
        by_url[canonical(exchange.uri)].append(exchange)
    given = (url.strip() for one in documents for url in str(one["capture"]["settings"].get("sitemap", "")).split(","))
    waiting: list[tuple[str | None, bool]] = [(url, False) for url in map(canonical, given)]
    for url in by_url:
        path = urlsplit(url or "").path.lower()
        waiting += [(url, path == _ROBOTS)] if path in {_ROBOTS, _WELL_KNOWN} else []
    known: set[tuple[str | None, bool]] = set()
    while waiting:
        place = url, is_robots = waiting.pop()
        if url not in by_url or place in known:
            continue
        known.add(place)
        for exchange in by_url[url]:
            waiting += ((canonical(name), robots) for name, robots in _names(exchange, is_robots, witness, warcs))
    return {url for url, _ in known}


def _names(exchange: RecordedExchange, is_robots: bool, witness: Witness, warcs: Warcs) -> Iterator[tuple[str, bool]]:
    """URLs that a robots.txt or sitemap names or redirects to, each with whether it is a robots.txt."""
    message = exchange.message
    if message is not None and message.status in _REDIRECTS:
        where = header_text(message.header(b"location"))
        yield from ((_joined(exchange.uri, where), is_robots),) if where else ()
    elif message is not None and message.status == _OK and (answer := answered(exchange, witness, warcs)):
        codings = answer.values(b"content-encoding")
        if is_robots:
            text, _ = robots_text(bytes(answer.payload), codings)
            yield from ((name, False) for name in robots_sitemaps(text, exchange.uri))
        else:
            found = sitemap.read(decoded(answer.payload, codings) or b"", exchange.uri)
            yield from ((one.loc, False) for one in found.entries if found.kind is SitemapKind.INDEX)


def _joined(base: str, where: str) -> str:
    try:
        return urljoin(base, where)
    except ValueError:
        return ""


def answered(exchange: RecordedExchange, witness: Witness, warcs: Warcs) -> HttpResponse | None:
    """The answer with its body; ``None``: the body lies in another capture."""
    holder = witness.of(exchange.holder) if exchange.holder else exchange
    if holder is None or holder.kind != "response":
        return None
    with warcs[holder.file]() as stream:
        record = read_at(stream, holder.offset)
    return parse_response(record.block) if isinstance(record, Record) else None
