"""| An exchange rebuilt from Scrapy's objects, for download handlers that keep no wire bytes."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.python import global_object_name

from sharc_crawler.evidence.claim import UNSEEN
from sharc_crawler.live.requests import META_KEY
from sharc_crawler.live.wire.handler import WireTapHandler
from sharc_crawler.model import Exchange, Fetch, Instant

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Headers, Response
    from scrapy.settings import BaseSettings

    from sharc_crawler.live.middlewares import ArchiveMiddleware
    from sharc_crawler.live.session import Session

REBUILT = "headers rebuilt by the HTTP library, not kept from the wire"


def others_handlers(settings: BaseSettings) -> dict[str, object]:
    """Download handlers other than ours, by scheme."""
    ours = (WireTapHandler, f"{WireTapHandler.__module__}.{WireTapHandler.__name__}")
    handlers = settings.getwithbase("DOWNLOAD_HANDLERS")
    return {scheme: handlers[scheme] for scheme in ("http", "https") if handlers.get(scheme) not in ours}


def handed_on(
    middleware: ArchiveMiddleware,
    session: Session,
    settings: BaseSettings,
    request: Request,
    response: Response,
    sent: Instant,
) -> Exchange | None:
    """The exchange as another handler reports it, noting that; ``None``: a middleware made the answer up."""
    others, scheme = others_handlers(settings), urlparse_cached(request).scheme
    if scheme in {"http", "https"} - others.keys():
        return None
    fetch: Fetch | None = request.meta.get(META_KEY)
    if fetch is not None and not middleware.is_void(fetch):
        handler = settings.getwithbase("DOWNLOAD_HANDLERS").get(scheme)
        name = handler if isinstance(handler, str) else global_object_name(handler)
        session.sites.of(fetch).note(
            f"{UNSEEN}: answers are as another download handler ({name}) handed them on, and records were rebuilt from"
            " that. If it answers from memory, pages that changed are taken for unchanged"
        )
    return rebuilt(request, response, sent, session.clock.now())


def rebuilt(request: Request, response: Response, started: Instant, ended: Instant) -> Exchange:
    """The exchange with headers in Scrapy's order and case and a de-chunked body, marked as normalised."""
    target = urlparse_cached(request)
    path = f"{target.path or '/'}{'?' if target.query else ''}{target.query}".encode()
    head = request.method.encode() + b" " + path + b" HTTP/1.1\r\nHost: " + target.netloc.encode() + b"\r\n"
    try:
        reason = HTTPStatus(response.status).phrase
    except ValueError:
        reason = ""
    said = response.protocol or ""  # "h2" where it was HTTP/2, which has no status line: a record has that of HTTP/1.1
    status = f"{said if said.startswith('HTTP/') else 'HTTP/1.1'} {response.status} {reason}".encode()
    return Exchange(
        response.url,
        started,
        ended,
        head + _lines(request.headers) + b"\r\n" + request.body,
        status + b"\r\n" + _lines(response.headers) + b"\r\n" + response.body,
        ip=str(response.ip_address) if response.ip_address else None,
        normalised=REBUILT,
        untrusted="it was not looked at" if target.scheme == "https" else "",
    )


def failed(request: Request, error: BaseException, started: Instant, ended: Instant) -> Exchange:
    """An exchange without an answer."""
    return Exchange(request.url, started, ended, b"", b"", normalised=REBUILT, error=f"{type(error).__name__}: {error}")


def _lines(headers: Headers) -> bytes:
    """Header lines, without Transfer-Encoding: the body is not chunked any more."""
    return b"".join(
        name + b": " + value + b"\r\n"
        for name, values in headers.items()
        for value in values
        if name.lower() != b"transfer-encoding"
    )
