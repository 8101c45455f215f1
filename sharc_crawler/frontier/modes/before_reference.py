"""Second looks: visit pages again before T that hints call stale.

A sitemap that is read again before T tells which pages have changed since their visit. If such a page is visited again,
it need only stay the same from then until its revisit. Hints need no trust: bytes decide, as for any page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sharc_crawler.evidence.survival import log_survival
from sharc_crawler.frontier.modes import WORTH
from sharc_crawler.model import HowMade, Instant, PageId, Phase, Rate, Seconds
from sharc_crawler.plural import counted
from sharc_crawler.strategies.revisiting import revisit_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.modes.hints import PageHints
    from sharc_crawler.strategies.door import Door

    Column = NDArray[np.float64]

TRUE, FALSE = 3.0, 0.1  #: prior: numbers of true and false hints assumed for the calmest page
CALMEST = 1e-12  #: lower bound of rates, changes per second
TRIED = 100  #: rates of false hints tried for the best likelihood


class HintTruth:
    """How often hints were true so far.

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
        """Enter a second look at a page of this rate: had it changed?"""
        self._rates.append(rate)
        self._true.append(changed)

    def probability(self, rates: Column) -> Column:
        """Return the probabilities that hints on pages of these rates are true."""
        if not len(rates):
            return np.zeros(0)
        own = np.maximum(rates, CALMEST)
        looked = np.maximum([own.min(), own.min(), *self._rates], CALMEST)
        true = np.array([TRUE, 0.0, *self._true], np.float64)
        false = np.array([0.0, FALSE, *(not true for true in self._true)], np.float64)
        tried = np.geomspace(looked.min() / 100, looked.max() * 100, TRIED)
        shares = looked / (looked + tried[:, None])
        likelihood = (true * np.log(shares) + false * np.log1p(-shares)).sum(1)
        found: Column = own / (own + tried[likelihood.argmax()])
        return found


FEW = 20  #: second looks before hints are weighed again; then twice as many each time
LEAST = 0.2  #: minimum probability that a hint is true
ROUNDS = 20  #: maximum of readings: planning after each takes about a second for 50,000 pages


class Stale(NamedTuple):
    """Pages that hints call stale, coldest first, in columns."""

    pages: NDArray[np.int64]
    rates: NDArray[np.float64]
    kept: NDArray[np.float64]  #: weight times probability that each will be coherent, if its hint is true
    by_hub: NDArray[np.bool_]  #: the hint is a hub's, not a sitemap's

    def some(self, places: NDArray[np.int64]) -> Stale:
        """Return the pages at these places."""
        return Stale(self.pages[places], self.rates[places], self.kept[places], self.by_hub[places])


NO_PAGES = Stale(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros(0, np.bool_))


class SecondLooks:
    """Decides which pages are visited again before T, and whether hints are worth reading once more."""

    def __init__(self, capture: SiteCapture) -> None:
        self._capture = capture
        self.made = 0  #: second looks made
        self._true = 0  # second looks that showed a change
        self._truth = {False: HintTruth(), True: HintTruth()}  # by hub? sitemaps and hubs are weighed apart
        self._by_hub: set[PageId] = set()  # pages of the last batch that hubs called stale
        self._polls = 0  # rounds
        self._requests = 0  # for sitemaps and hubs
        self._stale = NO_PAGES  # of this round, not yet handed out
        self._cost, self._left = 0.0, 0  # expected loss of all other pages per slot; slots left
        self._batch = FEW
        self._half = False  # hints were read half-way through the visits
        self._round: int | None = None  # pages handed out in the round under way
        self._visits = 0  # visits made when the last round ended
        self._spare = 0.0  # requests that cost no visit or revisit

    def due(self, strategy: Door, sources: int, now: Instant, *, hinted: bool) -> bool:
        """Is a round of second looks due: half of the first visits or all but the last made, and hints to expect?

        ``sources``: sitemaps and hubs to read; ``hinted``: there are hints already.
        """
        capture, visits = self._capture, self._capture.counts.visits
        if not capture.spec.hints or not (sources or hinted) or capture.phase is not Phase.VISIT:
            return False
        left = strategy.first_visits_left
        if not (strategy.first_visits_waiting or self.begun) or (left > 1 and (self._half or left > visits)):
            return False
        if visits <= max(1.01 * self._visits, WORTH * sources) or (self._polls >= ROUNDS and not self.begun):
            return False
        self._spare = capture.budget.spare(now) - 2 * left - 2 * sources  # the sitemaps now, and at T
        return self._room(sources) > 0

    def half_way(self) -> None:
        """End the reading half-way through the visits, which only tests the rates."""
        self._half = True
        self._round = None

    def _room(self, sources: int) -> int:
        """Return slots left for second looks and requests for hints: a share of all, within the budget."""
        share = int(2 * self._capture.counts.visits * self._capture.spec.hints)
        return int(min(share - self.made - self._requests - sources, self._spare))

    def affords(self, hubs: int, left: int, now: Instant) -> bool:
        """May so many hubs be polled, by the share of slots and the budget (``left``: first visits to come)?

        Each hub is polled once; further polls are one per :data:`WORTH` visits.
        """
        capture = self._capture
        share = 2 * capture.counts.pages * capture.spec.hints - self.made - self._requests
        worth = hubs + capture.counts.visits // WORTH - self._requests
        return min(share - hubs, worth - 1, capture.budget.spare(now) - 2 * left - hubs) >= 0

    def polled(self, hubs: int) -> None:
        """Count polls of hubs during the visits."""
        self._requests += hubs

    def asked(self, sources: int) -> None:
        """Begin a round: hints are being read."""
        self._polls += 1
        self._requests += sources
        self._stale, self._round = NO_PAGES, 0

    @property
    def begun(self) -> bool:
        """Is a round under way?"""
        return self._round is not None

    def take(self) -> list[PageId]:
        """Return the next pages to visit again, by how often hints were true so far."""
        pages, rates, kept, by_hub = self._stale
        truth = np.where(by_hub, *(self._truth[hub].probability(rates) for hub in (True, False)))
        worth = np.flatnonzero((truth >= LEAST) & (kept * truth > self._cost))
        likely = np.argsort(-truth[worth].round(1), kind="stable")  # of equally likely pages the coldest first
        taken = np.sort(worth[likely[: self._left]])[: self._batch]
        self._stale = self._stale.some(np.setdiff1d(worth, taken))  # unlikely pages are dropped for good
        self._left -= len(taken)
        if self._round is not None:
            self._round += len(taken)
        self._batch = max(FEW, 2 * self.made)
        found: list[PageId] = pages[taken].tolist()
        self._by_hub = set(pages[taken[by_hub[taken]]].tolist())
        return found

    def looked(self, page: PageId, rate: Rate, changed: bool) -> None:
        """Enter a second look at a page of this rate."""
        self.made += 1
        self._true += changed
        self._truth[page in self._by_hub].looked(rate, changed)

    def ended(self, sources: int) -> bool:
        """End a round; return ``True`` if no other is worth its requests."""
        if self._round and self._round > sources and self._polls < ROUNDS:
            return False
        self.over()
        return True

    def cut_short(self) -> None:
        """Give up the rest of a round as the last page is handed out."""
        self._round = None

    def over(self) -> None:
        """End all rounds, unless further pages are visited."""
        self._visits, self._round = self._capture.counts.visits, None

    def note(self) -> str:
        """Return a note for the report, or an empty text."""
        if not self.made:
            return ""
        return HowMade(
            f"{counted(self.made, 'page', 'were')} visited again before the reference instant, as the"
            f" site's sitemaps, feeds or lists of changes, or pages edited together with them, said that"
            f" {'it' if self.made == 1 else 'they'} had changed: {self._true:,} had"
        )

    def choose(self, found: PageHints, sources: int, step: Seconds, now: Instant) -> None:
        """Value the pages that hints call stale, coldest first, so that the hottest come nearest to T.

        A page's value is its weight times the probability that it will be coherent if its hint is true. Its slot costs
        what all others lose by waiting one step longer.
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
        self._stale = Stale(np.array(found.pages, np.int64), found.planned, kept, found.by_hub).some(coldest)
        self._left = max(0, self._room(sources))
