"""What ``report.html`` shows of a capture's pages, gathered in one walk over them: as much as a reader looks at."""

from __future__ import annotations

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


class First:
    """The first :data:`MAX_ROWS` of any number of pages, in the order of a key; of equals, those met first."""

    def __init__(self, key: Callable[[Page], Any]) -> None:
        self._key = key
        self._kept: list[Page] = []

    def add(self, page: Page) -> None:
        """Keep a page, if it may be among them."""
        self._kept.append(page)
        if len(self._kept) >= 4 * MAX_ROWS:
            self._kept = self.items()

    def items(self) -> list[Page]:
        """In order."""
        return sorted(self._kept, key=self._key)[:MAX_ROWS]


class Gathered:
    """What is shown of one capture's pages."""

    def __init__(self) -> None:
        self.classes = RateClasses()
        self.drawn = PageSample()
        self.drawn_pages: list[Page] = []
        self.days: set[str] = set()  #: of downloads of captured pages
        self.rows = First(lambda page: (ORDER[page["verdict"]], -(page["rate"] or 0.0)))
        self.listing = Listing()
        self.missing = First(lambda page: (page["reason"], page["url"]))
        self.redirects = First(lambda page: (page["reason"], page["url"]))

    def add(self, number: int, page: Page) -> None:
        """Look at a page, the so manieth."""
        self.classes.add(page)
        self.drawn.add(number, page)
        if page["verdict"] is None:
            if page["kind"] in MEANT:
                (self.redirects if page["moved"] else self.missing).add(page)
        elif page["kind"] == "page":
            self.rows.add(page)
            self.listing.add(page)
            self.days.update(page[slot]["started"][:10] for slot in ("visit", "revisit") if page[slot])

    def draw(self, pages: Mapping[int, Page]) -> None:
        """These are drawn, by their numbers."""
        self.drawn_pages = [pages[number] for number in self.drawn.lines()]
