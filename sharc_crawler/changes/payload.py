"""All that a response's payload is compared by, in one reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.changes.digest import labelled_digest

if TYPE_CHECKING:
    from sharc_crawler.changes.http import HttpResponse


class Payload(NamedTuple):
    """Digests of a payload; ``None`` where there is nothing to take them of."""

    digest: str | None = None  #: as sent: transfer-decoded, content-encoded
    decoded: str | None = None  #: content-decoded, where it was encoded
    fingerprint: str | None = None  #: of what counts as content


def digests(message: HttpResponse, body: bytes | None) -> Payload:
    r"""Digests of a response. ``body`` is the payload with its content codings undone, ``None`` where they cannot be.

    >>> from sharc_crawler.changes.http import parse_response
    >>> digests(parse_response(b"HTTP/1.1 200 OK\r\n\r\nhello"), b"hello").decoded is None
    True
    """
    coded = body is not None and message.header(b"content-encoding") is not None
    return Payload(message.digest, labelled_digest(body) if body is not None and coded else None)
