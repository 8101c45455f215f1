"""The port of what tells which parts of a page count as content.

A detector's class is called without arguments, or with the masks of the file that ``masks=`` names
(:class:`~sharc_crawler.changes.masks.Mask`).
"""

from __future__ import annotations

from typing import Protocol


class ChangeDetector(Protocol):
    """Sees what counts as content. Fingerprints are reported beside a judgement, which never rests on them."""

    def fingerprint(self, body: bytes, media_type: str | None) -> str | None:
        """A digest of what counts as content in a body (content-decoded); ``None`` where that cannot be told."""
