"""The detector that a capture uses unless told otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.changes.compare import Comparison, compare
from sharc_crawler.changes.fingerprint import DEFAULT_RULES, FingerprintRules, fingerprint

if TYPE_CHECKING:
    from sharc_crawler.model import Outcome


class ContentDetector:
    """Payloads compared by their bytes; fingerprints of what counts as content beside them."""

    def __init__(self, rules: FingerprintRules = DEFAULT_RULES) -> None:
        self.rules = rules

    def fingerprint(self, body: bytes, media_type: str | None) -> str | None:
        """:func:`sharc_crawler.changes.fingerprint.fingerprint` by this detector's rules."""
        return fingerprint(body, media_type, self.rules)

    def compare(self, old: Outcome, new: Outcome) -> Comparison:
        """:func:`sharc_crawler.changes.compare.compare`."""
        return compare(old, new)
