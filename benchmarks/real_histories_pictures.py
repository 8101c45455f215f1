"""Pictures of ``docs/results.md``: what the order is worth, and what second looks are worth."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.figure import Figure
from real_histories import BLIND, BY_RATE, LATE, RATES

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from real_histories import Plan, Results


def draw(plan: Plan, results: Results, file: Path) -> None:
    """Write the picture of a data set as SVG, the same bytes for the same numbers."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": "sharc"}):
        figure = Figure(figsize=(11, 4.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        _orders(left, plan, results)
        _looks(right, plan, results)
        figure.suptitle(f"{plan.data.name}, whole window, known graph: incoherent pages")
        figure.savefig(file, format="svg", metadata={"Date": None})


def _orders(axes: Axes, plan: Plan, results: Results) -> None:
    names = [*BLIND, *BY_RATE][::-1]
    for place, rates in enumerate(RATES):
        cells = [results.over(plan.cell(name, rates, "known", months=False), "incoherent") for name in names]
        rows = [row + 0.27 * (1 - place) for row in range(len(names))]
        bars = axes.barh(rows, [fmean(cell) if cell else 0.0 for cell in cells], 0.26, label=f"rates by {rates}")
        axes.bar_label(bars, fmt="{:,.0f}", fontsize="x-small", padding=2)
    axes.set_yticks(range(len(names)), names)
    axes.set(title="evidence: bytes", xlabel="pages")
    axes.margins(x=0.1)
    axes.legend(fontsize="small")


def _looks(axes: Axes, plan: Plan, results: Results) -> None:
    names = ["bfs", "oracle", "learned", *(f"told {seconds / 3600:.0f} h late" for seconds in LATE)][::-1]
    cells = [results.over(cell, "incoherent") for cell in plan.looks(months=False)][::-1]
    bars = axes.barh(names, [fmean(cell) if cell else 0.0 for cell in cells], 0.5)
    axes.bar_label(bars, fmt="{:,.0f}", fontsize="x-small", padding=2)
    axes.set(title="sharc-selective, rates learned, second looks before T", xlabel="pages")
    axes.margins(x=0.1)
