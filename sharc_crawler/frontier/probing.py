"""Requests for what nobody names: error pages of status 200, and pages once more, to see which of their links stay.

Such a download is captured or lost, and never judged.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.addresses.unlikely import is_nobodys, look_at, looked_at, without_sayings
from sharc_crawler.links.dated import dated
from sharc_crawler.model import HowMade, Kind, Result, Sighting
from sharc_crawler.state.lifecycle import Event
from sharc_crawler.traps.common import FOUND, as_trap, content_of, without_address
from sharc_crawler.traps.doubted import HELD, LAST, MAX_HELD, SHOWN, Doubted, holds, renamed_away, shown, worth
from sharc_crawler.traps.probing import (
    AGAIN,
    LEADING,
    SUGGESTED,
    WATCHED,
    feeds,
    is_look,
    look_again,
    looks_of,
    note,
    page_looked_at,
    says,
    take,
)
from sharc_crawler.traps.renamed import Renamed, renaming

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.frontier.admission import Admitter
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.finishing import Ended
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.model import Fetch, Instant, Outcome, PageId, Visit
    from sharc_crawler.state.pages import PageTable
    from sharc_crawler.traps.rules import Traps

_LOOKED = HowMade(
    "pages that lead to what looks like a trap were asked for once more, each at its address with ?no-such-page-…"
    " behind it, to see which of their links stay"
)
_NOBODYS = HowMade(
    "addresses that nobody names were asked for, made like those of pages that look alike (with no-such-page-…, or a"
    " number 94…), to see whether these are made up for whoever asks"
)


class Prober:
    """Sends such requests, and hands their answers to the rules."""

    def __init__(self, ledger: Ledger, admitter: Admitter) -> None:
        self._ledger = ledger
        self._admitter = admitter

    def visited(self, ended: Ended, linked: Sequence[PageId]) -> None:
        """A page was captured that names these; its words were read, unless it has next to none."""
        capture, page, url = ended.capture, ended.fetch.page, ended.fetch.url
        traps, about = capture.traps, ended.outcome.document
        assert traps is not None, "they are what asks"
        if traps.bottomless and (traps.renamed or (about and about.words)) and not dated(url):
            one = traps.renamed or self._renaming(traps)
            traps.wanted += one.saw(page, linked)
            if content := content_of(ended.outcome):
                one.showed(page, traps.counted(content, url, page))
        if traps.wanted:
            self.ask(capture, ended.now)

    def _renaming(self, traps: Traps) -> Renamed:
        """The rule that compares what pages show; a restarted crawl makes it again."""
        if traps.renamed is None:
            self._ledger.keep(WATCHED, "")
        return renaming(traps, self._ledger.pages)

    def ask(self, capture: SiteCapture, now: Instant) -> bool:
        """Asks for what the rules want. Is anything among it that was not asked for before?"""
        assert capture.traps is not None, "they are what asks"
        wanted, capture.traps.wanted = capture.traps.wanted, []
        if any(map(is_look, wanted)):
            capture.note(_LOOKED)
        probes = [Sighting(one, Kind.PROBE, FOUND, key=one if "#" in one else None) for one in wanted]
        asked = self._admitter.admit(capture, probes, now)
        return bool(asked.new)

    def put_off(self, capture: SiteCapture, visit: Visit, doubts: int = LAST) -> None:
        """A visit waits until nothing else is left."""
        capture.doubted = capture.doubted or Doubted()
        capture.doubted.put(visit, self._ledger.pages, doubts)
        if capture.traps and capture.traps.renamed:
            capture.traps.wanted += capture.traps.renamed.early(visit.page)

    def feeds(self, ended: Ended, linked: Sequence[PageId], links: Sequence[Sighting]) -> bool:
        """Does a copy of another page name new pages of its like?"""
        return feeds(ended.fetch.page, linked, self._ledger.pages, ended.capture.seen, links)

    def surest(self, capture: SiteCapture, now: Instant) -> Visit | None:
        """The first of those that wait, with nothing else left; ``None``: the page that named it is asked again."""
        traps, doubted, pages = capture.traps, capture.doubted, self._ledger.pages
        assert traps is not None, "they put it off"
        assert doubted is not None, "there is one"
        if traps.wanted and capture.spec.discover and self.ask(capture, now):
            return None  # of a former process
        looks = looks_of(traps)
        if looks.stay:
            doubted.follow(traps.echoes.echoes, pages)
        for _ in range(MAX_HELD):
            visit, doubts = doubted.take()
            if wanted := self._asks(capture, traps, visit.page):
                traps.wanted += wanted
                doubted.put(visit, pages, doubts)
                return None if self.ask(capture, now) else self.surest(capture, now)
            if other := _other_turn(traps, visit.page, pages, doubts):
                doubted.put(visit, pages, other)
                continue
            if doubts == HELD and holds(traps, visit.page, pages):
                return doubted.sample(traps, visit, pages)
            late = doubts == LAST and worth(traps) and shown(traps, visit, pages) == SHOWN
            if not late:
                asks = doubts == LAST + 1 or not holds(traps, visit.page, pages)
                if asks and self._looks_again(capture, visit, doubts, now):
                    return None
                if not holds(traps, visit.page, pages):
                    return visit
            doubted.put(visit, pages, HELD)
        return doubted.take()[0]

    def _asks(self, capture: SiteCapture, traps: Traps, page: PageId) -> Sequence[str]:
        """What is to be asked for before a page is visited."""
        wanted: Sequence[str] = ()
        if capture.spec.discover and not capture.turned:
            compared = partial(self._renaming, traps)
            wanted = traps.recombined.asks(compared) if traps.recombined else ()
            wanted = wanted or (traps.calendars.asks(page, compared) if traps.calendars else ())
        return wanted or (traps.renamed.asks(page) if traps.renamed else ())

    def _looks_again(self, capture: SiteCapture, visit: Visit, doubts: int, now: Instant) -> bool:
        """Is a page asked for again before this one is visited? ``False``: enough is known."""
        traps, doubted, pages = capture.traps, capture.doubted, self._ledger.pages
        assert traps is not None, "they put it off"
        assert doubted is not None, "it was taken from there"
        looks = looks_of(traps)
        if traps.bottomless and (one := traps.bottomless.unknown(visit.page, pages.urls[visit.page])) != UNSEEN:
            looks.asked(one)
            if self._look(capture, pages.urls[one], now):
                doubted.put(visit, pages, doubts)
                return True
        if doubts <= LAST and (traps.suspicion is None or traps.left(visit.page, pages)):
            return False  # a calendar's
        if looks.wants(visit.page, pages):
            looks.asked(parent := pages.parents[visit.page])
            if self._look(capture, pages.urls[parent], now):
                doubted.put(visit, pages, doubts)
                return True
        if traps.suspicion and doubts >= LAST and (traps.suspicion.made or not looks.told(visit.page, pages)):
            traps.suspicion.nothing_else()
        return False

    def _look(self, capture: SiteCapture, url: str, now: Instant) -> bool:
        """Is it asked for?"""
        if capture.turned or not capture.spec.discover:
            return False
        capture.note(_LOOKED)
        return bool(self._admitter.admit(capture, [Sighting(look_at(url), Kind.PROBE, FOUND)], now).new)

    def named(self, capture: SiteCapture, fetch: Fetch, outcome: Outcome, links: Sequence[Sighting]) -> list[PageId]:
        """Pages of the capture that one names that was asked again. What nobody names suggests others."""
        keys = {one.key or one.canonical or self._admitter.canonical(one.url) for one in links if one.kind is Kind.PAGE}
        if is_look(fetch.url) and capture.traps is not None and (capture.traps.renamed or says(outcome)):
            content, page = without_sayings(content_of(outcome)), page_looked_at(fetch.url, capture.seen)
            same = content is not None and looks_of(capture.traps).shows(
                page, capture.traps.counted(content, looked_at(fetch.url))
            )
            told = [sorted(one for one in keys if one), says(outcome), same]
            look_again(capture.traps, fetch.url, told, page, self._ledger.pages)
            self._ledger.keep(f"{AGAIN}{fetch.url}", json.dumps(told))
        found = capture.seen.find([key for key in keys if key is not None]) if is_look(fetch.url) else []
        named = [page for page in found if page != UNSEEN]
        if is_nobodys(fetch.url) and capture.traps is not None:
            new = sorted(one for one in keys if one and one not in capture.seen)
            looks_of(capture.traps).suggested[fetch.url] = new
            self._ledger.keep(f"{SUGGESTED}{fetch.url}", json.dumps(new))
        elif capture.traps is not None and any(one and one not in capture.seen for one in keys):
            capture.traps.errors.leading.add(fetch.url)
            self._ledger.keep(f"{LEADING}{fetch.url}", "")
        if not named:
            return []
        self._ledger.linked(fetch.page, outcome.started, named)
        return named

    def answered(self, capture: SiteCapture, fetch: Fetch, outcome: Outcome, named: Sequence[PageId]) -> None:
        """What was asked for was answered."""
        self._ledger.pages.move(fetch.page, Event.CAPTURED if outcome.result is Result.OK else Event.NO_CONTENT)
        elsewise = any(fetch.url == one.asked for one in capture.refusals.values())  # to see whether a host throttles
        if capture.traps is not None and not elsewise:
            take(capture.traps, fetch.url, outcome, named, capture.seen, self._ledger.pages)
            if capture.traps.bottomless:
                capture.traps.bottomless.answered()
            if capture.traps.renamed and (wanted := capture.traps.renamed.early()):
                capture.traps.wanted += wanted
                self.ask(capture, outcome.ended)
        if not is_look(fetch.url):
            capture.note(_NOBODYS if is_nobodys(fetch.url) else note(fetch.url, outcome))

    def taken(self, traps: Traps, ended: Ended, links: Sequence[Sighting]) -> Sequence[Sighting]:
        """The links of an answer that are taken: of an error page only those to known pages."""
        why = as_trap(traps.errors.why_not(without_address(content_of(ended.outcome)))) if traps.own else None
        left = traps.bottomless if traps.bottomless and traps.bottomless.closed else None
        if why is None and left is None:
            return links
        found = ended.capture.seen.find([link.key or link.url for link in links])
        if left:
            named = [page for link, page in zip(links, found, strict=True) if link.kind is Kind.PAGE]
            known = [page for page in named if page != UNSEEN]
            left.foresee(ended.fetch.page, len(named) - len(known), known, self._ledger.pages)
        if why is None:
            return links
        fresh = traps.suspicion.fresh if traps.suspicion and traps.suspicion.has_places else (lambda _: False)
        takes = [page != UNSEEN or fresh(link.key or link.url) for link, page in zip(links, found, strict=True)]
        for link, taken in zip(links, takes, strict=True):
            if not taken:
                self._ledger.left_out(link.url, why, link.via)
        return [link for link, taken in zip(links, takes, strict=True) if taken]


def _other_turn(traps: Traps, page: PageId, pages: PageTable, doubts: int) -> int:
    """How long a page waits by now, if that is another time; else 0."""
    if doubts <= HELD and renamed_away(traps, page, pages):
        return HELD + 1  # what else waits may name it, too
    deep = doubts == LAST + 1 and traps.recombined is not None and traps.recombined.waits(page) == LAST
    return LAST if deep else 0
