"""Digests of unpacked payloads, marked if they cannot be unpacked completely."""

from __future__ import annotations

from collections.abc import Sequence

from sharc_crawler.bodies.coding import Unpacked, undone_by, unheard_of, unpacked
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.changes.http import BROKEN, CUT, HttpResponse


def digest_unpacked(message: HttpResponse, found: Unpacked | None = None, digest: str | None = None) -> str | None:
    """The digest of a packed payload's content; if it cannot be unpacked, of coding and bytes (:func:`as_sent`).

    ``found``: its content, if it was unpacked already; ``digest``: the payload's, if another answer stores it.
    """
    codings = message.values(b"content-encoding")
    if not codings:
        return None
    found = found or unpacked(message.payload, codings)
    if not found.problem and not unheard_of(codings):
        return labelled_digest(found.data)
    mark = (CUT if found.cut else BROKEN) if found.problem else ""
    return f"{mark}{as_sent(codings, digest or message.digest)}"


def as_sent(codings: Sequence[bytes], digest: str) -> str | None:
    """The digest of a packed payload's coding and bytes: the same bytes with another coding are another page."""
    return labelled_digest(b"%b %b" % (b", ".join(undone_by(codings)), digest.encode())) if codings else None
