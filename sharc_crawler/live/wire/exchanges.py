"""An exchange rebuilt from Scrapy's objects, where a project's own download handler keeps no wire bytes."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from scrapy.utils.httpobj import urlparse_cached

from sharc_crawler.model import Exchange

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Headers, Response

    from sharc_crawler.model import Instant


def rebuilt(request: Request, response: Response, started: Instant, ended: Instant) -> Exchange:
    """Headers in Scrapy's order and case, the body de-chunked: the record says that it is normalised."""
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
