"""Pictures of an analysis: interest curves over the counts they fit, and the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sharc_crawler.seeds.temporal.analysis import Analysis
    from sharc_crawler.seeds.temporal.rank import Ranked

_ROWS, _COLUMNS = 4, 3
_BARS = 30


def draw_curves(analysis: Analysis, file: Path) -> None:
    """Most viewed pages, temporal ones in the upper half: their views as bars, the curve, and Φ."""
    total = analysis.log.views.sum(axis=1)
    most = np.argsort(-total, kind="stable")
    half = _ROWS * _COLUMNS // 2
    temporal = [page for page in most if analysis.temporal[page]][:half]
    others = [page for page in most if not analysis.temporal[page]][: _ROWS * _COLUMNS - len(temporal)]
    figure = Figure(figsize=(14, 11), layout="constrained")
    for axes, page in zip(figure.subplots(_ROWS, _COLUMNS).flat, [*temporal, *others], strict=False):
        _draw_curve(axes, analysis, int(page))
    figure.supxlabel(f"day of the window, 1 = {analysis.log.start}")
    figure.supylabel("views a day (bars), fitted curve (line)")
    figure.savefig(file, dpi=100)


def _draw_curve(axes: Axes, analysis: Analysis, page: int) -> None:
    views = analysis.log.views[page]
    fine = np.linspace(0, len(views), 10 * len(views) + 1)
    one = analysis.curves.take(np.array([page]))
    days = analysis.threshold.days
    temporal = bool(analysis.temporal[page])
    axes.stairs(views, np.arange(len(views) + 1) + 0.5, fill=True, color="0.75")
    axes.plot(fine, one.views(fine)[0], color="tab:red" if temporal else "tab:blue")
    axes.set_ylim(0, 1.15 * views.max())  # between two days a spike's curve may rise far higher: it leaves the picture
    kind = "unknown" if not one.known[0] else "temporal" if temporal else "untemporal"
    name = analysis.log.pages[page][-47:]
    axes.set_title(f"{name}\n{kind}, Φ({days:g}) = {one.gathered(days)[0]:.2f}", fontsize=8)


def draw_ranking(ranked: Sequence[Ranked], chosen: int, file: Path) -> None:
    """The head of a ranking: both scores' parts as stacked bars; what was chosen is dark."""
    head = list(ranked[:_BARS])
    figure = Figure(figsize=(10, 1.5 + 0.28 * len(head)), layout="constrained")
    axes = figure.subplots()
    place = np.arange(len(head))
    dark = np.where(place < chosen, 1.0, 0.4)
    pages = np.array([0.6 * r.temporal / r.pages for r in head])
    views = np.array([r.score for r in head]) - pages
    for left, width, colour, label in ((0 * pages, pages, "tab:red", "pages"), (pages, views, "tab:orange", "views")):
        bars = axes.barh(place, width, left=left, color=colour, label=f"share of temporal {label}, weighted")
        for bar, alpha in zip(bars, dark, strict=True):
            bar.set_alpha(alpha)
    axes.set_yticks(place, [f"{r.group} ({r.temporal}/{r.pages})" for r in head], fontsize=8)
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), xlabel=f"score; the first {chosen} were chosen")
    if head:
        axes.legend(fontsize=8)
    figure.savefig(file, dpi=100)
