"""| The slots of Scrapy's downloader, in which a project's requests wait."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from scrapy import Request, version_info

if TYPE_CHECKING:
    from scrapy.core.downloader import Downloader, Slot


def slots(downloader: Downloader) -> Mapping[str, Slot]:
    """The downloader's slots, by name."""
    return downloader.slots


def slot_name(downloader: Downloader, request: Request) -> str:
    """The download slot of a request: its own, or that of its host."""
    return str(downloader.get_slot_key(request))


def last_asked(slot: Slot) -> float:
    """When a slot last sent a request, by :func:`time.monotonic`; 0: never."""
    if not slot.lastseen or version_info >= (2, 16):
        return slot.lastseen
    return slot.lastseen - time.time() + time.monotonic()  # older Scrapy stored the time of day
