"""When each page was visited and revisited, drawn: the pyramid of a capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

if TYPE_CHECKING:
    import pandas as pd

COLOURS = {"coherent": "#2a6f97", "changed": "#c8553d", "unknown": "#8a8a8a"}


def draw_schedule(pages: pd.DataFrame) -> Figure:
    """A line for each page from its visit to its revisit, the longest interval below; coloured by verdict.

    ``pages`` is what :func:`sharc_crawler.lab.frames.pages` returns. A page that was downloaded once is a dot.
    """
    judged = pages[pages["verdict"].notna() & pages["visit.started"].notna()]
    ends = judged["revisit.started"].fillna(judged["visit.started"])
    judged = judged.assign(ends=ends, length=ends - judged["visit.started"]).sort_values("length", ascending=False)
    figure = Figure(figsize=(8, 5), layout="constrained")
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
    axes.set(xlabel="time (UTC)", ylabel="pages, by the length of their interval", title="Visits and revisits")
    axes.legend()
    return figure
