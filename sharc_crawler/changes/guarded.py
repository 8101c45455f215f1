"""A detector of somebody else: what it raises or answers badly is said to be its own fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.faults import fault, tried

if TYPE_CHECKING:
    from sharc_crawler.changes.base import ChangeDetector


LONGEST = 1_000  #: characters of a digest


class GuardedDetector:
    """A detector whose errors name it (``name``)."""

    def __init__(self, name: str, detector: ChangeDetector) -> None:
        self._who, self._detector = f"SHARC_DETECTOR={name!r}", detector

    def fingerprint(self, body: bytes, media_type: str | None) -> str | None:
        """Its own; raises :class:`~sharc_crawler.errors.DataError` where it fails."""
        found = tried(self._who, lambda: self._detector.fingerprint(body, media_type))
        if found is not None and not isinstance(found, str):
            raise fault(self._who, f"answered with {type(found).__name__}, not text")
        if found is not None and not (found.isprintable() and len(found) <= LONGEST):
            raise fault(self._who, f"answered with {found!r:.60}, not with up to {LONGEST:,} printable characters")
        return found
