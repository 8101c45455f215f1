"""When each page was visited and revisited, drawn: the pyramid of a capture."""

from __future__ import annotations

from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING

from matplotlib.dates import date2num
from matplotlib.figure import Figure

if TYPE_CHECKING:
    import pandas as pd

COLOURS = {"coherent": "#2a6f97", "changed": "#c8553d", "unknown": "#8a8a8a"}


class Shown(Figure):
    """A figure that a notebook shows, whatever else draws there."""

    def _repr_png_(self) -> bytes:
        """Notebooks ask for this."""
        made = BytesIO()
        self.savefig(made, format="png")
        return made.getvalue()


def draw_schedule(pages: pd.DataFrame, reference: str | None = None) -> Figure:
    """A line for each page from its visit to its revisit, the longest interval below; coloured by verdict.

    ``pages`` is what :func:`sharc_crawler.lab.frames.pages` returns. A page that was downloaded once is a dot, the
    ``reference`` instant (as a report has it) a vertical line.
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
