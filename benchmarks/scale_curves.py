"""A picture and tables of what ``bench_scale.py --json`` printed, of one run or several.

    python benchmarks/scale_curves.py ROWS [ROWS ...] --picture docs/pictures/scale.svg

Lines that are no rows are left out. The tables are printed: processor time a page, and the most that a process held;
the power of the pages with which seconds grow from the size before the largest to the largest, in bold where it is
more than 1.1 (1: as the work does); MB for a thousand pages more.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from matplotlib import rc_context
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from matplotlib.axes import Axes

CRAWLS = ("wget", "stock Scrapy", "first capture", "second capture")
PARTS = tuple(f"{capture}: {part}" for capture in CRAWLS[2:] for part in ("crawl", "writer", "end"))
TOOLS = ("going on", "report and certificate", "verify", "package", "verify the WACZ", "plan", "diff")
PANELS = {"crawls, start-up and end included": CRAWLS, "a capture's parts": PARTS, "going on, and tools": TOOLS}
FAST = 1.1  #: growth that is more than noise


class Row(NamedTuple):
    """One command on so many pages."""

    pages: int
    seconds: float
    megabytes: float


def read(files: Iterable[Path]) -> dict[str, list[Row]]:
    """What was measured of each command, by size."""
    found: dict[str, dict[int, Row]] = defaultdict(dict)
    for file in files:
        for line in file.read_text().splitlines():
            if line.startswith("{"):
                row = json.loads(line)
                found[row["what"]][row["pages"]] = Row(row["pages"], row["seconds"], row["megabytes"])
    return {what: [rows[pages] for pages in sorted(rows)] for what, rows in found.items()}


def growth(rows: list[Row]) -> float:
    """The power of the pages with which seconds grow, from the size before the largest to the largest."""
    before, last = rows[-2:]
    return log(last.seconds / before.seconds) / log(last.pages / before.pages)


def table(found: dict[str, list[Row]], names: Iterable[str]) -> str:
    sizes = sorted({row.pages for rows in found.values() for row in rows})
    head = (
        "| "
        + " | ".join(["CPU ms a page; MB", *(f"{size:,}" for size in sizes), "growth", "MB a thousand more"])
        + " |"
    )
    lines = [head, "|---" * (len(sizes) + 3) + "|"]
    for name in names:
        if rows := found.get(name):
            cells = {row.pages: f"{1000 * row.seconds / row.pages:.2f}; {row.megabytes:.0f}" for row in rows}
            grown = more = ""
            if len(rows) > 1:
                power = growth(rows)
                grown = f"**{power:.2f}**" if power > FAST else f"{power:.2f}"
                more = f"{1000 * (rows[-1].megabytes - rows[-2].megabytes) / (rows[-1].pages - rows[-2].pages):.2f}"
            lines.append("| " + " | ".join([name, *(cells.get(size, "") for size in sizes), grown, more]) + " |")
    return "\n".join(lines)


def draw(found: dict[str, list[Row]], file: Path) -> None:
    """Write the picture as SVG, the same bytes for the same numbers."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": "sharc"}):
        figure = Figure(figsize=(13, 7.5), layout="constrained")
        for above, below, (title, names) in zip(*figure.subplots(2, 3), PANELS.items(), strict=True):
            _curves(above, found, names, lambda row: 1000 * row.seconds / row.pages)
            _curves(below, found, names, lambda row: row.megabytes)
            above.set(title=title, ylabel="CPU ms a page", ylim=0)
            below.set(xlabel="pages", ylabel="MB, the most that one process held", ylim=0)
            above.legend(fontsize="small")
        figure.savefig(file, format="svg", metadata={"Date": None})


def _curves(axes: Axes, found: dict[str, list[Row]], names: Iterable[str], value: Callable[[Row], float]) -> None:
    for name in names:
        if rows := found.get(name):
            axes.plot([row.pages for row in rows], [value(row) for row in rows], marker="o", label=name)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(visible=True, which="major", alpha=0.3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path, nargs="+")
    parser.add_argument("--picture", type=Path)
    args = parser.parse_args()
    found = read(args.rows)
    for names in PANELS.values():
        print(table(found, names), end="\n\n")
    if args.picture:
        draw(found, args.picture)


if __name__ == "__main__":
    main()
