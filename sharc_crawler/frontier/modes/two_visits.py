"""Visits, then revisits, with the reference instant T between them; or single visits if the strategy makes these.

Code that only some sites need is loaded on demand: hints on changes (:mod:`~sharc_crawler.frontier.modes.hints`) and
304s (:mod:`~sharc_crawler.evidence.conditionals`).
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Container, Mapping, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING
from urllib.parse import unquote

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.evidence.judgement import is_apex
from sharc_crawler.frontier.modes import WORTH, Mode, Untested
from sharc_crawler.model import Kind, Phase, Result, Sighting, Slot, columns_of
from sharc_crawler.rates.base import MODIFIED
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.pages import NO_PARENT

if TYPE_CHECKING:
    from sharc_crawler.evidence.conditionals import Conditionals
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.hosts import Task
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.modes.hints import SiteHints
    from sharc_crawler.model import Fetch, Hints, Instant, Judgement, Outcome, PageId, Rate, Visit
    from sharc_crawler.state.pages import PageTable
    from sharc_crawler.state.rows import LastmodRow, PageRow
    from sharc_crawler.strategies.door import Door


#: names that wikis, forums, trackers and documentation give to lists of recent changes: last segments of URLs
LISTS_CHANGES = re.compile(
    r"(recent|latest|last)[-_ ]?(changes|changed|updates|updated|edits|posts|news|articles)"
    r"|what'?s[-_ ]?new|all[-_ ]?changes|web[-_ ]?changes|change[-_ ]?log|do=recent"
    r"|(^|[=:])(recent|latest|updates|timeline|activity|tracker|news|feed|rss|atom)(\.\w+)?$"
)
PERHAPS = re.compile(r"recent|la(te)?st|new|change|update|timeline|activity|tracker|feed|rss|atom")  #: quick check
TEACHERS = 4  #: last visited pages, revisited in full to learn masks from what differs so soon


class TwoVisits(Mode):
    """T lies between the last visit and the first revisit, or is the last page's download."""

    def __init__(self, ledger: Ledger, capture: SiteCapture, tests: Untested, compares: bool) -> None:
        self._ledger = ledger
        self._capture = capture
        self.compares = compares
        self._latest: Instant = -math.inf  # start of the latest visit
        self._tests = tests
        self._hints: SiteHints | None = None  # None: no hints so far
        self._by_304: Conditionals | None = None  # None: no page has validators so far
        self._contents = array("q")  # hashes of the fingerprints that visits showed, by page; 0: unknown
        self._drew = False  # the sample that tests 304s is drawn

    @property
    def listens(self) -> bool:  # type: ignore[override]
        """Are sitemaps being read again?"""
        return self._hints is not None and self._hints.reading

    @property
    def tells_nobody(self) -> bool:
        """Do neither hints nor tests need to know of visits?"""
        return type(self) is TwoVisits and type(self._tests) is Untested and self._hints is None

    @property
    def takes_hubs(self) -> bool:  # type: ignore[override]
        """Are feeds and lists of changes polled, for second looks?"""
        return self.compares and self._capture.spec.hints > 0

    def ingest(self, page: PageId, read: Instant, hints: Hints) -> None:
        """Enter a lastmod, for second looks and the order of revisits."""
        assert hints.lastmod is not None, "asked where there is one"
        self._site_hints().changes.ingest(page, read, hints.lastmod, hints.lastmod + hints.lastmod_precision)

    def queued(self, pages: Sequence[PageId], parent: PageId, named: Sequence[Sighting], now: Instant) -> None:
        """Keep sitemap hints on new pages, to test rates; some pages may be hubs."""
        for page, sighting in zip(pages, named, strict=True):
            self._tests.stated(page, sighting.hints)
        self._may_be_hubs(pages)

    def dated(self, page: PageId, sighting: Sighting) -> None:
        """Keep sitemap hints on a known page."""
        self._tests.stated(page, sighting.hints)

    def planned_by(self, pages: Sequence[PageId], rates: Sequence[Rate]) -> Sequence[Rate]:
        """Return rates corrected by tests."""
        return self._tests.planned(pages, rates)

    def waits(self, strategy: Door, now: Instant) -> bool:
        """Wait for downloads that may bring pages, for second looks, and for sitemaps read at T."""
        hints = self._hints if self.compares else None
        if self._capture.life.reference is not None:  # asked at each decision: the quick answer comes first
            return hints is not None and hints.at_reference and self._replans(strategy, now)
        self._tests.test(strategy)
        last = strategy.first_visits_left == strategy.first_visits_waiting == 1
        if last and self.takes_hubs and self._capture.phase is Phase.VISIT:
            hints = self._edited(strategy, now)
        if hints is not None and (hints.wait_early(strategy, now) or hints.has_early(strategy)):
            return hints.early_open
        if self._last_is_open(strategy) or (hints is not None and hints.looks_again(strategy, now)):
            return True
        return self._replans(strategy, now)

    def _edited(self, strategy: Door, now: Instant) -> SiteHints | None:
        """Infer pages edited together from visits, unless sitemaps are still to be read again; return the hints."""
        if self._hints is not None and self._hints.sitemaps and not self._hints.changes:
            return self._hints
        if (edited := self._tests.edited(now)) is not None and any(edited):
            self._site_hints().edited(edited, strategy, now)
        return self._hints

    def _last_is_open(self, strategy: Door) -> bool:
        """Must the last visit wait for downloads under way?

        T should follow resources on other hosts. In Scrapy projects callbacks may name more pages: all wait for them.
        """
        capture = self._capture
        under_way = capture.owed.pending > len(capture.owed.unread)
        if not (under_way and capture.phase is Phase.VISIT and strategy.revisits):
            return False
        return strategy.visits_left == 1 or not (capture.spec.discover or strategy.first_visits_left)

    def asks_by_former(self, kind: Kind, slot: Slot) -> bool:
        """Not for the apex: its only download must be T itself."""
        return not self.compares or slot is Slot.FIRST

    def turn(self, now: Instant) -> None:
        """Fix T: the apex's download, if there is an apex."""
        self._capture.life.turn(now if self.apex is None else self._ledger.pages.started[self.apex])
        looks = self._hints.looks.note() if self._hints is not None else ""
        for note in filter(None, (looks, self._tests.note())):
            self._capture.note(note)
        self._ledger.changed_capture()
        self._draw()

    def _draw(self) -> None:
        """Draw the sample of pages downloaded in full, which tests the 304s of the others."""
        pages, once = self._ledger.pages, self._once()
        self._drew = True
        if self.apex is not None:  # if it is revisited after all, no 304 may answer
            pages.ask_in_full(self.apex)
        asked = [page for page in pages.having(State.VISITED) if pages.has_validators(page) and page not in once]
        kinds = {page: kind for page in asked if (kind := pages.kinds[page]) in _ANSWERED}
        if kinds:
            draw(self._conditionals(), self._capture, pages, kinds)

    def _once(self) -> Container[PageId | None]:
        """Pages that are not revisited."""
        return {self.apex}

    def _conditionals(self) -> Conditionals:
        if self._by_304 is None:
            from sharc_crawler.evidence.conditionals import Conditionals  # only with validators

            self._by_304 = Conditionals(self._capture.spec.audit)
        return self._by_304

    def asks_again(self, page: PageId, slot: Slot, outcome: Outcome) -> bool:
        """Download a page of the sample again that was answered 304."""
        if outcome.result is not _NOT_MODIFIED or slot is not Slot.SECOND:
            return False
        if not self._drew:
            self._draw()
        if self._by_304 is None or not self._by_304.asks_again(page, outcome):
            return False
        self._ledger.pages.ask_in_full(page)
        return True

    def revisited(self, page: PageId, kind: Kind, visit: Outcome, outcome: Outcome, judgement: Judgement) -> bool:
        """Leave pages with validators unjudged until all 304s are tested."""
        if not self._drew:
            self._draw()
        if kind not in _ANSWERED or not (visit.validators or judgement.evidence.stated):
            return False
        alike = self._alike(page, outcome)
        return self._conditionals().revisited(page, visit, outcome, judgement, alike=alike)

    def _alike(self, page: PageId, outcome: Outcome) -> bool:
        """Has a revisit the visit's fingerprint?"""
        known = self._contents[page] if page < len(self._contents) else 0
        return outcome.fingerprint is not None and hash(outcome.fingerprint) == known

    def left_open(self, page: PageId) -> bool:
        """Does the page's judgement wait until 304s are tested?"""
        return self._by_304 is not None and page in self._by_304.open

    def _left_open(self) -> frozenset[PageId]:
        """Return all pages left open."""
        return frozenset(self._by_304.open) if self._by_304 is not None else frozenset()

    def judge(self, pages: Sequence[PageId]) -> Mapping[PageId, Judgement]:
        """Judge pages by 304s, if these are believed."""
        if self._by_304 is None:
            return {}
        judged = self._by_304.judge(pages)
        self.audit = self._by_304.summary()
        return judged

    def visited(self, task: Task, kind: Kind, outcome: Outcome) -> None:
        """Enter a first visit."""
        if kind is _PAGE:
            self._tests.visited(task.page, outcome)
            if self._hints is not None:
                self._hints.silent(task.page, outcome)
            if outcome.result is _OK:
                self.captured([(task.page, task.slot, outcome)])

    def captured(self, visits: Sequence[tuple[PageId, Slot, Outcome]]) -> None:
        """Enter visits with content, in the order of their ends; the last one before T may be the apex."""
        reference = self._capture.life.reference
        for page, slot, outcome in visits:
            if reference is None or outcome.started <= reference:
                self._shown(page, outcome)
                last = outcome.started >= self._latest  # parallel visits end in any order
                self._latest = max(self._latest, outcome.started)
                self.apex = page if self.compares and last and slot is _ONLY and is_apex(slot, outcome) else None
                self._drew = False

    def _shown(self, page: PageId, outcome: Outcome) -> None:
        """Keep the hash of a visit's fingerprint."""
        self._contents.extend([0] * (page + 1 - len(self._contents)))
        self._contents[page] = hash(outcome.fingerprint)

    def sitemap_read(self, page: PageId, slot: Slot, outcome: Outcome) -> None:
        """Note when a sitemap with lastmods was read."""
        if self._hints is not None and page in self._hints.sitemaps:
            self._hints.sitemaps[page] = outcome.started

    def lastmods_in(self, page: PageId, read: Instant) -> None:
        """Note a sitemap with lastmods: it is read again at T."""
        self._site_hints().sitemaps[page] = read

    # -- hints on changes -------------------------------------------------------------------------------------------

    def _site_hints(self) -> SiteHints:
        """Return the site's hints, loaded with the first of them."""
        if self._hints is None:
            from sharc_crawler.frontier.modes.hints import SiteHints  # most sites have none

            self._hints = SiteHints(self._ledger, self._capture, self._tests)
        return self._hints

    def begun(self, pages: Sequence[PageId], now: Instant) -> None:
        """Visit the seeds early if many pages wait: they name feeds and lists of changes."""
        if self.takes_hubs and len(pages) >= 4 * WORTH:  # for seed, sitemap, feed and list
            for page in self._capture.seen.find(self._capture.spec.seeds):
                if page != UNSEEN:
                    self._site_hints().hubs.add(page)

    def _may_be_hubs(self, named: Sequence[PageId]) -> None:
        """Add pages near the front page, or of a sitemap, that may be hubs by their names."""
        pages = self._ledger.pages
        for page in named if named and pages.depths[named[0]] <= 1 and self.takes_hubs else ():
            if lists_changes(pages.urls[page]):
                self._site_hints().may_be_hub(page)

    def hub(self, page: PageId) -> None:
        """Poll a hub that is not a page."""
        self._site_hints().hubs.add(page, certain=True)
        self._ledger.may_have_pages(self._ledger.pages.hosts[page])

    def closed(self, page: PageId, reason: str) -> None:
        """Drop a hub."""
        if self._hints is not None:
            self._hints.hubs.drop(page)

    def named(self, fetch: Fetch, outcome: Outcome, links: Sequence[Sighting]) -> Sequence[Sighting]:
        """Treat feeds and news sitemaps as hubs; their dates are only hints."""
        if not self.takes_hubs:
            return links
        if fetch.kind is Kind.SITEMAP:
            news = any(link.hints and link.hints.published is not None and link.hints.lastmod is None for link in links)
            return [*links, Sighting(fetch.url, Kind.HUB)] if news else links  # it has dates of publication
        hinted = [(link.url, link.hints) for link in links if link.hints] if columns_of(links)[2] else []
        stated = {url: hints.published if hints.lastmod is None else hints.lastmod for url, hints in hinted}
        dates = {url: date for url, date in stated.items() if date is not None}
        if dates and self._ledger.pages.depths[fetch.page] <= 1:
            self._site_hints().hubs.add(fetch.page, certain=True)
        if self._hints is not None:
            self._hints.answer = outcome.started, dates
        return links

    def linked(self, page: PageId, targets: Sequence[PageId]) -> None:
        """Enter the entries of a hub."""
        if self._hints is not None:
            self._hints.linked(page, targets)

    def polled(self, page: PageId, outcome: Outcome, linked: Sequence[PageId]) -> None:
        """Enter the poll of a hub that is not a page."""
        self._site_hints().polled(page, outcome, linked)

    def next(self, strategy: Door, now: Instant) -> Visit | None:
        """Return a hub's early visit, else the strategy's next."""
        early = self._hints.early(strategy) if self._hints is not None else None
        return early or strategy.next(now)

    def visited_again(self, page: PageId, before: Outcome, outcome: Outcome) -> None:
        """Enter a second look: it replaces the visit, and T lies behind it."""
        if outcome.result is _OK:
            self.captured([(page, Slot.FIRST, outcome)])
        self._site_hints().visited_again(page, before, outcome)

    def _replans(self, strategy: Door, now: Instant) -> bool:
        """At T: must revisits wait for sitemaps being read again?"""
        ahead, pages = strategy.revisits_ahead(), self._ledger.pages
        if ahead and self._capture.life.reference is None:
            self.turn(now)
        hinted = self._hints is not None or self._tests.failed or any(map(pages.last_modified, ahead))
        return hinted and self._site_hints().replans(strategy, ahead)

    # -- after a restart ---------------------------------------------------------------------------------------------

    def recall_pages(self, rows: Sequence[PageRow]) -> None:
        """Restore sitemaps with lastmods, hubs, and whether rates were changed at T."""
        if any(row.source == MODIFIED for row in rows):
            self._site_hints().replanned = True
        for row in rows:
            near = row.depth <= 1 and row.kind is _PAGE and row.state != State.LATE
            if near and PERHAPS.search(row.url.lower()):
                self._may_be_hubs([row.page])
            if row.hints is not None:
                self._tests.stated(row.page, row.hints)
                dated = row.hints.lastmod is not None and row.parent != NO_PARENT
                if dated and self._ledger.pages.kinds[row.parent] is Kind.SITEMAP:  # not a feed's page
                    self._site_hints().sitemaps[row.parent] = 0.0  # its download is among the visits

    def recall_lastmod(self, row: LastmodRow) -> None:
        """Restore a lastmod of a later reading."""
        self._site_hints().changes.ingest(row.page, row.read, row.lastmod, row.lastmod + row.precision)
        self._site_hints().replanned = True

    def reference_of(self, part: int | None) -> Instant | None:
        """Return the site's reference instant."""
        return self._capture.reference

    def rebuilt(self, strategy: Door, firsts: Sequence[Visit]) -> frozenset[PageId]:
        """Restore the order of revisits before the strategy is told of those made; return pages left open.

        If the sitemaps' reading at T was cut off, the rest is read first.
        """
        if self._capture.phase is Phase.REVISIT:
            if not self._drew:
                self._draw()
            states = self._ledger.pages.states
            made = (states[visit.page] == State.JUDGED or self.left_open(visit.page) for visit in firsts)
            if self._hints is not None:
                self._hints.order_again(strategy, any(made))
        return self._left_open()


def draw(conditionals: Conditionals, capture: SiteCapture, pages: PageTable, kinds: Mapping[PageId, Kind]) -> None:
    """Draw a sample of these pages, given with their kinds, and add the last visited ones to learn masks."""
    from sharc_crawler.evidence.conditionals import faint  # only with validators

    data = {page for page, kind in kinds.items() if kind is Kind.DATA}
    weak = faint((page, pages.remembered(page)) for page in kinds)
    drawn = conditionals.draw({page: pages.urls[page] for page in kinds}, seed_of(capture), data, weak)
    others = (page for page in kinds if page not in data)
    latest = nlargest(TEACHERS * (capture.spec.audit > 0), others, key=pages.started.__getitem__)
    for page in latest if all(pages.remembered(late).status == 200 for late in latest) else ():
        if page not in drawn:
            pages.ask_in_full(page)


def seed_of(capture: SiteCapture) -> str:
    """Return the seed of the draw: the same for all owners of a site, and when its state is rebuilt.

    A server must not guess it, or it would know which of its claims are never tested. A fleet's ``run`` is no secret.
    """
    settings = capture.spec.settings
    lots = settings.get("lots") or settings.get("run") or round(capture.started)
    return f"{capture.spec.site} {lots}"


def lists_changes(url: str) -> bool:
    """Does a URL look like a list of recent changes or a feed?

    >>> lists_changes("http://h/wiki/Special:RecentChanges"), lists_changes("http://h/changelog.html")
    (True, True)
    >>> lists_changes("http://h/recent"), lists_changes("http://h/recently-opened-museums")
    (True, False)
    """
    name = url.rstrip("/").rpartition("/")[2].lower()
    return PERHAPS.search(name) is not None and LISTS_CHANGES.search(unquote(name)) is not None


_PAGE, _OK, _NOT_MODIFIED, _ONLY = Kind.PAGE, Result.OK, Result.NOT_MODIFIED, Slot.ONLY  # local names are faster
_ANSWERED = (Kind.PAGE, Kind.DATA)  # kinds whose 304s are tested
