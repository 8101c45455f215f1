"""Between visits and revisits: what has been learned since the visits were planned, and the revisits' order with it.

The sitemaps are read once more: a page that they say has changed since its visit is lost, whenever it is revisited, and
one that they say has not is as good as new. ``Last-Modified``, as seen at the visits, tells of rates where no sitemap
did. All of it is taken for planning only: what is claimed rests on the revisits.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.changes.http_date import http_date
from sharc_crawler.model import Hints, Sighting, Slot
from sharc_crawler.strategies.revisiting import revisit_order

if TYPE_CHECKING:
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.finishing import Finisher
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.model import Instant, PageId
    from sharc_crawler.strategies.base import Strategy

WORTH = 50  #: revisits per sitemap that is read again: each one puts all of them off by a step
LISTED = {"sitemap", "lastmod"}  #: sources that took the header for a sitemap's word
MODIFIED = "last-modified"
SLACK = 2.0  #: seconds that the server's clock may differ from ours, for a plan


class Replanner:
    """Re-plans the revisits of captures whose strategy lets it."""

    def __init__(self, ledger: Ledger, finisher: Finisher) -> None:
        self._ledger = ledger
        self._finisher = finisher

    def under_way(self, capture: SiteCapture, strategy: Strategy, now: Instant) -> bool:
        """At the turn from visits to revisits: are sitemaps being read again? When they are, the order is made anew."""
        if capture.attesting is not None or (capture.reference is not None and capture.news is None):
            return False
        ahead = strategy.revisits_ahead()
        if not ahead:
            capture.news = None
            return False
        if capture.news is None:
            self._finisher.turn(capture, now)
            capture.news = {}
            if self._read_again(capture, len(ahead)):
                return True
        if self._reprice(capture, ahead) or capture.news:
            self._replan(capture, strategy, ahead)
        capture.news = None
        return False

    def restored(self, capture: SiteCapture, strategy: Strategy, revisited: bool) -> None:
        """After a restart behind T, before the strategy hears of the revisits made: their order as it was.

        Where the sitemaps' reading at T was cut off, what is missing is read, and the order is made then.
        """
        ahead = strategy.revisits_ahead()
        if ahead and not revisited and self._read_again(capture, len(ahead)):
            capture.news = capture.news or {}
            return
        if ahead and capture.replanned:
            capture.news = capture.news or {}
            self._replan(capture, strategy, ahead)
        capture.news = None

    def _read_again(self, capture: SiteCapture, ahead: int) -> bool:
        """Owe all sitemaps that have not been read since T; is there one, and is it worth it?"""
        assert capture.reference is not None, "fixed at the turn"
        missing = [page for page, read in capture.sitemaps.items() if read < capture.reference]
        if WORTH * len(capture.sitemaps) > ahead:
            return False
        for page in missing:
            capture.opening += 1
            self._ledger.owe(capture, page, Slot.SECOND)
        return bool(missing)

    def _replan(self, capture: SiteCapture, strategy: Strategy, ahead: list[PageId]) -> None:
        pages = self._ledger.pages
        assert capture.reference is not None, "fixed at the turn"
        assert capture.news is not None, "asked for at the turn"
        capture.replanned = True
        visited = np.array([pages.started[page] for page in ahead])
        said = np.array([capture.news.get(page, (math.nan, math.nan)) for page in ahead])
        changed, still = said[:, 0] > visited + SLACK, said[:, 1] < visited - SLACK
        if changed.sum() > len(ahead) / 2:  # a sitemap that always says "now"
            changed, still = np.zeros_like(changed), np.zeros_like(still)
        order = revisit_order(
            np.array([pages.rates[page] for page in ahead]),
            np.array([pages.weights[page] for page in ahead]) * ~changed,
            np.array([pages.shapes[page] for page in ahead]),
            np.where(still, 0.0, np.maximum(capture.reference - visited, 0.0)),
            float(np.median(np.diff(np.sort(visited)))) if len(ahead) > 1 else strategy.setting.step,
        )
        strategy.reorder([ahead[place] for place in order.tolist()])

    def _reprice(self, capture: SiteCapture, ahead: list[PageId]) -> bool:
        """Rates with Last-Modified as seen at the visits, of pages that no sitemap told of; False: there is none."""
        pages, now = self._ledger.pages, capture.reference
        assert now is not None, "fixed at the turn"
        assert capture.news is not None, "asked for at the turn"
        told = {
            page: Sighting(pages.urls[page], hints=Hints(modified, 1.0))
            for page in ahead
            if page not in capture.news
            and (modified := http_date(pages.last_modified(page))) is not None
            and modified < pages.started[page] - SLACK  # else it only repeats the time of the answer
        }
        if told:
            for page, estimate in zip(told, capture.rates.rates(list(told.values()), now), strict=True):
                named = replace(estimate, source=MODIFIED) if estimate.source in LISTED else estimate
                self._ledger.rated(page, named)
        return bool(told)
