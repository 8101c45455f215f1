"""Pictures by matplotlib (extra ``lab``): a capture's pyramid, rates, ranked seeds and sites, and measures."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import rc_context
from matplotlib.dates import date2num
from matplotlib.figure import Figure

from sharc_crawler.model import Rate
from sharc_crawler.seeds.hacs.evaluation import RANKERS, PeriodOutcome
from sharc_crawler.seeds.hacs.measures import THETAS
from sharc_crawler.seeds.hacs.study import AVERAGES, Study

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from sharc_crawler.seeds.hacs.rank import RankedSeed
    from sharc_crawler.seeds.temporal.analysis import Analysis
    from sharc_crawler.seeds.temporal.rank import Ranked

COLOURS = {"coherent": "#2a6f97", "changed": "#c8553d", "unknown": "#8a8a8a"}
DAY = 86_400.0
_GROUPS = (
    ("chosen", True, True, "tab:blue", "o"),
    ("chosen, rate unknown", True, False, "tab:blue", "x"),
    ("left out", False, True, "tab:gray", "o"),
    ("left out, rate unknown", False, False, "tab:gray", "x"),
)
_ROWS, _COLUMNS = 4, 3
_BARS = 30


class Shown(Figure):
    """A figure that a notebook shows, independently of pyplot's backend."""

    def _repr_png_(self) -> bytes:
        """Called by notebooks."""
        made = BytesIO()
        self.savefig(made, format="png")
        return made.getvalue()


def draw_schedule(pages: pd.DataFrame, reference: str | None = None) -> Figure:
    """Draw a line for each page from its visit to its revisit, the longest at the bottom, coloured by verdict.

    ``pages`` comes from :func:`sharc_crawler.lab.frames.pages`. A page that was downloaded once is a dot. The
    ``reference`` instant (as written in a report) is a vertical line.
    """
    judged = pages[pages["verdict"].notna() & pages["visit.started"].notna()]
    ends = judged["revisit.started"].fillna(judged["visit.started"])
    judged = judged.assign(ends=ends, length=ends - judged["visit.started"]).sort_values("length", ascending=False)
    figure = Shown(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    places = range(len(judged))
    for verdict, colour in COLOURS.items():
        here = (judged["verdict"] == verdict).to_numpy()
        if not here.any():
            continue
        rows = [place for place, is_here in zip(places, here, strict=True) if is_here]
        found = judged[here]
        label = f"{verdict}: {len(found)}"
        axes.hlines(rows, found["visit.started"], found["ends"], color=colour, linewidth=1, label=label)
        axes.scatter(found["visit.started"], rows, color=colour, s=6)
        axes.scatter(found["ends"], rows, color=colour, s=6)
    if reference is not None:
        at: float = date2num(datetime.fromisoformat(reference))  # type: ignore[no-untyped-call]
        axes.axvline(at, color="black", linewidth=0.8, label="T")
    axes.set(xlabel="time (UTC)", ylabel="pages, by the length of their interval", title="Visits and revisits")
    axes.legend()
    return figure


def draw_rates(rates: Sequence[Rate], site: str, path: Path) -> None:
    """Draw a histogram of the mean times between changes (1/rate), in days, on a logarithmic axis."""
    gaps = 1.0 / (np.array([rate for rate in rates if rate > 0]) * DAY)
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    if len(gaps):
        low, high = gaps.min() / 1.1, gaps.max() * 1.1
        axes.hist(gaps, np.geomspace(low, high, 40).tolist(), color="#2a6f97")
    axes.set(
        xscale="log", xlabel="mean time between changes, days", ylabel="pages", title=f"{site}: {len(rates)} pages"
    )
    never = sum(rate <= 0 for rate in rates)
    if never:
        axes.text(0.99, 0.97, f"{never} pages without a change", ha="right", va="top", transform=axes.transAxes)
    figure.savefig(path, dpi=120)


def draw_ranking(ranked: Sequence[RankedSeed], theta: float | None, file: Path) -> None:
    """Draw every seed at its place and value, mark the chosen ones, and draw θ."""
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
    """Write a picture; equal figures give equal bytes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": "sharc"}):
        figure.savefig(file, dpi=100, metadata={"Date": None} if file.suffix == ".svg" else None)


def draw_thresholds(study: Study, file: Path) -> None:
    """Draw figures 8, 9 and 10: F1, precision and recall over θ, for the shortest two histories, micro and macro."""
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
    """Draw figure 11: mean weighted P@K over the length of history."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for name in RANKERS:
        axes.plot(list(study.scoring), [study.precisions(week)[name] for week in study.scoring], ".-", label=name)
    axes.set(xlabel="length of history w, weeks", ylabel="mean weighted P@K", title=study.title)
    axes.legend(fontsize="small")
    save(figure, file)


def draw_curves(analysis: Analysis, file: Path) -> None:
    """Draw the most viewed pages, temporal ones in the upper half: views as bars, the curve, and Φ."""
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
    axes.set_ylim(0, 1.15 * views.max())  # a spike's curve may rise far higher between two days; it is cut off
    kind = "unknown" if not one.known[0] else "temporal" if temporal else "untemporal"
    name = analysis.log.pages[page][-47:]
    axes.set_title(f"{name}\n{kind}, Φ({days:g}) = {one.gathered(days)[0]:.2f}", fontsize=8)


def draw_groups(ranked: Sequence[Ranked], chosen: int, file: Path) -> None:
    """Draw the first groups of a ranking: the parts of their scores as stacked bars, dark for chosen groups."""
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
