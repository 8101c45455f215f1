"""A restored capture goes on: what it owed is owed again, and its strategy is rebuilt from the visits made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier import subsites
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.model import Kind, Phase, Slot, Visit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.frontier.attesting import Attesting
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.opening import Opener
    from sharc_crawler.frontier.replanning import Replanner
    from sharc_crawler.model import Instant, PageId


class Resumer:
    """Makes restored captures ready to be asked."""

    def __init__(self, ledger: Ledger, opener: Opener, replanner: Replanner) -> None:
        self._ledger = ledger
        self._opener = opener
        self._replanner = replanner

    def go_on(self, capture: SiteCapture, firsts: Sequence[Visit], members: dict[PageId, int], now: Instant) -> None:
        """Owe again what was owed, and rebuild the strategy if there was one.

        ``firsts``: its first visits, as they ended; ``members``: the part of each of its pages.
        """
        pages = self._ledger.pages
        mine = [page for page in pages.of(capture.number) if pages.states[page] != State.LATE]
        for page in mine:
            self._owe_again(capture, page)
        self._opener.open_hosts_again(capture)
        capture.waiting = [page for page in mine if pages.kinds[page] is Kind.PAGE]
        if capture.subsites is not None:
            firsts = subsites.restored(self._ledger, capture, members, firsts)
        if firsts:
            self._rebuild_strategy(capture, firsts, now)
        self._ledger.wake(capture)

    def _owe_again(self, capture: SiteCapture, page: PageId) -> None:
        """Resources, sitemaps and robots.txt whose download was still to come."""
        ledger = self._ledger
        kind, state = ledger.pages.kinds[page], ledger.pages.states[page]
        if kind in (Kind.PAGE, Kind.HUB):
            return
        if state == State.QUEUED:
            if kind is Kind.SITEMAP:
                capture.opening += 1
            ledger.owe(capture, page, Slot.FIRST if kind is Kind.RESOURCE else Slot.ONLY)
        elif kind is Kind.RESOURCE and state == State.VISITED:
            owner = ledger.owner(page)
            if owner != page and ledger.pages.states[owner] == State.JUDGED and capture.phase is Phase.REVISIT:
                ledger.owe(capture, page, Slot.SECOND)

    def _rebuild_strategy(self, capture: SiteCapture, firsts: Sequence[Visit], now: Instant) -> None:
        strategy = self._opener.begin(capture, now)
        states = self._ledger.pages.states
        for visit in firsts:
            strategy.finished(visit, captured=states[visit.page] in (State.VISITED, State.JUDGED))
        attesting = capture.attesting
        if attesting is None and capture.phase is Phase.REVISIT and capture.subsites is None:
            self._replanner.restored(capture, strategy, any(states[visit.page] == State.JUDGED for visit in firsts))
        open_ = attesting.doubts.keys() if attesting else ()
        if strategy.revisits:
            for visit in firsts:
                if states[visit.page] == State.JUDGED or visit.page in open_:
                    strategy.finished(Visit(visit.page, Slot.SECOND, visit.plan), captured=True)
                    capture.revisits += visit.page in open_
        if attesting is not None and capture.reference is not None:
            strategy.reference_passed()
            self._read_again(capture, attesting)

    def _read_again(self, capture: SiteCapture, attesting: Attesting) -> None:
        """The sitemaps' reading at T was cut off: read what is missing."""
        assert capture.reference is not None, "there is a T"
        for page, read in attesting.sitemaps.items():
            if read < capture.reference:
                capture.opening += 1
                self._ledger.owe(capture, page, Slot.SECOND)
