"""| A fetch under way: from its lease to a Scrapy request, and from a Scrapy response to its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from scrapy import Request, Spider
from scrapy.http import Headers, Response

from sharc_crawler.addresses.urls import is_usual
from sharc_crawler.changes.http import classify, target
from sharc_crawler.evidence.headers import header_bytes, of_headers
from sharc_crawler.model import CaptureRef, Fetch, Instant, Kind, Outcome, Result, Seconds, Sighting, Slot

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future

    from scrapy.settings import BaseSettings

    from sharc_crawler.live.reading.readings import Reading, WhenRead


@dataclass(slots=True)
class Lease:
    """A fetch under way, and what is known of it so far."""

    fetch: Fetch
    hops: int = 0  #: redirects and retries by a project's own middlewares
    repeated: int = 0  #: retries among these
    led: str | None = None  #: target of the last redirect
    outcome: Outcome | None = None
    links: Sequence[Sighting] = ()
    written: asyncio.Future[CaptureRef] | None = None  #: the place of its record, once that is on disk
    hopped: list[Request] = field(default_factory=list)  #: redirects that the duplicate filter has seen
    reading: WhenRead | None = None  #: what its document holds, once read
    rendering: Future[Reading] | None = None  #: what its document names after its scripts ran
    withheld: bool = False  #: it was not sent, and is repeated
    unwritten: str = ""  #: why it was not archived, where there was no room: it is repeated
    fault: str = ""  #: what was wrong other than room: the disk or share failed

    @property
    def done(self) -> bool:
        """Whether nothing of it is still being written, read or rendered."""
        written, reading, rendering = self.written, self.reading, self.rendering
        done = (written is None or written.done()) and (reading is None or reading.done())
        return done and (rendering is None or rendering.done())


SENT_KEY = "sharc_sent"  #: in ``request.meta``: when a request without wire tap was sent
META_KEY = "sharc"  #: our key in ``request.meta``; its value is the :class:`~sharc_crawler.model.Fetch`


class Sent(NamedTuple):
    """What a request carries besides its URL, equal at both downloads."""

    headers: Mapping[str, str] = MappingProxyType({})
    method: str = "GET"
    body: bytes = b""


def conditions(fetch: Fetch, method: str = "GET") -> dict[str, bytes]:
    """The conditional headers (RFC 9110, 13.1) of a fetch: the validators of the first visit or of a former capture,
    byte for byte. At a second download caches are told to ask the origin (RFC 9111, 5.2.1.4).
    """
    revisit = fetch.slot is Slot.SECOND and fetch.kind is not Kind.HUB
    headers = {"Cache-Control": b"no-cache", "Pragma": b"no-cache"} if revisit else {}
    if method != "GET":  # an unchanged answer would be an error there (RFC 9110, 13.1.2)
        return headers
    if fetch.validators.etag:
        headers["If-None-Match"] = header_bytes(fetch.validators.etag)
    if fetch.validators.last_modified:
        headers["If-Modified-Since"] = header_bytes(fetch.validators.last_modified)
    return headers


def usual_headers(settings: BaseSettings, codings: Sequence[str]) -> Headers:
    """The headers of every request of a capture spider, which Scrapy's middlewares would add one by one."""
    headers = Headers({"Accept-Encoding": ", ".join(codings) or "identity"})
    for name, text in settings["DEFAULT_REQUEST_HEADERS"].items():
        if text is not None:
            headers.setdefault(name, text)
    if settings["USER_AGENT"]:
        headers.setdefault("User-Agent", settings["USER_AGENT"])
    return headers


def request_for(fetch: Fetch, spider: Spider, sent: Sent, usual: Headers, timeout: Seconds) -> Request:
    """The request of a capture spider's fetch; every status comes back to the spider, and nothing is followed."""
    url, plain = fetch.url, is_usual(fetch.url)  # a usual URL needs no escaping, so it is not parsed
    if not url.isascii():
        from sharc_crawler.addresses.international import with_ascii_host  # rarely needed

        url = with_ascii_host(url)
    about = {"handle_httpstatus_all": True, "download_timeout": timeout, "verbatim_url": plain}
    request = Request(
        url,
        callback=spider.handle,  # type: ignore[attr-defined]
        errback=spider.failed,  # type: ignore[attr-defined]
        headers=sent.headers,
        method=sent.method,
        body=sent.body,
        meta={META_KEY: fetch, "download_slot": fetch.host, **about},
        dont_filter=True,
    )
    for name, values in dict.items(usual):  # as Scrapy spells and keeps them
        dict.setdefault(request.headers, name, values.copy())
    return request


def outcome_of(response: Response, length: int, started: Instant, ended: Instant) -> Outcome:
    """The outcome from a response's head; its body has ``length`` bytes."""
    location = target(response.url, next(iter(dict.get(response.headers, b"Location", ())), None))  # as verifying does
    result = classify(response.status, location)
    return Outcome(
        result,
        started,
        ended,
        status=response.status,
        location=location,
        length=length,
        **of_headers((name, value) for name, values in dict.items(response.headers) for value in values),
        error=f"status {response.status}" if result in (Result.FAILED, Result.REFUSED) else None,
        retry_after=_wish(response, ended) if result is Result.FAILED else None,
    )


def _wish(response: Response, now: Instant) -> Seconds | None:
    from sharc_crawler.live.retry_after import header, retry_after  # only after an error

    return retry_after(header(response, "Retry-After"), now)
