"""What an encoded payload is compared by, once unpacked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.changes.digest import labelled_digest

if TYPE_CHECKING:
    from sharc_crawler.changes.http import HttpResponse


def of_unpacked(message: HttpResponse, body: bytes | None) -> str | None:
    """The digest of an encoded payload's content; where that is not known (no ``body``), of the coding and the bytes.

    The same bytes are another page where they are said to be packed in another way.
    """
    codings = message.values(b"content-encoding")
    if not codings:
        return None
    return labelled_digest(b"%b %b" % (b", ".join(codings), message.digest.encode()) if body is None else body)
