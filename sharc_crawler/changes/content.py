"""The detector that a capture uses unless told otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.changes.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.changes.masks import Mask


class ContentDetector:
    """Fingerprints of what counts as content, without what masks leave out."""

    def __init__(self, masks: Sequence[Mask] = ()) -> None:
        self.masks = masks

    def fingerprint(self, body: bytes, media_type: str | None) -> str | None:
        """:func:`sharc_crawler.changes.fingerprint.fingerprint` by this detector's masks."""
        return fingerprint(body, media_type, self.masks)
