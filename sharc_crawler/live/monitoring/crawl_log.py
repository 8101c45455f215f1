"""The log files of a running crawl, which follow its store by a second, for ``tail -F`` and log shippers.

Lines are numbered, so a crawl that goes on continues its log: each exchange is in it once.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Protocol, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.logformatter import LogFormatter, LogFormatterResult

from sharc_crawler.archive.files import append_whole
from sharc_crawler.errors import StoreUnavailable, Superseded
from sharc_crawler.report.log import FORMATS
from sharc_crawler.state.rows import ExchangeRow

logger = logging.getLogger(__name__)

_NUMBER = re.compile(rb'^\{"number": (\d+),|,number:(\d+)$')  #: in either format
AT_ONCE = 1_000  #: lines written together
SIZE = 100_000_000  #: bytes, after which a new log file is begun
_TAIL = 65_536  #: bytes at the end of a file that are read to find its last whole line


class Exchanges(Protocol):
    """Something that knows all exchanges."""

    def exchanges(self, after: int = 0) -> Iterator[ExchangeRow]:
        """The exchanges with numbers above ``after``."""


class CrawlLog:
    """The log files of a capture, one for each format, in its folder.

    ``formats``: names of :data:`~sharc_crawler.report.log.FORMATS`. ``size``: bytes after which a file is renamed to a
    numbered one and a new one begun.
    """

    def __init__(self, folder: Path, store: Exchanges, formats: Iterable[str], size: int = SIZE) -> None:
        self._store = store
        self._files = [LogFile(folder, name, line, size) for line, name in map(FORMATS.__getitem__, formats)]
        self._failed = False

    def catch_up(self, store: Exchanges | None = None) -> bool:
        """Write new exchanges; ``False``: later, the disk may be full. ``store``: the same one while it closes."""
        try:
            self.finish(store)
            self._failed = False
        except Superseded:  # the next write of the state reports it
            return True
        except (OSError, StoreUnavailable) as error:
            if not self._failed:
                logger.warning("The log cannot be written now: %s. `sharc log` shows it meanwhile.", error)
            self._failed = True
        return not self._failed

    def finish(self, store: Exchanges | None = None) -> None:
        """Write new exchanges, or raise: this is the end of the crawl, there is no later."""
        for file in self._files:
            file.write((store or self._store).exchanges(file.last))


class LogFile:
    """A file of numbered lines; full ones are kept as ``crawl-00001.jsonl`` and so on."""

    def __init__(self, folder: Path, name: str, line: Callable[[ExchangeRow], str], size: int) -> None:
        self._path = folder / name
        self._line = line
        self._size = size
        self.last = max([_end(path) for path in (self._path, *self._full()[-1:])], default=0)

    def write(self, rows: Iterable[ExchangeRow]) -> None:
        """Append a line for each row, in batches that are written whole or not at all."""
        rest = iter(rows)
        while some := list(islice(rest, AT_ONCE)):
            self._append(b"".join(self._line(row).encode("utf-8", "backslashreplace") + b"\n" for row in some))
            self.last = some[-1].number
            self._put_aside()

    def _append(self, text: bytes) -> None:
        with self._path.open("ab", buffering=0) as file:
            append_whole(file.fileno(), [text], file.tell())

    def _put_aside(self) -> None:
        if self._path.stat().st_size >= self._size:
            full = self._full()
            number = 1 + (int(full[-1].stem.rpartition("-")[2]) if full else 0)
            self._path.rename(self._path.with_stem(f"{self._path.stem}-{number:05d}"))

    def _full(self) -> list[Path]:
        return sorted(self._path.parent.glob(f"{self._path.stem}-?????{self._path.suffix}"))


def _end(path: Path) -> int:
    """The number of the last whole line, 0 if there is none; a partial line after it, left by a crash, is cut off."""
    if not path.exists():
        return 0
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        tail = file.read()
        whole = tail.rfind(b"\n") + 1
        file.truncate(size - len(tail) + whole)
    found = _NUMBER.search(tail[:whole].rpartition(b"\n")[0].rpartition(b"\n")[2])
    return int(found[1] or found[2]) if found else 0


class QuietFormatter(LogFormatter):
    """Scrapy's formatter, but pages are logged only if ``LOG_LEVEL`` is DEBUG: the capture has its own log."""

    def __init__(self, level: str | int = logging.DEBUG) -> None:
        number = logging.getLevelNamesMapping().get(str(level), level)
        self._shown = not isinstance(number, int) or number <= logging.DEBUG

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make one for the crawl's log level."""
        return cls(crawler.settings.get("LOG_LEVEL", logging.DEBUG))

    def crawled(self, request: Request, response: Response, spider: Spider) -> LogFormatterResult | None:  # type: ignore[override]
        """``None``: write no line."""
        return super().crawled(request, response, spider) if self._shown else None
