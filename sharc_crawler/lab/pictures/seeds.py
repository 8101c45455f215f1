"""Pictures: a ranking with its threshold; measures over θ and over the length of history."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.figure import Figure

from sharc_crawler.seeds.hacs.evaluation import RANKERS, PeriodOutcome
from sharc_crawler.seeds.hacs.measures import THETAS
from sharc_crawler.seeds.hacs.study import AVERAGES, Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sharc_crawler.seeds.hacs.rank import RankedSeed

_GROUPS = (
    ("chosen", True, True, "tab:blue", "o"),
    ("chosen, rate unknown", True, False, "tab:blue", "x"),
    ("left out", False, True, "tab:gray", "o"),
    ("left out, rate unknown", False, False, "tab:gray", "x"),
)


def draw_ranking(ranked: Sequence[RankedSeed], theta: float | None, file: Path) -> None:
    """Draw every seed by its place and value, mark the chosen ones, and draw θ."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.subplots()
    for label, chosen, known, colour, marker in _GROUPS:
        group = [one for one in ranked if one.chosen == chosen and one.known == known]
        if group:
            axes.plot(
                [one.place for one in group],
                [one.value for one in group],
                marker,
                color=colour,
                markersize=3,
                label=f"{label}: {len(group)}",
            )
    if theta is not None:
        axes.axhline(theta, color="tab:red", linewidth=1, label=f"θ = {theta:g}")
    axes.set(xlabel="place", ylabel="p" if ranked[0].p is not None else "value")
    axes.legend()
    save(figure, file)


def save(figure: Figure, file: Path) -> None:
    """Write a picture, the same bytes for the same numbers."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": "sharc"}):
        figure.savefig(file, dpi=100, metadata={"Date": None} if file.suffix == ".svg" else None)


def draw_thresholds(study: Study, file: Path) -> None:
    """Figures 8, 9 and 10: F1, precision and recall over θ, for the shortest two histories, micro and macro."""
    weeks = list(study.scoring)[:2]
    figure = Figure(figsize=(11, 8), layout="constrained")
    grid = figure.subplots(3, 2 * len(weeks), sharex=True, squeeze=False)
    columns = [(week, average) for week in weeks for average in AVERAGES]
    for axes_of_measure, measure in zip(grid, ("f1", "precision", "recall"), strict=True):
        for axes, (week, average) in zip(axes_of_measure, columns, strict=True):
            _thresholds(axes, study.scoring[week], measure, average)
            axes.set_title(f"{measure}, {average}, w = {week}", fontsize="small")
    for axes in grid[-1]:
        axes.set_xlabel("θ")
    figure.suptitle(study.title)
    figure.legend(*grid[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize="small")
    save(figure, file)


def _thresholds(axes: Axes, outcome: PeriodOutcome, measure: str, average: str) -> None:
    mean = AVERAGES[average]
    for method, name in (("hacs", "HACS"), ("hacs-plain", "HACS, plain form")):
        own, lots = mean(outcome.selections[method]), mean(outcome.lots[method])
        (line,) = axes.plot(THETAS, getattr(own, measure), label=name)
        axes.plot(THETAS, getattr(lots, measure), ":", color=line.get_color(), label=f"Random, as many as {name}")
    axes.axhline(getattr(own, measure)[0], color="gray", linewidth=1, label="Brute force")


def draw_precisions(study: Study, file: Path) -> None:
    """Figure 11: mean weighted P@K over the length of history."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for name in RANKERS:
        axes.plot(list(study.scoring), [study.precisions(week)[name] for week in study.scoring], ".-", label=name)
    axes.set(xlabel="length of history w, weeks", ylabel="mean weighted P@K", title=study.title)
    axes.legend(fontsize="small")
    save(figure, file)
