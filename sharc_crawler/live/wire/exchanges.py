"""An exchange rebuilt from Scrapy's objects, where a project's own download handler keeps no wire bytes."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from scrapy.utils.httpobj import urlparse_cached

from sharc_crawler.live.wire.handler import WireTapHandler
from sharc_crawler.model import Exchange

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Headers, Response
    from scrapy.settings import BaseSettings

    from sharc_crawler.model import Instant


def others_handlers(settings: BaseSettings) -> dict[str, object]:
    """Download handlers that are not ours, by scheme: a project's own, or Scrapy's where there is no reactor."""
    ours = (WireTapHandler, f"{WireTapHandler.__module__}.{WireTapHandler.__name__}")
    handlers = settings.getwithbase("DOWNLOAD_HANDLERS")
    return {scheme: handlers[scheme] for scheme in ("http", "https") if handlers.get(scheme) not in ours}


def rebuilt(
    settings: BaseSettings, request: Request, response: Response, started: Instant, ended: Instant
) -> Exchange | None:
    """Headers in Scrapy's order and case, the body de-chunked: the record says that it is normalised.

    ``None``: our handler would have kept the bytes; a middleware nearer to the downloader made the answer up.
    """
    target = urlparse_cached(request)
    if target.scheme in {"http", "https"} - others_handlers(settings).keys():
        return None
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
        normalised=True,
        untrusted="it was not looked at" if target.scheme == "https" else "",
    )


def failed(request: Request, error: BaseException, started: Instant, ended: Instant) -> Exchange:
    """An exchange that brought nothing."""
    return Exchange(request.url, started, ended, b"", b"", normalised=True, error=f"{type(error).__name__}: {error}")


def _lines(headers: Headers) -> bytes:
    """Header lines; the body is no longer chunked, so nothing may say that it is."""
    return b"".join(
        name + b": " + value + b"\r\n"
        for name, values in headers.items()
        for value in values
        if name.lower() != b"transfer-encoding"
    )
