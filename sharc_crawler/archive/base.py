"""The port of all archives: exchanges in, references out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sharc_crawler.archive.payloads import Original
    from sharc_crawler.model import CaptureRef, Exchange, Instant


class CaptureWriter(Protocol):
    """Where a capture's exchanges are kept.

    What a method returned for is kept, also if the process dies. What it raised for left no trace, and the visit has
    failed.
    """

    def write(self, exchange: Exchange) -> CaptureRef:
        """Keep an exchange, however it ended; returns where its answer lies (or what is known of its failure)."""

    def write_revisit(self, exchange: Exchange, original: Original) -> CaptureRef:
        """Keep an exchange that the server answered with 304: the page is as it was at ``original``."""

    def write_metadata(self, url: str, date: Instant, block: bytes, media_type: str = ...) -> CaptureRef:
        """Keep a document about ``url``, which may be a URN of the capture."""

    def sync(self) -> None:
        """Have all that was written on the disk: what this returned for is kept, also if the power fails.

        What it raised for (all since the last call) is lost, and this writer takes nothing more: another begins, as
        after a crash.
        """

    def close(self) -> None:
        """Finish what is open. Nothing can be written afterwards."""
