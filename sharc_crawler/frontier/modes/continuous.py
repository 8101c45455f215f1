"""Continuous captures: after all first visits, pages are visited again and again until the time is over.

These looks are visits before T like any other: each is archived, and a page's last one counts. So a continuous capture
ends like any other, with revisits. Its certificate names all looks, which also show earlier states. An upkeep
(:mod:`..strategies.upkeep`) decides which page is looked at when, anew as looks show how often pages change.
"""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.evidence.comparison import compare
from sharc_crawler.frontier.modes.two_visits import TwoVisits
from sharc_crawler.model import Change, Instant, Outcome, PageId, Phase, Seconds, Slot
from sharc_crawler.state.lifecycle import State
from sharc_crawler.strategies.upkeep import LEAST, make_upkeep

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.modes import Untested
    from sharc_crawler.strategies.door import Door

FEW = 100  #: looks before a new plan, or a quarter of the pages if that is more


class Continuously(TwoVisits):
    """Looks at pages, ``spec.looks`` per hour, until ``spec.lasts`` seconds after the beginning."""

    goes_on = True
    takes_hubs = False

    def __init__(self, ledger: Ledger, capture: SiteCapture, tests: Untested) -> None:
        super().__init__(ledger, capture, tests, compares=True)
        self.looks = 0  #: made
        self._upkeep = make_upkeep(capture.spec.upkeep)
        self.ends = capture.started + capture.spec.lasts
        self._gap: Seconds = 3600.0 / capture.spec.looks
        self._due: list[tuple[Instant, PageId]] = []  # heap
        self._planned = -math.inf  # looks made before the last plan
        self._last: Instant = -math.inf  # when the last look was due, or made before a restart
        self._seen: dict[PageId, tuple[int, Seconds]] = {}  # changes seen at looks, and over how long

    def waits(self, strategy: Door, now: Instant) -> bool:
        """Wait for the next look, while there is time."""
        upkept = self._capture.phase is Phase.VISIT and strategy.revisits and not strategy.first_visits_left
        return (upkept and self._looks_on(now)) or super().waits(strategy, now)

    def _looks_on(self, now: Instant) -> bool:
        if self._capture.owed.pending:
            return True
        self.called = "kept up" if now < self.ends and self._capture.budget.spare(now) >= 1 else ""
        if not self.called:
            return False
        if self.looks - self._planned >= max(FEW, len(self._due) / 4):
            self._plan()
        if not self._due:
            return False
        _, page = heapq.heappop(self._due)  # the first due, even if early: no look is skipped
        self._last = min(max(self._last + self._gap, now), self.ends)
        self._ledger.owe_at(page, Slot.FIRST, self._last)
        return True

    def _plan(self) -> None:
        """Plan each page's next look by its last one and its interval."""
        pages, started = self._ledger.pages.pages_in(State.VISITED), self._ledger.pages.started
        self._planned = self.looks
        every = self._upkeep(self._rates(pages), 1.0 / self._gap) if pages else np.empty(0)
        due = np.array([started[page] for page in pages]) + every
        self._due = [(float(when), page) for when, page in zip(due, pages, strict=True) if when < math.inf]
        heapq.heapify(self._due)
        self._every = dict(zip(pages, every.tolist(), strict=True))

    def _rates(self, numbers: list[PageId]) -> NDArray[np.float64]:
        """Return the means of the pages' Gamma posteriors, given their looks; known rates (infinite shape) stay."""
        pages = self._ledger.pages
        rates, shapes = (np.array([column[page] for page in numbers]) for column in (pages.rates, pages.shapes))
        seen = np.array([self._seen.get(page, (0, 0.0)) for page in numbers])
        known = np.isinf(shapes)
        shapes = np.where(known, 1.0, shapes)
        learned = (shapes + seen[:, 0]) / (shapes / np.maximum(rates, LEAST) + seen[:, 1])
        return np.where(known, rates, learned)

    def visited_again(self, page: PageId, before: Outcome, outcome: Outcome) -> None:
        """Learn the page's rate from a look, and make the page due again."""
        if outcome.started >= self.ends:  # a hint's second look; earlier looks need no hint
            super().visited_again(page, before, outcome)
        changes, over = self._seen.get(page, (0, 0.0))
        changed = compare(before, outcome).change
        if changed is not Change.UNKNOWN:
            self._seen[page] = changes + (changed is Change.CHANGED), over + outcome.started - before.started
        self.looks += 1
        if self._planned > -math.inf:
            heapq.heappush(self._due, (outcome.started + self._every[page], page))
        else:
            self._last = outcome.started
