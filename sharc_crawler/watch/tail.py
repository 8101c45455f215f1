"""| Follows a crawl's log across files that are renamed when full."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sharc_crawler.errors import MALFORMED, DataError

LOG = "crawl.jsonl"
HEAD = 400  #: bytes that identify a file: they include the time of its first request
_BLOCK = 8 * 1024 * 1024  #: bytes read at a time


class LogTail:
    """The log of one folder, each whole line once; the log may not exist yet."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[int, tuple[int, bytes]] = {}  # inode (files are renamed) → bytes read, first bytes

    def entries(self) -> Iterator[dict[str, Any]]:
        """The entries written since the last call; fields as in docs/report.md."""
        full = sorted(self._folder.glob(f"{Path(LOG).stem}-?????.jsonl"))
        for path in (*full, self._folder / LOG):
            yield from self._of(path)

    def _of(self, path: Path) -> Iterator[dict[str, Any]]:
        try:
            with path.open("rb") as file:
                inode = os.fstat(file.fileno()).st_ino
                start, head = self._read.get(inode, (0, b""))
                if file.read(len(head)) != head or file.seek(0, os.SEEK_END) < start:  # another file in its place
                    start, head = 0, b""
                file.seek(start)
                while whole := (block := file.read(_BLOCK)).rfind(b"\n") + 1:
                    yield from (self._entry(path, line) for line in block[:whole].splitlines())
                    start, head = start + whole, head or block[:HEAD]
                    self._read[inode] = start, head
                    file.seek(start)  # an incomplete line is read again
        except FileNotFoundError:
            return

    @staticmethod
    def _entry(path: Path, line: bytes) -> dict[str, Any]:
        try:
            entry = json.loads(line)
        except MALFORMED:
            entry = None
        if not isinstance(entry, dict):
            raise DataError(f"{path} has a line that no crawl wrote: {line[:40]!r}; `sharc report` shows the capture")
        return entry
