"""| Adds up a crawl's log as its lines come: requests, bytes, hosts, verdicts, last URLs."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from types import UnionType
from typing import Any
from urllib.parse import urlsplit

from sharc_crawler.certificate.fixity import NAME as CERTIFICATE
from sharc_crawler.certificate.refuted import refuted_in
from sharc_crawler.control import STATUS
from sharc_crawler.errors import MALFORMED, DataError
from sharc_crawler.instants import unix
from sharc_crawler.model import Instant, Kind, Result, Seconds, Slot
from sharc_crawler.report.write import DATA
from sharc_crawler.watch.tail import LogTail

LAST = 12  #: URLs shown
SILENT: Seconds = 15.0  #: without a sign of life (there is one a second), after which the crawl may be gone
_GUESSED = {"/robots.txt", "/sitemap.xml"}  #: requested though not linked: a 404 is no error
_BROUGHT = {Result.OK.value, Result.NOT_MODIFIED.value, Result.REDIRECTED.value}


@dataclass(slots=True)
class HostSeen:
    """Requests to one host."""

    requests: int = 0
    errors: int = 0
    last_error: str = ""
    starts: deque[Instant] = field(default_factory=lambda: deque(maxlen=20))

    @property
    def gap(self) -> Seconds | None:
        """The median time between its last requests, which a single pause does not change."""
        return median(later - start for start, later in pairwise(self.starts)) if len(self.starts) > 1 else None


@dataclass(slots=True)
class LogSummary:
    """Totals of a log so far."""

    requests: int = 0
    bytes: int = 0
    results: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    hosts: dict[str, HostSeen] = field(default_factory=dict)
    last: deque[Mapping[str, Any]] = field(default_factory=lambda: deque(maxlen=LAST))
    visits: dict[str, list[Instant]] = field(default_factory=dict)  #: by page: start of visit and revisits

    def add(self, entry: Mapping[str, Any]) -> None:
        """Add a line: an exchange, or a URL refused without one."""
        self.results[entry["result"]] += 1
        if entry["verdict"]:
            self.verdicts[entry["verdict"]] += 1
        if not entry["attempt"]:
            return
        self.requests += 1
        self.bytes += entry["bytes"] or 0
        url = urlsplit(entry["url"])
        host = self.hosts.setdefault(url.netloc, HostSeen())
        host.requests += 1
        host.starts.append(unix(entry["started"]))
        guessed = entry["kind"] == Kind.PROBE or url.path in _GUESSED
        if entry["result"] not in _BROUGHT and not (guessed and entry["result"] == Result.GONE):
            host.errors += 1
            host.last_error = entry["error"] or f"status {entry['status']}"
        self.last.append(entry)
        if entry["kind"] == Kind.PAGE and entry["result"] in _BROUGHT:
            starts = self.visits.setdefault(entry["url"], [])
            if entry["slot"] != Slot.SECOND or starts:
                starts.append(unix(entry["started"]))


class Watched:
    """A folder in which a crawl runs, or ran."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.status: dict[str, Any] = {}
        self.seen = LogSummary()
        self._tails: dict[Path, LogTail] = {}

    def look(self) -> None:
        """Read the log's new lines and the status."""
        self.status = read_status(self.folder)
        for folder in (self.folder, *sorted(path for path in self.folder.glob("*") if path.is_dir())):
            tail = self._tails.setdefault(folder, LogTail(folder))
            for entry in tail.entries():
                self._add(folder, entry)

    def _add(self, folder: Path, entry: Mapping[str, Any]) -> None:
        try:
            self.seen.add(entry)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"the log in {folder} has an entry that no crawl wrote ({error!r})") from error

    @property
    def ended(self) -> str:
        """Why the crawl ended; "" while it runs. Without a status, its certificate shows that it ended."""
        sealed = not self.status and (self.folder / CERTIFICATE).exists()
        return "finished" if sealed else str(self.status.get("ended", ""))

    @property
    def refuted(self) -> bool:
        """Whether the report of a finished capture says that its records contradict it."""
        return bool(self.ended) and any(refuted_in(folder / DATA) for folder in self._tails)

    def silent(self, now: Instant) -> Seconds:
        """How long there was no sign of life; 0: it is alive, or over."""
        if self.ended or "time" not in self.status:
            return 0.0
        waited = now - unix(self.status["time"])
        return waited if waited >= SILENT else 0.0


#: fields of a status, and of each capture in it
_ANSWER = {"progress": str, "order": str, "time": str, "paused": bool, "captures": list} | dict.fromkeys(
    ("delay", "longest"), int | float
)
_CAPTURE = {"site": str, "phase": str, "reference": str | None} | dict.fromkeys(("pages", "visits", "revisits"), int)


def read_status(folder: Path) -> dict[str, Any]:
    """The crawl's last status; empty if there is none, or it is not as a crawl writes it."""
    try:
        status = json.loads((folder / STATUS).read_text(encoding="utf-8"))
        _check(status, _ANSWER)
        unix(status["time"])
        for capture in status["captures"]:
            _check(capture, _CAPTURE)
    except (OSError, *MALFORMED):
        return {}
    return dict(status)


def _check(document: Any, kinds: Mapping[str, type | UnionType]) -> None:
    if wrong := [name for name, kind in kinds.items() if not isinstance(document[name], kind)]:
        raise ValueError(", ".join(wrong))
