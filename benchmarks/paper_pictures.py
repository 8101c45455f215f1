"""Pictures of the tables: one line per method, ours on the left, the paper's on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from benchmarks.paper_simulated import Simulated

OURS = 2  #: columns of the paper's own methods come first


def draw(table: Simulated, file: Path) -> None:
    """Write the picture of a table as SVG, the same bytes for the same numbers."""
    with rc_context({"svg.hashsalt": "sharc"}):
        figure = Figure(figsize=(9, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        paper = table.paper
        _lines(left, table.rows, table)
        _lines(right, {value: paper.rows[value] for value in table.rows}, table)
        left.set(title=f"Table {paper.number} ({paper.leaves} leaves), simulated", ylabel=paper.title.split(": ")[1])
        right.set_title("printed in the paper")
        figure.legend(*left.get_legend_handles_labels(), loc="outside right center", fontsize="small")
        figure.savefig(file, format="svg", metadata={"Date": None})


def _lines(axes: Axes, rows: dict[float, tuple[float, ...]], table: Simulated) -> None:
    for place, column in enumerate(table.paper.columns):
        style = {"linewidth": 2.0} if place < OURS else {"linewidth": 1.0, "linestyle": "--"}
        axes.plot(list(rows), [row[place] for row in rows.values()], label=column.name, marker=".", **style)
    axes.set_xlabel(table.paper.varied.replace("_", "-"))
    if table.paper.varied == "size":
        axes.set_xscale("log")
