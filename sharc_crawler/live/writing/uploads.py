"""Uploads exchanges to the object store, in rounds; they count once they are there. A round takes what came since."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Condition, RLock

from sharc_crawler.archive.mirror import Mirror, PendingPart
from sharc_crawler.archive.objects import ObjectFolder
from sharc_crawler.errors import UsageError
from sharc_crawler.model import CaptureRef, Seconds

logger = logging.getLogger(__name__)

AT_ONCE = 16  #: uploads at once
PATIENCE: Seconds = 600.0  #: with a store that does not answer; the crawl waits meanwhile, as for a slow disk
LONGEST_WAIT: Seconds = 10.0  #: between two attempts

Kept = list[tuple[int, "CaptureRef | Exception"]]


class Uploads:
    """Uploads synced files to an object store, then reports what counts.

    ``base``, ``url``: the crawl's folder, and its place in the store. ``lock``: held while asking what is on disk.
    ``tell``: called with the exchanges that count now, or with the error.
    """

    def __init__(self, base: str, url: str, lock: RLock, tell: Callable[[Kept], None]) -> None:
        self._base, self._objects, self._tell = Path(base), ObjectFolder(url), tell
        self._mirrors: dict[Path, Mirror] = {}
        self._touched: set[Path] = set()
        self._kept: Kept = []
        self._running = False
        self._changed = Condition(lock)
        self._rounds, self._puts = ThreadPoolExecutor(1), ThreadPoolExecutor(AT_ONCE)

    def open(self, folder: Path) -> None:
        """Prepare a folder's uploads; what a crash prevented follows in the next round."""
        if folder in self._mirrors:
            return
        try:
            self._mirrors[folder] = Mirror(folder, self._objects.below(folder.relative_to(self._base).as_posix()))
        except OSError as error:
            raise UsageError(f"objects={self._objects.url!r} cannot be used: {error}") from error
        self.synced([folder], [])

    def synced(self, folders: Iterable[Path], kept: Kept) -> None:
        """Note that these folders' files, and exchanges in them, are on disk. Call it with the lock held."""
        for folder in folders:
            if mirror := self._mirrors.get(folder):
                mirror.synced()
                self._touched.add(folder)
        self._kept += kept
        if not self._running and (self._touched or self._kept):
            self._running = True
            self._rounds.submit(self._go_on)

    def end(self, folder: Path) -> None:
        """Return once all of a finished folder is uploaded; as :meth:`finish`."""
        self._changed.wait_for(lambda: not self._running)
        if mirror := self._mirrors.pop(folder, None):
            mirror.synced()
            self._round([(mirror, due) for due in mirror.due()])

    def abandon(self, folder: Path) -> None:
        """Upload nothing more of a folder. Call it with the lock held."""
        self._mirrors.pop(folder, None)
        self._touched.discard(folder)

    def finish(self) -> None:
        """Return once everything is uploaded; raises :class:`OSError` for what is not. Call it with the lock held."""
        for folder in list(self._mirrors):
            self.end(folder)

    def _go_on(self) -> None:
        while True:
            with self._changed:
                kept, self._kept = self._kept, []
                touched, self._touched = self._touched, set()
                if not kept and not touched:
                    self._running = False
                    self._changed.notify_all()
                    return
                due = [(self._mirrors[folder], due) for folder in touched for due in self._mirrors[folder].due()]
            try:
                self._round(due)
            except Exception as error:  # any error: whoever waits must get an answer
                kept = [(number, one if isinstance(one, Exception) else error) for number, one in kept]
            if kept:
                self._tell(kept)

    def _round(self, due: list[tuple[Mirror, PendingPart]]) -> None:
        """Upload everything due, with retries: finished files before growing ones."""
        for growing in (False, True):
            some = [(mirror, one) for mirror, one in due if (one.end is not None) is growing]
            list(self._puts.map(lambda pair: self._put(*pair), some))

    def _put(self, mirror: Mirror, due: PendingPart) -> None:
        begun, wait = time.monotonic(), 0.2
        while True:
            try:
                return mirror.put(due)
            except FileNotFoundError:  # missing here, not in the store: it was dropped meanwhile
                return None
            except FileExistsError:
                raise
            except OSError as error:
                if time.monotonic() - begun + wait > PATIENCE:
                    raise
                logger.warning("The object store will be tried again in %.1f s: %s", wait, error)
                time.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT)
