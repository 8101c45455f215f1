"""The schedule as a drawing: time from left to right, one line per page, the hottest page on top.

Strategies show their shape (pyramid, organ pipes). This module computes coordinates; ``templates/schedule.svg`` draws.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import numpy as np

from sharc_crawler.instants import unix
from sharc_crawler.model import Instant
from sharc_crawler.report.phrases import changing, often
from sharc_crawler.report.words import short

MAX_ROWS = 600  #: most pages drawn; of more, every k-th
ORDER = ("coherent", "kept", "unknown", "changed")  #: of drawing: changes lie on top
MAX_TICKS = 60  #: most true changes drawn per page; of more, every k-th
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 1040.0, 160.0, 12.0, 34.0, 46.0


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """One page: its height in the drawing, its downloads and its true changes from left to right."""

    y: float
    visit: float
    revisit: float | None
    state: str  #: its verdict, or "kept": its content, but not its bytes
    hopeless: bool
    changes: tuple[float, ...]
    title: str


@dataclass(frozen=True, slots=True)
class Schedule:
    """The drawing, in drawing units; ``height`` follows from the number of rows."""

    rows: list[ScheduleRow]
    one_in: int  #: every k-th page is drawn
    height: float
    mark: float  #: radius of a download's mark
    times: list[tuple[float, str]]
    day: str
    rates: list[tuple[float, str]]  #: labels of the rate axis
    hopeless: list[tuple[float, float]]  #: blocks of hopeless pages: y, height
    reference: float | None
    instant: str  #: time of T
    phases: list[tuple[float, float, str]]  #: x, width, name
    interruptions: list[tuple[float, float]]  #: x, width
    width: float = WIDTH
    left: float = LEFT
    top: float = TOP

    @property
    def right(self) -> float:
        """The right edge of the plot."""
        return self.width - RIGHT

    @property
    def bottom(self) -> float:
        """The lower edge of the plot."""
        return self.height - BOTTOM


class PageSample:
    """Chooses the pages to draw, after all were :meth:`add`-ed: every k-th by heat if more than :data:`MAX_ROWS`."""

    def __init__(self) -> None:
        self._ranks = array("d")  #: two sort keys for each page, hottest first
        self._lines = array("q")
        self._span = (math.inf, -math.inf)  #: first and last download

    def add(self, line: int, page: Mapping[str, Any]) -> None:
        """Add a page, if it was downloaded; ``line``: its number."""
        if page["kind"] == "page" and page["visit"] and page["visit"]["attempts"] and page["verdict"]:
            starts = [unix(page[slot]["started"]) for slot in ("visit", "revisit") if page[slot]]
            self._span = min(self._span[0], *starts), max(self._span[1], *starts)
            self._ranks.extend((-(page["rate"] or 0.0), starts[-1] - starts[0]))  # hottest, then shortest, first
            self._lines.append(line)

    @property
    def one_in(self) -> int:
        """k: every k-th page is drawn."""
        return -(-len(self._lines) // MAX_ROWS)

    def lines(self) -> list[int]:
        """The numbers of the pages that are drawn, hottest first."""
        if not self._lines:
            return []
        heat, took = np.frombuffer(self._ranks).reshape(-1, 2).T
        order = np.lexsort((took, heat))[:: self.one_in]
        return [self._lines[place] for place in order.tolist()]

    def axis(self) -> TimeAxis:
        """The time axis from the first to the last download of all pages."""
        start, end = self._span
        return TimeAxis(start, max(end, start + 1.0), LEFT, WIDTH - RIGHT)


def schedule(report: Mapping[str, Any], drawn: PageSample, pages: Sequence[Mapping[str, Any]]) -> Schedule | None:
    """The drawing of a report's schedule with these pages; None if there are none."""
    if not pages:
        return None
    axis = drawn.axis()
    plot = min(max(16.0 * len(pages), 120.0), 520.0)
    step = plot / len(pages)
    rows = [_row(page, axis, round(TOP + (place + 0.5) * step, 2)) for place, page in enumerate(pages)]
    times = report["times"]
    return Schedule(
        rows=sorted(rows, key=lambda row: ORDER.index(row.state)),
        one_in=drawn.one_in,
        height=TOP + plot + BOTTOM,
        mark=round(min(max(step * 0.5, 1.5), 5.0), 2),
        times=axis.ticks(),
        day=axis.day(),
        rates=_rates(pages, rows),
        hopeless=_blocks(rows, step),
        reference=_reference(times, axis),
        instant=(times["reference"] or "")[11:19],
        phases=[(*axis.stretch(times[name]), name) for name in ("visits", "revisits") if times[name]],
        interruptions=[axis.stretch(span) for span in times["interruptions"]],
    )


def _row(page: Mapping[str, Any], axis: TimeAxis, y: float) -> ScheduleRow:
    changes = sorted({axis.of(change) for change in (page["truth"] or {}).get("changes", ())})
    changes = [x for x in changes if LEFT <= x <= WIDTH - RIGHT]
    said = changing(page["rate"], page["rate_source"])
    return ScheduleRow(
        y=y,
        visit=axis.of(page["visit"]["started"]),
        revisit=axis.of(page["revisit"]["started"]) if page["revisit"] else None,
        state=_state(page),
        hopeless=page["plan"] == "hopeless",
        changes=tuple(changes[:: -(-len(changes) // MAX_TICKS) or 1]),
        title=f"{short(page['url'])} · {_STATES.get(_state(page), page['verdict'])}: {short(page['reason'])} · {said}",
    )


_STATES = {"kept": "content kept, bytes differ or are not known"}


def _state(page: Mapping[str, Any]) -> str:
    """The state of a page by its bytes, or "kept" if only its content is the same."""
    kept = page["content"] == "kept" and page["verdict"] != "coherent"
    return "kept" if kept else str(page["verdict"])


def _rates(pages: Sequence[Mapping[str, Any]], rows: Sequence[ScheduleRow]) -> list[tuple[float, str]]:
    """About ten labels of the rate axis, without repetitions."""
    places = range(0, len(rows), -(-len(rows) // 10))
    labels = [(rows[place].y, often(pages[place]["rate"], pages[place]["rate_source"])) for place in places]
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


# -- the time axis: positions of instants, and labels at round times ---------------------------------------------------


DAY = 86_400.0
MOST_TICKS = 8  #: on the axis
#: seconds between ticks, at round numbers
STEPS = (
    *(1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0),
    *(3600.0, 7200.0, 10_800.0, 21_600.0, 43_200.0, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 91 * DAY, 365 * DAY),
)


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Instants ``start`` to ``end`` laid out over drawing units ``left`` to ``right``."""

    start: Instant
    end: Instant
    left: float
    right: float

    def place(self, instant: Instant) -> float:
        """The place of an instant on the axis.

        >>> TimeAxis(0.0, 10.0, 100.0, 200.0).place(2.5)
        125.0
        """
        return round(self.left + (instant - self.start) / (self.end - self.start) * (self.right - self.left), 1)

    def of(self, text: str) -> float:
        """The place of a report's instant on the axis."""
        return self.place(unix(text))

    def stretch(self, span: Mapping[str, str]) -> tuple[float, float]:
        """Left edge and width of a report's span ``from`` … ``to``, cut to the axis."""
        first, last = (min(max(self.of(span[end]), self.left), self.right) for end in ("from", "to"))
        return first, round(last - first, 1)

    def ticks(self) -> list[tuple[float, str]]:
        """Round times with labels: time of day, and the day if there are several.

        >>> TimeAxis(1795170667.0, 1795170787.0, 0.0, 120.0).ticks()[:2]
        [(8.0, '10:31:15'), (23.0, '10:31:30')]
        """
        length = self.end - self.start
        step = next((step for step in STEPS if length / step <= MOST_TICKS), length)
        first, last = math.ceil(self.start / step), math.floor(self.end / step)
        form = self._form(step)
        instants = [number * step for number in range(first, last + 1)]
        return [(self.place(instant), datetime.fromtimestamp(instant, UTC).strftime(form)) for instant in instants]

    def _form(self, step: float) -> str:
        if step >= DAY:
            return "%d %b %Y"
        clock = "%H:%M" if step >= 60 else "%H:%M:%S"
        return f"%d %b {clock}" if self.day() == "" else clock

    def day(self) -> str:
        """The day of the axis; empty if there are several."""
        first, last = (datetime.fromtimestamp(instant, UTC) for instant in (self.start, self.end))
        return f"{first:%d %B %Y}" if first.date() == last.date() else ""
