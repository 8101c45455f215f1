"""What ``report.html`` shows of a capture's pages, gathered in one walk over them: as much as a reader looks at."""

from __future__ import annotations

import json
from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from sharc_crawler.evidence.figures import MEANT
from sharc_crawler.report.charts import RateClasses
from sharc_crawler.report.listing import Listing
from sharc_crawler.report.schedule import PageSample

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Page = Mapping[str, Any]

MAX_ROWS = 1000  #: rows of a table; the rest is in report-pages.jsonl
ORDER = {"changed": 0, "unknown": 1, "coherent": 2}  #: what a reader looks for first


class Pages(Sequence["Page"]):
    """Pages by their lines, each read when it is looked at: read, one takes six times as much memory."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, number: Any) -> Any:
        return json.loads(self._lines[number])


class First:
    """The first :data:`MAX_ROWS` of any number of pages, in the order of a key; of equals, those met first."""

    def __init__(self, key: Callable[[Page], Any]) -> None:
        self._key = key
        self._kept: list[tuple[Any, str]] = []

    def add(self, page: Page, line: str) -> None:
        """Keep a page's line, if it may be among them."""
        self._kept.append((self._key(page), line))
        if len(self._kept) >= 2 * MAX_ROWS:
            self._kept = self._first()

    def _first(self) -> list[tuple[Any, str]]:
        return sorted(self._kept, key=itemgetter(0))[:MAX_ROWS]

    def items(self) -> Pages:
        """In order."""
        return Pages([line for _, line in self._first()])


class Gathered:
    """What is shown of one capture's pages."""

    def __init__(self) -> None:
        self.classes = RateClasses()
        self.drawn = PageSample()
        self.drawn_pages = Pages([])
        self.days: set[str] = set()  #: of downloads of captured pages
        self.rows = First(lambda page: (ORDER[page["verdict"]], -(page["rate"] or 0.0)))
        self.listing = Listing()
        self.missing = First(lambda page: (page["reason"], page["url"]))
        self.redirects = First(lambda page: (page["reason"], page["url"]))

    def add(self, number: int, line: str) -> None:
        """Look at a page's line, the so manieth."""
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
        """These are drawn, by their numbers."""
        self.drawn_pages = Pages([lines[number] for number in self.drawn.lines()])
