"""Captures on the server's word on replayed histories: pages lost, downloads a page, and claims that are wrong.

Wrong at the end of the capture, and once confirmed, a day later; how many are left provisional then.

    python benchmarks/bench_attested.py FOLDER [--only NAME] [--rates lastmod] [--late 0 24] [--months]

FOLDER holds the change histories, as for ``bench_hints.py``. Known graph, every page is listed with its lastmod, Δ is
such that two downloads of each page fill the window. Beside ``sharc-attested`` stands ``bfs`` with single visits, T in
their middle: its pages are judged by the truth, ours by what the sitemaps say. A replay has no chance in it but for
which pages are audited.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from real_histories import NAMED

from sharc_crawler.lab.experiment import RunSpec, run

if TYPE_CHECKING:
    from sharc_crawler.lab.history import HistorySpec

COLUMNS = ("bfs lost", "lost", "downloads a page", "audited", "wrongly claimed", "wrongly confirmed", "provisional")


def measured(spec: HistorySpec, rates: str, strategy: str, hours: float) -> list[float]:
    """One window's figures, in the order of :data:`COLUMNS`."""
    plain = run(RunSpec(spec, "bfs:revisits=none", rates, "known", attested=1.0)).facts
    ours = run(RunSpec(spec, strategy, rates, "known", attested=1.0, late=hours * 3600)).facts
    return [
        plain["incoherent"],
        ours["incoherent"],
        ours["downloads"] / ours["pages"],
        ours["audited"]["audited"],
        ours["wrongly_coherent"],
        ours["wrongly_confirmed"],
        ours["confirmed"].get("coherent, provisional", 0),
    ]


def row(label: str, found: list[float]) -> str:
    """A line of the table."""
    cells = [
        f"{one:.3f}" if name == "downloads a page" else f"{one:g}" for name, one in zip(COLUMNS, found, strict=True)
    ]
    return "| " + " | ".join([label, *cells]) + " |"


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", choices=NAMED)
    parser.add_argument("--rates", nargs="+", default=["lastmod", "captures"])
    parser.add_argument("--strategy", default="sharc-attested")
    parser.add_argument("--late", type=float, nargs="+", default=[0.0], help="hours")
    parser.add_argument("--months", action="store_true", help="four captures of 30 days instead of the whole window")
    given = parser.parse_args()
    head = ["window, rates, hours late", *COLUMNS]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for name in given.only or NAMED:
        data = NAMED[name]
        for rates in given.rates:
            for hours in given.late:
                windows = [data.spec(given.folder, month) for month in (data.months() if given.months else [None])]
                found = [measured(window, rates, given.strategy, hours) for window in windows]
                means = [round(fmean(column), 3) for column in zip(*found, strict=True)]
                print(row(f"{name}, {len(windows)} windows, {rates}, {hours:g}", means), flush=True)


if __name__ == "__main__":
    main()
