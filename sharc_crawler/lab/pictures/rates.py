"""The distribution of a site's change rates, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from sharc_crawler.model import Rate

DAY = 86_400.0


def draw_rates(rates: Sequence[Rate], site: str, path: Path) -> None:
    """A histogram of the rates (changes per second) on a logarithmic axis of mean times between changes, in days."""
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
