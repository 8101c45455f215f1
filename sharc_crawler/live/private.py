"""What we ask Scrapy's engine and downloader beyond their documented interface; a test names what moves."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from scrapy import version_info

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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


def slots(downloader: Downloader) -> Iterable[tuple[str, Slot]]:
    """The downloader's slots, by name."""
    return downloader.slots.items()


def slot_name(downloader: Downloader, request: Request) -> str:
    """The download slot of a request: its own, or that of its host."""
    return str(downloader.get_slot_key(request))


def last_asked(slot: Slot) -> float:
    """When a request of a slot was last sent, as :func:`time.monotonic` has it; 0: not yet."""
    if not slot.lastseen or version_info >= (2, 16):
        return slot.lastseen
    return slot.lastseen - time.time() + time.monotonic()  # before, it was the time of day


class NoWaiting(dict[str, Any]):
    """The settings of every slot: it waits for nothing and admits what is released."""

    def __init__(self, concurrency: int) -> None:
        super().__init__()
        jitter = {"jitter": 0.0} if version_info >= (2, 19) else {"randomize_delay": False}
        self._slot = {"concurrency": concurrency, "delay": 0.0, **jitter}

    def get(self, key: str, default: object = None) -> Any:  # noqa: ARG002 - a dictionary's
        """Of the slot of this name."""
        return self._slot


def own_all_delays(downloader: Downloader) -> None:
    """The frontier owns every delay."""
    downloader.per_slot_settings = NoWaiting(downloader.total_concurrency or 1000)
