"""Every private Scrapy name we rely on, in one place (Scrapy 2.19); a test fails clearly when one moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.core.downloader import Downloader, Slot
    from scrapy.core.engine import ExecutionEngine


def in_progress(engine: ExecutionEngine) -> set[Request]:
    """Requests released and not fully handled: robots wait, transfer, callback and pipelines included."""
    assert engine._slot is not None, "the scheduler is asked while the spider is open"
    return engine._slot.inprogress


def wake_up(engine: ExecutionEngine) -> Callable[[], None]:
    """Makes the engine ask the scheduler soon."""
    assert engine._slot is not None, "the scheduler is asked while the spider is open"
    return engine._slot.nextcall.schedule


def slot(downloader: Downloader, host: str) -> Slot | None:
    """The downloader's slot of a host, if it has one yet."""
    return downloader.slots.get(host)


def own_all_delays(downloader: Downloader) -> None:
    """The frontier owns every delay: new slots wait for nothing and admit what is released."""
    downloader._delay = 0.0
    downloader._jitter = 0.0
    downloader.per_slot_settings = {}
    downloader.domain_concurrency = downloader.total_concurrency or 1000
