"""Second looks before T on replayed histories: pages lost without them, and with sitemaps that are late.

    python benchmarks/bench_hints.py FOLDER [--only emacswiki-2013] [--late 1 24 168] [--months] [--every 3]

FOLDER holds the change histories, as for ``bench_real_histories.py``. Known graph; rates learned from the weekly
captures of the year before. Regret: (lost − lost by the oracle) / (lost by bfs − lost by the oracle). A replay has no
chance in it: there are no seeds.
"""

from __future__ import annotations

import argparse
import datetime as dt
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from sharc_crawler.lab.experiment import RunSpec, run
from sharc_crawler.lab.history import HistorySpec

DAY = 86_400.0
#: name → entry page, start and end of its window, the history whose links of the end are its links of the start
DATA = {
    "emacswiki-2012": ("SiteMap", "2012-01-01", "2013-01-01", ""),
    "emacswiki-2013": ("SiteMap", "2013-01-01", "2014-01-01", "emacswiki-2012"),
    "trackawesome-2024b": ("/", "2024-09-17", "2024-12-27", ""),
    "trackawesome-2023": ("/", "2023-01-15", "2023-04-25", ""),
}


def whole(folder: Path, name: str) -> HistorySpec:
    """A history over its whole window."""
    root, *bounds, before = DATA[name]
    links = folder / (f"{before}.links.jsonl.gz" if before else f"{name}.start.links.jsonl.gz")
    start, end = (dt.datetime.fromisoformat(f"{text}T00:00+00:00").timestamp() for text in bounds)
    return HistorySpec(
        str(folder / f"{name}.csv.gz"), root, start, end, str(links), str(folder / f"{name}.linkevents.jsonl.gz")
    )


def months(spec: HistorySpec, every: int) -> list[HistorySpec]:
    """Windows of 30 days, one after the other; every so manieth."""
    count = int((spec.end - spec.start) // (30 * DAY))
    starts = [spec.start + number * 30 * DAY for number in range(0, count, every)]
    return [replace(spec, start=start, end=start + 30 * DAY) for start in starts]


def lost(spec: HistorySpec, late: list[float]) -> list[float]:
    """Pages lost by bfs, by the oracle, by learned rates; with second looks, by the hours that sitemaps are late."""

    def incoherent(strategy: str, rates: str, **more: float | bool) -> float:
        return float(run(RunSpec(spec, strategy, rates, "known", **more)).facts["incoherent"])

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


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", choices=DATA)
    parser.add_argument("--late", type=float, nargs="+", default=[1.0, 24.0])
    parser.add_argument("--months", action="store_true", help="captures of 30 days instead of the whole window")
    parser.add_argument("--every", type=int, default=3, help="of the months")
    given = parser.parse_args()
    head = ["window", "bfs", "oracle", "learned", *(f"{hours:g} h late" for hours in given.late)]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for name in given.only or DATA:
        spec = whole(given.folder, name)
        if not given.months:
            print(row(name, lost(spec, given.late)), flush=True)
            continue
        found = [lost(month, given.late) for month in months(spec, given.every)]
        for number, one in enumerate(found):
            print(row(f"{name}, start {number + 1}", one), flush=True)
        print(row(f"{name}, mean of {len(found)} starts", [fmean(column) for column in zip(*found, strict=True)], 1))


if __name__ == "__main__":
    main()
