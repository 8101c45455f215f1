"""Which recorded answers need not be listed in a certificate."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any
from urllib.parse import urlsplit

from sharc_crawler.addresses.unlikely import is_nobodys, is_unlikely
from sharc_crawler.addresses.urls import canonical
from sharc_crawler.certificate.material import Material, visits_of
from sharc_crawler.certificate.witness import Finding, RecordedExchange, Witness, has_content
from sharc_crawler.changes.http import HttpResponse, classify
from sharc_crawler.evidence.headers import header_text
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.instants import unix
from sharc_crawler.model import Result

Document = Mapping[str, Any]

NOTE = "The WARC files do not support the crawl's verdicts on"  #: begins the note on restated pages
ASKED_AGAIN = "Nothing is claimed of"  #: begins it where the site's pages differ each time, and nobody is at fault
RESTATED = (Reason.REFUTED, Reason.ASKED_AGAIN)  #: reasons of restated pages
_LATEST = 600.0  #: seconds before an interruption in which downloads may not have been noted


def is_restating(note: str) -> bool:
    """Does a note say that pages were restated?"""
    return note.startswith((NOTE, ASKED_AGAIN))


def unexcused(
    left: Sequence[RecordedExchange],
    witness: Witness,
    source: Material,
    documents: Sequence[Document],
    entries: Iterable[Mapping[str, Any]],
) -> list[RecordedExchange]:
    """Those of the unlisted exchanges ``left`` that are neither excused nor were read as sitemaps."""
    known = Known({canonical(exchange.uri) for exchange in left}, documents, witness.at)
    for entry in entries:
        known.add(entry)
    found = [exchange for exchange in left if not known.excuses(exchange)]
    if not found:
        return []
    from sharc_crawler.certificate.named_sitemaps import named_sitemaps  # rarely needed

    named = named_sitemaps(left, witness, source.warcs, documents)
    return [exchange for exchange in found if canonical(exchange.uri) not in named]


class Known:
    """What certificates say of the URLs that also have unlisted answers."""

    def __init__(
        self,
        urls: Container[str | None],
        documents: Sequence[Document],
        at: Callable[[str], RecordedExchange | None] = lambda _: None,
    ) -> None:
        """``at`` finds the exchange at a place."""
        self._urls, self._at = urls, at
        self._stated: dict[str | None, list[Mapping[str, Any]]] = {}  # visits and revisits
        self._former = defaultdict[str | None, list[Mapping[str, Any]]](list)  # earlier visits: they excuse no attempt
        self._ended = max((one["capture"]["ended"] for one in documents), default="")
        self._again: set[str | None] = set()  # pages with an excused further download
        self._spare: Counter[str | None] = Counter()  # stated attempts beyond the first
        self._visited: dict[str | None, float] = {}  # instants of the first visits
        notes = (note for document in documents for note in document["capture"].get("notes", ()))
        self._restated = any(map(is_restating, notes))
        self._refuted: set[str | None] = set()  # restated pages
        self._cuts = [
            (unix(one["from"]) - _LATEST, unix(one["to"]))
            for document in documents
            for one in document["capture"]["interruptions"]
        ]

    def add(self, entry: Mapping[str, Any]) -> None:
        """Add a page of a certificate."""
        if (url := canonical(entry["url"])) in self._urls:
            self._refuted.update([url] if self._restated and entry.get("reason") in RESTATED else [])
            standing = [one for part in ("visit", "revisit") if (one := entry.get(part))]
            answered = all(one["file"] for one in standing)  # failed downloads show nothing
            self._stated.setdefault(url, []).extend(standing if answered else ())
            self._former[url].extend(entry.get("former", ()) if answered else ())
            if visit := entry.get("visit"):
                self._visited[url] = min(unix(visit["date"]), self._visited.get(url, math.inf))
            self._spare[url] += sum(max(one["attempts"] - 1, 0) for one in visits_of(entry))

    def excuses(self, exchange: RecordedExchange) -> bool:
        """Is an unlisted answer permitted?"""
        message, uri = exchange.message, exchange.uri
        assert message is not None, "asked of answers"
        url = uri if is_nobodys(uri) else canonical(uri)  # a made-up URL may differ in what canonical() drops
        if url in self._refuted:
            return True
        if url not in self._stated:
            return is_no_page(exchange)
        if any(start <= unix(exchange.date) <= end for start, end in self._cuts):
            return True
        if url not in self._again and self._is_as_stated(exchange, [*self._stated[url], *self._former[url]]):
            self._again.add(url)  # downloaded again to compare its links (traps)
            return True
        self._spare[url] -= 1  # interruptions are excused above: they are not among the stated attempts
        # some hosts throttle with 403
        early = not has_content(exchange) and unix(exchange.date) < self._visited.get(url, -math.inf)
        empty = early or classify(message.status, None) in (Result.FAILED, Result.NOT_MODIFIED)  # shows nothing
        same = any(self._shows_the_same(one, exchange) for one in self._stated[url])
        return self._spare[url] >= 0 and (empty or same)

    def _is_as_stated(self, exchange: RecordedExchange, stated: Sequence[Mapping[str, Any]]) -> bool:
        """Did it bring the same as the download before or after it?"""
        before = max((one for one in stated if one["date"] < exchange.date), key=_date, default=None)
        after = min((one for one in stated if one["date"] > exchange.date), key=_date, default=None)
        within = before is not None and exchange.date <= self._ended
        return within and any(one and self._shows_the_same(one, exchange) for one in (before, after))

    def _shows_the_same(self, stated: Mapping[str, Any], exchange: RecordedExchange) -> bool:
        """Did it bring the same as a stated download? For a 304 or a page not requested, see the former capture."""
        own, message = self._at(f"{stated['file']}:{stated['offset']}"), exchange.message
        if message is None or ("server" not in stated and stated.get("status") != _NOT_MODIFIED):
            return _shows_the_same(own, exchange)
        same = (stated["uri"], stated["digest"], _OK) == (exchange.uri, exchange.digest, message.status)
        kind = own is None or own.media_type == header_text(message.header(b"content-type"))
        return same and kind and not any(name.lower() in _LEADS_ON for name, _ in message.headers)


_date = itemgetter("date")
_OK, _NOT_MODIFIED = 200, 304
_LEADS_ON = b"location", b"refresh"

_SHOWN = re.compile(rb"html|pdf|image|video|audio|script|css|json", re.IGNORECASE)
_LISTED = re.compile(rb"xml|gzip|zip|octet-stream", re.IGNORECASE)  #: media types of sitemaps
_LISTS = re.compile(r"(sitemap|urllist)[^/]*$")  #: paths of plain-text sitemaps
_ALWAYS_ASKED_FOR = {"/robots.txt", "/sitemap.xml"}


def is_no_page(exchange: RecordedExchange) -> bool:
    """Did it bring no content, or is it robots.txt, a sitemap or a made-up URL: read by the crawl, but no page?"""
    message = exchange.message
    if message is None or not has_content(exchange):
        return True
    path = urlsplit(exchange.uri).path.lower()
    if path in _ALWAYS_ASKED_FOR or is_unlikely(exchange.uri) or is_nobodys(exchange.uri):
        return True
    kind = message.header(b"content-type") or b"html"
    if b"plain" in kind:
        return _LISTS.search(path) is not None
    return _SHOWN.search(kind) is None and _LISTED.search(kind) is not None


_DECIDING = (b"content-", b"location", b"refresh", b"link", b"etag", b"last-modified")  #: beginnings of header names


def _shows_the_same(stated: RecordedExchange | None, exchange: RecordedExchange) -> bool:
    one, other = stated.message if stated else None, exchange.message
    if stated is None or one is None or other is None or (stated.uri, stated.digest) != (exchange.uri, exchange.digest):
        return False
    return one.status == other.status and _deciding(one) == _deciding(other)


def _deciding(message: HttpResponse) -> list[tuple[bytes, bytes]]:
    """The headers that decide what is shown, and its validators."""
    return sorted((name.lower(), value) for name, value in message.headers if name.lower().startswith(_DECIDING))


def out_of_time(witness: Witness, documents: Sequence[Document]) -> Iterator[Finding]:
    """robots.txt and sitemaps read before the start or after the end: no certificate lists them.

    A project's own spider may do so.
    """
    captures = [document["capture"] for document in documents]
    started, ended = min(one["started"] for one in captures), max(one["ended"] for one in captures)
    for one in witness if not any("spider" in capture["settings"] for capture in captures) else ():
        if has_content(one) and is_no_page(one) and not started <= one.date <= ended:
            yield Finding("it is not between start and end", one.file, one.offset, one.uri)
