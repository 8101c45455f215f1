"""Writing exchanges: large ones in a thread, so that neither other visits nor the reading of links wait for gzip."""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from sharc_crawler.live.space import is_full
from sharc_crawler.model import Outcome, Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from sharc_crawler.live.lease import Lease
    from sharc_crawler.model import CaptureRef

logger = logging.getLogger(__name__)

LARGE = 48_000  #: bytes; what is smaller is compressed sooner than two threads agree on who runs


class Archivist:
    """Writes one exchange after the other, in the order in which they came; many are synced at once, then they count.

    ``sync``: has all that was written on the disk, or raises.
    """

    def __init__(self, sync: Callable[[], None]) -> None:
        self.written: Callable[[], None] = lambda: None  #: called in the reactor's thread after each of the thread's
        self._sync = sync
        self._unsynced: list[tuple[Future[CaptureRef], CaptureRef]] = []
        self._thread = ThreadPoolExecutor(1, "sharc-archivist")
        self._handed_over = 0  #: exchanges, to the thread; while it has any, it alone writes and syncs
        self._done = 0  #: by the thread

    @property
    def pending(self) -> int:
        """Exchanges handed over to the thread and not written yet."""
        return self._handed_over - self._done

    def keep(self, write: Callable[[], CaptureRef], size: int) -> Future[CaptureRef]:
        """Have an exchange of so many bytes written.

        The future tells where it lies, once it is synced, or why it could not be.
        """
        future: Future[CaptureRef] = Future()
        if size < LARGE and not self.pending:
            self._write(write, future)
        else:
            self._handed_over += 1
            self._thread.submit(self._write_in_thread, write, future)
        return future

    def sync(self) -> None:
        """Have on the disk what was written by :meth:`keep` itself. The thread syncs when it has no more to write."""
        if not self.pending:
            self._sync_written()

    def finish(self) -> None:
        """Return when all that is to be kept is on the disk, or could not be."""
        self._thread.submit(self._sync_written).result()

    def close(self) -> None:
        """Nothing is taken any more."""
        self._thread.shutdown()

    def _write_in_thread(self, write: Callable[[], CaptureRef], future: Future[CaptureRef]) -> None:
        from twisted.internet import reactor

        self._write(write, future)
        if self.pending == 1:
            self._sync_written()
        self._done += 1
        reactor.callFromThread(self.written)

    def _write(self, write: Callable[[], CaptureRef], future: Future[CaptureRef]) -> None:
        try:
            self._unsynced.append((future, write()))
        except Exception as error:
            future.set_exception(error)

    def _sync_written(self) -> None:
        unsynced, self._unsynced = self._unsynced, []
        if not unsynced:
            return
        try:
            self._sync()
        except Exception as error:
            for future, _ in unsynced:
                future.set_exception(error)
        else:
            for future, ref in unsynced:
                future.set_result(ref)


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
