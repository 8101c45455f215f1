"""The detector that a capture uses unless told otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.changes.compare import Comparison, compare
from sharc_crawler.changes.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.changes.masks import Mask
    from sharc_crawler.model import Outcome


class ContentDetector:
    """Payloads compared by their bytes; fingerprints of what counts as content beside them."""

    def __init__(self, masks: Sequence[Mask] = ()) -> None:
        self.masks = masks

    def fingerprint(self, body: bytes, media_type: str | None) -> str | None:
        """:func:`sharc_crawler.changes.fingerprint.fingerprint` by this detector's masks."""
        return fingerprint(body, media_type, self.masks)

    def compare(self, old: Outcome, new: Outcome) -> Comparison:
        """:func:`sharc_crawler.changes.compare.compare`."""
        return compare(old, new)
