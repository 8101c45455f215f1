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
    ATTESTED_SOURCES,
    AUDITS,
    BY_SHARE,
    DATA,
    LIE_SEEDS,
    LIES,
    ONCE,
    RATES,
    SHARE_SEEDS,
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
    head = [f"{'months' if months else 'whole'}, {graph}, {rates}" for graph, months, rates in plan.columns()]
    rows = [
        [f"`{strategy}`", *(number(results.over(cell, key), 3 if key == "average_blur" else 0) for cell in cells)]
        for strategy, cells in plan.rows(single)
    ]
    return table(["strategy", *head], rows)


def sources(plan: Plan, results: Results, strategies: tuple[str, ...], **options: float) -> str:
    """What each source of rates is worth, over the whole window and by months."""
    rows, names = [], ATTESTED_SOURCES if options else SOURCES
    for strategy in strategies:
        for months in (False, True):
            cells = [plan.cell(strategy, source, "known", months, **options) for source in names]
            name = f"`{strategy}`" + (", months" if months else "")
            rows.append([name, *(number(results.over(cell, "incoherent")) for cell in cells)])
    return table(["order", *names], rows)


def shares(plan: Plan, results: Results) -> str:
    """By the share of pages that are attested."""
    rows = []
    for strategy in BY_SHARE:
        for rates in ("oracle",) if strategy == "bfs" else (*RATES, "lastmod"):
            cells = [plan.shared(strategy, rates, share) for share in SHARES]
            shown = (
                f"{number(results.over(c, 'incoherent'))} ({number(results.over(c, 'downloads')[:1])})" for c in cells
            )
            rows.append([f"`{strategy}`" + ("" if strategy == "bfs" else f", {rates}"), *shown])
    return table(["order, rates", *(f"{share:.0%}" for share in SHARES)], rows)


def lies(plan: Plan, results: Results) -> str:
    """What the frontier's audit finds, and what it claims all the same."""
    keys = {"audited": "audited", "changed": "of these changed", "lies": "lies found"}
    rows = []
    for lying in LIES:
        for share in AUDITS:
            specs = plan.lied_to(lying, share)
            audits, unknown, wrong = (results.over(specs, key) for key in ("audited", "unknown", "wrongly_coherent"))
            bounds = [audit["bound"] for audit in audits]
            held = sum(left <= bound for left, bound in zip(wrong, bounds, strict=True))
            columns = [[audit[key] for audit in audits] for key in keys] + [unknown, wrong, bounds]
            cells = [number(column, 1) for column in columns]
            rows.append([f"{lying:.0%}, {share:.0%}", *cells, f"{held} of {len(audits)}"])
    head = ["lies, audited", *keys.values(), "unknown", "wrong claims that remain", "bound on these", "bound holds"]
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


#: evidence; order; rates; graph; known from elsewhere: whole window, mean of the months
REFERENCES = (
    ("bytes", "bfs", "oracle", "known", "852", "120"),
    ("bytes", "bfs:revisits=fifo", "oracle", "known", "787", ""),
    ("bytes", "dfs", "oracle", "known", "798", ""),
    ("bytes", "hottest-last", "oracle", "known", "436", ""),
    ("bytes", "sharc-selective", "lastmod", "known", "504", "41"),
    ("bytes", "sharc-selective", "history", "known", "397", "38"),
    ("bytes", "sharc-selective", "oracle", "known", "164", "2.4"),
    ("bytes", "sharc-selective", "history", "discover", "590", ""),
    ("attested, one visit", "bfs:revisits=none", "oracle", "known", "236", "28"),
    ("attested, one visit, again at T", "sharc-attested", "lastmod", "known", "135", "10"),
    ("attested, one visit, again at T", "sharc-attested", "history", "known", "153", "11"),
    ("attested, one visit, again at T", "sharc-attested", "oracle", "known", "58", "0.3"),
    ("attested, two visits", "bfs", "oracle", "known", "192", ""),
    ("attested, two visits", "sharc-attested:visits=2", "history", "known", "30", ""),
    ("attested, two visits", "sharc-attested:visits=2", "oracle", "known", "7", ""),
)


def references(plan: Plan, results: Results) -> str:
    """The figures that are known from elsewhere, whole window and months of emacswiki-2012."""
    rows = []
    for evidence, order, rates, graph, whole, months in REFERENCES:
        attested = {"attested": 1.0} if evidence.startswith("attested") else {}
        cells = [plan.cell(order, rates, graph, by_month, **attested) for by_month in (False, True)]
        ours = [number(results.over(cell, "incoherent"), place) for place, cell in enumerate(cells)]
        known = "" if order.startswith(("bfs", "dfs")) else f", {rates}"
        rows.append([f"{evidence}; {graph} graph", f"`{order}`{known}", whole, ours[0], months or "–", ours[1]])
    specs = [
        plan.data.spec(plan.folder),
        *(plan.data.spec(plan.folder, window) for window in plan.data.months("known")),
    ]
    clear = [float(clairvoyant(spec)) for spec in specs]
    rows.append(["bytes; known graph", "a clairvoyant's pyramid", "0", number(clear[:1]), "–", number(clear[1:], 1)])
    return table(["evidence", "order, rates", "reference", "here", "reference, months", "here, months"], rows)


INTRODUCTION = f"""# Real histories, replayed

Made by `python benchmarks/bench_real_histories.py FOLDER --runs FILE --output docs/results.md`. Every figure is a run
of the frontier and the strategies of a live crawl in virtual time; `sharc simulate` makes any of them.

* **Incoherent**: pages that changed between visit and revisit (evidence: bytes); or, on the server's word, between T
  and every download of theirs (attested). Pages that vanished meanwhile are counted apart (about a dozen of
  emacswiki's). **Blur**: changes per page that a reader meets who takes the page of the nearest download.
* **Δ** is such that two downloads of each page known at the start fill the window, whatever the order and the
  evidence. So a capture of single visits lasts half as long; it lies in the window's middle, and so does its T. Where
  so many pages are discovered that the capture would outlast the window, Δ is that of all found.
* **Months**: captures that begin a month apart and fill a month each; mean ± standard deviation over the starts.
* **Known** graph: the pages reachable when the window begins are given, and its links hold; bfs, dfs, hottest-first
  and hottest-last walk them even so. **Discover**: pages are found by the links as of each download, appear and
  vanish.
* **Rates**: *oracle* counts the changes of the window itself; *history*, the change times of the year before;
  *captures*, weekly captures of the year before and the sitemap of the day; *lastmod*, the age of each page's last
  change alone; *sitemap*, classes of frequency and lastmod as the site would publish them; *constant*, nothing.
* **Seeds**: a replay has no chance in it, but for which pages are attested (seeds {SHARE_SEEDS[0]} to
  {SHARE_SEEDS[-1]}) and which lie ({LIE_SEEDS[0]} to {LIE_SEEDS[-1]}); mean ± standard deviation over them.

*`sharc-attested`* [downloads again at T](rates.md#the-servers-word-as-evidence) what the sitemap of T says has changed
since its visit; audits and sitemaps included, its downloads are 3 to 4 % more than
single visits over the whole window of emacswiki-2012, and 2 % in its months. `sharc-offline` makes single visits
alone.

*Of this page*: runs are kept, and not all are of one day or one version. `sharc-attested` is of 2026-11-22, and
downloads again at T. Before, it visited every attested page once, whatever T's sitemap said: over the whole window of
emacswiki-2012 it lost 121, 126 and 46 pages by *lastmod*, *history* and *oracle*, 12.2, 10.6 and 0.7 by months, with
two visits 37, 31 and 7; of trackawesome-2023, where a rebuild touches a thousand pages at once, 2,292, 1,640 and
1,159, with two visits 2,106, 1,543 and 1,037. There its downloads are 8 to 18 % more than single visits, by lastmods
it stays behind bfs, and with half or three quarters of the pages attested it loses up to 13 % more than before by the
oracle. `sharc-selective` where the graph is to be discovered (of `sharc-optimal` all months, and the whole window of
emacswiki-2012), and what the reference figures by months and the months with all pages attested need for twelve
starts, are of 2026-11-22; the others of 2026-11-21: *captures*, from before captures were also learned from by
boosted trees; *lastmod* and *captures* on scrapydocs-2019, from before lastmods that up to ten pages share were taken
for dates of changes on small sites, too. Cells with fewer starts than others are not to be compared with them.

*Like for like*: the months of the references, it seems, have the pages of the year's start: given these alone
(calendar months, `sharc simulate` without `--linkevents`), bfs loses 27.6 pages on the server's word (reference: 28)
and 120.3 by bytes (120); `sharc-selective` 36.8 by *history* (38), 38.7 by *lastmod* (41) and 3.7 by the *oracle*
(2.4); single visits of `sharc-attested` (the version before) 10.2 by *history* (11), 11.2 by *lastmod* (10; by 1/(day
+ age), as the references': 10.4) and 0.7 by the *oracle* (0.3: eight pages in twelve captures against four). Below,
each month has the pages known when it begins, which are more, and hotter. So two figures by months stay above the
references' where every page is visited once: the oracle's, by what may be chance in a few pages, and *lastmod*, whose
posterior is learned from all pages and does better over the whole window.
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
    graphs = [("known", "known"), ("discover", "to be discovered")]
    starts = "; ".join(f"{text}: {dates(plan.data.months(graph))}" for graph, text in graphs)
    parts = [
        f"## {plan.data.name}\n\n{plan.data.about}; {known}, {changes}. Months begin, where the graph is {starts}."
    ]
    if missing := results.missing(plan.data.name):
        cells = "cells are means over fewer months or seeds (without ±: over one); –: none"
        parts.append(f"{missing:,} runs were not made: {cells}.")
    if plan.data.name == "emacswiki-2012":
        parts += ["### Reference figures (incoherent pages)", references(plan, results)]
    return [
        *parts,
        "### Visit and revisit, evidence: bytes (incoherent pages)",
        large(plan, results, single=False, key="incoherent"),
        "### Visit and revisit (average blur per page)",
        large(plan, results, single=False, key="average_blur"),
        "### Single visits (average blur per page)",
        large(plan, results, single=True, key="average_blur"),
        "### What each source of rates is worth (evidence: bytes, incoherent pages)",
        sources(plan, results, ("sharc-selective",)),
        "### On the server's word: all pages attested, one visit, T in the window's middle (incoherent pages)",
        sources(plan, results, ONCE, attested=1.0),
        "### On the server's word: all pages attested, two visits, one on either side of T (incoherent pages)",
        sources(plan, results, TWICE, attested=1.0),
        "### By the share of attested pages: incoherent pages (downloads), whole window, known graph",
        shares(plan, results),
        "### Lies: all pages attested, `sharc-attested` by history, whole window, known graph",
        "A lying page's lastmod never moves. The audit downloads a share of the attested pages once more when the "
        "capture ends: half of it the hottest, half drawn in proportion to the rates. The bound: with 95 % confidence, "
        "no more wrong claims remain.",
        lies(plan, results),
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
