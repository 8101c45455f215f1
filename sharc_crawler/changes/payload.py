"""All that a response's payload is compared by, in one reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.changes.coding import decoded
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.changes.http import parse_response

if TYPE_CHECKING:
    from sharc_crawler.changes.base import ChangeDetector
    from sharc_crawler.changes.http import HttpResponse

_OK = 200


class Payload(NamedTuple):
    """Digests of a payload; ``None`` where there is nothing to take them of."""

    digest: str | None = None  #: as sent: transfer-decoded, content-encoded
    decoded: str | None = None  #: content-decoded, where it was encoded
    fingerprint: str | None = None  #: of what counts as content


def examine(response: bytes, detector: ChangeDetector | None) -> Payload:
    r"""Digests of a raw response and, where a detector is given, its fingerprint (most of the time that this takes).

    >>> from sharc_crawler.changes.content import ContentDetector
    >>> examine(b"HTTP/1.1 200 OK\r\n\r\nhello", ContentDetector()).decoded is None
    True
    """
    message = parse_response(response)
    if message is None:
        return Payload()
    digest, unpacked, body = _digests(message)
    kind = message.header(b"content-type")
    if body is None or detector is None or message.status != _OK:
        return Payload(digest, unpacked)
    return Payload(digest, unpacked, detector.fingerprint(bytes(body), kind.decode("latin-1") if kind else None))


def digests(message: HttpResponse) -> tuple[str, str | None]:
    """Digests of a response's payload as sent and, where it was encoded, decoded."""
    return _digests(message)[:2]


def _digests(message: HttpResponse) -> tuple[str, str | None, bytes | memoryview | None]:
    payload = message.payload
    digest = labelled_digest(payload)
    codings = message.values(b"content-encoding")
    if not codings:
        return digest, None, payload
    body = decoded(payload, codings)
    return digest, labelled_digest(body) if body is not None else None, body
