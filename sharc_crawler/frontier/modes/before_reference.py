"""Second looks: pages that hints call stale are visited again before T, where what is lost can still be won.

A sitemap that is read again while T is still to come tells which pages have changed since their visit. Visited again,
such a page has only to survive from then until its revisit. The hint need not be trusted: bytes judge, as of any page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sharc_crawler.evidence.survival import log_survival
from sharc_crawler.frontier.modes.two_visits import WORTH
from sharc_crawler.model import HowMade, Instant, PageId, Phase, Rate, Seconds
from sharc_crawler.plural import counted
from sharc_crawler.strategies.revisiting import revisit_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.modes.said import SaidOfPages
    from sharc_crawler.strategies.door import Door

    Column = NDArray[np.float64]

TRUE, FALSE = 3.0, 0.1  #: hints of either kind that are supposed beforehand, of the calmest page
CALMEST = 1e-12  #: changes per second, at least
TRIED = 100  #: false rates


class HintTruth:
    """What hints were worth so far.

    >>> known, rates = HintTruth(), np.array([1e-6, 1e-4])
    >>> known.probability(rates).round(2).tolist()
    [0.97, 1.0]
    >>> for _ in range(20):
    ...     known.looked(1e-6, False)
    >>> known.probability(rates).round(2).tolist()
    [0.13, 0.94]
    """

    def __init__(self) -> None:
        self._rates: list[Rate] = []
        self._true: list[bool] = []

    def looked(self, rate: Rate, changed: bool) -> None:
        """A page of that rate was visited again: had it changed?"""
        self._rates.append(rate)
        self._true.append(changed)

    def probability(self, rates: Column) -> Column:
        """How likely hints for pages of these rates are true."""
        if not len(rates):
            return np.zeros(0)
        own = np.maximum(rates, CALMEST)
        looked = np.maximum([own.min(), own.min(), *self._rates], CALMEST)
        true = np.array([TRUE, 0.0, *self._true], np.float64)
        false = np.array([0.0, FALSE, *(not one for one in self._true)], np.float64)
        tried = np.geomspace(looked.min() / 100, looked.max() * 100, TRIED)
        shares = looked / (looked + tried[:, None])
        likelihood = (true * np.log(shares) + false * np.log1p(-shares)).sum(1)
        found: Column = own / (own + tried[likelihood.argmax()])
        return found


FEW = 20  #: pages visited again before what the hints were worth is asked for; then twice as many each time
LEAST = 0.2  #: probability that a hint is true, at least
ROUNDS = 20  #: readings of the sitemaps at most: each is followed by a second or so of planning for 50,000 pages


class Called(NamedTuple):
    """Pages that hints call stale, coldest first, one entry each."""

    pages: NDArray[np.int64]
    rates: NDArray[np.float64]
    kept: NDArray[np.float64]  #: what each is likely to be coherent by, if its hint is true
    by_hub: NDArray[np.bool_]  #: the hint is a hub's, no sitemap's

    def some(self, places: NDArray[np.int64]) -> Called:
        """Those at these places."""
        return Called(self.pages[places], self.rates[places], self.kept[places], self.by_hub[places])


NOBODY = Called(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros(0, np.bool_))


class SecondLooks:
    """Which pages are visited again before T, and whether hints are worth asking for once more."""

    def __init__(self, capture: SiteCapture) -> None:
        self._capture = capture
        self.made = 0  #: visits made again
        self._true = 0  # of these, pages that had changed
        self._truth = {False: HintTruth(), True: HintTruth()}  # of sitemaps, of hubs: each by what its own were worth
        self._by_hub: set[PageId] = set()  # pages handed out by a hub's word
        self._polls = 0  # rounds
        self._requests = 0  # of sitemaps and hubs
        self._called = NOBODY  # of this round, still to be handed out, if worth it
        self._cost, self._left = 0.0, 0  # of a slot, to all others; slots
        self._batch = FEW
        self._half = False  # hints were read when half of the visits were made
        self._round: int | None = None  # pages of the round under way
        self._visits = 0  # when the last round ended
        self._spare = 0.0  # requests that no visit or revisit is to be given up for

    def due(self, strategy: Door, sources: int, now: Instant, *, said: bool) -> bool:
        """Are all first visits made, but the last one, or half of them, and may hints bring something?

        ``said``: something has been, whether or not there is anybody to be asked.
        """
        capture, visits = self._capture, self._capture.counts.visits
        if not capture.spec.hints or not (sources or said) or capture.phase is not Phase.VISIT:
            return False
        left = strategy.first_visits_left
        if not (strategy.first_visits_waiting or self.begun) or (left > 1 and (self._half or left > visits)):
            return False
        if visits <= max(1.01 * self._visits, WORTH * sources) or (self._polls >= ROUNDS and not self.begun):
            return False
        self._spare = capture.budget.spare(now) - 2 * left - 2 * sources  # the sitemaps now, and at T
        return self._room(sources) > 0

    def half_way(self) -> None:
        """The hints were read in the midst of the visits: what they say then is a test of the rates."""
        self._half = True
        self._round = None

    def _room(self, sources: int) -> int:
        """Slots left for second looks: a share of all, what was asked for hints included; what the budget can spare."""
        share = int(2 * self._capture.counts.visits * self._capture.spec.hints)
        return int(min(share - self.made - self._requests - sources, self._spare))

    def affords(self, hubs: int, left: int, now: Instant) -> bool:
        """May so many be polled: is there room in the share of all slots, and beside all that is ``left`` to visit?

        Each is asked at first; then one for so many visits.
        """
        capture = self._capture
        share = 2 * capture.counts.pages * capture.spec.hints - self.made - self._requests
        worth = hubs + capture.counts.visits // WORTH - self._requests
        return min(share - hubs, worth - 1, capture.budget.spare(now) - 2 * left - hubs) >= 0

    def polled(self, hubs: int) -> None:
        """So many hubs are polled, visits going on."""
        self._requests += hubs

    def asked(self, sources: int) -> None:
        """The hints are being read."""
        self._polls += 1
        self._requests += sources
        self._called, self._round = NOBODY, 0

    @property
    def begun(self) -> bool:
        """Is a round under way: have hints been asked for?"""
        return self._round is not None

    def take(self) -> list[PageId]:
        """The next pages to be visited again, by what hints have been worth so far."""
        pages, rates, kept, by_hub = self._called
        truth = np.where(by_hub, *(self._truth[one].probability(rates) for one in (True, False)))
        worth = np.flatnonzero((truth >= LEAST) & (kept * truth > self._cost))
        likely = np.argsort(-truth[worth].round(1), kind="stable")  # of equally likely ones the coldest
        taken = np.sort(worth[likely[: self._left]])[: self._batch]
        later = np.setdiff1d(worth, taken)  # what was unlikely once is left for good: few hints are worth a slot
        self._called = self._called.some(later)
        self._left -= len(taken)
        if self._round is not None:
            self._round += len(taken)
        self._batch = max(FEW, 2 * self.made)
        found: list[PageId] = pages[taken].tolist()
        self._by_hub = set(pages[taken[by_hub[taken]]].tolist())
        return found

    def looked(self, page: PageId, rate: Rate, changed: bool) -> None:
        """A page of that rate was visited again."""
        self.made += 1
        self._true += changed
        self._truth[page in self._by_hub].looked(rate, changed)

    def ended(self, sources: int) -> bool:
        """A round is over; True: no other is worth its requests."""
        if self._round and self._round > sources and self._polls < ROUNDS:
            return False
        self.over()
        return True

    def cut_short(self) -> None:
        """What is left of a round is given up as the last page is handed out: room behind it comes too late."""
        self._round = None

    def over(self) -> None:
        """No hints are asked for any more, unless further pages are visited."""
        self._visits, self._round = self._capture.counts.visits, None

    def note(self) -> str:
        """What a reader must know."""
        if not self.made:
            return ""
        return HowMade(
            f"{counted(self.made, 'page', 'were')} visited again before the reference instant, as the"
            f" site's sitemaps, feeds or lists of changes, or pages edited together with them, said that"
            f" {'it' if self.made == 1 else 'they'} had changed: {self._true:,} had"
        )

    def choose(self, found: SaidOfPages, sources: int, step: Seconds, now: Instant) -> None:
        """What the pages that hints call stale are worth, coldest first: the hottest come nearest to T.

        A page is worth what it is likely to be coherent by, if its hint is true; its slot costs what is lost as all
        others wait for it.
        """
        rates, weights, shapes = found.rates, found.weights, found.shapes
        elapsed = np.where(found.stale | found.still, 0.0, np.maximum(now - found.visited, 0.0))
        order = revisit_order(rates, weights, shapes, elapsed, step)
        wait = np.empty(len(order))
        wait[order] = step * np.arange(1, len(order) + 1)
        kept = weights * np.exp(log_survival(rates, elapsed + wait, shapes))
        later = weights * np.exp(log_survival(rates, elapsed + wait + step, shapes))
        self._cost = float((kept - later)[~found.stale].sum())
        places = np.flatnonzero(found.stale & ~found.spent)
        coldest = places[np.argsort(rates[places], kind="stable")]
        self._called = Called(np.array(found.pages, np.int64), found.planned, kept, found.by_hub).some(coldest)
        self._left = max(0, self._room(sources))
