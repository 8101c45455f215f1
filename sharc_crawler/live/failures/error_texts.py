"""| Why a request got no answer, in words for the report."""

from __future__ import annotations

import re
from collections.abc import Callable
from os import strerror
from typing import TYPE_CHECKING, Any

from OpenSSL import SSL
from scrapy.core.downloader.handlers.http11 import TunnelError
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    ResponseDataLossError,
    StopDownload,
)
from service_identity import CertificateError, VerificationError
from twisted.internet.error import ConnectError, ConnectionAborted, ConnectionDone, ConnectionLost

from sharc_crawler.links.robots import wants_password
from sharc_crawler.live.wire.addresses import AddressRefusedError

if TYPE_CHECKING:
    from sharc_crawler.live.wire.tap import Tap

    Words = tuple[tuple[type[Exception], str | Callable[[Any], str]], ...]


def _unconnected(error: Any) -> str:
    return f"no connection: {strerror(error.osError).lower()}" if error.osError else "no connection"


def _tls(error: SSL.Error) -> str:
    untrusted = "certificate verify failed" in str(error)
    return "the TLS certificate is not trusted" if untrusted else f"TLS failed: {_joined(error.args)}"


_CONNECT = re.compile(r"with proxy (\S+) \[\{'status': (\d+)")
_CLOSED = {"403", "407"}  #: statuses with which a proxy refuses a connection for good


def _unopened(error: TunnelError) -> str:
    found = _CONNECT.search(str(error))
    if found is None:
        return f"the proxy opens no connection: {error}"
    text = f"status {found[2]}{wants_password(int(found[2]))}"
    if found[2] in _CLOSED:
        return f"closed by the proxy {found[1]}: {text}"
    return f"the proxy {found[1]} opens no connection: {text}"


def _invalid(error: Exception) -> str:
    return f"no valid HTTP: {_joined(error.args[:1]).removeprefix('Invalid response: ')}"


def _joined(parts: Any) -> str:
    """Nested texts and bytes, joined."""
    if isinstance(parts, bytes):
        return parts.decode("latin-1")
    return " ".join(filter(None, map(_joined, parts))) if isinstance(parts, tuple | list) else str(parts)


_MISNAMED = "the TLS certificate is not issued for this name"
#: the first that fits counts; otherwise the class name is used
_WORDS: Words = (
    (AddressRefusedError, str),
    (CannotResolveHostError, "no such host"),
    (DownloadConnectionRefusedError, "connection refused"),
    (DownloadTimeoutError, "no answer in time"),
    (DownloadCancelledError, "larger than DOWNLOAD_MAXSIZE"),
    (ResponseDataLossError, "cut short"),
    (TunnelError, _unopened),
    (ConnectError, _unconnected),
)
#: the same for the reasons that Twisted attaches to an error
_REASONS: Words = (
    (SSL.Error, _tls),
    (VerificationError, _MISNAMED),
    (CertificateError, _MISNAMED),
    (ConnectionAborted, "headers without end"),  # we hang up for no other reason
    (ConnectionDone, "connection closed before an answer"),
    (ConnectionLost, "connection broken off before an answer"),
    (KeyError, lambda error: f"no valid HTTP: unknown transfer coding {_joined(error.args)}"),
    (Exception, _invalid),  # other errors of the parser
)
_LONGEST = 200


def plain(error: Exception) -> str:
    """An exception of the downloader in one line.

    >>> plain(DownloadConnectionRefusedError("Connection was refused by other side: 111."))
    'connection refused'
    >>> plain(TypeError("odd"))
    'TypeError: odd'
    """
    words = _words(_WORDS, error)
    for reason in _reasons(error):
        words = words or _words(_REASONS, reason)
    return (words or f"{type(error).__name__}: {inner(error)}".rstrip(": "))[:_LONGEST]


def _words(table: Words, error: Exception) -> str | None:
    words = next((words for kind, words in table if isinstance(error, kind)), None)
    return words(error) if callable(words) else words


def inner(error: Exception) -> str:
    """The message of an error, or of the errors that Twisted and Scrapy wrapped in it."""
    return "; ".join(dict.fromkeys(map(str, _reasons(error)))) or str(error)


def _reasons(error: Exception) -> list[Exception]:
    return [reason.value for reason in getattr(error.__cause__ or error, "reasons", ())]


_TRUNCATIONS = {DownloadCancelledError: "length", DownloadTimeoutError: "time", StopDownload: "unspecified"}


def truncation(error: Exception, tap: Tap) -> str | None:
    """Why the response is incomplete, as a value of WARC-Truncated."""
    if tap.fault:
        return "unspecified"
    return _TRUNCATIONS.get(type(error), "disconnect") if tap.size else None
