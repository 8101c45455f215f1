"""Coherence on the server's word: pages whose lastmod is trusted need not be revisited.

For a page visited before the reference instant T, a lastmod read at or after T that is older than the visit shows that
it did not change in between; for one visited after T, a Last-Modified older than T. So such a page takes one slot, at
a distance d from T, on either side; the others take a mirrored pair of slots, 2d apart. Seen from T, a page with a
pair is two half pages of twice the rate and half the weight: one plan lays all of them over distances 0, Δ/2, Δ, ...
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.errors import UsageError
from sharc_crawler.model import Plan, Slot, Visit
from sharc_crawler.strategies.layout import Run
from sharc_crawler.strategies.phases import TWICE, PhasedStrategy
from sharc_crawler.strategies.planned import PlannedPages
from sharc_crawler.strategies.pyramid import PyramidStrategy
from sharc_crawler.strategies.selective import selective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.model import Instant, PageId
    from sharc_crawler.strategies.base import Candidates, Setting, Strategy
    from sharc_crawler.strategies.classes import Classes
    from sharc_crawler.strategies.planned import Taken


def sharc_attested(setting: Setting, visits: int = 1) -> Strategy:
    """The strategy ``sharc-attested``: attested pages are visited once, or (``visits=2``) on both sides of T.

    >>> from sharc_crawler.strategies.base import Setting
    >>> type(sharc_attested(Setting(), visits=2)).__name__
    'AttestedTwice'
    """
    if visits not in (1, 2):
        raise UsageError(f"visits={visits!r} is not known to sharc-attested; attested pages are visited 1 or 2 times")
    return AttestedOnce(setting) if visits == 1 else AttestedTwice(setting)


class AttestedTwice(PyramidStrategy):
    """All pages are visited on both sides of T; an attested one is coherent if it kept still on either."""

    attests = True

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, selective, attested_apart=True)

    def _plan(self, classes: Classes) -> list[Run]:
        return super()._plan(replace(classes, either_side=True))


class AttestedOnce(PhasedStrategy):
    """Attested pages around T, the others in mirrored pairs."""

    attests = True

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, "lifo")
        self.accepts_late = True
        self._pages = PlannedPages(self._before, setting.prior, attested_apart=True)
        self._pages.strict = True
        self._pairs = 0  # waiting pages that need two slots

    # -- pages that wait ---------------------------------------------------------------------------------------------

    def _put(self, candidates: Candidates) -> None:
        if self.past_reference:  # one slot is all that is left for any page
            candidates = replace(candidates, attested=np.ones(len(candidates), np.bool_))
        self._pages.put(candidates)
        self._pairs += int((~candidates.attested).sum())

    def _take(self) -> tuple[PageId, Plan]:
        taken = self._taken()
        return taken.page, taken.plan

    def _taken(self) -> Taken:
        missing = max(0, self.setting.size - self.visits - self._waiting())
        taken = self._pages.take(missing, self.setting.step)
        self._pairs -= not taken.attested
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
        """Visits up to T: of the attested pages the hotter half, for what changes of them before T is visited again.

        The coldest come after T. For the others the slots on the far side are mirror images.
        """
        singles = _flags(classes)
        slots = np.where(singles, 1, 2)
        halves = replace(
            classes, rates=classes.rates * slots, counts=classes.counts * slots, weights=classes.weights / slots
        )
        runs = selective(halves, self.setting.step / 2)
        waiting = int(classes.counts[singles].sum())
        later = min(waiting, (waiting + self.visits - self._owed) // 2)
        spare: dict[int, int] = defaultdict(int)  # half pairs, by class
        found = {}
        for at in sorted(range(len(runs)), key=lambda at: runs[at].plan is Plan.HOPELESS):  # the coldest hopeful first
            row, count, plan = runs[at]
            if singles[row]:
                kept = min(later, count)
                later, pages = later - kept, count - kept
            else:
                pages, spare[row] = divmod(spare[row] + count, 2)
            if pages:
                found[at] = Run(row, pages, plan)
        return [found[at] for at in sorted(found)]

    def _after(self, classes: Classes) -> list[Run]:
        """Attested pages after T, nearest first, on every slot that is not a revisit's."""
        spread = 1 + self._owed / max(1, self._waiting())
        return selective(classes, spread * self.setting.step)[::-1]

    # -- slots -------------------------------------------------------------------------------------------------------

    def next(self, now: Instant) -> Visit | None:
        """Visits before T; revisits and the attested pages that are left, mirrored, after it."""
        self.now = now
        if not self.past_reference:
            if self._waiting() and not self._halfway():
                return self._first()
            if self._in_flight:
                return None
            self._turn_over()
        return self._second()

    def _halfway(self) -> bool:
        """As many visits are made as are left, and none of them needs a pair."""
        waiting = self._waiting()
        missing = max(0, self.setting.size - self.visits - waiting)
        return not self._pairs and self.visits >= self._owed + waiting + missing

    def _turn_over(self) -> None:
        if self._waiting() or self._owed:
            self.reference_passed()

    def reference_passed(self) -> None:
        """The plan is the one for the slots after T."""
        if self._pages.strict:
            self.past_reference = True
            self._pages.plan, self._pages.strict, self._pages.inward = self._after, False, False
            self._pages.outdate()

    def _first(self) -> Visit:
        taken = self._taken()
        self._made(taken.page, taken.plan, not taken.attested)
        self._in_flight.add(taken.page)
        return Visit(taken.page, Slot.ONLY if taken.attested else Slot.FIRST, taken.plan)

    def _second(self) -> Visit | None:
        """The mirror image of the visits: a revisit where there was a pair, any attested page where there was none."""
        while self._revisited < len(self._visited) and self._owed:
            page, mark = self._turn()
            if mark & TWICE and page not in self._closed:
                return self._revisit(page, mark)
            if not mark & TWICE and self._waiting():
                return self._late()
        return self._late() if self._waiting() else None

    def _late(self) -> Visit:
        taken = self._taken()
        self._in_flight.add(taken.page)
        return Visit(taken.page, Slot.ONLY, taken.plan)

    def _twice(self, slot: Slot) -> bool:
        return slot is Slot.FIRST

    def __len__(self) -> int:
        return self._owed + self._waiting() + self._pairs


def _flags(classes: Classes) -> NDArray[np.bool_]:
    return np.zeros(len(classes), np.bool_) if classes.attested is None else classes.attested
