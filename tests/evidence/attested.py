"""Pages that are visited, said to have changed, and judged."""

from __future__ import annotations

import numpy as np

from sharc_crawler.evidence.attesting import Attestations
from sharc_crawler.evidence.judgement import Revisits
from sharc_crawler.model import Outcome, Result, Validators
from sharc_crawler.rates.history import SiteHistory

T = 1000.0
VISIT, AGAIN, END = 900.0, 1100.0, 1200.0
STILL, BEFORE_T, AFTER_T = 500.0, 950.0, 1050.0  # lastmods
EMPTY = np.zeros(0)
NOBODY = SiteHistory("a", [], np.zeros(1, np.int64), EMPTY, np.zeros(0, np.int8), EMPTY, EMPTY, EMPTY)


class Capture:
    """Pages that are visited, said to have changed, and judged; the server's clock is ours."""

    def __init__(self, share: float = 0.0, late: float = 0.0) -> None:
        self.attesting = Attestations(NOBODY, share, late)
        self.urls: dict[int, str] = {}
        self.visits: dict[int, Outcome] = {}
        self.revisits = Revisits()

    def page(self, lastmod: float, *versions: str, once: bool = True, folder: str = "a", first: float = VISIT,
             content: str | None = None) -> int:  # fmt: skip
        """One download for each version: the first is the visit, the second lies after T."""
        page = len(self.urls)
        self.urls[page] = f"http://h/{folder}/{page}.html"
        for place, version in enumerate(versions):
            if place:
                self.again(page, version)
                continue
            self.visits[page] = outcome = Outcome(Result.OK, first, first + 0.1, 200, version, content, date=first)
            self.attesting.downloaded(page, outcome, once=once)
        self.attesting.ingest(page, END, lastmod - 10.3 * page, 1.0)  # all alike would be the sitemap's own date
        return page

    def audited(self) -> list[int]:
        """Those to be downloaded again, of all."""
        self.attesting.begin(self.urls, VISIT)
        self.attesting.draw(self.urls, seed=1)
        return self.attesting.sample(T)

    def audits(self, told: bool = False) -> list[int]:
        """Those to be downloaded now."""
        return sorted(self.attesting.next_audits(T, told))

    def again(
        self,
        page: int,
        version: str,
        at: float = AGAIN,
        etag: str | None = None,
        result: Result = Result.OK,
        age: float | None = None,
        modified: str | None = None,
        content: str | None = None,
    ) -> None:
        """A further download, as an audit's."""
        said = Validators(etag, modified)
        outcome = Outcome(result, at, at + 0.1, 200, version, content, said, date=at, age=age)
        judgement = self.revisits.judge(self.urls[page], self.visits[page], outcome, T)
        self.attesting.revisited(page, outcome, judgement)

    def judged(self):
        self.attesting.begin(self.urls, VISIT)
        return self.attesting.judge(self.urls, T)
