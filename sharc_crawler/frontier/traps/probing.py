"""Requests for what nobody names: error pages of status 200, and pages once more, to see which of their links stay.

Such a download is captured or lost, and never judged.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.addresses.unlikely import (
    is_nobodys,
    is_unlikely,
    look_at,
    look_closely_at,
    looked_at,
    made_up_name,
    sayings_in,
    without_sayings,
)
from sharc_crawler.addresses.urls import canonical
from sharc_crawler.frontier.lifecycle import Event, State
from sharc_crawler.frontier.traps.addresses import first_folder, shape
from sharc_crawler.frontier.traps.common import as_trap, content_of, without_address
from sharc_crawler.frontier.traps.doubted import HELD, LAST, MAX_HELD, SHOWN, Doubted, holds, renamed_away, shown, worth
from sharc_crawler.frontier.traps.fleeting import FleetingLinks, named_alone
from sharc_crawler.frontier.traps.renamed import renaming
from sharc_crawler.frontier.traps.suspicion import Suspicion
from sharc_crawler.links.dated import dated
from sharc_crawler.model import HowMade, Kind, Result, Sighting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sharc_crawler.addresses.known_urls import SeenUrls
    from sharc_crawler.frontier.admission import Admitter
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.pages import PageTable
    from sharc_crawler.frontier.traps.rules import Traps
    from sharc_crawler.frontier.visits.finishing import Ended
    from sharc_crawler.model import Fetch, Instant, Outcome, PageId, Visit

NEAR = 5  #: characters of a name, or of a number
SUGGESTED = "suggested by "  #: before an address that nobody names: what is kept of it
AGAIN = "asked again "  #: before an address: what it named, and said
WATCHED = "pages are watched that each answer may name by other words"  #: and series
LEADING = "led on by "  #: before what was asked for and named new pages
FOUND = "probe"  #: how it was found: it was made up here
_LOOKED = HowMade(
    "pages that lead to what looks like a trap were asked for once more, each at its address with ?no-such-page-…"
    " behind it, to see which of their links stay"
)
_NOBODYS = HowMade(
    "addresses that nobody names were asked for, made like those of pages that look alike (with no-such-page-…, or a"
    " number 94…), to see whether these are made up for whoever asks"
)
ABSENT = {Result.GONE, Result.REDIRECTED}
_SHOWS = "it shows this folder's error page, of status 200"


def note(probe: str, outcome: Outcome) -> HowMade:
    """What a reader must know of what was asked for."""
    cannot = f"a page that cannot exist ({probe})"
    if outcome.result is Result.GONE:
        return HowMade(f"the site answers {outcome.status} to {cannot}, so pages that look alike count as pages")
    shown = outcome.result is Result.OK
    what = _SHOWS if shown else f"the answer ({outcome.error or outcome.result}) does not show an error page"
    return HowMade(f"{cannot} was asked for, since pages beside it look alike: {what}")


def shown_by(notes: Iterable[str]) -> bool:
    """Do the notes of a capture tell of an error page?"""
    return any(one.endswith(_SHOWS) for one in notes)


def is_look(url: str) -> bool:
    """Is it asked for to see which links of a page stay?"""
    return is_unlikely(url) and bool(looked_at(url))


def shows_errors(url: str) -> bool:
    """Is it asked for to see a folder's error page?"""
    return not is_look(url) and not is_nobodys(url)


def feeds(
    page: PageId,
    linked: Sequence[PageId],
    pages: PageTable,
    seen: SeenUrls | None = None,
    links: Sequence[Sighting] = (),
) -> bool:
    """Does a page name mostly new pages of its shape? ``linked``: those of the capture that it names.

    What of its ``links`` was left, and so was not ``seen``, is new, too.
    """
    known, new = ([pages.urls[one] for one in linked if (pages.parents[one] == page) is own] for own in (False, True))
    named = [link.key or link.url for link in links if link.kind is Kind.PAGE]
    left = [one for one in named if seen is not None and one not in seen]
    return names_new(pages.urls[page], known, [*new, *left])


def names_new(url: str, known: Iterable[str], new: Iterable[str]) -> bool:
    """Is most of what a page names of its own shape new?

    >>> names_new("http://h/a", ["http://h/b", "http://h/x/1"], ["http://h/c", "http://h/d"])
    True
    """
    host, own = url.split("/")[2], shape(url)
    counts = [sum(one.split("/")[2:3] == [host] and shape(one) == own for one in some) for some in (known, new)]
    return counts[1] > counts[0]


class Prober:
    """Sends such requests, and hands their answers to the rules."""

    def __init__(self, ledger: Ledger, admitter: Admitter) -> None:
        self._ledger = ledger
        self._admitter = admitter

    def visited(self, ended: Ended, linked: Sequence[PageId]) -> None:
        """A page was captured that names these; its words were read, unless it has next to none."""
        capture, page, pages = ended.capture, ended.fetch.page, self._ledger.pages
        traps, about = capture.traps, ended.outcome.document
        assert traps is not None, "they are what asks"
        if traps.bottomless and (traps.renamed or (about and about.words)) and not dated(pages.urls[page]):
            if traps.renamed is None:
                self._ledger.keep(WATCHED, "")
            one = renaming(traps, pages)
            traps.wanted += one.saw(page, linked)
            if content := content_of(ended.outcome):
                one.showed(page, traps.counted(content, pages.urls[page], page))
        if traps.wanted:
            self.ask(capture, ended.now)

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
        looks = _looks(traps)
        if looks.stay:
            doubted.follow(traps.echoes.echoes, pages)
        for _ in range(MAX_HELD):
            visit, doubts = doubted.take()
            if traps.renamed and (wanted := traps.renamed.asks(visit.page)):
                traps.wanted += wanted
                doubted.put(visit, pages, doubts)
                return None if self.ask(capture, now) else self.surest(capture, now)
            if doubts <= HELD and renamed_away(traps, visit.page, pages):
                doubted.put(visit, pages, HELD + 1)  # what else waits may name it, too
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

    def _looks_again(self, capture: SiteCapture, visit: Visit, doubts: int, now: Instant) -> bool:
        """Is a page asked for again before this one is visited? ``False``: enough is known."""
        traps, doubted, pages = capture.traps, capture.doubted, self._ledger.pages
        assert traps is not None, "they put it off"
        assert doubted is not None, "it was taken from there"
        looks = _looks(traps)
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
            content, page = without_sayings(content_of(outcome)), _looked_at(fetch.url, capture.seen)
            same = content is not None and _looks(capture.traps).shows(
                page, capture.traps.counted(content, looked_at(fetch.url))
            )
            told = [sorted(one for one in keys if one), says(outcome), same]
            _look_again(capture.traps, fetch.url, told, page, self._ledger.pages)
            self._ledger.keep(f"{AGAIN}{fetch.url}", json.dumps(told))
        found = capture.seen.find([key for key in keys if key is not None]) if is_look(fetch.url) else []
        named = [page for page in found if page != UNSEEN]
        if is_nobodys(fetch.url) and capture.traps is not None:
            new = sorted(one for one in keys if one and one not in capture.seen)
            _looks(capture.traps).suggested[fetch.url] = new
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
            if capture.traps.renamed and (wanted := capture.traps.renamed.early()):
                capture.traps.wanted += wanted
                self.ask(capture, outcome.ended)
        if not is_look(fetch.url):
            capture.note(_NOBODYS if is_nobodys(fetch.url) else note(fetch.url, outcome))
        self._ledger.changed_capture()

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


def take(traps: Traps, url: str, outcome: Outcome, named: Sequence[PageId], seen: SeenUrls, pages: PageTable) -> None:
    """What an answer shows."""
    shown = without_sayings(content_of(outcome)) if outcome.result is Result.OK else None
    if traps.own and not is_look(url):
        traps.own.answered(url, shown)
    content = shown and traps.counted(shown, looked_at(url) or url)
    if is_look(url):
        page = _looked_at(url, seen)
        redirects = page != UNSEEN and pages.states[page] == State.LOST  # and names nothing
        if outcome.result in ABSENT and "#" not in url and not redirects:
            traps.wanted.append(look_closely_at(url))
        else:
            _take_look(traps, url, content, named, page, pages, there=outcome.result is Result.OK)
    elif is_nobodys(url):
        absent = outcome.result in ABSENT
        if outcome.result is Result.OK and traps.fleeting:
            leads = _suggests(url, content, traps.fleeting)
            if (
                leads
                and content
                and not (traps.own and traps.own.tells_nothing(url))
                and _is_of_copies(content, traps, pages)
            ):
                traps.errors.shown.setdefault(content, url)
        if traps.suspicion:
            traps.suspicion.answered(url, content, absent=absent)
    else:
        traps.errors.answered(url, without_address(shown) or None)
        if traps.fleeting and shown is not None:
            traps.fleeting.shown(traps.counted(shown, url))
        _learn(traps, pages)
    if traps.suspicion:
        traps.suspicion.weigh(_looks(traps))


def _learn(traps: Traps, pages: PageTable) -> None:
    """Pages that show what an error page shows count without their addresses; the pages they named are suspected."""
    if traps.own and traps.errors.shown:
        traps.own.made_up |= traps.errors.shown.keys()
        traps.suspicion = traps.suspicion or Suspicion(traps, pages)


def _take_look(
    traps: Traps,
    url: str,
    content: str | None,
    named: Sequence[PageId],
    page: PageId,
    pages: PageTable,
    *,
    there: bool,
) -> None:
    """What a page shows and names that was asked for once more."""
    looks = _looks(traps)
    if there:
        again = traps.renamed.again & named_alone(page, pages) if traps.renamed else ()
        looks.named(page, [*named, *again], pages)
        if traps.own:
            traps.own.looked(page, gone=page in looks.gone)
        looks.suggested_again(looked_at(url), url)
    if not (traps.renamed and traps.renamed.has_asked(url)) or looks.was_asked(page):
        looks.answered(page, content, named, pages)


def _look_again(traps: Traps, url: str, told: Sequence[Any], page: PageId, pages: PageTable) -> None:
    named, said, same = told
    renaming(traps, pages).looked(page, url, named, None if said is None else frozenset(said), same=same)


def says(outcome: Outcome) -> list[int] | None:
    """The words that were shown to whoever asked for a page once more, as numbers."""
    if outcome.result is not Result.OK:
        return None
    return sayings_in(outcome.document and outcome.document.words)


def _looked_at(url: str, seen: SeenUrls) -> PageId:
    asked = looked_at(url)
    return seen.get(asked if asked in seen else canonical(asked) or "")


def _is_of_copies(content: str, traps: Traps, pages: PageTable) -> bool:
    """Do copies of each other show it, none of them a seed?"""
    first = traps.firsts.get(content)
    return first != UNSEEN and first in traps.echoes.copies and pages.depths[first] > 0


def _suggests(url: str, content: str | None, looks: FleetingLinks) -> bool:
    """Does what nobody names name new pages of its like, which no other such does?

    What has its name, or a number beside its own, is none: a form to write that page, the next of a list. But where all
    lies within it, addresses may grow.
    """
    new = looks.suggested.get(url, [])
    found = like(url, new)
    others = {one for other, named in looks.suggested.items() if looked_at(other) != url != other for one in named}
    leads = bool(found) and others.isdisjoint(found)
    if leads:
        looks.leading[url] = content
    if new and all(one.startswith(f"{url.rstrip('/')}/") for one in new):
        looks.growing.add(url)
    return leads


def like(url: str, new: Iterable[str]) -> list[str]:
    """Those among them that are of the shape, or in the first folder, of what nobody names, and have no name of its."""
    own, name, site, folder = shape(url), made_up_name(url)[:NEAR], url.split("/")[2], first_folder(url)
    alike = [one for one in new if shape(one) == own or site != folder == first_folder(one)]
    return [one for one in alike if name not in one and one.split("/")[2] == site]


def recall(traps: Traps, kept: Mapping[str, str], seen: SeenUrls, pages: PageTable) -> None:
    """What was suggested to a former process."""
    if WATCHED in kept:
        renaming(traps, pages)
    for name, text in kept.items():
        if name.startswith(SUGGESTED):
            _looks(traps).suggested[name.removeprefix(SUGGESTED)] = json.loads(text)
        elif name.startswith(LEADING):
            traps.errors.leading.add(name.removeprefix(LEADING))
        elif name.startswith(AGAIN):
            url = name.removeprefix(AGAIN)
            renaming(traps, pages).asked_before(page := _looked_at(url, seen), url)
            _look_again(traps, url, json.loads(text), page, pages)


def _looks(traps: Traps) -> FleetingLinks:
    traps.fleeting = traps.fleeting or FleetingLinks(traps.echoes, traps.errors)
    return traps.fleeting
