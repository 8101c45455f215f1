"""docs/results.md: every strategy on real histories of change, by oracle and by what was known before.

    python benchmarks/bench_real_histories.py FOLDER --output docs/results.md [--jobs 2] [--only emacswiki-2012]

FOLDER holds NAME.csv.gz, NAME.start.links.jsonl.gz and NAME.linkevents.jsonl.gz of the data sets below.
"""

from __future__ import annotations

import argparse
import datetime as dt
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.progress import Progress

from sharc_crawler.sim.experiment import RunSpec, build, facts
from sharc_crawler.sim.history import HistorySpec
from sharc_crawler.sim.pool import run_all
from sharc_crawler.sim.rates import believe
from sharc_crawler.sim.schedule import Schedule
from sharc_crawler.sim.score import score

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DAY = 86_400
BASELINES = ("bfs", "bfs:revisits=fifo", "dfs", "dfs:revisits=fifo")
BY_RATE = (
    "hottest-first",
    "hottest-first:revisits=fifo",
    "hottest-last",
    "hottest-last:revisits=fifo",
    "sharc-revisits",
    "sharc-selective",
    "sharc-optimal",
)
SINGLE = ("bfs:revisits=none", "dfs:revisits=none")
SINGLE_BY_RATE = (
    "hottest-first:revisits=none",
    "hottest-last:revisits=none",
    "olston-pandey",
    "sharc-online",
    "sharc-offline",
)
RATES = ("oracle", "history")
SOURCES = ("constant", "sitemap", "lastmod", "history", "captures", "oracle")
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
SEEDS = range(3)  # of which pages are attested


@dataclass(frozen=True)
class DataSet:
    """A history, its entry page, its window, and the months in it (or what comes near)."""

    name: str
    root: str
    bounds: tuple[str, ...]  # starts of the months, and the end
    about: str

    def windows(self) -> list[tuple[float, float]]:
        """The months."""
        return list(pairwise(_instant(text) for text in self.bounds))

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
    DataSet("emacswiki-2012", "SiteMap", _months(2012), "a wiki: most pages never change, some every day"),
    DataSet(
        "trackawesome-2023",
        "/",
        ("2023-01-15", "2023-02-14", "2023-03-16", "2023-04-15", "2023-04-25"),
        "published twice a day by a program, with four rebuilds of the whole site: a stress case",
    ),
    DataSet(
        "scrapydocs-2019", "index.html", _months(2019), "a small documentation site; its links are those of the end"
    ),
)


class Results:
    """Runs asked for first, made together, looked up afterwards."""

    def __init__(self) -> None:
        self._wanted: dict[RunSpec, dict[str, Any]] = {}

    def want(self, specs: Iterable[RunSpec]) -> None:
        """Ask for runs."""
        self._wanted |= {spec: {} for spec in specs}

    def make(self, jobs: int) -> None:
        """Make them all."""
        specs = list(self._wanted)
        with Progress() as bar:
            task = bar.add_task("crawls", total=len(specs))
            found = run_all(facts, specs, jobs, lambda done: bar.update(task, completed=done))
        self._wanted = dict(zip(specs, found, strict=True))

    def __getitem__(self, spec: RunSpec) -> dict[str, Any]:
        return self._wanted[spec]

    def over(self, specs: Iterable[RunSpec], key: str) -> list[float]:
        """One measure of several runs."""
        return [self[spec][key] for spec in specs]


@dataclass(frozen=True)
class Plan:
    """Which runs go into which cell."""

    data: DataSet
    folder: Path

    def cell(self, strategy: str, rates: str, graph: str, months: bool, **options: Any) -> list[RunSpec]:
        """The runs of a cell: one over the whole window, or one per month."""
        windows = [window for window in self.data.windows() if window[1] - window[0] > 20 * DAY] if months else [None]
        return [RunSpec(self.data.spec(self.folder, window), strategy, rates, graph, **options) for window in windows]

    def columns(self) -> list[tuple[str, bool, str]]:
        """Graph, months, rates of the columns of the large tables."""
        return [
            (graph, months, rates) for months in (False, True) for graph in ("known", "discover") for rates in RATES
        ]

    def rows(self, single: bool) -> Iterator[tuple[str, list[list[RunSpec]]]]:
        """Strategies with the runs of each cell; orders that know no rates have the same runs in both columns."""
        blind, by_rate = (SINGLE, SINGLE_BY_RATE) if single else (BASELINES, BY_RATE)
        for strategy in (*blind, *by_rate):
            yield (
                strategy,
                [
                    self.cell(strategy, "oracle" if strategy in blind else rates, graph, months)
                    for graph, months, rates in self.columns()
                ],
            )

    def attested(self, strategy: str, rates: str, share: float, lying: float = 0.0) -> list[RunSpec]:
        """Over the whole window, by who is attested."""
        seeds = (0,) if share in (0.0, 1.0) and not lying else SEEDS
        (spec,) = self.cell(strategy, rates, "known", months=False)
        return [replace(spec, attested=share, lying=lying, seed=seed) for seed in seeds]


ATTESTED = ("bfs", "sharc-selective", "sharc-attested", "sharc-attested:visits=2")
ATTESTED_ONCE = (
    "bfs:revisits=none",
    "dfs:revisits=none",
    "hottest-last:revisits=none",
    "sharc-offline",
    "sharc-attested",
)
LIES = (0.01, 0.1)


def wanted(plan: Plan) -> Iterator[RunSpec]:
    """All runs of a data set."""
    for single in (False, True):
        for _, cells in plan.rows(single):
            yield from (spec for cell in cells for spec in cell)
    for source in SOURCES:
        for months in (False, True):
            yield from plan.cell("sharc-selective", source, "known", months)
            for strategy in (*ATTESTED_ONCE, "sharc-attested:visits=2"):
                yield from plan.cell(strategy, source, "known", months, attested=1.0)
    for share in SHARES:
        for strategy in ATTESTED:
            for rates in (*RATES, "lastmod"):
                yield from plan.attested(strategy, rates, share)
    for lying in LIES:
        yield from plan.attested("sharc-attested", "history", 1.0, lying)


def number(values: list[float], decimals: int = 0) -> str:
    """A mean, with its spread where there are several."""
    spread = f" ± {pstdev(values):.{max(decimals, 0)}f}" if len(values) > 1 else ""
    return f"{fmean(values):,.{decimals}f}{spread}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Markdown."""
    head = list(head)
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def large(plan: Plan, results: Results, single: bool) -> str:
    """Strategies by window, graph and rates."""
    head = [f"{'months' if months else 'whole'}, {graph}, {rates}" for graph, months, rates in plan.columns()]
    key, decimals = ("average_blur", 3) if single else ("incoherent", 0)
    rows = [
        [f"`{strategy}`", *(number(results.over(cell, key), decimals) for cell in cells)]
        for strategy, cells in plan.rows(single)
    ]
    return table(["strategy", *head], rows)


def sources(plan: Plan, results: Results, strategies: tuple[str, ...], **options: Any) -> str:
    """What each source of rates is worth."""
    rows = [
        [
            f"`{strategy}`" + (", months" if months else ""),
            *(number(results.over(plan.cell(strategy, s, "known", months, **options), "incoherent")) for s in SOURCES),
        ]
        for strategy in strategies
        for months in (False, True)
    ]
    return table(["strategy", *SOURCES], rows)


def shares(plan: Plan, results: Results) -> str:
    """By the share of pages that are attested."""
    rows = []
    for strategy in ATTESTED:
        for rates in ("oracle",) if strategy == "bfs" else (*RATES, "lastmod"):
            cells = [plan.attested(strategy, rates, share) for share in SHARES]
            shown = (
                f"{number(results.over(c, 'incoherent'))} ({fmean(results.over(c, 'downloads')):,.0f})" for c in cells
            )
            rows.append([f"`{strategy}`" + ("" if strategy == "bfs" else f", {rates}"), *shown])
    return table(["strategy", *(f"{share:.0%}" for share in SHARES)], rows)


def lies(plan: Plan, results: Results) -> str:
    """What an audit finds."""
    keys = ("lying", "wrongly_claimed", "audited", "changed", "lies_found", "remaining", "bound")
    rows = []
    for lying in LIES:
        audits = [results[spec]["audit"] for spec in plan.attested("sharc-attested", "history", 1.0, lying)]
        rows.append([f"{lying:.0%}", *(number([audit[key] for audit in audits], 1) for key in keys)])
    return table(["lies", *(key.replace("_", " ") for key in keys)], rows)


def clairvoyant(spec: HistorySpec) -> int:
    """Incoherent pages of a pyramid that knows every change: pages that keep still longest around T go first."""
    site = build(spec)
    pages, middle = np.array(site.known), (site.start + site.end) / 2
    step = (site.end - site.start) / (2 * len(pages))
    quiet = [np.abs(site.changes.rows[page] - middle).min(initial=np.inf) for page in pages]
    places = np.empty(len(pages))
    places[np.argsort(quiet, kind="stable")] = np.arange(len(pages)) + 0.5
    visits, revisits = np.full(len(site.urls), np.nan), np.full(len(site.urls), np.nan)
    visits[pages], revisits[pages] = middle - places * step, middle + places * step
    return score(site, Schedule(visits, revisits), believe(site, "oracle")).incoherent


def references(plan: Plan, results: Results) -> str:
    """The figures that are known from elsewhere, whole window of emacswiki-2012."""

    def found(strategy: str, rates: str, graph: str = "known", **options: Any) -> str:
        (spec,) = plan.cell(strategy, rates, graph, months=False, **options)
        return number([results[spec]["incoherent"]])

    once, twice = {"attested": 1.0}, "sharc-attested:visits=2"
    rows = [
        [
            "bytes, known graph",
            "`bfs` LIFO, FIFO",
            "852, 787",
            f"{found('bfs', 'oracle')}, {found(BASELINES[1], 'oracle')}",
        ],
        ["", "`dfs` LIFO", "798", found("dfs", "oracle")],
        ["", "`hottest-last` LIFO, oracle", "436", found("hottest-last", "oracle")],
        ["", "`sharc-selective`, oracle", "164", found("sharc-selective", "oracle")],
        ["", "`sharc-selective`, a year's history", "397", found("sharc-selective", "history")],
        ["", "`sharc-selective`, lastmod alone", "504", found("sharc-selective", "lastmod")],
        ["", "a clairvoyant's pyramid", "0", str(clairvoyant(plan.data.spec(plan.folder)))],
        [
            "bytes, discovered graph",
            "`sharc-selective`, history",
            "590",
            found("sharc-selective", "history", "discover"),
        ],
        ["attested, one visit", "`bfs`", "236", found("bfs:revisits=none", "oracle", **once)],
        ["", "`sharc-attested`, lastmod alone", "135", found("sharc-attested", "lastmod", **once)],
        ["", "`sharc-attested`, history", "153", found("sharc-attested", "history", **once)],
        ["", "`sharc-attested`, oracle", "58", found("sharc-attested", "oracle", **once)],
        ["attested, two visits", "`bfs` LIFO", "192", found("bfs", "oracle", **once)],
        ["", f"`{twice}`, history", "30", found(twice, "history", **once)],
        ["", f"`{twice}`, oracle", "7", found(twice, "oracle", **once)],
    ]
    return table(["evidence", "order, rates", "reference", "here"], rows)


INTRODUCTION = """# Real histories, replayed

Made by `python benchmarks/bench_real_histories.py FOLDER --output docs/results.md`. Every figure is a run of the
frontier and the strategies of a live crawl in virtual time; `sharc simulate` makes any of them.

* **Incoherent**: pages that changed between visit and revisit; or, on the server's word, between T and every
  download. Pages that vanished meanwhile are counted apart (about a dozen of emacswiki's).
* **Δ** is such that two downloads of each page known at the start fill the window, whatever the order and the
  evidence; a capture of single visits so lasts half as long and lies in the window's middle. Where so many pages are
  discovered that the capture would outlast the window, Δ is that of all found.
* **Months**: captures of a month each; mean ± standard deviation over the starts.
* **Known** graph: the pages reachable when the window begins are given, and its links hold; bfs, dfs, hottest-first
  and hottest-last walk them even so. **Discover**: pages are found by the links as of each download, appear and
  vanish.
* **Rates**: *oracle* counts the changes of the window itself; *history*, the change times of the year before;
  *captures*, weekly captures of the year before and the sitemap of the day; *lastmod*, the age of each page's last
  change alone; *sitemap*, classes of frequency and lastmod as the site would publish them; *constant*, nothing.
"""


def document(folder: Path, data: Iterable[DataSet], jobs: int) -> str:
    """The whole page."""
    results, plans = Results(), [Plan(one, folder) for one in data]
    for plan in plans:
        results.want(wanted(plan))
    results.make(jobs)
    parts = [INTRODUCTION]
    for plan in plans:
        site = build(plan.data.spec(folder))
        parts.append(f"## {plan.data.name}\n\n{plan.data.about}; {len(site.known):,} pages when the window begins, ")
        parts[-1] += f"{len(site.changes):,} changes in it."
        if plan.data.name.startswith("emacswiki"):
            parts += ["### Reference figures (whole window, incoherent pages)", references(plan, results)]
        parts += ["### Visit and revisit, evidence: bytes (incoherent pages)", large(plan, results, single=False)]
        parts += ["### Single visits (average blur per page)", large(plan, results, single=True)]
        parts += [
            "### What each source of rates is worth (evidence: bytes)",
            sources(plan, results, ("sharc-selective",)),
        ]
        parts.append("### The same on the server's word (all pages attested; one visit, and two)")
        parts.append(sources(plan, results, (*ATTESTED_ONCE, "sharc-attested:visits=2"), attested=1.0))
        parts.append("### By the share of attested pages: incoherent (downloads), whole window, known graph")
        parts.append(shares(plan, results))
        parts.append("### Lies: all pages attested, `sharc-attested` by history, 2 % audited by bytes, hot first")
        parts.append(lies(plan, results))
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Parse and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", action="append", help="names of data sets")
    given = parser.parse_args()
    data = [one for one in DATA if not given.only or one.name in given.only]
    given.output.write_text(document(given.folder, data, given.jobs))


if __name__ == "__main__":
    main()
