"""Second looks: pages that hints call stale are visited again before T, where what is lost can still be won.

A sitemap that is read again while T is still to come tells which pages have changed since their visit. Visited again,
such a page has only to survive from then until its revisit. The hint need not be trusted: bytes judge, as of any page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.evidence.survival import log_survival
from sharc_crawler.model import Phase
from sharc_crawler.plural import counted
from sharc_crawler.strategies.revisiting import revisit_order

if TYPE_CHECKING:
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.modes.words import SaidOfPages
    from sharc_crawler.model import Instant, PageId, Seconds
    from sharc_crawler.strategies.door import Door

WORTH = 50  #: visited pages per sitemap that is read again
FEW = 20  #: pages visited again before what the hints were worth is asked for; then twice as many each time
TRUE, FALSE = 3.0, 1.0  #: hints of either kind that are supposed beforehand
LEAST = 0.2  #: of the hints must be true
ROUNDS = 20  #: readings of the sitemaps at most: each is followed by a second or so of planning for 50,000 pages


class SecondLooks:
    """Which pages are visited again before T, and whether hints are worth asking for once more."""

    def __init__(self, capture: SiteCapture) -> None:
        self._capture = capture
        self.made = 0  #: visits made again
        self._true = 0  # of these, pages that had changed
        self._polls = 0
        self._chosen: list[PageId] = []  # of this round, still to be handed out
        self._batch = FEW
        self._half = False  # hints were read when half of the visits were made
        self._round: int | None = None  # pages of the round under way
        self._visits = 0  # when the last round ended
        self._spare = 0.0  # requests that no visit or revisit is to be given up for

    def due(self, strategy: Door, sources: int, now: Instant) -> bool:
        """Are all first visits made, but the last one, or half of them, and may hints bring something?"""
        capture, visits = self._capture, self._capture.counts.visits
        if not capture.spec.hints or not sources or capture.phase is not Phase.VISIT:
            return False
        left = strategy.first_visits_left
        if left > 1 and (self._half or left > visits):
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
        return int(min(share - self.made - (1 + self._polls) * sources, self._spare))

    def asked(self) -> None:
        """The hints are being read."""
        self._polls += 1
        self._chosen, self._round = [], 0

    @property
    def begun(self) -> bool:
        """Is a round under way: have hints been asked for?"""
        return self._round is not None

    def take(self) -> list[PageId]:
        """The next pages to be visited again, of those chosen."""
        if self._precision < LEAST:
            self._chosen = []
        taken, self._chosen = self._chosen[: self._batch], self._chosen[self._batch :]
        self._batch = max(FEW, 2 * self.made)
        return taken

    def looked(self, changed: bool) -> None:
        """A page was visited again."""
        self.made += 1
        self._true += changed

    def ended(self, sources: int) -> bool:
        """A round is over; True: no other is worth its requests."""
        if self._round and self._round > sources and self._precision >= LEAST and self._polls < ROUNDS:
            return False
        self._visits, self._round = self._capture.counts.visits, None
        return True

    def note(self) -> str:
        """What a reader must know."""
        if not self.made:
            return ""
        return (
            f"{counted(self.made, 'page', 'were')} visited again before the reference instant, as the"
            f" sitemaps said that {'it' if self.made == 1 else 'they'} had"
            f" changed: {self._true:,} had"
        )

    @property
    def _precision(self) -> float:
        """Share of the hints that are true, as far as is known."""
        return (self._true + TRUE) / (self.made + TRUE + FALSE)

    def choose(self, found: SaidOfPages, sources: int, step: Seconds, now: Instant) -> None:
        """Of the pages that hints call stale those worth a slot, coldest first: the hottest come nearest to T.

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
        cost = float((kept - later)[~found.stale].sum())
        worth = found.stale & ~found.spent & (kept * self._precision > cost)
        places = np.flatnonzero(worth)
        coldest = places[np.argsort(rates[places], kind="stable")][: max(0, self._room(sources))]
        self._chosen = [found.pages[place] for place in coldest.tolist()]
        self._round = len(self._chosen)
