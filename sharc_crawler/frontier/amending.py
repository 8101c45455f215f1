"""At T, where the server's word counts: what the sitemaps say has changed since its visit is downloaded once more.

Such a page is lost by its visit, and shown as it is at T by a download before its next change. Where every page is
visited on both sides of T anyway, these come first, and last those that are shown already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.evidence.survival import log_survival
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.model import Change, Kind, Slot
from sharc_crawler.strategies.revisiting import revisit_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.checking import Checker
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.model import PageId

    Column = NDArray[np.float64]


class Amender:
    """Amends a capture at T, once."""

    def __init__(self, ledger: Ledger, checker: Checker) -> None:
        self._ledger = ledger
        self._checker = checker

    def amend(self, capture: SiteCapture) -> bool:
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
