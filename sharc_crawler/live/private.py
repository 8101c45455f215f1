"""What we ask Scrapy and Twisted beyond their documented interfaces, all of it; a test names what moves.

Four names are private: `ExecutionEngine._slot`, `_pool` and `_contextFactory` of `HTTP11DownloadHandler`, and Twisted's
module `_sslverify`. Those of the downloader are public, and not documented. docs/upstream.md has the hooks that would
do without them.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from scrapy import version_info
from scrapy.core.downloader import Downloader
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.core.engine import ExecutionEngine
from service_identity import CertificateError, VerificationError
from twisted.internet import _sslverify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from scrapy import Request
    from scrapy.core.downloader import Slot
    from twisted.web.client import HTTPConnectionPool
    from twisted.web.iweb import IPolicyForHTTPS


def in_progress(engine: ExecutionEngine) -> set[Request]:
    """Requests released and not fully handled: robots wait, transfer, callback and pipelines included."""
    assert engine._slot is not None, "the scheduler is asked while the spider is open"
    return engine._slot.inprogress


def wake_up(engine: ExecutionEngine) -> Callable[[], None]:
    """Makes the engine ask the scheduler soon."""
    assert engine._slot is not None, "the scheduler is asked while the spider is open"
    return engine._slot.nextcall.schedule


def slots(downloader: Downloader) -> Mapping[str, Slot]:
    """The downloader's slots, by name."""
    return downloader.slots


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


def tap_pool(handler: HTTP11DownloadHandler, tapped: Callable[[HTTPConnectionPool], Any]) -> None:
    """A handler's connections come by way of this pool from now on."""
    handler._pool = tapped(handler._pool)


def contexts(handler: HTTP11DownloadHandler) -> IPolicyForHTTPS:
    """What a handler makes TLS connections with."""
    return handler._contextFactory


def refuse_nameless_certificates() -> None:
    """Where certificates are verified. Twisted takes one without any name for valid, logging a traceback."""
    _sslverify.VerificationError = (VerificationError, CertificateError)  # type: ignore[assignment,attr-defined]


def missing() -> Iterator[str]:
    """Which of these names the Scrapy and Twisted that are installed no longer have."""
    for owner, names in _SET_BY_INIT.items():
        set_there = owner.__init__.__code__.co_names  # type: ignore[misc]
        yield from (f"{owner.__name__}.{name}" for name in names if name not in set_there)
    if not hasattr(Downloader, "get_slot_key"):
        yield "Downloader.get_slot_key"
    if not hasattr(_sslverify, "VerificationError"):
        yield "twisted.internet._sslverify.VerificationError"


#: attributes that a class gives itself as it is made
_SET_BY_INIT: dict[type, tuple[str, ...]] = {
    ExecutionEngine: ("_slot",),
    HTTP11DownloadHandler: ("_pool", "_contextFactory"),
    Downloader: ("slots", "per_slot_settings", "total_concurrency"),
}
