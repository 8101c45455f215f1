"""Gather what ``report.html`` shows of a capture's pages, in one walk over them."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from sharc_crawler.evidence.figures import MEANT
from sharc_crawler.rates.base import NO_CHANGE, PRIOR
from sharc_crawler.report.listing import Listing
from sharc_crawler.report.phrases import founded, often
from sharc_crawler.report.schedule import PageSample

Page = Mapping[str, Any]

MAX_ROWS = 1000  #: most rows of a table; report-pages.jsonl has all
ORDER = {"changed": 0, "unknown": 1, "coherent": 2}  #: of rows, most interesting first


class Pages(Sequence["Page"]):
    """Pages kept as lines of JSON, parsed on access: parsed, they take six times as much memory."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, number: Any) -> Any:
        return json.loads(self._lines[number])


class First:
    """The first :data:`MAX_ROWS` pages by a key; among equal keys, those added first."""

    def __init__(self, key: Callable[[Page], Any]) -> None:
        self._key = key
        self._kept: list[tuple[Any, str]] = []

    def add(self, page: Page, line: str) -> None:
        """Keep a page's line, if it may be among the first."""
        self._kept.append((self._key(page), line))
        if len(self._kept) >= 2 * MAX_ROWS:
            self._kept = self._first()

    def _first(self) -> list[tuple[Any, str]]:
        return sorted(self._kept, key=itemgetter(0))[:MAX_ROWS]

    def items(self) -> Pages:
        """The kept pages, in order."""
        return Pages([line for _, line in self._first()])


class Gathered:
    """What is shown of a capture's pages."""

    def __init__(self) -> None:
        self.classes = RateClasses()
        self.drawn = PageSample()
        self.drawn_pages = Pages([])
        self.days: set[str] = set()  #: on which captured pages were downloaded
        self.rows = First(lambda page: (ORDER[page["verdict"]], -(page["rate"] or 0.0)))
        self.listing = Listing()
        self.missing = First(lambda page: (page["reason"], page["url"]))
        self.redirects = First(lambda page: (page["reason"], page["url"]))

    def add(self, number: int, line: str) -> None:
        """Add a page, by the number of its line and the line."""
        page: Page = json.loads(line)
        self.classes.add(page)
        self.drawn.add(number, page)
        if page["verdict"] is None:
            if page["kind"] in MEANT:
                (self.redirects if page["moved"] else self.missing).add(page, line)
        elif page["kind"] == "page":
            self.rows.add(page, line)
            self.listing.add(page)
            self.days.update(page[slot]["started"][:10] for slot in ("visit", "revisit") if page[slot])

    def draw(self, lines: Mapping[int, str]) -> None:
        """Keep the pages that are drawn, from lines by number."""
        self.drawn_pages = Pages([lines[number] for number in self.drawn.lines()])


# -- pages by classes of change rate, and how many of each stayed the same ---------------------------------------------

#: classes of the mean time between changes: upper end in seconds, name
CLASSES = (
    (10.0, "under 10 s"),
    (60.0, "10 s – 1 min"),
    (600.0, "1 – 10 min"),
    (3_600.0, "10 min – 1 h"),
    (21_600.0, "1 – 6 h"),
    (86_400.0, "6 h – 1 day"),
    (604_800.0, "1 – 7 days"),
    (2_629_800.0, "1 week – 1 month"),
    (31_557_600.0, "1 – 12 months"),
    (1e12, "over a year"),
    (math.inf, "never"),
)
#: pages whose rates are taken from others have classes of their own
UNKNOWN = often(None, PRIOR)
NAMES = (*(name for _, name in CLASSES), often(None, NO_CHANGE), UNKNOWN)


@dataclass(frozen=True, slots=True)
class RateClass:
    """The captured pages of one class of change rate."""

    name: str
    coherent: int
    changed: int
    unknown: int
    judged: int  #: pages with a known interval
    expected: float | None  #: of these, how many were expected to keep their content; None: rates are guesses
    counted: int  #: how many did

    @property
    def pages(self) -> int:
        """The number of pages of the class."""
        return self.coherent + self.changed + self.unknown


class RateClasses:
    """Counts captured pages by class of change rate."""

    def __init__(self) -> None:
        self._verdicts: list[Counter[str]] = [Counter() for _ in NAMES]
        self._judged: list[list[float]] = [[0, 0.0, 0] for _ in NAMES]

    def add(self, page: Mapping[str, Any]) -> None:
        """Count a page, if it was captured."""
        if page["kind"] != "page" or not page["verdict"]:
            return
        place = _place(page)
        self._verdicts[place][page["verdict"]] += 1
        if page["survival"] is not None:
            judged = self._judged[place]
            judged[0] += 1
            judged[1] += page["survival"]
            judged[2] += page["content"] == "kept"

    def classes(self) -> list[RateClass]:
        """The classes from the hottest to the coldest captured page, then those without rates."""
        filled = [place for place, verdicts in enumerate(self._verdicts) if verdicts]
        rated = [place for place in filled if place < len(CLASSES)]
        between = range(rated[0], rated[-1] + 1) if rated else ()
        return [self._class(place) for place in (*between, *filled[len(rated) :])]

    def _class(self, place: int) -> RateClass:
        verdicts, (judged, expected, kept) = self._verdicts[place], self._judged[place]
        return RateClass(
            name=NAMES[place],
            coherent=verdicts["coherent"],
            changed=verdicts["changed"],
            unknown=verdicts["unknown"],
            judged=int(judged),
            expected=None if NAMES[place] == UNKNOWN else expected,
            counted=int(kept),
        )


def _place(page: Mapping[str, Any]) -> int:
    if not founded(page):
        return NAMES.index(often(page["rate"], page["rate_source"]))
    mean = 1 / page["rate"] if page["rate"] else math.inf
    return next(place for place, (end, _) in enumerate(CLASSES) if mean <= end)
