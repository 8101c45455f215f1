"""docs/results.md: every strategy on real histories of change, by oracle and by what was known before.

    python benchmarks/bench_real_histories.py FOLDER --runs runs.jsonl --output docs/results.md [--only emacswiki-2012]

FOLDER holds NAME.csv.gz, NAME.start.links.jsonl.gz and NAME.linkevents.jsonl.gz of the data sets. The file of runs
keeps every run that was made; what it holds is not made again. What stands under "## Rates" in the output stays.
"""

from __future__ import annotations

import argparse
import datetime as dt
from pathlib import Path
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

import numpy as np
from real_histories import (
    ATTESTED,
    ATTESTED_SOURCES,
    BY_SHARE,
    DATA,
    GRAPHS,
    LATE,
    LIE_SEEDS,
    LIES,
    MONTHS,
    ONCE,
    RATES,
    SHARES,
    SOURCES,
    TWICE,
    DataSet,
    Plan,
    Results,
)
from real_histories_pictures import draw

from sharc_crawler.lab.experiment import build
from sharc_crawler.lab.rates import believe
from sharc_crawler.lab.schedule import DownloadTimes
from sharc_crawler.lab.score import score

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sharc_crawler.lab.history import HistorySpec

RATES_SECTION = "\n## Rates\n"


def number(values: list[float], decimals: int = 0) -> str:
    """A mean, with its spread where there are several."""
    if not values:
        return "–"
    spread = f" ± {pstdev(values):,.{decimals}f}" if len(values) > 1 else ""
    return f"{fmean(values):,.{decimals}f}{spread}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Markdown."""
    head = list(head)
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def large(plan: Plan, results: Results, single: bool, key: str) -> str:
    """Strategies by window, graph and rates."""
    columns = [(graph, rates) for graph in GRAPHS for rates in RATES]
    decimals = 3 if key == "average_blur" else 0
    rows = []
    for strategy in plan.strategies(single):
        for months, name in ((False, f"`{strategy}`"), (True, f"`{strategy}`, months")):
            cells = [plan.cell(strategy, rates, graph, months) for graph, rates in columns]
            rows.append([name, *(number(results.over(cell, key), decimals) for cell in cells)])
    return table(["strategy", *(f"{graph}, {rates}" for graph, rates in columns)], rows)


def sources(plan: Plan, results: Results) -> str:
    """What each source of rates is worth, over the whole window and by months."""
    rows = []
    for months, name in ((False, "whole"), (True, "months")):
        cells = [plan.cell("sharc-selective", source, "known", months) for source in SOURCES]
        rows.append([name, *(number(results.over(cell, "incoherent"), int(months)) for cell in cells)])
    return table(["window", *SOURCES], rows)


def looks(plan: Plan, results: Results) -> str:
    """Second looks, by window: pages lost, and the regret of what lies between the oracle and bfs."""
    windows = [("whole", plan.looks(months=False), slice(None))]
    windows += [(f"month {place + 1}", plan.looks(months=True), slice(place, place + 1)) for place in range(MONTHS)]
    windows.append((f"mean of {MONTHS} months", plan.looks(months=True), slice(None)))
    rows = []
    for name, cells, part in windows:
        found = [results.over(cell[part], "incoherent") for cell in cells]
        if not all(found):
            continue
        bfs, oracle, *others = (fmean(one) for one in found)
        decimals = int(name.startswith("mean"))
        shown = (f"{one:,.{decimals}f} ({(one - oracle) / (bfs - oracle):.2f})" for one in others)
        rows.append([name, f"{bfs:,.{decimals}f}", f"{oracle:,.{decimals}f}", *shown])
    late = [f"told {seconds / 3600:.0f} h late" for seconds in LATE]
    return table(["window", "bfs", "oracle", "learned", *late], rows)


def word(plan: Plan, results: Results) -> str:
    """On the server's word: pages lost, downloads a page, wrong claims."""
    names = [ONCE, TWICE, *(f"{strategy}`, {rates}" for strategy in ATTESTED for rates in ATTESTED_SOURCES)]
    cells = [(plan.word(months=False)[place], plan.word(months=True)[place]) for place in range(len(names))]
    rows = []
    for name, pair in zip(names, cells, strict=True):
        row = [f"`{name}" + ("" if "`" in name else "`")]
        for decimals, cell in enumerate(pair):
            downloads, pages = (results.over(cell, key) for key in ("downloads", "pages"))
            each = f"{sum(downloads) / sum(pages):.3f}" if pages else "–"
            wrong = results.over(cell, "wrongly_coherent") if name.startswith(ATTESTED[0]) else []
            row += [number(results.over(cell, "incoherent"), decimals), each, f"{sum(wrong):g}" if wrong else "–"]
        rows.append(row)
    return table(
        ["order, rates", *(f"{window}: {what}" for window in ("whole", "months") for what in WORD)],
        rows,
    )


WORD = ("lost", "downloads a page", "claimed wrongly")


def shares(plan: Plan, results: Results) -> str:
    """By the share of pages that are attested."""
    rows = []
    for strategy in BY_SHARE:
        cells = [plan.shared(strategy, share) for share in SHARES]
        shown = (f"{number(results.over(c, 'incoherent'))} ({number(results.over(c, 'downloads'))})" for c in cells)
        rows.append([f"`{strategy}`", *shown])
    return table(["order", *(f"{share:.0%}" for share in SHARES)], rows)


def lies(plan: Plan, results: Results) -> str:
    """What the frontier's audit finds, and what it claims all the same."""
    keys = {"audited": "audited", "changed": "of these changed", "lies": "lies found"}
    rows = []
    for lying in LIES:
        specs = plan.lied_to(lying)
        audits, unknown, wrong = (results.over(specs, key) for key in ("audited", "unknown", "wrongly_coherent"))
        bounds = [audit["bound"] for audit in audits]
        held = sum(left <= bound for left, bound in zip(wrong, bounds, strict=True))
        columns = [[audit[key] for audit in audits] for key in keys] + [unknown, wrong, bounds]
        rows.append([f"{lying:.0%}", *(number(column, 1) for column in columns), f"{held} of {len(audits)}"])
    head = ["lies", *keys.values(), "unknown", "wrong claims that remain", "bound on these", "bound holds"]
    return table(head, rows)


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
    return score(site, DownloadTimes(visits, revisits), believe(site, "oracle")).incoherent


#: evidence; order; rates; graph; known from elsewhere over the whole window
REFERENCES = (
    ("bytes", "bfs", "oracle", "known", "852"),
    ("bytes", "bfs:revisits=fifo", "oracle", "known", "787"),
    ("bytes", "hottest-last", "oracle", "known", "436"),
    ("bytes", "sharc-selective", "lastmod", "known", "504"),
    ("bytes", "sharc-selective", "history", "known", "397"),
    ("bytes", "sharc-selective", "oracle", "known", "164"),
    ("bytes", "sharc-selective", "history", "discover", "590"),
    ("attested, one visit", "bfs:revisits=none", "oracle", "known", "236"),
    ("attested, one visit, again at T", "sharc-attested", "lastmod", "known", "135"),
    ("attested, one visit, again at T", "sharc-attested", "oracle", "known", "58"),
    ("attested, two visits", "bfs", "oracle", "known", "192"),
    ("attested, two visits", "sharc-attested:visits=2", "oracle", "known", "7"),
)


def references(plan: Plan, results: Results) -> str:
    """The figures that are known from elsewhere, whole window of emacswiki-2012."""
    rows = []
    for evidence, order, rates, graph, whole in REFERENCES:
        attested = {"attested": 1.0} if evidence.startswith("attested") else {}
        ours = number(results.over(plan.cell(order, rates, graph, months=False, **attested), "incoherent"))
        known = "" if order.startswith("bfs") else f", {rates}"
        rows.append([f"{evidence}; {graph} graph", f"`{order}`{known}", whole, ours])
    clear = [float(clairvoyant(plan.data.spec(plan.folder)))]
    rows.append(["bytes; known graph", "a clairvoyant's pyramid", "0", number(clear)])
    return table(["evidence", "order, rates", "reference", "here"], rows)


INTRODUCTION = f"""# Real histories, replayed

Made by `python benchmarks/bench_real_histories.py FOLDER --runs FILE --output docs/results.md`. Every figure is a run
of the frontier and the strategies of a live crawl in virtual time; `sharc simulate` makes any of them.

* **Incoherent**: pages that changed between visit and revisit (evidence: bytes); or, on the server's word, what cannot
  be claimed of T. Pages that vanished meanwhile are counted apart (about a dozen of emacswiki's). **Blur**: changes per
  page that a reader meets who takes the page of the nearest download.
* **Δ** is such that two downloads of each page known at the start fill the window, whatever the order and the
  evidence. So a capture of single visits lasts half as long, and lies in the window's middle. Where so many pages are
  discovered that the capture would outlast the window, Δ is that of all found.
* **Months**: {MONTHS} captures of 30 days, spread evenly over the history; mean ± standard deviation over them. Those
  of the trackawesome histories overlap by six days, as these have 100 days.
* **Known** graph: the pages reachable when the window begins are given, and its links hold; bfs and hottest-last walk
  them even so. **Discover**: pages are found by the links as of each download, appear and vanish.
* **Rates**: *oracle* counts the changes of the window itself. *history*: the change times of the year before.
  *captures*: what a crawl learns from weekly captures of the year before and the sitemap of the day. *lastmod*: the age
  of each page's last change alone. *sitemap*: classes of frequency and lastmod as the site would publish them;
  *constant*, nothing.
* **Regret**: (lost − lost by the oracle) / (lost by bfs − lost by the oracle), in brackets.
* A replay has no chance in it, but for which pages lie (seeds {LIE_SEEDS[0]} to {LIE_SEEDS[-1]}) and which are attested
  (seed 0).

*`sharc-attested`* makes all visits before T, and
[downloads again at T](rates.md#the-servers-word-as-evidence) what the sitemaps call stale. Audits and sitemaps are
among its downloads.
"""
RATES_INTRODUCTION = (
    "\nRegret of rate estimators on these histories: [rates.md](rates.md), by `benchmarks/bench_rates.py`.\n"
)


def dates(windows: list[tuple[float, float]]) -> str:
    """When they begin."""
    return ", ".join(f"{dt.datetime.fromtimestamp(start, dt.UTC):%Y-%m-%d}" for start, _ in windows)


def sections(plan: Plan, results: Results) -> list[str]:
    """What is said of one data set."""
    site = build(plan.data.spec(plan.folder))
    known, changes = f"{len(site.known):,} pages when the window begins", f"{len(site.changes):,} changes in it"
    starts = dates(plan.data.months())
    parts = [f"## {plan.data.name}\n\n{plan.data.about}. {known}, {changes}. Months begin {starts}."]
    if missing := results.missing(plan.data.name):
        cells = "cells are means over fewer months or seeds (without ±: over one); –: none"
        parts.append(f"{missing:,} runs were not made: {cells}.")
    if plan.data.name == "emacswiki-2012":
        parts += ["### Reference figures (incoherent pages)", references(plan, results)]
    return [
        *parts,
        "### Visit and revisit, evidence: bytes (incoherent pages)",
        large(plan, results, single=False, key="incoherent"),
        "### Second looks before T: incoherent pages (regret), known graph, rates learned from captures",
        looks(plan, results),
        "### What each source of rates is worth (`sharc-selective`, known graph: incoherent pages)",
        sources(plan, results),
        "### On the server's word: all pages attested, known graph",
        word(plan, results),
        "### By the share of attested pages: incoherent pages (downloads), whole window, known graph, rates by history",
        shares(plan, results),
        "### Lies: all pages attested, `sharc-attested` by history, whole window, known graph",
        "A lying page's lastmod never moves. What audit and bound are: "
        "[rates.md](rates.md#the-servers-word-as-evidence).",
        lies(plan, results),
        "### Visit and revisit (average blur per page)",
        large(plan, results, single=False, key="average_blur"),
        "### Single visits (average blur per page)",
        large(plan, results, single=True, key="average_blur"),
    ]


def document(folder: Path, data: Iterable[DataSet], jobs: int, runs: Path, most: int, output: Path) -> str:
    """The whole page."""
    results, plans = Results(), [Plan(one, folder) for one in data]
    for plan in plans:
        results.want(plan.wanted())
    results.make(jobs, runs, most)
    parts = [INTRODUCTION.rstrip()]
    for plan in plans:
        picture = output.parent / f"pictures/results-{plan.data.name}.svg"
        draw(plan, results, picture)
        heading, *others = sections(plan, results)
        parts += [heading, f"![Incoherent pages of {plan.data.name} by order](pictures/{picture.name})", *others]
    kept = output.read_text().partition(RATES_SECTION)[2] if output.exists() else ""
    return "\n\n".join(parts) + "\n" + RATES_SECTION + (kept or RATES_INTRODUCTION)


def main() -> None:
    """Parse and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True, help="JSON lines of runs: kept, and added to")
    parser.add_argument("--most", type=int, default=1_000_000, help="runs to make at most; cells: of those there are")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", action="append", help="names of data sets")
    given = parser.parse_args()
    data = [one for one in DATA if not given.only or one.name in given.only]
    given.output.write_text(document(given.folder, data, given.jobs, given.runs, given.most, given.output))


if __name__ == "__main__":
    main()
