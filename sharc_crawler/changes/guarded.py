"""A detector of somebody else: what it raises or answers badly is said to be its own fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.errors import DataError

if TYPE_CHECKING:
    from sharc_crawler.changes.base import ChangeDetector


class GuardedDetector:
    """It, by its ``name``."""

    def __init__(self, name: str, detector: ChangeDetector) -> None:
        self._name, self._detector = name, detector

    def fingerprint(self, body: bytes, media_type: str | None) -> str | None:
        """Its own; raises :class:`~sharc_crawler.errors.DataError` where it fails."""
        try:
            found = self._detector.fingerprint(body, media_type)
        except Exception as error:
            raise DataError(f"SHARC_DETECTOR={self._name!r} raised {type(error).__name__}: {error}") from error
        if found is not None and not isinstance(found, str):
            raise DataError(f"SHARC_DETECTOR={self._name!r} answered with {type(found).__name__}, not text")
        return found
