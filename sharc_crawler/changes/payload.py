"""All that a response's payload is compared by, in one reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.changes.digest import labelled_digest

if TYPE_CHECKING:
    from sharc_crawler.changes.http import HttpResponse


class Payload(NamedTuple):
    """Digests of a payload; ``None`` where there is nothing to take them of."""

    digest: str | None = None  #: as sent: transfer-decoded, content-encoded
    decoded: str | None = None  #: content-decoded, where it was encoded (:func:`of_unpacked`)
    fingerprint: str | None = None  #: of what counts as content


def digests(message: HttpResponse, body: bytes | None) -> Payload:
    r"""Digests of a response. ``body`` is the payload with its content codings undone, ``None`` where they cannot be.

    >>> from sharc_crawler.changes.http import parse_response
    >>> digests(parse_response(b"HTTP/1.1 200 OK\r\n\r\nhello"), b"hello").decoded is None
    True
    """
    return Payload(message.digest, of_unpacked(message, body))


def of_unpacked(message: HttpResponse, body: bytes | None) -> str | None:
    """Of an encoded payload's content, as :func:`digests` has it; where that is not known, of the coding and the bytes.

    The same bytes are another page where they are said to be packed in another way.
    """
    codings = message.values(b"content-encoding")
    if not codings:
        return None
    return labelled_digest(b"%b %b" % (b", ".join(codings), message.digest.encode()) if body is None else body)
