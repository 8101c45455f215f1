"""The data sets of ``bench_real_histories.py``, and which simulated crawls its tables are made of."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from rich.progress import Progress

from sharc_crawler.lab.experiment import RunSpec, facts
from sharc_crawler.lab.history import HistorySpec
from sharc_crawler.lab.pool import run_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

DAY = 86_400
MONTHS = 4  #: captures of a month, spread evenly over a history
BLIND = ("bfs", "bfs:revisits=fifo")
BY_RATE = ("hottest-last", "sharc-selective")
RATES = ("oracle", "captures")
GRAPHS = ("known", "discover")
SOURCES = ("constant", "sitemap", "lastmod", "history", "captures", "oracle")
LATE = (3_600.0, 86_400.0)  #: seconds that sitemaps tell late
ATTESTED_SOURCES = ("lastmod", "captures")
ONCE, ATTESTED = "bfs:revisits=none", "sharc-attested"
CHUNK = 20  #: runs after which they are kept


@dataclass(frozen=True)
class DataSet:
    """A history, its entry page and its window; where it has no links of the start, those of another's end."""

    name: str
    root: str
    start: str
    end: str
    about: str
    before: str = ""

    def months(self) -> list[tuple[float, float]]:
        """Windows of 30 days, spread evenly."""
        start, end = _instant(self.start), _instant(self.end)
        apart = (end - start - 30 * DAY) / (MONTHS - 1)
        return [(start + place * apart, start + place * apart + 30 * DAY) for place in range(MONTHS)]

    def spec(self, folder: Path, window: tuple[float, float] | None = None) -> HistorySpec:
        """The replay over a window; None: the whole."""
        links = [f"{self.before}.links"] if self.before else [f"{self.name}.start.links", f"{self.name}.links"]
        found = next(path for path in (folder / f"{name}.jsonl.gz" for name in links) if path.exists())
        events = folder / f"{self.name}.linkevents.jsonl.gz"
        start, end = window or (_instant(self.start), _instant(self.end))
        history = str(folder / f"{self.name}.csv.gz")
        return HistorySpec(history, self.root, start, end, str(found), str(events) if events.exists() else None)


def _instant(text: str) -> float:
    return dt.datetime.fromisoformat(f"{text}T00:00+00:00").timestamp()


DATA = (
    DataSet("emacswiki-2012", "SiteMap", "2012-01-01", "2013-01-01", "A wiki: most pages never change, some every day"),
    DataSet("emacswiki-2013", "SiteMap", "2013-01-01", "2014-01-01", "The wiki's next year", "emacswiki-2012"),
    DataSet(
        "trackawesome-2023",
        "/",
        "2023-01-15",
        "2023-04-25",
        "Published twice a day by a program, with four rebuilds of the whole site: a stress case",
    ),
    DataSet(
        "trackawesome-2024b",
        "/",
        "2024-09-17",
        "2024-12-27",
        "The same, rebuilt a dozen times in the year before and not once in the window",
    ),
    DataSet(
        "scrapydocs-2019",
        "index.html",
        "2019-01-01",
        "2020-01-01",
        "A small documentation site; its links are those of the end",
    ),
)
NAMED = {data.name: data for data in DATA}


@dataclass(frozen=True)
class Plan:
    """Which runs go into which cell."""

    data: DataSet
    folder: Path

    def cell(self, strategy: str, rates: str, graph: str, months: bool, **options: Any) -> list[RunSpec]:
        """The runs of a cell: one over the whole window, or one per month."""
        blind = strategy.startswith(("bfs", "dfs", "olston"))  # the same run whatever the rates
        windows = self.data.months() if months else [None]
        sites = [self.data.spec(self.folder, window) for window in windows]
        return [RunSpec(site, strategy, "oracle" if blind else rates, graph, **options) for site in sites]

    def looks(self, months: bool) -> list[list[RunSpec]]:
        """bfs, the oracle, learned rates, and these with second looks at what sitemaps tell, that are so late."""
        bfs, *others = (
            self.cell(strategy, rates, "known", months)
            for strategy, rates in (("bfs", "oracle"), ("sharc-selective", "oracle"), ("sharc-selective", "captures"))
        )
        late = [self.cell("sharc-selective", "captures", "known", months, sitemap=True, late=late) for late in LATE]
        return [bfs, *others, *late]

    def word(self, months: bool) -> list[list[RunSpec]]:
        """On the server's word: single visits breadth first, then ours by each source of rates."""
        blind = self.cell(ONCE, "oracle", "known", months, attested=1.0)
        return [blind, *(self.cell(ATTESTED, rates, "known", months, attested=1.0) for rates in ATTESTED_SOURCES)]

    def wanted(self) -> Iterator[RunSpec]:
        """All runs of the data set."""
        for graph, months, rates, strategy in product(GRAPHS, (False, True), RATES, (*BLIND, *BY_RATE)):
            yield from self.cell(strategy, rates, graph, months)
        for source in SOURCES:
            yield from self.cell("sharc-selective", source, "known", months=False)
        for months in (False, True):
            for cell in (*self.looks(months), *self.word(months)):
                yield from cell


def order(spec: RunSpec) -> tuple[float, str, str]:
    """Long windows first; runs on one site and with the same rates one after the other: both are kept."""
    assert isinstance(spec.site, HistorySpec)
    return spec.site.start - spec.site.end, repr(spec.site), spec.rates


class Results:
    """Runs asked for first, made together, looked up afterwards."""

    def __init__(self) -> None:
        self._wanted: dict[RunSpec, dict[str, Any]] = {}

    def want(self, specs: Iterable[RunSpec]) -> None:
        """Ask for runs."""
        self._wanted |= {spec: {} for spec in specs}

    def make(self, jobs: int, file: Path, most: int) -> None:
        """Make those that the file does not hold yet, whole windows first, site by site, and add them to it.

        ``most``: runs to make at most; cells are then means over the runs that there are.
        """
        lines = file.read_text().splitlines() if file.exists() else []
        made: dict[str, dict[str, Any]] = dict(json.loads(line) for line in lines)
        missing = [spec for spec in self._wanted if repr(spec) not in made]
        missing = sorted(missing, key=order)[:most]
        with Progress() as bar:
            task = bar.add_task("crawls", total=len(missing))
            for first in range(0, len(missing), CHUNK):
                some = missing[first : first + CHUNK]
                found = run_all(facts, some, jobs, lambda done, first=first: bar.update(task, completed=first + done))
                with file.open("a") as out:
                    for spec, result in zip(some, found, strict=True):
                        made[repr(spec)] = result
                        out.write(json.dumps([repr(spec), result]) + "\n")
        self._wanted = {spec: made.get(repr(spec), {}) for spec in self._wanted}

    def __getitem__(self, spec: RunSpec) -> dict[str, Any]:
        return self._wanted[spec]

    def over(self, specs: Iterable[RunSpec], key: str) -> list[float]:
        """One measure of several runs, of those that were made."""
        return [self[spec][key] for spec in specs if self[spec]]

    def missing(self, site: str) -> int:
        """Runs on a data set that were not made."""
        return sum(not found for spec, found in self._wanted.items() if site in repr(spec.site))
