"""Where the server's word counts: the sitemaps are read again at T and at the end, and a share of pages is audited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.evidence.attesting import Attestations
from sharc_crawler.evidence.survival import log_survival
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.model import Change, Kind, Phase, Slot
from sharc_crawler.strategies.revisiting import revisit_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.model import PageId
    from sharc_crawler.rates.history import SiteHistory


class Checker:
    """Owes what judgements on the server's word need beyond visits."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def begin_reference(self, capture: SiteCapture) -> bool:
        """The next visit comes after T, which is the start of the sitemaps' download: False where there is none.

        Asked for once: the budget may forbid it.
        """
        attesting = capture.attesting
        assert attesting is not None, "asked where the server's word counts"
        if capture.reference is not None or attesting.sought:
            return False
        attesting.sought = True
        return self.read_again(capture)

    def read_again(self, capture: SiteCapture) -> bool:
        """Owe the sitemaps; no visit is decided before they are read."""
        assert capture.attesting is not None, "asked where the server's word counts"
        for page in capture.attesting.sitemaps:
            capture.opening += 1
            self._ledger.owe(capture, page, Slot.SECOND)
        return bool(capture.attesting.sitemaps)

    def check(self, capture: SiteCapture) -> bool:
        """All visits are made. Is there more to do before the capture can be judged?"""
        attesting = capture.attesting
        if attesting is None or not attesting.downloads:
            return False
        if capture.reference is None and self.begin_reference(capture):
            return True
        if capture.reference is None:  # nothing was ever read: no word, no claim
            return False
        if capture.phase is not Phase.CHECK:
            capture.phase = Phase.CHECK
            self._ledger.changed_capture(capture)
        if self._audit(capture, attesting) or self._embedded(capture, attesting):
            return True
        if attesting.finally_read:
            return False
        attesting.finally_read = True
        return self.read_again(capture)

    def _audit(self, capture: SiteCapture, attesting: Attesting) -> bool:
        """Owe the audit's downloads, without conditions: bytes are wanted, not the server's word."""
        assert capture.reference is not None, "audited after T"
        pages = self._ledger.pages
        if attesting.audited:
            return False
        left = [page for page in attesting.sample(capture.reference) if len(attesting.downloads[page]) == 1]
        for page in left:
            pages.forget_validators(page)
            self._ledger.owe(capture, page, Slot.SECOND)
        return bool(left)

    def _embedded(self, capture: SiteCapture, attesting: Attesting) -> bool:
        """Owe, once, the second download of what was embedded before T, and not revisited with its page."""
        assert capture.reference is not None, "checked after T"
        if attesting.embedded_again:
            return False
        attesting.embedded_again = True
        pages = self._ledger.pages
        left = [
            page
            for page in pages.of(capture.number, State.VISITED)
            if pages.kinds[page] is Kind.RESOURCE and pages.started[page] < capture.reference
        ]
        for page in left:
            self._ledger.owe(capture, page, Slot.SECOND)
        return bool(left)


if TYPE_CHECKING:
    Column = NDArray[np.float64]


class Redownloader:
    """Downloads pages again at T, once."""

    def __init__(self, ledger: Ledger, checker: Checker) -> None:
        self._ledger = ledger
        self._checker = checker

    def redownload(self, capture: SiteCapture) -> bool:
        """The sitemaps have been read at T, or what followed is done; True: more is owed before the next visit."""
        attesting = capture.attesting
        assert attesting is not None, "asked where the server's word counts"
        if capture.reference is None:
            return False
        if attesting.again is None:
            self._reorder(capture)
            attesting.again = self._worth(
                capture, attesting.lost(self._ledger.pages.urls.__getitem__, capture.reference)
            )
            for page in attesting.again:
                self._ledger.pages.forget_validators(page)
                self._ledger.owe(capture, page, Slot.SECOND)
            return bool(attesting.again)
        undated, attesting.again = attesting.undated(attesting.again), []
        return len(undated) > len(attesting.sitemaps) and self._checker.read_again(capture)

    def _worth(self, capture: SiteCapture, lost: list[PageId]) -> list[PageId]:
        """Of these pages those that likely stay as they were at T until their turn, in the order of their downloads.

        Each download puts those after T off by Δ, which must not cost more than it is expected to bring.
        """
        assert capture.strategy is not None, "T is fixed when visits are made"
        pages, step = self._ledger.pages, capture.strategy.setting.step
        rates, weights, shapes = self._columns(lost)
        order = revisit_order(rates, weights, shapes, np.zeros(len(lost)), step)
        left = [page for page in pages.of(capture.number, State.QUEUED) if pages.kinds[page] is Kind.PAGE]
        later, theirs, forms = self._columns(left)
        cost = -(theirs * np.expm1(log_survival(later, np.full(len(left), step), forms))).sum()
        gain = weights[order] * np.exp(
            log_survival(rates[order], step * np.arange(len(lost), dtype=np.float64), shapes[order])
        )
        return [lost[place] for place in order[gain > cost].tolist()]

    def _reorder(self, capture: SiteCapture) -> None:
        """Where revisits are ahead: those of pages that are shown already need not come soon."""
        strategy, attesting, reference = capture.strategy, capture.attesting, capture.reference
        assert strategy is not None, "T is fixed when visits are made"
        assert attesting is not None, "the server's word counts"
        assert reference is not None, "T is fixed"
        ahead = strategy.revisits_ahead()
        if not ahead:
            return
        urls, started = self._ledger.pages.urls, self._ledger.pages.started
        said = np.array([attesting.since_visit(page, urls[page], reference) for page in ahead])
        rates, weights, shapes = self._columns(ahead)
        elapsed = np.array([max(0.0, reference - started[page]) for page in ahead])
        elapsed[said == Change.CHANGED] = 0.0  # no change between T and the revisit is enough
        order = revisit_order(rates, weights * (said != Change.UNCHANGED), shapes, elapsed, strategy.setting.step)
        strategy.reorder([ahead[place] for place in order.tolist()])

    def _columns(self, numbers: Sequence[PageId]) -> tuple[Column, Column, Column]:
        """Rates, weights and shapes of pages."""
        pages = self._ledger.pages
        rates, weights, shapes = (
            np.array([column[page] for page in numbers], np.float64)
            for column in (pages.rates, pages.weights, pages.shapes)
        )
        return rates, weights, shapes


class Attesting(Attestations):
    """A capture's attestations, and how far it has got with asking for them."""

    def __init__(self, history: SiteHistory, share: float) -> None:
        super().__init__(history, share)
        self.again: list[PageId] | None = None  #: asked for again at T, and not all answered yet; None: T is to come
        self.embedded_again = False  #: those downloaded before T have been asked for again
        self.sought = False  #: the sitemaps were to be read at T
        self.finally_read = False  #: the sitemaps, after all else
