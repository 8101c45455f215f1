"""Where the server's word counts: the sitemaps are read again at T and at the end, and a share of pages is audited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.model import Kind, Phase, Slot

if TYPE_CHECKING:
    from sharc_crawler.frontier.attesting import Attesting
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger


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
        rates = {page: pages.rates[page] for page in attesting.once}
        left = [
            page
            for page in attesting.sample(rates, capture.reference, seed=round(capture.started))
            if len(attesting.downloads[page]) == 1
        ]
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
