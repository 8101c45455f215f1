"""docs/results.md: every strategy on real histories of change, by oracle and by what was known before.

    python benchmarks/bench_real_histories.py FOLDER --runs runs.jsonl --output docs/results.md [--only emacswiki-2012]

FOLDER holds NAME.csv.gz, NAME.start.links.jsonl.gz and NAME.linkevents.jsonl.gz of the data sets. The file of runs
keeps every run that was made; what it holds is not made again. What stands under "## Of these runs" stays.
"""

from __future__ import annotations

import argparse
import datetime as dt
from itertools import product
from pathlib import Path
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

import numpy as np
from real_histories import (
    ATTESTED,
    ATTESTED_SOURCES,
    BLIND,
    BY_RATE,
    DATA,
    GRAPHS,
    LATE,
    MONTHS,
    ONCE,
    RATES,
    SOURCES,
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

    from sharc_crawler.lab.experiment import RunSpec
    from sharc_crawler.lab.history import HistorySpec

NONE = "–"
OWN_WORDS = "\n## Of these runs\n"


def number(values: list[float], decimals: int = 0) -> str:
    """A mean, with its spread where there are several."""
    if not values:
        return NONE
    spread = f" ± {pstdev(values):,.{decimals}f}" if len(values) > 1 else ""
    return f"{fmean(values):,.{decimals}f}{spread}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Markdown."""
    head = list(head)
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def large(plan: Plan, results: Results, key: str) -> str:
    """Strategies by window, graph and rates; of blur the whole window alone."""
    columns = [(graph, rates) for graph in GRAPHS for rates in RATES]
    decimals = 3 if key == "average_blur" else 0
    rows = []
    for strategy in (*BLIND, *BY_RATE):
        for months, name in ((False, f"`{strategy}`"), (True, f"`{strategy}`, months"))[: 1 if decimals else 2]:
            cells = [plan.cell(strategy, rates, graph, months) for graph, rates in columns]
            rows.append([name, *(number(results.over(cell, key), decimals) for cell in cells)])
    return table(["strategy", *(f"{graph}, {rates}" for graph, rates in columns)], rows)


def sources(plans: Iterable[Plan], results: Results) -> str:
    """What each source of rates is worth, over the whole window."""
    rows = []
    for plan in plans:
        cells = [plan.cell("sharc-selective", source, "known", months=False) for source in SOURCES]
        rows.append([plan.data.name, *(number(results.over(cell, "incoherent")) for cell in cells)])
    return table(["history", *SOURCES], rows)


def looks(plan: Plan, results: Results) -> str:
    """Second looks, by window: pages lost, and the regret of what lies between the oracle and bfs."""
    rows, named = [], ["whole", *(f"month {place + 1}" for place in range(MONTHS))]
    found = [row for months in (False, True) for row in zip(*plan.looks(months), strict=True)]
    made = [(name, _lost(results, row)) for name, row in zip(named, found, strict=True) if all(results[s] for s in row)]
    for name, lost in made:
        rows.append([name, *_with_regret(lost, 0)])
    if len(months := [lost for name, lost in made if name != "whole"]) > 1:
        rows.append(
            [f"mean of {len(months)} months", *_with_regret([fmean(one) for one in zip(*months, strict=True)], 1)]
        )
    return table(["window", "bfs", "oracle", *HEADS], rows)


def _lost(results: Results, specs: Iterable[RunSpec]) -> list[float]:
    return [results[spec]["incoherent"] for spec in specs]


def _with_regret(lost: list[float], decimals: int) -> list[str]:
    bfs, oracle, *others = lost
    regrets = [f" ({(one - oracle) / (bfs - oracle):.2f})" if _differ(bfs, oracle) else "" for one in others]
    shown = (f"{one:,.{decimals}f}{regret}" for one, regret in zip(others, regrets, strict=True))
    return [f"{bfs:,.{decimals}f}", f"{oracle:,.{decimals}f}", *shown]


def word(plan: Plan, results: Results) -> str:
    """On the server's word: pages lost, downloads a page, wrong claims."""
    names = [ONCE, *(f"{ATTESTED}`, {rates}" for rates in ATTESTED_SOURCES)]
    cells = [(plan.word(months=False)[place], plan.word(months=True)[place]) for place in range(len(names))]
    rows = []
    for name, pair in zip(names, cells, strict=True):
        row = [f"`{name}" + ("" if "`" in name else "`")]
        for decimals, cell in enumerate(pair):
            downloads, pages = (results.over(cell, key) for key in ("downloads", "pages"))
            each = f"{sum(downloads) / sum(pages):.3f}" if pages else "–"
            wrong = results.over(cell, "wrongly_coherent") if name.startswith(ATTESTED) else []
            row += [number(results.over(cell, "incoherent"), decimals), each, f"{sum(wrong):g}" if wrong else "–"]
        rows.append(row)
    return table(
        ["order, rates", *(f"{window}: {what}" for window in ("whole", "months") for what in WORD)],
        rows,
    )


WORD = ("lost", "downloads a page", "claimed wrongly")


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
    ("attested, one visit", "bfs:revisits=none", "oracle", "known", "236"),
    ("attested, one visit, again at T", "sharc-attested", "lastmod", "known", "135"),
)


def references(plan: Plan, results: Results) -> str:
    """The figures that are known from elsewhere, whole window of emacswiki-2012."""
    rows = []
    for evidence, order, rates, graph, whole in REFERENCES:
        attested = {"attested": 1.0} if evidence.startswith("attested") else {}
        ours = number(results.over(plan.cell(order, rates, graph, months=False, **attested), "incoherent"))
        known = "" if order.startswith("bfs") else f", {rates}"
        if ours != NONE:
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
* **Rates**: *oracle* counts the changes of the window itself. All others know what was known when the capture began.
  *history*: the change times of the year before. *captures*: what a crawl learns from weekly captures of the
  year before and the sitemap of the day. *lastmod*: the age of each page's last change alone. *sitemap*: classes of
  frequency and lastmod as the site would publish them; *constant*, nothing.
* **Regret**: (lost − lost by the oracle) / (lost by bfs − lost by the oracle), in brackets; none is given where these
  two differ by less than a tenth of what bfs loses.
* A replay has no chance in it but for which pages are audited (by a seed of its own).

*`sharc-attested`* makes all visits before T, and
[downloads again at T](rates.md#the-servers-word-as-evidence) what the sitemaps call stale. Audits and sitemaps are
among its downloads.
"""
IN_SHORT = """Means over the windows in which all runs of a cell were made; ± is the standard deviation over these.

* **Learned**, and with second looks at what the site tells so late: regret on a known graph.
* **Discovered**: regret of `sharc-selective` with the oracle's rates on a graph to be discovered, beside
  `bfs:revisits=fifo`. **Beyond the best walk**: pages it loses more than the best of bfs, `bfs:revisits=fifo` and
  `hottest-last`, window by window.
* **On the server's word**: pages that `sharc-attested` loses by lastmods alone (downloads a page, audit included).
  **Bfs once**: those of `bfs:revisits=none` on the same evidence.
"""
WORTH = "### What each source of rates is worth (`sharc-selective`, known graph, whole window: incoherent pages)"
HEADS = ("learned", *(f"told {seconds / 3600:.0f} h late" for seconds in LATE))


def in_short(plans: Iterable[Plan], results: Results) -> str:
    """Regrets, and pages lost on the server's word: means over those windows in which all was run."""
    rows = []
    for plan, months in product(plans, (False, True)):
        regrets, others = _regrets(plan, results, months), _discovered(plan, results, months)
        found = [*regrets, *others, *_attested(plan, results, months)]
        if any(cell not in ("", NONE) for cell in found):
            rows.append([f"{plan.data.name}, {'months' if months else 'whole'}", *(cell or "–" for cell in found)])
    discovery = ("discovered", "beyond the best walk")
    return table(["history, window", *HEADS, *discovery, "on the server's word", "bfs once"], rows)


def _together(results: Results, cells: list[list[RunSpec]]) -> list[tuple[dict[str, Any], ...]]:
    """The runs of each window in which there are all."""
    rows = (tuple(results[spec] for spec in row) for row in zip(*cells, strict=True))
    return [row for row in rows if all(row)]


def _regrets(plan: Plan, results: Results, months: bool) -> list[str]:
    bfs, oracle, *others = plan.looks(months)
    return [_mean_regret(_together(results, [bfs, oracle, other])) for other in others]


def _mean_regret(runs: list[tuple[dict[str, Any], ...]]) -> str:
    lost = [[run["incoherent"] for run in row] for row in runs]
    return (
        number([(other - oracle) / (bfs - oracle) for bfs, oracle, other in lost if _differ(bfs, oracle)], 2)
        if lost
        else ""
    )


def _differ(bfs: float, oracle: float) -> bool:
    """By enough for a regret to mean something: a tenth of what bfs loses."""
    return bfs - oracle > bfs / 10


def _discovered(plan: Plan, results: Results, months: bool) -> list[str]:
    """The regret beside the faster walk, and pages lost beyond the best of all, each with its window's own."""
    walks = [plan.cell(strategy, "oracle", "discover", months) for strategy in (*BLIND, "hottest-last")]
    ours = plan.cell("sharc-selective", "oracle", "discover", months)
    known = plan.cell("sharc-selective", "oracle", "known", months)
    regret = _mean_regret(_together(results, [walks[1], known, ours]))
    runs = [[run["incoherent"] for run in row] for row in _together(results, [ours, *walks])]
    return [regret, ", ".join(f"{own - min(others):+,}" for own, *others in runs)]


def _attested(plan: Plan, results: Results, months: bool) -> list[str]:
    once, *_ = plan.word(months)
    runs = _together(results, [once, plan.cell(ATTESTED, "lastmod", "known", months, attested=1.0)])
    if not runs:
        return ["", ""]
    each = sum(own["downloads"] for _, own in runs) / sum(own["pages"] for _, own in runs)
    lost = [number([row[place]["incoherent"] for row in runs], int(months)) for place in (1, 0)]
    return [f"{lost[0]} ({each:.3f})", lost[1]]


POINTER = "\nRegret of rate estimators on these histories: [rates.md](rates.md), by `benchmarks/bench_rates.py`.\n"


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
        large(plan, results, key="incoherent"),
        "### Second looks before T: incoherent pages (regret), known graph, rates learned from captures",
        looks(plan, results),
        "### On the server's word: all pages attested, known graph",
        word(plan, results),
        "### Visit and revisit (average blur per page, whole window)",
        large(plan, results, key="average_blur"),
    ]


def document(folder: Path, data: Iterable[DataSet], jobs: int, runs: Path, most: int, output: Path) -> str:
    """The whole page."""
    results, plans = Results(), [Plan(one, folder) for one in data]
    for plan in plans:
        results.want(plan.wanted())
    results.make(jobs, runs, most)
    parts = [
        INTRODUCTION.rstrip(),
        "## In short",
        IN_SHORT.rstrip(),
        in_short(plans, results),
        WORTH,
        sources(plans, results),
    ]
    for plan in plans:
        picture = output.parent / f"pictures/results-{plan.data.name}.svg"
        draw(plan, results, picture)
        heading, *others = sections(plan, results)
        parts += [heading, f"![Incoherent pages of {plan.data.name} by order](pictures/{picture.name})", *others]
    kept = output.read_text().partition(OWN_WORDS)[2] if output.exists() else ""
    return "\n\n".join(parts) + "\n" + OWN_WORDS + (kept or POINTER)


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
