"""The port of all that tells whether a page changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sharc_crawler.changes.compare import Comparison
    from sharc_crawler.model import Outcome


class ChangeDetector(Protocol):
    """Sees what counts as content, and compares two fetches."""

    def fingerprint(self, body: bytes, media_type: str | None) -> str | None:
        """A digest of what counts as content in a body (content-decoded); ``None`` where that cannot be told."""

    def compare(self, old: Outcome, new: Outcome) -> Comparison:
        """Whether what ``old`` showed had changed when ``new`` was fetched. Never takes a fingerprint for evidence."""
