"""Coherence on the server's word: pages whose lastmod is trusted need not be revisited.

A page was visited before the reference instant T. If its lastmod, read at or after T, is older than the visit, the page
did not change in between. If it is younger, the page is downloaded again at T. So such a page takes one slot, before T;
other pages take one on either side.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sharc_crawler.errors import UsageError
from sharc_crawler.model import Instant, PageId, Plan, Slot, Visit
from sharc_crawler.strategies.base import Candidates, Setting, Strategy
from sharc_crawler.strategies.classes import Classes, Run
from sharc_crawler.strategies.phases import PhasedStrategy
from sharc_crawler.strategies.planned import PlannedPages, TakenPage
from sharc_crawler.strategies.pyramid import PyramidStrategy
from sharc_crawler.strategies.selective import selective


def sharc_attested(setting: Setting, visits: int = 1) -> Strategy:
    """Make ``sharc-attested``: attested pages are visited once, or with ``visits=2`` on both sides of T.

    >>> from sharc_crawler.strategies.base import Setting
    >>> type(sharc_attested(Setting(), visits=2)).__name__
    'AttestedTwice'
    """
    if visits not in (1, 2):
        raise UsageError(f"visits={visits!r} is not known to sharc-attested; attested pages are visited 1 or 2 times")
    return AttestedOnce(setting) if visits == 1 else AttestedTwice(setting)


class AttestedTwice(PyramidStrategy):
    """Visits all pages on both sides of T; an attested page is coherent if it did not change on one side."""

    attests = True

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, selective, attested_apart=True)

    def _plan(self, classes: Classes) -> list[Run]:
        return super()._plan(replace(classes, either_side=True))


class AttestedOnce(PhasedStrategy):
    """Makes all visits before T, one per attested page, then the revisits of the others.

    Pages to be audited are visited like any others: nothing shows which they are before their audit. Pages that changed
    since their visit, by the sitemaps of T, are downloaded again by the frontier.
    """

    attests = True

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, "lifo")
        self.accepts_late = True
        self._pages = PlannedPages(self._before, setting.prior, attested_apart=True)
        self._pages.bounded = setting.bounded
        self._pairs = 0  # waiting pages that need two slots

    # -- pages that wait ---------------------------------------------------------------------------------------------

    def _put(self, candidates: Candidates) -> None:
        if self.past_reference:  # a late page has only one slot
            candidates = replace(candidates, attested=np.ones(len(candidates), np.bool_))
        self._pages.put(candidates)
        self._pairs += int((~candidates.attested).sum())

    def _take(self) -> tuple[PageId, Plan]:
        taken = self._taken()
        return taken.page, taken.plan

    def _taken(self) -> TakenPage:
        missing = max(0, self.setting.size - self.visits - self._waiting())
        taken = self._pages.take(missing, self.setting.step)
        self._pairs -= not taken.source.attested
        return taken

    def _discard(self, page: PageId) -> bool:
        source = self._pages.discard(page)
        if source is not None:
            self._pairs -= not source.attested
        return source is not None

    def _waiting(self) -> int:
        return len(self._pages)

    def reprice(self, page: PageId, rate: float) -> None:
        """Move a waiting page to its new class."""
        self._pages.reprice(page, rate)

    # -- plans -------------------------------------------------------------------------------------------------------

    def _before(self, classes: Classes) -> list[Run]:
        """Plan visits with one slot each, so that as few pages as possible change before T.

        A page with a revisit changes with a higher rate, as its interval also spans the other revisits.
        """
        pairs = np.ones(len(classes), np.bool_) if classes.attested is None else ~classes.attested
        longer = np.where(pairs, 1 + classes.counts[pairs].sum() / classes.counts.sum(), 1.0)
        return selective(
            replace(classes, rates=classes.rates * longer, weights=classes.weights / longer), self.setting.step
        )

    # -- slots -------------------------------------------------------------------------------------------------------

    def next(self, now: Instant) -> Visit | None:
        """Return a visit; once all are finished, a revisit, then a page found meanwhile."""
        self.now = now
        if self._waiting() and not self.past_reference:
            return self._first()
        if self._in_flight:
            return None
        return self._second() or (self._late() if self._waiting() else None)

    def reference_passed(self) -> None:
        """Note that T is fixed."""
        self.past_reference = True

    def revisits_ahead(self) -> list[PageId]:
        """Return the revisits: their order is open until T."""
        return self._ahead()

    def _first(self) -> Visit:
        taken = self._taken()
        plan = Plan.HOPEFUL if taken.source.attested else taken.plan  # if it changes, it is downloaded again
        self._made(taken.page, plan, not taken.source.attested)
        self._in_flight.add(taken.page)
        return Visit(taken.page, Slot.ONLY if taken.source.attested else Slot.FIRST, plan)

    def _late(self) -> Visit:
        page, plan = self._take()
        self._in_flight.add(page)
        return Visit(page, Slot.ONLY, plan)

    def _twice(self, slot: Slot) -> bool:
        return slot is Slot.FIRST

    def __len__(self) -> int:
        return self._owed + self._waiting() + self._pairs
