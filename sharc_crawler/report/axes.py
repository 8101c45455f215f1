"""The time axis of a drawing: where instants lie, and round times to label it with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sharc_crawler.instants import unix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sharc_crawler.model import Instant

DAY = 86_400.0
MOST = 8  #: ticks
#: seconds between ticks that people count in
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
        """Where an instant lies.

        >>> TimeAxis(0.0, 10.0, 100.0, 200.0).place(2.5)
        125.0
        """
        return round(self.left + (instant - self.start) / (self.end - self.start) * (self.right - self.left), 1)

    def of(self, text: str) -> float:
        """Where an instant of a report lies."""
        return self.place(unix(text))

    def stretch(self, span: Mapping[str, str]) -> tuple[float, float]:
        """Where a report's span ``from`` … ``to`` begins and how wide it is, as far as it is on the axis."""
        first, last = (min(max(self.of(span[end]), self.left), self.right) for end in ("from", "to"))
        return first, round(last - first, 1)

    def ticks(self) -> list[tuple[float, str]]:
        """Round times, labelled by the clock, and by the day where there are several.

        >>> TimeAxis(1795170667.0, 1795170787.0, 0.0, 120.0).ticks()[:2]
        [(8.0, '10:31:15'), (23.0, '10:31:30')]
        """
        length = self.end - self.start
        step = next((step for step in STEPS if length / step <= MOST), length)
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
        """The one day that the axis is of; empty where there are several."""
        first, last = (datetime.fromtimestamp(instant, UTC) for instant in (self.start, self.end))
        return f"{first:%d %B %Y}" if first.date() == last.date() else ""
