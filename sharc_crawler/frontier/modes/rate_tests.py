"""The rates of a capture, tested by its own visits: each shows whether the page changed since the archive saw it."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.changes.http import http_date
from sharc_crawler.changes.masks import same_content
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.modes.base import Untested
from sharc_crawler.frontier.modes.neighbours import Edited, Neighbours
from sharc_crawler.model import Hints, Instant, Outcome, PageId, Rate, Result
from sharc_crawler.plural import counted
from sharc_crawler.rates.history import SiteHistory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.pages import PageTable
    from sharc_crawler.frontier.parts import LastSeen
    from sharc_crawler.rates.tested import RateTrust
    from sharc_crawler.strategies.door import Door

    Column = NDArray[np.float64]

FIRST = 20  #: pages compared before the rates are tested; then at half as many more each time
MOST = 2_000  #: pages that a test looks at
ALIKE = 0.8  #: of the pages compared last: where more have changed, nothing is concluded
AHEAD = 5  #: pages held for the hottest that are visited before their turn at once, where only they tell what is so
PROBES = 20  #: of them in all, at most
WORTH = 100  #: more pages wait: of fewer the hottest come soon
NEWS = 0.05  #: of trust: less changes no rate
SLACK = 2.0  #: seconds that a date may differ from another
LEVELS = 16  #: of pages alike, by when they were found
SLOPE = 0.3  #: of the logarithms of their rates, from first to last


def changed(seen: LastSeen, outcome: Outcome) -> bool | None:
    """Does a visit show another content than the archive saw? ``None``: nobody can tell, as under other masks."""
    before, now = seen.fingerprint, outcome.fingerprint
    if seen.shows(outcome) or not (before and now):
        return not seen.shows(outcome)
    same = same_content(before, now)
    return None if same is None else not same


class RateTests(Untested):
    """What visits say of the rates that they were planned by."""

    _mean: Rate  #: once something is found: of all pages, as they were held for
    _level: float  #: and of their powers

    def __init__(
        self,
        capture: SiteCapture,
        pages: PageTable,
        seen: Callable[[str, Instant], LastSeen | None],
        history: Callable[[], SiteHistory] = SiteHistory.empty,
    ) -> None:
        self._capture = capture
        self._pages = pages
        self._seen = seen
        self._neighbours = Neighbours(pages, history)
        self._earliest, self._latest = array("d"), array("d")  # of the interval that each page's lastmod denotes
        self._compared: dict[PageId, tuple[float, bool]] = {}  # time since it was seen, and had it changed?
        self._tested, self._due = 0, FIRST  # so many were compared at the last test, and are at the next
        self._found: RateTrust | None = None  # None: as they are
        self._asks, self._left = False, PROBES  # are pages to be visited before their turn; so many more at most
        self._ahead: set[PageId] = set()  # these are, and wait

    @property
    def failed(self) -> bool:  # type: ignore[override]
        """Are the rates others than they were held for?"""
        return self._found is not None

    def note(self) -> str:
        """What a reader must know."""
        if self._found is None:
            return ""
        changed = sum(changed for _, changed in self._compared.values())
        moved, how = "that change are not those that changed before", "moved towards equal ones"
        if self._found.trust < 0:
            how = "turned round"
        elif self._found.trust:
            moved = "differ less in how often they change than they did before"
        return (
            f"the pages {moved} ({changed:,} of"
            f" {counted(len(self._compared), 'visit')}"
            f" compared with the archive found another page): change rates were {how}"
        )

    def stated(self, page: PageId, hints: Hints | None) -> None:
        """Before the first visit, a sitemap says when a page last changed."""
        if hints is None or hints.lastmod is None:
            return
        if self._capture.strategy is None:
            if (missing := page + 1 - len(self._latest)) > 0:
                self._earliest.extend(repeat(-math.inf, missing))
                self._latest.extend(repeat(math.inf, missing))
            self._earliest[page], self._latest[page] = hints.lastmod, hints.lastmod + hints.lastmod_precision

    def visited(self, page: PageId, outcome: Outcome) -> None:
        """A page was visited first."""
        if page in self._ahead:
            self._ahead.discard(page)
            self._due *= bool(self._ahead)  # the last of them is tested at once
        if outcome.result is not Result.OK:
            return
        if (seen := self._seen(self._pages.urls[page], self._capture.started)) is None:
            return
        begin, has_changed = seen.time, changed(seen, outcome)
        if has_changed is None:
            return
        earliest, latest = -math.inf, math.inf
        if page < len(self._latest):
            earliest, latest = self._earliest[page], self._latest[page]
        if latest <= begin:  # it had not changed by the time that this was said
            begin = max(begin, self._capture.started)
        elif earliest > begin:  # it had: has it once more?
            modified = http_date(outcome.validators.last_modified)
            if modified is None:
                return
            begin, has_changed = self._capture.started, modified > latest + SLACK
        if outcome.started > begin:
            self._compared[page] = outcome.started - begin, has_changed

    def test(self, strategy: Door) -> None:
        """With enough visits since the last time: how far are the rates to be trusted? Pages that wait are told.

        At the last visit, too: those held for the hottest come last, and the revisits' order goes by what they show.
        """
        seen, last = len(self._compared), strategy.first_visits_left <= 1
        if seen < self._due and not (last and seen >= FIRST and seen > self._tested):
            return
        self._tested, self._due = seen, seen * 3 // 2
        if not (self._test() or self._asks):
            return
        waiting = self._pages.pages_in(State.QUEUED)
        rates = self._rates(waiting)
        if not self._asks:
            for page, rate in zip(waiting, self.planned(waiting, rates.tolist()), strict=True):
                strategy.reprice(page, rate)
        elif self._left and len(waiting) > WORTH and not self._ahead:
            self._left -= AHEAD
            self._ahead = {waiting[place] for place in np.argsort(-rates, kind="stable")[:AHEAD].tolist()}
            for page in sorted(self._ahead):
                strategy.reprice(page, 0.0)  # the calmest come first

    def _test(self) -> bool:
        """True: the trust is another. If not, hot pages may have to be asked."""
        from sharc_crawler.rates.tested import COLDEST, RateTrust, busier, rate_trust  # only where something is known

        self._asks, pages = False, list(self._compared)
        everywhere = self._rates([*self._pages.pages_in(State.QUEUED), *self._pages.pages_in(State.VISITED)])
        if np.ptp(everywhere) == 0.0:
            return False
        some = pages[:: 1 + len(pages) // MOST]
        periods, changed = np.array([self._compared[page] for page in some]).T
        if changed[-FIRST:].mean() > ALIKE:  # a rebuild of all pages, or a detector that sees others: no order shows
            return False
        known = self._rates(some), periods, changed > 0
        found = rate_trust(*known, everywhere)
        before = self._found or RateTrust()
        if abs(found.trust - before.trust) < NEWS:
            self._asks = found.hidden and (self._left < PROBES or busier(*known))
            return False
        self._found, self._mean = found, float(everywhere.mean())
        self._level = float((np.maximum(everywhere, COLDEST * self._mean) ** found.trust).mean())
        return True

    def planned(self, pages: Sequence[PageId], rates: Sequence[Rate]) -> Sequence[Rate]:
        """Rates as they are to be planned by."""
        if self._found is None:
            return rates
        moved = self._found.of(np.array(rates), self._mean, self._level)
        if not self._found.trust:  # nothing tells them apart: those found first come first
            order = np.argsort(np.argsort(pages)) * LEVELS // len(pages)
            moved = moved * np.exp(SLOPE * (order / LEVELS - 0.5))
        planned: list[Rate] = moved.tolist()
        return planned

    def learned(self, pages: Sequence[PageId], rates: Column) -> Column:
        """Rates of visited pages, with what their visits said."""
        if self._found is None:
            return rates
        from sharc_crawler.rates.tested import since

        rates = self._found.of(rates, self._mean, self._level)
        said = np.array([self._compared.get(page, (0.0, False)) for page in pages]).reshape(-1, 2)
        return since(self._found, rates, said[:, 0], said[:, 1] > 0) * max(1.0, self._found.factor)

    def edited(self, now: Instant) -> Edited:
        """By visits to their neighbours, where pages were edited together before."""
        return self._neighbours.edited(self._compared, now)

    def looked(self, page: PageId, since: Instant, now: Instant) -> Mapping[PageId, Instant]:
        """A probe has changed."""
        return self._neighbours.looked(page, since, now)

    def _rates(self, pages: Sequence[PageId]) -> Column:
        return np.array([self._pages.rates[page] for page in pages], np.float64)
