"""The schedule as a drawing: time from left to right, one line per page, the hottest page on top.

A pyramid (or organ pipes) shows as one. This module says where everything lies; ``templates/schedule.svg`` draws it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sharc_crawler.instants import unix
from sharc_crawler.report.axes import TimeAxis
from sharc_crawler.report.words import every, short

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_ROWS = 600  #: pages drawn; of more, every k-th
ORDER = ("coherent", "unknown", "changed")  #: drawn one over the other, so that changes are seen
MAX_TICKS = 60  #: true changes drawn per page; of more, every k-th
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 1040.0, 140.0, 12.0, 34.0, 46.0


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """One page: its height in the drawing, its downloads and its true changes from left to right."""

    y: float
    visit: float
    revisit: float | None
    verdict: str
    hopeless: bool
    changes: tuple[float, ...]
    title: str


@dataclass(frozen=True, slots=True)
class Schedule:
    """Everything in drawing units; ``height`` follows from the number of rows."""

    rows: list[ScheduleRow]
    one_in: int  #: one page in so many is drawn
    height: float
    mark: float  #: radius of a download's mark
    times: list[tuple[float, str]]
    day: str
    rates: list[tuple[float, str]]  #: labels of the rate axis
    hopeless: list[tuple[float, float]]  #: blocks of hopeless pages: y, height
    reference: float | None
    phases: list[tuple[float, float, str]]  #: x, width, name
    interruptions: list[tuple[float, float]]  #: x, width
    width: float = WIDTH
    left: float = LEFT
    top: float = TOP

    @property
    def right(self) -> float:
        """Where the plot ends."""
        return self.width - RIGHT

    @property
    def bottom(self) -> float:
        """Where the plot ends."""
        return self.height - BOTTOM


def schedule(document: Mapping[str, Any]) -> Schedule | None:
    """The drawing of a report's schedule; None where no page was downloaded."""
    pages = [page for page in document["pages"] if page["kind"] == "page" and page["visit"] and page["verdict"]]
    if not pages:
        return None
    pages.sort(key=_rank)
    one_in = -(-len(pages) // MAX_ROWS)
    axis = _axis(pages)
    drawn = pages[::one_in]
    plot = min(max(16.0 * len(drawn), 120.0), 520.0)
    step = plot / len(drawn)
    rows = [_row(page, axis, round(TOP + (place + 0.5) * step, 2)) for place, page in enumerate(drawn)]
    times = document["times"]
    return Schedule(
        rows=sorted(rows, key=lambda row: ORDER.index(row.verdict)),
        one_in=one_in,
        height=TOP + plot + BOTTOM,
        mark=round(min(max(step * 0.5, 1.5), 5.0), 2),
        times=axis.ticks(),
        day=axis.day(),
        rates=_rates(drawn, rows),
        hopeless=_blocks(rows, step),
        reference=_reference(times, axis),
        phases=[(*axis.stretch(times[name]), name) for name in ("visits", "revisits") if times[name]],
        interruptions=[axis.stretch(span) for span in times["interruptions"]],
    )


def _rank(page: Mapping[str, Any]) -> tuple[float, float]:
    """The hottest first; of equally hot pages, which are interchangeable, the one downloaded in the shortest time."""
    visit, revisit = page["visit"], page["revisit"] or page["visit"]
    return -(page["rate"] or 0.0), unix(revisit["started"]) - unix(visit["started"])


def _axis(pages: Sequence[Mapping[str, Any]]) -> TimeAxis:
    downloads = [unix(page[slot]["started"]) for page in pages for slot in ("visit", "revisit") if page[slot]]
    start, end = min(downloads), max(downloads)
    return TimeAxis(start, max(end, start + 1.0), LEFT, WIDTH - RIGHT)


def _row(page: Mapping[str, Any], axis: TimeAxis, y: float) -> ScheduleRow:
    changes = sorted({axis.of(change) for change in (page["truth"] or {}).get("changes", ())})
    changes = [x for x in changes if LEFT <= x <= WIDTH - RIGHT]
    return ScheduleRow(
        y=y,
        visit=axis.of(page["visit"]["started"]),
        revisit=axis.of(page["revisit"]["started"]) if page["revisit"] else None,
        verdict=page["verdict"],
        hopeless=page["plan"] == "hopeless",
        changes=tuple(changes[:: -(-len(changes) // MAX_TICKS) or 1]),
        title=f"{short(page['url'])} · {page['verdict']}: {short(page['reason'])} · changes {every(page['rate'])}",
    )


def _rates(pages: Sequence[Mapping[str, Any]], rows: Sequence[ScheduleRow]) -> list[tuple[float, str]]:
    """About ten labels down the rate axis, none twice in a row."""
    places = range(0, len(rows), -(-len(rows) // 10))
    labels = [(rows[place].y, every(pages[place]["rate"])) for place in places]
    return [label for place, label in enumerate(labels) if place == 0 or label[1] != labels[place - 1][1]]


def _blocks(rows: Sequence[ScheduleRow], step: float) -> list[tuple[float, float]]:
    blocks = []
    for hopeless, group in groupby(rows, key=lambda row: row.hopeless):
        members = list(group)
        if hopeless:
            blocks.append((round(members[0].y - step / 2, 2), round(step * len(members), 2)))
    return blocks


def _reference(times: Mapping[str, Any], axis: TimeAxis) -> float | None:
    if times["reference"] is None:
        return None
    place = axis.of(times["reference"])
    return place if LEFT <= place <= WIDTH - RIGHT else None
