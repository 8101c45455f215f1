"""Writing exchanges: large ones in a thread, so that neither other visits nor the reading of links wait for gzip."""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING

from sharc_crawler.live.space import is_full
from sharc_crawler.model import Outcome, Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sharc_crawler.live.session import Lease
    from sharc_crawler.model import CaptureRef

logger = logging.getLogger(__name__)

LARGE = 48_000  #: bytes; what is smaller is compressed sooner than two threads agree on who runs


class Archivist:
    """Writes one exchange after the other, in the order in which they came."""

    def __init__(self) -> None:
        self.pending = 0  #: exchanges handed over and not written yet
        self.written: Callable[[], None] = lambda: None  #: called in the reactor's thread after each
        self._thread = ThreadPoolExecutor(1, "sharc-archivist")

    def keep(self, write: Callable[[], CaptureRef], size: int) -> Future[CaptureRef]:
        """Have an exchange of so many bytes written; the future tells where it lies, or why it could not be."""
        if size < LARGE and not self.pending:
            return _at_once(write)
        from twisted.internet import reactor

        self.pending += 1
        future = self._thread.submit(write)
        future.add_done_callback(lambda _: reactor.callFromThread(self._one_less))
        return future

    def _one_less(self) -> None:
        self.pending -= 1
        self.written()

    def close(self) -> None:
        """Return when all is written; nothing is taken any more."""
        self._thread.shutdown()


def _at_once(write: Callable[[], CaptureRef]) -> Future[CaptureRef]:
    future: Future[CaptureRef] = Future()
    try:
        future.set_result(write())
    except Exception as error:
        future.set_exception(error)
    return future


def finish(leases: Iterable[Lease]) -> None:
    """Return when the exchanges of all these are written, or could not be."""
    wait([lease.written for lease in leases if lease.written])


def conclude(lease: Lease) -> None:
    """The visit counts now: its exchange is on disk. If it is not, the visit has failed, or is made again."""
    if lease.written is None:
        return
    assert lease.outcome is not None, "noted before it is written"
    error = lease.written.exception()
    if error is None:
        lease.outcome = replace(lease.outcome, capture=lease.written.result())
    elif is_full(error):
        lease.unwritten = str(error)
    else:
        logger.error("%s was fetched and cannot be archived: %s", lease.fetch.url, error)
        lease.outcome, lease.links = _lost(lease.outcome, error), ()


def _lost(outcome: Outcome, error: BaseException) -> Outcome:
    """What was exchanged could not be written."""
    if outcome.status is None:  # nothing came: that stays the reason
        return replace(outcome, error=f"{outcome.error}; and not archived: {error}")
    return Outcome(Result.FAILED, outcome.started, outcome.ended, error=f"not archived: {error}")
