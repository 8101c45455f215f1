"""Reads and checks the histories of real sites for replays: changes of pages, and links.

``NAME.csv[.gz]`` has the columns page, created, alive_at_start (1 or 0), deleted, hist and changes; the last three are
instants joined by ``;``. Beside it, ``NAME.start.links.jsonl[.gz]`` has ``{"page", "out"}`` per page,
``NAME.linkevents.jsonl[.gz]`` has ``{"t", "page", "add", "del"}`` in order of time. All times are Unix seconds, UTC.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np

from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.instants import second
from sharc_crawler.lab.graph import EventGraph
from sharc_crawler.lab.site import Site
from sharc_crawler.lab.truth import Changes, Lives
from sharc_crawler.model import Instant, Kind, Result, Url
from sharc_crawler.plural import counted
from sharc_crawler.rates.history import CHANGED, SiteHistory
from sharc_crawler.storage.observations import ObservationStore

COLUMNS = ("page", "created", "alive_at_start", "deleted", "hist", "changes")
GZIP = b"\x1f\x8b"
SQLITE = b"SQLite format 3\0"
EARLIEST, LATEST = -62_135_596_800.0, 253_402_300_800.0  #: years 1 to 9999, so that milliseconds are refused
NOT_UNPACKED = (OSError, EOFError, zlib.error)  #: errors of damaged gzip files


@dataclass(frozen=True, slots=True)
class PageLife:
    """A line of a change history."""

    page: str
    created: Instant
    alive_at_start: bool
    deleted: tuple[Instant, ...]
    hist: tuple[Instant, ...]
    changes: tuple[Instant, ...]


@dataclass(frozen=True, slots=True)
class HistorySpec:
    """The parameters of a replay: files, entry page and window.

    Without ``links``, the entry page links to all other pages.
    """

    history: str
    root: str
    start: Instant
    end: Instant
    links: str | None = None
    linkevents: str | None = None

    @classmethod
    def beside(cls, history: str, root: str, start: Instant, end: Instant) -> HistorySpec:
        """The replay of ``NAME.csv[.gz]`` with the files of links beside it, if there are any."""
        name = history.removesuffix(".gz").removesuffix(".csv")

        def found(what: str) -> str | None:
            files = (f"{name}.{what}.jsonl{packed}" for packed in (".gz", ""))
            return next((file for file in files if Path(file).is_file()), None)

        links = found("start.links")
        return cls(history, root, start, end, links, found("linkevents") if links else None)

    def build(self) -> Site:
        """The site in the window; raises DataError for an invalid file."""
        if not self.start < self.end:
            raise UsageError(f"--window {second(self.start)} {second(self.end)} is empty: it must end after it starts")
        lives = read_history(Path(self.history))
        urls = [life.page for life in lives]
        numbers = {url: number for number, url in enumerate(urls)}
        existence = lifetimes(lives)
        root = numbers.get(self.root)
        if root is None or not existence.alive(root, self.start):
            near = f"; its first page then is {found!r}" if (found := self._first(lives, existence)) else ""
            raise UsageError(
                f"--root={self.root!r} is no page of {self.history} that exists when the window begins{near}"
            )
        everything = Changes.of([life.hist + life.changes for life in lives])
        changes = everything.within(self.start, self.end)
        _check_window(self, lives)
        return Site(
            name=Path(self.history).name.split(".")[0],
            urls=urls,
            root=root,
            start=self.start,
            end=self.end,
            graph=self._graph(numbers, root),
            lives=existence,
            changes=changes,
            past=everything.within(-math.inf, self.start),
            created=np.array([life.created for life in lives]),
            rates=changes.counts() / (self.end - self.start),
        )

    def _first(self, lives: Sequence[PageLife], existence: Lives) -> str | None:
        return next((one.page for number, one in enumerate(lives) if existence.alive(number, self.start)), None)

    def _graph(self, numbers: dict[str, int], root: int) -> EventGraph:
        if self.links is None:
            return EventGraph({root: [number for number in numbers.values() if number != root]})
        start = dict(read_links(Path(self.links), numbers))
        return EventGraph(start, read_events(Path(self.linkevents), numbers) if self.linkevents else ())


def read_history(path: Path) -> list[PageLife]:
    """The pages of a change history, in the order of the file."""
    csv.field_size_limit(1 << 30)  # a page may have changed a million times
    reader = csv.DictReader(_lines(path))
    missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
    if missing:
        raise DataError(f"{path}: no column {', '.join(missing)}, of the {len(COLUMNS)} of a change history")
    lives: dict[str, PageLife] = {}
    for row in reader:
        where = f"{path}, line {reader.line_num}"
        if None in row or None in row.values():
            cells = len(row) - 1 + len(row[None]) if None in row else sum(cell is not None for cell in row.values())
            raise DataError(f"{where}: {cells} of {counted(len(reader.fieldnames or ()), 'column')}")
        life = _life(row, where)
        if life.page in lives:
            raise DataError(f"{where}: page {life.page!r} is listed twice")
        lives[life.page] = life
    if not lives:
        raise DataError(f"{path}: the site has no pages")
    return list(lives.values())


def _life(row: dict[str, str | None], where: str) -> PageLife:
    """Parse and check a line of a history."""
    flag = row["alive_at_start"]
    if flag not in ("0", "1"):
        raise DataError(f"{where}: alive_at_start={flag!r}; it is 1 or 0")
    created = _instants(row["created"], where, "created")
    if len(created) != 1:
        raise DataError(f"{where}: created={row['created']!r}; it is one instant in unix seconds")
    deleted, hist, changes = (_instants(row[name], where, name) for name in COLUMNS[3:])
    if hist and changes and hist[-1] > changes[0]:
        raise DataError(f"{where}: hist ends at {hist[-1]:.0f}, after the first of changes, {changes[0]:.0f}")
    return PageLife(row["page"] or "", created[0], flag == "1", deleted, hist, changes)


def _instants(text: str | None, where: str, column: str) -> tuple[Instant, ...]:
    """Parse ascending instants joined by ``;``."""
    try:
        instants = tuple(float(part) for part in (text or "").split(";") if part)
    except ValueError:
        instants = (math.nan,)
    if not all(EARLIEST <= instant < LATEST for instant in instants):
        raise DataError(f"{where}: {column}={text!r}; instants are unix seconds joined by ';'")
    if any(later < earlier for earlier, later in pairwise(instants)):
        raise DataError(f"{where}: the times of {column} are not in ascending order")
    return instants


def _check_window(spec: HistorySpec, lives: Sequence[PageLife]) -> None:
    """Refuse a window outside the history, since nothing would change in it."""
    window = f"--window {second(spec.start)} {second(spec.end)}"
    last = max((one.changes[-1] for one in lives if one.changes), default=spec.end)
    if spec.start > last:
        raise UsageError(f"{window}: the last change in {spec.history} was before, at {second(last)}")
    first = min((instant for one in lives for instant in (one.created, *one.hist, *one.changes)), default=spec.end)
    if spec.end < first:
        raise UsageError(f"{window}: {spec.history} begins after it, at {second(first)}")


def lifetimes(lives: Sequence[PageLife]) -> Lives:
    """When the pages exist.

    A deleted page comes back with its next change. A page that is not alive at the start, though created before the
    last change of pages that are, was deleted earlier: it comes back with its first change.
    """
    opening = max((max((life.created, *life.hist)) for life in lives if life.alive_at_start), default=-math.inf)
    born = np.empty(len(lives))
    turns: dict[int, tuple[Instant, ...]] = {}
    for number, life in enumerate(lives):
        birth = -math.inf
        if not life.alive_at_start:
            returned = life.changes[0] if life.changes else math.inf
            birth = life.created if life.created > opening else returned
        born[number] = birth
        if life.deleted:
            turns[number] = _turns(birth, life)
    return Lives(born, turns)


def _turns(birth: Instant, life: PageLife) -> tuple[Instant, ...]:
    turns = [birth]
    for gone in life.deleted:
        if gone < turns[-1] or len(turns) % 2 == 0:
            continue  # deleted again without a change in between
        turns.append(gone)
        back = next((time for time in life.changes if time > gone), None)
        if back is None:
            break
        turns.append(back)
    return tuple(turns)


def read_links(path: Path, numbers: dict[str, int]) -> Iterator[tuple[int, list[int]]]:
    """Pages with the targets of their links."""
    for where, entry in _entries(path, ("page", "out")):
        yield _number(entry["page"], numbers, where), _numbers(entry["out"], numbers, where)


def read_events(path: Path, numbers: dict[str, int]) -> Iterator[tuple[Instant, int, list[int], list[int]]]:
    """Edits of links: instant, page, links added, links removed."""
    last = -math.inf
    for where, entry in _entries(path, ("t", "page", "add", "del")):
        time = entry["t"]
        if not isinstance(time, int | float) or not EARLIEST <= time < LATEST:
            raise DataError(f"{where}: t={time!r}; it is an instant in unix seconds")
        if time < last:
            raise DataError(f"{where}: t={time:.0f} comes after {last:.0f}; events are in the order of time")
        last = time
        added, removed = (_numbers(entry[key], numbers, where) for key in ("add", "del"))
        yield float(time), _number(entry["page"], numbers, where), added, removed


def _numbers(urls: Any, numbers: dict[str, int], where: str) -> list[int]:
    if not isinstance(urls, list):
        raise DataError(f"{where}: {urls!r} is no list of pages")
    return [_number(url, numbers, where) for url in urls]


def _number(url: Any, numbers: dict[str, int], where: str) -> int:
    number = numbers.get(url) if isinstance(url, str) else None
    if number is None:
        raise DataError(f"{where}: {url!r} is no page of the change history")
    return number


def _entries(path: Path, keys: tuple[str, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Parse JSON objects with these keys, one per line; each is returned with its place (file and line) for errors."""
    for number, line in enumerate(_lines(path), 1):
        where = f"{path}, line {number}"
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where}: not JSON: {error}") from None
        if not isinstance(entry, dict) or any(key not in entry for key in keys):
            raise DataError(f"{where}: an object with {', '.join(keys)} is expected")
        yield where, entry


def _lines(path: Path) -> list[str]:
    """The lines of a text file, gzipped or not."""
    try:
        raw = path.read_bytes()
        if raw.startswith(SQLITE):
            made = f"`sharc rates SITE --history {path} --changes site.csv` makes one of them"
            raise DataError(f"{path} holds observations, not a change history: {made}")
        text = (gzip.decompress(raw) if raw.startswith(GZIP) else raw).decode("utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist") from None
    except (*NOT_UNPACKED, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read to its end as UTF-8 ({error})") from None
    lines = StringIO(text, None).readlines()  # splitlines() also ends lines in the midst of names, at U+2028 and U+0085
    if text[-1:].isdigit():
        raise DataError(f"{path}, line {len(lines)} ends amid its times, or wants a line break")
    return lines


def write_changes(store: ObservationStore, site: str, file: IO[str]) -> None:
    """Write a site's change history, one line per page."""
    gone = {(one.url, one.time) for one in store.observations(site) if one.result is Result.GONE}
    rows = csv.writer(file)
    rows.writerow(COLUMNS)
    rows.writerows(_rows(store.histories(site), gone, _second_capture(store, site)))


def _second_capture(store: ObservationStore, site: str) -> Instant:
    """The instant of a site's second capture (robots.txt was read again). Pages found before it were there."""
    read = store.histories(site, Kind.ROBOTS).times
    return float(read[1]) if len(read) > 1 else math.inf


def _rows(history: SiteHistory, gone: set[tuple[Url, Instant]], second: Instant) -> Iterator[list[object]]:
    for page, url in enumerate(history.urls):
        start, end = history.offsets[page], history.offsets[page + 1]
        times = history.times[start:end].tolist()
        if not times:
            continue
        there = [(url, time) not in gone for time in times]
        deleted, changes = ([] if there[0] else [times[0]]), list[float]()
        for at in range(1, len(times)):
            time = _between(times[at - 1], times[at], float(history.modified[start + at]))
            if there[at - 1] and not there[at]:
                deleted.append(time)
            elif there[at] and (not there[at - 1] or history.changed[start + at] == CHANGED):
                changes.append(time)
        yield [url, _text([times[0]]), int(times[0] < second), _text(deleted), "", _text(changes)]


def _between(before: Instant, time: Instant, modified: Instant) -> Instant:
    """The instant of a change: Last-Modified if it lies between the two accesses (NaN does not), else their middle."""
    return modified if before < modified <= time else (before + time) / 2


def _text(instants: list[Instant]) -> str:
    return ";".join(f"{instant:.3f}" for instant in instants)
