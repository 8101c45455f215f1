"""The data sets of ``bench_real_histories.py``, and which simulated crawls its tables are made of."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

from rich.progress import Progress

from sharc_crawler.lab.experiment import RunSpec, facts
from sharc_crawler.lab.history import HistorySpec
from sharc_crawler.lab.pool import run_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

DAY = 86_400
BLIND = ("bfs", "bfs:revisits=fifo", "dfs", "dfs:revisits=fifo")
BY_RATE = (
    "hottest-first",
    "hottest-first:revisits=fifo",
    "hottest-last",
    "hottest-last:revisits=fifo",
    "sharc-revisits",
    "sharc-selective",
    "sharc-optimal",
)
SINGLE_BLIND = ("bfs:revisits=none", "dfs:revisits=none")
SINGLE_BY_RATE = (
    "hottest-first:revisits=none",
    "hottest-last:revisits=none",
    "olston-pandey",
    "sharc-online",
    "sharc-offline",
)
RATES = ("oracle", "history")
SOURCES = ("constant", "sitemap", "lastmod", "history", "captures", "oracle")
ATTESTED_SOURCES = ("lastmod", "history", "oracle")
ONCE = ("bfs:revisits=none", "dfs:revisits=none", "hottest-last:revisits=none", "sharc-offline", "sharc-attested")
TWICE = ("bfs", "bfs:revisits=fifo", "dfs", "hottest-last", "sharc-selective", "sharc-attested:visits=2")
BY_SHARE = ("bfs", "sharc-selective", "sharc-attested", "sharc-attested:visits=2")
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
SHARE_SEEDS = range(3)  #: of which pages are attested
LIES = (0.01, 0.1)
AUDITS = (0.02, 0.1)
LIE_SEEDS = range(6)  #: of which pages lie
EVERY = 3  #: of the months' starts, where there are many and the graph is to be discovered
CHUNK = 20  #: runs after which they are kept


@dataclass(frozen=True)
class DataSet:
    """A history, its entry page, its window, and the months in it (or what comes near)."""

    name: str
    root: str
    bounds: tuple[str, ...]  # starts of the months, and the end
    about: str

    def months(self, graph: str) -> list[tuple[float, float]]:
        """Windows of about a month: all, or, where it is to be discovered, every third of many."""
        windows = pairwise(_instant(text) for text in self.bounds)
        long = [window for window in windows if window[1] - window[0] > 20 * DAY]
        return long[::EVERY] if graph == "discover" and len(long) > EVERY else long

    def spec(self, folder: Path, window: tuple[float, float] | None = None) -> HistorySpec:
        """The replay over a window; None: the whole."""
        path = {kind: folder / f"{self.name}.{kind}.jsonl.gz" for kind in ("start.links", "links", "linkevents")}
        links = path["start.links"] if path["start.links"].exists() else path["links"]
        events = str(path["linkevents"]) if path["linkevents"].exists() else None
        start, end = window or (_instant(self.bounds[0]), _instant(self.bounds[-1]))
        return HistorySpec(str(folder / f"{self.name}.csv.gz"), self.root, start, end, str(links), events)


def _instant(text: str) -> float:
    return dt.datetime.fromisoformat(f"{text}T00:00+00:00").timestamp()


def _months(year: int) -> tuple[str, ...]:
    return (*(f"{year}-{month:02}-01" for month in range(1, 13)), f"{year + 1}-01-01")


DATA = (
    DataSet("emacswiki-2012", "SiteMap", _months(2012), "A wiki: most pages never change, some every day"),
    DataSet(
        "trackawesome-2023",
        "/",
        ("2023-01-15", "2023-02-14", "2023-03-16", "2023-04-15", "2023-04-25"),
        "Published twice a day by a program, with four rebuilds of the whole site: a stress case",
    ),
    DataSet(
        "scrapydocs-2019", "index.html", _months(2019), "A small documentation site; its links are those of the end"
    ),
)


@dataclass(frozen=True)
class Plan:
    """Which runs go into which cell."""

    data: DataSet
    folder: Path

    def cell(self, strategy: str, rates: str, graph: str, months: bool, **options: Any) -> list[RunSpec]:
        """The runs of a cell: one over the whole window, or one per month."""
        blind = strategy.startswith(("bfs", "dfs", "olston"))  # the same run whatever the rates
        windows = self.data.months(graph) if months else [None]
        sites = [self.data.spec(self.folder, window) for window in windows]
        return [RunSpec(site, strategy, "oracle" if blind else rates, graph, **options) for site in sites]

    def columns(self) -> list[tuple[str, bool, str]]:
        """Graph, months, rates of the columns of the large tables."""
        return [
            (graph, months, rates) for months in (False, True) for graph in ("known", "discover") for rates in RATES
        ]

    def rows(self, single: bool) -> Iterator[tuple[str, list[list[RunSpec]]]]:
        """Strategies with the runs of each cell."""
        for strategy in (*SINGLE_BLIND, *SINGLE_BY_RATE) if single else (*BLIND, *BY_RATE):
            yield strategy, [self.cell(strategy, rates, graph, months) for graph, months, rates in self.columns()]

    def shared(self, strategy: str, rates: str, share: float) -> list[RunSpec]:
        """Over the whole window, a share of the pages attested."""
        seeds = (0,) if share in (0.0, 1.0) else SHARE_SEEDS
        (spec,) = self.cell(strategy, rates, "known", months=False)
        return [replace(spec, attested=share, seed=seed) for seed in seeds]

    def lied_to(self, lying: float, audited: float) -> list[RunSpec]:
        """All pages attested, some of them falsely."""
        (spec,) = self.cell("sharc-attested", "history", "known", months=False, attested=1.0)
        return [replace(spec, lying=lying, audited=audited, seed=seed) for seed in LIE_SEEDS]

    def wanted(self) -> Iterator[RunSpec]:
        """All runs of the data set."""
        for single in (False, True):
            yield from (spec for _, cells in self.rows(single) for cell in cells for spec in cell)
        for source, months in product(SOURCES, (False, True)):
            yield from self.cell("sharc-selective", source, "known", months)
        for source, months, strategy in product(ATTESTED_SOURCES, (False, True), (*ONCE, *TWICE)):
            yield from self.cell(strategy, source, "known", months, attested=1.0)
        for share, strategy, rates in product(SHARES, BY_SHARE, (*RATES, "lastmod")):
            yield from self.shared(strategy, rates, share)
        for lying, audited in product(LIES, AUDITS):
            yield from self.lied_to(lying, audited)


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
