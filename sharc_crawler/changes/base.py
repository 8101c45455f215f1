"""The port of what tells which parts of a page count as content.

A detector's class is called without arguments, or with the masks of the file that ``masks=`` names
(:class:`~sharc_crawler.changes.masks.Mask`).
"""

from __future__ import annotations

from typing import Protocol

from sharc_crawler.plugin_faults import fault, tried


class ChangeDetector(Protocol):
    """Sees what counts as content. Fingerprints are reported beside a judgement, which never rests on them."""

    def fingerprint(self, body: bytes, media_type: str | None) -> str | None:
        """A digest of what counts as content in a body (content-decoded); ``None`` where that cannot be told."""


LONGEST = 1_000  #: characters of a digest


class GuardedDetector:
    """A detector whose errors name it (``name``)."""

    def __init__(self, name: str, detector: ChangeDetector) -> None:
        self._who, self._detector = f"SHARC_DETECTOR={name!r}", detector

    def fingerprint(self, body: bytes, media_type: str | None) -> str | None:
        """The detector's fingerprint; raises :class:`~sharc_crawler.errors.DataError` where it fails."""
        found = tried(self._who, lambda: self._detector.fingerprint(body, media_type))
        if found is not None and not isinstance(found, str):
            raise fault(self._who, f"answered with {type(found).__name__}, not text")
        if found is not None and not (found.isprintable() and len(found) <= LONGEST):
            raise fault(self._who, f"answered with {found!r:.60}, not with up to {LONGEST:,} printable characters")
        return found
