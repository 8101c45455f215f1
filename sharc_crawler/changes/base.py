"""The port of change detectors, which tell what parts of a page count as content.

A detector's class is called without arguments, or with the masks in the file of ``masks=``
(:class:`~sharc_crawler.changes.masks.Mask`).
"""

from __future__ import annotations

from typing import Protocol

from sharc_crawler.plugin_faults import fault, tried


class ChangeDetector(Protocol):
    """Makes fingerprints of content. They are reported with a judgement, but it never rests on them."""

    def fingerprint(self, body: bytes, media_type: str | None) -> str | None:
        """A digest of the content of an unpacked body; ``None``: it cannot be told."""


LONGEST = 1_000  #: most characters of a fingerprint


class GuardedDetector:
    """A plug-in's detector, whose errors name it."""

    def __init__(self, name: str, detector: ChangeDetector) -> None:
        self._who, self._detector = f"SHARC_DETECTOR={name!r}", detector

    def fingerprint(self, body: bytes, media_type: str | None) -> str | None:
        """The detector's fingerprint; raises :class:`~sharc_crawler.errors.DataError` if it fails."""
        found = tried(self._who, lambda: self._detector.fingerprint(body, media_type))
        if found is not None and not isinstance(found, str):
            raise fault(self._who, f"answered with {type(found).__name__}, not text")
        if found is not None and not (found.isprintable() and len(found) <= LONGEST):
            raise fault(self._who, f"answered with {found!r:.60}, not with up to {LONGEST:,} printable characters")
        return found
