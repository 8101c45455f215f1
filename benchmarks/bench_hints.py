"""Second looks before T on replayed histories: pages lost without them, and with sitemaps that are late.

    python benchmarks/bench_hints.py FOLDER [--only emacswiki-2013] [--late 1 24 168] [--months] [--graph recapture]
    python benchmarks/bench_hints.py FOLDER --when [--months]    # what is lost, by when it changed

FOLDER holds the change histories, as for ``bench_real_histories.py``. Known graph, or that of a recapture, of which the
sitemap names pages that no link leads to, too. Rates are learned from the weekly captures of the year before. Regret:
(lost − lost by the oracle) / (lost by bfs − lost by the oracle). A replay has no chance in it: there are no seeds. What
changed after T no second look wins back, however soon it is told of.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from real_histories import NAMED

from sharc_crawler.lab.experiment import RunSpec, build, run

if TYPE_CHECKING:
    from real_histories import DataSet

    from sharc_crawler.lab.history import HistorySpec


def lost(spec: HistorySpec, late: list[float], graph: str) -> list[float]:
    """Pages lost by bfs, by the oracle, by learned rates; with second looks, by the hours that sitemaps are late."""

    def incoherent(strategy: str, rates: str, **more: float | bool) -> float:
        return float(run(RunSpec(spec, strategy, rates, graph, **more)).facts["incoherent"])

    return [
        incoherent("bfs", "oracle"),
        incoherent("sharc-selective", "oracle"),
        incoherent("sharc-selective", "captures"),
        *(incoherent("sharc-selective", "captures", sitemap=True, late=hours * 3600) for hours in late),
    ]


def row(label: str, found: list[float], decimals: int = 0) -> str:
    """A line of the table: pages, and the regret of all that is between bfs and the oracle."""
    bfs, oracle, *others = found
    cells = [f"{one:.{decimals}f} ({(one - oracle) / (bfs - oracle):.2f})" for one in others]
    return "| " + " | ".join([label, f"{bfs:.{decimals}f}", f"{oracle:.{decimals}f}", *cells]) + " |"


def when(spec: HistorySpec, late: float | None) -> list[int]:
    """Pages lost: told of before T, told later, changed after T. Sitemaps are so many hours late; None: not read."""
    delay = (late or 0) * 3600
    done = run(RunSpec(spec, "sharc-selective", "captures", "known", sitemap=late is not None, late=delay))
    reference, found = done.facts["reference"], [0, 0, 0]
    visits, revisits = done.schedule.visits, done.schedule.revisits
    for page, changes in enumerate(build(spec).changes.rows):
        between = changes[(changes > visits[page]) & (changes <= revisits[page])]
        if len(between):
            found[0 if between.max() <= reference - delay else 1 if between.max() <= reference else 2] += 1
    return found


def print_when(data: DataSet, folder: Path, months: bool, late: list[float]) -> None:
    """A line for each window and lateness."""
    for number, window in enumerate(data.months() if months else [None]):
        for hours in (None, *late):
            label = "no second looks" if hours is None else f"{hours:g} h late"
            cells = map(str, when(data.spec(folder, window), hours))
            print(f"| {data.name}, start {number + 1}, {label} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", choices=NAMED)
    parser.add_argument("--late", type=float, nargs="+", default=[1.0, 24.0])
    parser.add_argument("--months", action="store_true", help="four captures of 30 days instead of the whole window")
    parser.add_argument("--graph", choices=["known", "recapture"], default="known")
    parser.add_argument("--when", action="store_true", help="what is lost, by when it changed")
    given = parser.parse_args()
    if given.when:
        print("| window | changed before T, told in time | before T, told later | after T |\n|---|---|---|---|")
        for name in given.only or NAMED:
            print_when(NAMED[name], given.folder, given.months, given.late)
        return
    head = ["window", "bfs", "oracle", "learned", *(f"{hours:g} h late" for hours in given.late)]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for name in given.only or NAMED:
        data = NAMED[name]
        if not given.months:
            print(row(name, lost(data.spec(given.folder), given.late, given.graph)), flush=True)
            continue
        found = [lost(data.spec(given.folder, month), given.late, given.graph) for month in data.months()]
        for number, one in enumerate(found):
            print(row(f"{name}, start {number + 1}", one), flush=True)
        print(row(f"{name}, mean of {len(found)} starts", [fmean(column) for column in zip(*found, strict=True)], 1))


if __name__ == "__main__":
    main()
