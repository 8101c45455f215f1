"""All that a response's payload is compared by, in one reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.changes.digest import labelled_digest

if TYPE_CHECKING:
    from sharc_crawler.changes.base import ChangeDetector
    from sharc_crawler.changes.http import HttpResponse

_OK = 200


class Payload(NamedTuple):
    """Digests of a payload; ``None`` where there is nothing to take them of."""

    digest: str | None = None  #: as sent: transfer-decoded, content-encoded
    decoded: str | None = None  #: content-decoded, where it was encoded
    fingerprint: str | None = None  #: of what counts as content


def examine(message: HttpResponse, body: bytes | None, detector: ChangeDetector | None) -> Payload:
    r"""Digests of a response and, where a detector is given, its fingerprint (most of the time that this takes).

    ``body`` is the payload with its content codings undone, ``None`` where they cannot be.

    >>> from sharc_crawler.changes.content import ContentDetector
    >>> from sharc_crawler.changes.http import parse_response
    >>> examine(parse_response(b"HTTP/1.1 200 OK\r\n\r\nhello"), b"hello", ContentDetector()).decoded is None
    True
    """
    coded = body is not None and message.header(b"content-encoding") is not None
    unpacked = labelled_digest(body) if body is not None and coded else None
    if body is None or detector is None or message.status != _OK:
        return Payload(message.digest, unpacked)
    kind = message.header(b"content-type")
    fingerprint = detector.fingerprint(body, kind.decode("latin-1") if kind else None)
    return Payload(message.digest, unpacked, fingerprint)
