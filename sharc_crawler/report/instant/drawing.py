"""The picture of an instant crawl: each hub a line, its polls as ticks, what it showed first as dots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sharc_crawler.instants import unix
from sharc_crawler.report.axes import TimeAxis

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST = 30  #: hubs drawn, those with most new pages
ROW, TOP, LEFT, WIDTH = 24, 28, 250, 1000
LABEL = 34  #: characters


@dataclass(frozen=True, slots=True)
class HubLine:
    """One hub in the drawing: its polls and what they brought."""

    y: int
    label: str
    url: str
    ticks: list[float]
    dots: list[float]


@dataclass(frozen=True, slots=True)
class Drawing:
    """All that the template draws."""

    width: int
    height: int
    left: int
    lines: list[HubLine]
    axis: list[tuple[float, str]]
    left_out: int


def drawing(report: Mapping[str, Any]) -> Drawing | None:
    """``None`` where there is nothing to draw."""
    hubs = sorted((hub for hub in report["hubs"] if hub["times"]), key=lambda hub: (-hub["new_pages"], -hub["polls"]))
    start, end = unix(report["started"]), unix(report["ended"])
    if not hubs or end <= start:
        return None
    axis = TimeAxis(start, end, LEFT, WIDTH - 12)
    lines = []
    for number, hub in enumerate(hubs[:MOST]):
        shown = [page["seen"] for page in report["pages"] if page["hub"] == hub["url"]]
        lines.append(
            HubLine(
                TOP + number * ROW,
                _label(hub["url"]),
                hub["url"],
                [axis.of(poll) for poll in hub["times"]],
                [axis.of(seen) for seen in shown],
            )
        )
    height = TOP + len(lines) * ROW + 8
    return Drawing(WIDTH, height, LEFT, lines, axis.ticks(), len(hubs) - len(lines))


def _label(url: str) -> str:
    """The end of a URL, which tells hubs of one site apart."""
    text = url.partition("://")[2]
    return text if len(text) <= LABEL else f"…{text[1 - LABEL :]}"
