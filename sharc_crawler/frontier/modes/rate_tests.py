"""Tests of a capture's rates by its own visits: each shows whether a page changed since the archive saw it.

Visits, and looks at one page of a folder, also tell which other pages were edited with it since their visit.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sharc_crawler.changes.http import http_date
from sharc_crawler.changes.masks import same_content
from sharc_crawler.frontier.modes import Untested
from sharc_crawler.model import Hints, Instant, Outcome, PageId, Rate, Result, Seconds
from sharc_crawler.plural import counted
from sharc_crawler.rates.history import SiteHistory
from sharc_crawler.rates.neighbours import LEAST, Together, calm, edited_together, folders, stale
from sharc_crawler.state.lifecycle import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.opening import LastSeen
    from sharc_crawler.rates.tested import RateTrust
    from sharc_crawler.state.pages import PageTable
    from sharc_crawler.strategies.door import Door

    Column = NDArray[np.float64]
    Compared = Mapping[PageId, tuple[Seconds, bool]]  #: by page: time since the archive saw it, and had it changed?

FIRST = 20  #: pages compared before the first test; then half as many more before each further one
MOST = 2_000  #: maximum of pages per test
ALIKE = 0.8  #: share changed of the pages compared last, above which nothing is concluded
AHEAD = 5  #: hottest pages visited before their turn at a time, if only they can decide a test
PROBES = 20  #: maximum of such pages
WORTH = 100  #: minimum of waiting pages for that: of fewer, the hottest come soon anyway
NEWS = 0.05  #: smallest change of trust that changes rates
SLACK = 2.0  #: seconds by which equal dates may differ
LEVELS = 16  #: groups of indistinguishable pages, by when they were found
SLOPE = 0.3  #: difference of their logarithmic rates, from first to last group
SURE = 0.9  #: probability of an edit since its visit from which a page counts as stale
LIKELY = 0.5  #: the same, if its probe has changed
GROWN = 1.02  #: growth of the pages compared before neighbours are examined again
FOUND = 1.0  #: minimum of pages that a probe is expected to find stale


def changed(seen: LastSeen, outcome: Outcome) -> bool | None:
    """Has the content changed since the archive saw it? ``None``: unknown, as under other masks."""
    before, now = seen.fingerprint, outcome.fingerprint
    if seen.shows(outcome) or not (before and now):
        return not seen.shows(outcome)
    same = same_content(before, now)
    return None if same is None else not same


class RateTests(Untested):
    """Tests rates by the visits planned with them."""

    _mean: Rate  #: mean of all pages' rates at the last finding
    _level: float  #: mean of their powers

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
        self._earliest, self._latest = array("d"), array("d")  # interval of each page's lastmod
        self._compared: dict[PageId, tuple[float, bool]] = {}  # time since last seen; changed?
        self._tested = self._due = FIRST  # pages compared at the last test, and at the next
        self._found: RateTrust | None = None  # None: rates are taken as they are
        self._asks, self._left = False, PROBES  # visit hot pages early? how many more
        self._ahead: set[PageId] = set()  # pages to be visited early

    @property
    def failed(self) -> bool:  # type: ignore[override]
        """Did visits contradict the rates?"""
        return self._found is not None

    def note(self) -> str:
        """Return a note for the report, or an empty text."""
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
        """Keep a page's lastmod from before the first visit."""
        if hints is None or hints.lastmod is None:
            return
        if self._capture.strategy is None:
            missing = page + 1 - len(self._latest)  # if any
            self._earliest.extend(repeat(-math.inf, missing))
            self._latest.extend(repeat(math.inf, missing))
            self._earliest[page], self._latest[page] = hints.lastmod, hints.lastmod + hints.lastmod_precision

    def visited(self, page: PageId, outcome: Outcome) -> None:
        """Compare a first visit with what the archive last saw."""
        if page in self._ahead:
            self._ahead.discard(page)
            self._due *= bool(self._ahead)  # test at once after the last of them
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
        if latest <= begin:  # by its lastmod it was unchanged when the capture began
            begin = max(begin, self._capture.started)
        elif earliest > begin:  # it had changed: has it changed once more?
            modified = http_date(outcome.validators.last_modified)
            if modified is None:
                return
            begin, has_changed = self._capture.started, modified > latest + SLACK
        if outcome.started > begin:
            self._compared[page] = outcome.started - begin, has_changed

    def test(self, strategy: Door) -> None:
        """Test the rates, after enough new visits, and reprice waiting pages.

        Also test at the last visit: the hottest pages come last, and the order of revisits depends on the result.
        """
        seen, last = len(self._compared), strategy.first_visits_left <= 1
        if seen < self._due and not (last and seen > self._tested):
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
        """Has the trust in rates changed? If not, hot pages may be visited early to decide."""
        from sharc_crawler.rates.tested import COLDEST, RateTrust, busier, rate_trust  # only with something to test

        self._asks, pages = False, list(self._compared)
        everywhere = self._rates([*self._pages.pages_in(State.QUEUED), *self._pages.pages_in(State.VISITED)])
        if np.ptp(everywhere) == 0.0:
            return False
        some = pages[:: 1 + len(pages) // MOST]
        periods, changed = np.array([self._compared[page] for page in some]).T
        if changed[-FIRST:].mean() > ALIKE:  # a rebuild of all pages, or another detector: no test
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
        """Return the rates to plan with."""
        if self._found is None:
            return rates
        moved = self._found.of(np.array(rates), self._mean, self._level)
        if not self._found.trust:  # nothing tells pages apart: first found, first visited
            order = np.argsort(np.argsort(pages)) * LEVELS // len(pages)
            moved = moved * np.exp(SLOPE * (order / LEVELS - 0.5))
        planned: list[Rate] = moved.tolist()
        return planned

    def learned(self, pages: Sequence[PageId], rates: Column) -> Column:
        """Return rates of visited pages, updated by their visits."""
        if self._found is None:
            return rates
        from sharc_crawler.rates.tested import since

        rates = self._found.of(rates, self._mean, self._level)
        seen = np.array([self._compared.get(page, (0.0, False)) for page in pages]).reshape(-1, 2)
        return since(self._found, rates, seen[:, 0], seen[:, 1] > 0) * max(1.0, self._found.factor)

    def edited(self, now: Instant) -> Edited:
        """Return pages probably edited since their visit, by visits to their neighbours."""
        return self._neighbours.edited(self._compared, now)

    def looked(self, page: PageId, since: Instant, now: Instant) -> Mapping[PageId, Instant]:
        """A probe has changed."""
        return self._neighbours.looked(page, since, now)

    def _rates(self, pages: Sequence[PageId]) -> Column:
        return np.array([self._pages.rates[page] for page in pages], np.float64)


class Edited(NamedTuple):
    """Pages edited together with others."""

    stale: dict[PageId, Instant]  #: pages edited since their visit, and when at the latest
    probes: dict[PageId, float]  #: pages to look at again: how many stale pages each is expected to find, most first


class _Folder(NamedTuple):
    """Pages that are stale if their probe is."""

    worth: float  #: expected number of stale pages
    probe: PageId
    pages: list[PageId]
    edited: float  #: probability that the folder was edited since the probe's visit


NOTHING = Edited({}, {})


class Neighbours:
    """Infers, from visits compared with the archive, which pages visited earlier are stale by now.

    ``history`` is read once: were pages of one folder edited together before?
    """

    def __init__(self, pages: PageTable, history: Callable[[], SiteHistory]) -> None:
        self._pages = pages
        self._history = history
        self._learned = False
        self._together: Together | None = None
        self._asked = 0  # pages compared at the last examination
        self._probed: dict[PageId, _Folder] = {}

    def edited(self, compared: Compared, now: Instant) -> Edited:
        """Return stale pages and probes; nothing if hardly a page was compared since the last call."""
        if len(compared) <= GROWN * self._asked or not any(changed for _, changed in compared.values()):
            return NOTHING
        self._asked = len(compared)
        if not self._learned:
            self._learned, self._together = True, edited_together(self._history())
        if self._together is None:
            return NOTHING
        found: dict[PageId, Instant] = {}
        asked: list[_Folder] = []
        for pages, rates, chances in self._by_folder(self._together, compared, now):
            sure = chances >= SURE
            found |= dict.fromkeys(_numbers(pages[sure]), now)
            perhaps = ~sure & (chances >= LIKELY * np.max(chances[~sure], initial=0.0))
            if (worth := float(chances[perhaps].sum())) >= FOUND:
                calmest = int(rates[perhaps].argmin())
                edited = float(chances[perhaps][calmest]) / self._together.share
                some = _numbers(pages[perhaps])
                asked.append(_Folder(worth, some[calmest], some, edited))
        self._probed |= {folder.probe: folder for folder in asked}
        return Edited(found, {folder.probe: folder.worth for folder in sorted(asked, reverse=True)})

    def looked(self, probe: PageId, since: Instant, now: Instant) -> dict[PageId, Instant]:
        """A probe has changed since its visit: return pages that have probably changed with it."""
        folder, together, table = self._probed.pop(probe, None), self._together, self._pages
        if folder is None or together is None:
            return {}
        own = np.array([table.rates[probe]]), np.array([table.shapes[probe]]), np.array([now - since])
        alone = 1.0 - float(calm(together.own, *own)[0])
        touched = folder.edited * (1.0 - (1.0 - together.share) * (1.0 - alone))
        likely = touched / (touched + (1.0 - folder.edited) * alone + 1e-12)
        return dict.fromkeys(folder.pages, now) if likely * together.share >= LIKELY else {}

    def _by_folder(
        self, together: Together, compared: Compared, now: Instant
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]]:
        """Yield for each folder its pages, their rates, and the probability that each is stale."""
        table = self._pages
        pages = np.array(list(compared), np.int64)
        rates, shapes, visits = (
            np.array([column[page] for page in compared], np.float64)
            for column in (table.rates, table.shapes, table.started)
        )
        seen = np.array(list(compared.values()), np.float64)
        begins, changed = visits - seen[:, 0], seen[:, 1] > 0
        owners = folders([table.urls[page] for page in compared])
        order = np.lexsort((visits, owners))
        for folder in np.split(order, np.flatnonzero(np.diff(owners[order])) + 1):
            if len(folder) >= LEAST:
                seen_then = begins[folder], visits[folder], changed[folder], rates[folder], shapes[folder]
                yield pages[folder], rates[folder], stale(together, *seen_then, now)


def _numbers(pages: NDArray[np.int64]) -> list[PageId]:
    found: list[PageId] = pages.tolist()
    return found
