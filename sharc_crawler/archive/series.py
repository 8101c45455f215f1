"""Write the WARC files of a run: opening, rotation, recovery after a crash, indexes."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Self

from sharc_crawler.archive.checkpoints import GrowingIndex
from sharc_crawler.archive.files import OPEN
from sharc_crawler.archive.records import WARC_FIELDS, Draft, Fields, member
from sharc_crawler.archive.warc_file import WarcFile, are_finished
from sharc_crawler.archive.warc_names import file_name, files_of
from sharc_crawler.bodies.spool import Octets, Spool, pieces
from sharc_crawler.errors import StateError, UsageError
from sharc_crawler.instants import iso
from sharc_crawler.model import CaptureRef, Instant

if TYPE_CHECKING:
    from sharc_crawler.archive.cdxj import IndexEntry
    from sharc_crawler.archive.options import WarcOptions
    from sharc_crawler.archive.warcinfo import CaptureInfo

logger = logging.getLogger(__name__)


class WarcSeries:
    """Appends records to the run's open file, and opens the next one when it is full."""

    def __init__(self, folder: Path, site: str, run: str, info: CaptureInfo, options: WarcOptions) -> None:
        self._folder, self._site, self._run = folder, site, run
        self._options = options
        self._about = info.block(site, run, options.dedup)
        self._file: WarcFile | None = None
        self._warcinfo_id = ""
        self._index: GrowingIndex  # of the open file
        self._records = 0  # in it
        self._closed = False
        self._recover()
        self.former = self._former()  #: with their serials
        self._serial = self.former[-1][0] + 1 if self.former else 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(
        self,
        drafts: list[Draft],
        common: Fields,
        now: Instant,
        packed: Octets = b"",
        entry: Callable[[CaptureRef], IndexEntry] | None = None,
    ) -> CaptureRef:
        """Write the records of an exchange; returns the place of the first.

        ``packed``: the first record, if it is packed already; ``entry`` makes its index entry (``None``: no entry).
        If the file must not grow further (``ulimit -f``), the records go to the next one.
        """
        while True:
            try:
                return self._appended(drafts, common, now, packed, entry)
            except OSError as error:
                if error.errno != errno.EFBIG or self._file is None or self._records == 1:
                    raise
                self._finish()

    def _appended(
        self,
        drafts: list[Draft],
        common: Fields,
        now: Instant,
        packed: Octets,
        entry: Callable[[CaptureRef], IndexEntry] | None,
    ) -> CaptureRef:
        file = self._ready(now)
        shared = [*common, ("WARC-Warcinfo-ID", self._warcinfo_id)]
        offset, lengths = file.size, list[int]()
        members = self._packed(drafts, shared, lengths, packed)
        file.append(members if any(isinstance(draft.block, Spool) for draft in drafts) else [b"".join(members)])
        ref = CaptureRef(file.path.name, offset, lengths[0])
        if entry is not None:
            try:
                self._index.append(entry(ref))
            except BaseException:  # the disk is full: without their entry the records must go, too
                file.cut(offset)
                raise
        self._records += len(drafts)
        return ref

    def _packed(
        self, drafts: list[Draft], shared: Fields, lengths: list[int], packed: Octets
    ) -> Iterator[bytes | memoryview]:
        """Packed records in pieces; their lengths are appended to ``lengths``."""
        for number, draft in enumerate(drafts):
            members = pieces(packed) if packed and not number else self._member(draft, shared)
            lengths.append(0)
            for piece in members:
                lengths[-1] += len(piece)
                yield piece

    def _member(self, draft: Draft, shared: Fields) -> Iterable[bytes]:
        fields, block, level = draft.all_fields(shared), draft.block, self._options.level
        if isinstance(block, bytes):
            return [member(fields, block[draft.start :], level)]
        from sharc_crawler.archive.large_records import large_member  # few sites have such files

        return large_member(fields, block, draft.start, level)

    def sync(self) -> None:
        """Make everything written outlast a power failure."""
        if self._file is not None:
            self._file.sync()
            self._index.keep(self._file.size, self._records)

    def close(self) -> None:
        """Finish the open file; nothing can be written afterwards."""
        self._finish()
        self._closed = True

    def abandon(self) -> None:
        """Leave the open file to another process; nothing can be written afterwards."""
        if self._file is not None:
            self._file.abandon()
        self._file, self._closed = None, True

    def _ready(self, now: Instant) -> WarcFile:
        if self._closed:
            raise StateError(f"the WARC writer of site {self._site!r}, run {self._run!r} is closed")
        if self._file is not None and self._file.size >= self._options.max_size:
            self._finish()
        if self._file is None:
            self._file = self._open(now)
        return self._file

    def _open(self, now: Instant) -> WarcFile:
        name = file_name(self._site, self._run, self._serial, now)
        draft = Draft("warcinfo", [("WARC-Filename", name)], self._about, WARC_FIELDS)
        packed = member(draft.all_fields([("WARC-Date", iso(now))]), self._about, self._options.level)
        file = WarcFile(self._folder / name)
        try:
            file.append([packed])
            if ".epoch-" in name:
                from sharc_crawler.archive.owners import check_own  # only for fleets

                check_own(file.path)  # last, as a new owner looks for open files after it has removed the old epoch
        except BaseException:
            file.discard()
            raise
        self._index, self._records = GrowingIndex(file.path), 1
        self._warcinfo_id = draft.record_id
        self._serial += 1
        return file

    def _finish(self) -> None:
        if self._file is None:
            return
        self._file.sync()  # first, as an index must not list lost records
        self._file.check_owner()  # nor lie beside another owner's file
        self._index.write()
        self._file.close()
        self._index.close(self._file.size)
        self._file = None

    def _recover(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if are_finished(self._folder):
                return
            from sharc_crawler.archive.recovery import recover  # only after a crash

            found = recover(self._folder)
        except OSError as error:
            raise UsageError(f"folder={str(self._folder)!r} cannot be used for WARC files: {error}") from error
        for file in found:
            logger.warning("%s was left open: %d records kept, %d bytes cut", file.path, file.records, file.cut)

    def _former(self) -> list[tuple[int, Path]]:
        """The run's existing files with their serial numbers."""
        former = files_of(self._folder, self._site, self._run)
        for _, path in former:
            if path.name.endswith(OPEN):
                raise StateError(
                    f"{path} is being written by another writer; end that one, or use another run or folder"
                )
        return former
