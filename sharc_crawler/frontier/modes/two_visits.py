"""Visits, then revisits, with the reference instant T between them; or single visits, where the strategy makes these.

What only some sites bring is loaded with the first of it: what they say of their changes
(:mod:`~sharc_crawler.frontier.modes.hints`), 304s (:mod:`~sharc_crawler.evidence.conditionals`).
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.evidence.judgement import is_apex
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.modes.base import Mode, Untested
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.model import Kind, Phase, Result, Sighting, Slot

if TYPE_CHECKING:
    from sharc_crawler.evidence.conditionals import Conditionals
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.hosts import Task
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.modes.hints import SiteHints
    from sharc_crawler.frontier.rows import LastmodRow, PageRow
    from sharc_crawler.model import Fetch, Hints, Instant, Judgement, Outcome, PageId, Rate, Visit
    from sharc_crawler.strategies.door import Door


#: How wikis, forums, trackers and documentation name their lists of what changed last, by the last part of an address.
LISTS_CHANGES = re.compile(
    r"(recent|latest|last)[-_ ]?(changes|changed|updates|updated|edits|posts|news|articles)"
    r"|what'?s[-_ ]?new|all[-_ ]?changes|web[-_ ]?changes|change[-_ ]?log|do=recent"
    r"|(^|[=:])(recent|latest|updates|timeline|activity|tracker|news|feed|rss|atom)(\.\w+)?$"
)
PERHAPS = re.compile(r"recent|la(te)?st|new|change|update|timeline|activity|tracker|feed|rss|atom")  #: asked of all
WORTH = 50  #: visited pages per sitemap that is read again
MODIFIED = "last-modified"  #: the source of a rate that was made with that header


class TwoVisits(Mode):
    """T lies between the last visit and the first revisit, or is the download of the last page."""

    def __init__(self, ledger: Ledger, capture: SiteCapture, tests: Untested, compares: bool) -> None:
        self._ledger = ledger
        self._capture = capture
        self.compares = compares
        self._latest: Instant = -math.inf  # when the visit made last began
        self._tests = tests
        self._hints: SiteHints | None = None  # nothing is said of changes so far
        self._by_304: Conditionals | None = None  # no page can be asked for conditionally
        self._contents = array("q")  # of pages, as their visits showed them: hashes of fingerprints; 0: not known
        self._drew = False  # the sample that 304s rest on

    @property
    def listens(self) -> bool:  # type: ignore[override]
        """While the sitemaps are read again."""
        return self._hints is not None and self._hints.reading

    @property
    def tells_nobody(self) -> bool:
        """Are neither hints nor tests told of a visit?"""
        return type(self) is TwoVisits and type(self._tests) is Untested and self._hints is None

    @property
    def takes_hubs(self) -> bool:  # type: ignore[override]
        """Are feeds and lists of changes polled for second looks?"""
        return self.compares and self._capture.spec.hints > 0

    def ingest(self, page: PageId, read: Instant, hints: Hints) -> None:
        """For second looks, and the revisits' order."""
        assert hints.lastmod is not None, "asked where there is one"
        self._site_hints().said.ingest(page, read, hints.lastmod, hints.lastmod + hints.lastmod_precision)

    def queued(self, pages: Sequence[PageId], parent: PageId, named: Sequence[Sighting], now: Instant) -> None:  # noqa: ARG002
        """What a sitemap says of them tells which changes the archive's last look missed; some may be hubs."""
        for page, sighting in zip(pages, named, strict=True):
            self._tests.stated(page, sighting.hints)
        self._may_be_hubs(pages)

    def dated(self, page: PageId, sighting: Sighting) -> None:
        """The same."""
        self._tests.stated(page, sighting.hints)

    def planned_by(self, pages: Sequence[PageId], rates: Sequence[Rate]) -> Sequence[Rate]:
        """As far as visits bear them out."""
        return self._tests.planned(pages, rates)

    def waits(self, strategy: Door, now: Instant) -> bool:
        """For what is under way and may bring pages; for second looks; for what the revisits' order goes by."""
        hints = self._hints if self.compares else None
        if self._capture.life.reference is not None:  # asked at each decision: the quick answer comes first
            return hints is not None and hints.at_reference and self._replans(strategy, now)
        self._tests.test(strategy)
        last = strategy.first_visits_left == strategy.first_visits_waiting == 1
        if last and self.takes_hubs and self._capture.phase is Phase.VISIT:
            hints = self._surmised(strategy, now)
        if hints is not None and (hints.wait_early(strategy, now) or hints.has_early(strategy)):
            return hints.early_open
        if self._last_is_open(strategy) or (hints is not None and hints.looks_again(strategy, now)):
            return True
        return self._replans(strategy, now)

    def _surmised(self, strategy: Door, now: Instant) -> SiteHints | None:
        """What visits say of pages visited before them, if sitemaps have nothing to say, or have said it."""
        if self._hints is not None and self._hints.sitemaps and not self._hints.said:
            return self._hints
        if (edited := self._tests.edited(now)) is not None and any(edited):
            self._site_hints().surmised(edited, strategy, now)
        return self._hints

    def _last_is_open(self, strategy: Door) -> bool:
        """T waits for what a page alone embeds on other hosts: no other page has to wait with it.

        Where pages are named by callbacks, all wait for what is under way: a log-in's callback may name more of them.
        """
        capture = self._capture
        under_way = capture.owed.pending > len(capture.owed.unread)
        if not (under_way and capture.phase is Phase.VISIT and strategy.revisits):
            return False
        return strategy.visits_left == 1 or not (capture.spec.discover or strategy.first_visits_left)

    def asks_by_former(self, kind: Kind, slot: Slot) -> bool:  # noqa: ARG002 - the protocol's
        """A page whose only download is T itself is downloaded."""
        return not self.compares or slot is Slot.FIRST

    def turn(self, now: Instant) -> None:
        """The apex's download is T where there is one."""
        self._capture.life.turn(now if self.apex is None else self._ledger.pages.started[self.apex])
        looks = self._hints.looks.note() if self._hints is not None else ""
        for note in filter(None, (looks, self._tests.note())):
            self._capture.note(note)
        self._ledger.changed_capture()
        self._draw()

    def _draw(self) -> None:
        """Of the pages answered 304 a sample is downloaded once more, in full: the 304s of the others rest on it."""
        pages, once = self._ledger.pages, self._once()
        self._drew = True
        if self.apex is not None:  # no 304 can answer: where what came last brought no page, it is revisited, too
            pages.ask_in_full(self.apex)
        told = [page for page in pages.having(State.VISITED) if pages.has_validators(page) and page not in once]
        kinds = {page: kind for page in told if (kind := pages.kinds[page]) in _ANSWERED}
        if kinds:
            from sharc_crawler.frontier.modes.sampling import draw  # only where validators are sent

            draw(self._conditionals(), self._capture, pages, kinds)

    def _once(self) -> Container[PageId | None]:
        """Pages that are not revisited."""
        return {self.apex}

    def _conditionals(self) -> Conditionals:
        if self._by_304 is None:
            from sharc_crawler.evidence.conditionals import Conditionals  # only where validators are sent

            self._by_304 = Conditionals(self._capture.spec.audit)
        return self._by_304

    def asks_again(self, page: PageId, slot: Slot, outcome: Outcome) -> bool:
        """Of the sample what was answered 304."""
        if outcome.result is not _NOT_MODIFIED or slot is not Slot.SECOND:
            return False
        if not self._drew:
            self._draw()
        if self._by_304 is None or not self._by_304.asks_again(page, outcome):
            return False
        self._ledger.pages.ask_in_full(page)
        return True

    def revisited(self, page: PageId, kind: Kind, visit: Outcome, outcome: Outcome, judgement: Judgement) -> bool:
        """What a 304 is worth is known when all are revisited; after a restart the sample is drawn first, as it was."""
        if not self._drew:
            self._draw()
        if kind not in _ANSWERED or not (visit.validators or judgement.evidence.stated):
            return False
        alike = self._alike(page, outcome)
        return self._conditionals().revisited(page, visit, outcome, judgement, alike=alike)

    def _alike(self, page: PageId, outcome: Outcome) -> bool:
        """Does a revisit bring what the visit did, but for what does not count?"""
        known = self._contents[page] if page < len(self._contents) else 0
        return outcome.fingerprint is not None and hash(outcome.fingerprint) == known

    def left_open(self, page: PageId) -> bool:
        """Does the page's judgement rest on a 304, and wait until it is known what these are worth?"""
        return self._by_304 is not None and page in self._by_304.open

    def _left_open(self) -> frozenset[PageId]:
        """All of these."""
        return frozenset(self._by_304.open) if self._by_304 is not None else frozenset()

    def judge(self, pages: Sequence[PageId]) -> Mapping[PageId, Judgement]:
        """By 304s, where they are believed."""
        if self._by_304 is None:
            return {}
        judged = self._by_304.judge(pages)
        self.audit = self._by_304.summary()
        return judged

    def visited(self, task: Task, kind: Kind, outcome: Outcome) -> None:
        """What is told of a page's visit."""
        if kind is _PAGE:
            self._tests.visited(task.page, outcome)
            if self._hints is not None:
                self._hints.silent(task.page, outcome)
            if outcome.result is _OK:
                self.captured([(task.page, task.slot, outcome)])

    def captured(self, visits: Sequence[tuple[PageId, Slot, Outcome]]) -> None:
        """Visits that brought pages, in the order in which they ended; the last one before T may be the apex."""
        reference = self._capture.life.reference
        for page, slot, outcome in visits:
            if reference is None or outcome.started <= reference:
                self._shown(page, outcome)
                last = outcome.started >= self._latest  # several may be under way at once, and end in any order
                self._latest = max(self._latest, outcome.started)
                self.apex = page if self.compares and last and slot is _ONLY and is_apex(slot, outcome) else None
                self._drew = False

    def _shown(self, page: PageId, outcome: Outcome) -> None:
        """The content of a visit."""
        self._contents.extend([0] * (page + 1 - len(self._contents)))
        self._contents[page] = hash(outcome.fingerprint)

    def sitemap_read(self, page: PageId, slot: Slot, outcome: Outcome) -> None:  # noqa: ARG002 - the protocol's
        """Those that tell of changes are read again at T."""
        if self._hints is not None and page in self._hints.sitemaps:
            self._hints.sitemaps[page] = outcome.started

    def lastmods_in(self, page: PageId, read: Instant) -> None:
        """It is one of them."""
        self._site_hints().sitemaps[page] = read

    # -- what the site says of its changes ---------------------------------------------------------------------------

    def _site_hints(self) -> SiteHints:
        """What keeps it, from the first word on."""
        if self._hints is None:
            from sharc_crawler.frontier.modes.hints import SiteHints  # most sites say nothing

            self._hints = SiteHints(self._ledger, self._capture, self._tests)
        return self._hints

    def begun(self, pages: Sequence[PageId], now: Instant) -> None:  # noqa: ARG002 - the protocol's
        """The seeds name the site's feeds and lists of changes: they are visited early where many pages wait."""
        if self.takes_hubs and len(pages) >= 4 * WORTH:  # for a sitemap, for them, a feed and a list
            for page in self._capture.seen.find(self._capture.spec.seeds):
                if page != UNSEEN:
                    self._site_hints().hubs.add(page)

    def _may_be_hubs(self, named: Sequence[PageId]) -> None:
        """Some of the pages that one document names may be hubs, by their names: the site's front, or a sitemap."""
        pages = self._ledger.pages
        for page in named if named and pages.depths[named[0]] <= 1 and self.takes_hubs else ():
            if lists_changes(pages.urls[page]):
                self._site_hints().may_be_hub(page)

    def hub(self, page: PageId) -> None:
        """What is no page is polled as well."""
        self._site_hints().hubs.add(page, certain=True)
        self._ledger.hosts[self._ledger.pages.hosts[page]].has_pages = True

    def closed(self, page: PageId, reason: str) -> None:  # noqa: ARG002 - the protocol's
        """The hub is none."""
        if self._hints is not None:
            self._hints.hubs.drop(page)

    def named(self, fetch: Fetch, outcome: Outcome, links: Sequence[Sighting]) -> Sequence[Sighting]:
        """A feed is a hub: its dates are hints, and no more. So is a news sitemap."""
        if not self.takes_hubs:
            return links
        if fetch.kind is Kind.SITEMAP:
            news = any(link.hints and link.hints.published is not None and link.hints.lastmod is None for link in links)
            return [*links, Sighting(fetch.url, Kind.HUB)] if news else links  # it says when pages came to be
        told = [(link.url, link.hints) for link in links if link.hints]
        said = {url: one.published if one.lastmod is None else one.lastmod for url, one in told}
        dates = {url: date for url, date in said.items() if date is not None}
        if dates and self._ledger.pages.depths[fetch.page] <= 1:
            self._site_hints().hubs.add(fetch.page, certain=True)
        if self._hints is not None:
            self._hints.answer = outcome.started, dates
        return links

    def linked(self, page: PageId, targets: Sequence[PageId]) -> None:
        """What a hub says has changed."""
        if self._hints is not None:
            self._hints.linked(page, targets)

    def polled(self, page: PageId, outcome: Outcome, linked: Sequence[PageId]) -> None:
        """A hub that is no page has answered, or has not."""
        self._site_hints().polled(page, outcome, linked)

    def next(self, strategy: Door, now: Instant) -> Visit | None:
        """Hubs early; else as the strategy says."""
        early = self._hints.early(strategy) if self._hints is not None else None
        return early or strategy.next(now)

    def visited_again(self, page: PageId, before: Outcome, outcome: Outcome) -> None:
        """Was the hint true? What the look brought stands for the page, and T lies behind it."""
        if outcome.result is _OK:
            self.captured([(page, Slot.FIRST, outcome)])
        self._site_hints().visited_again(page, before, outcome)

    def _replans(self, strategy: Door, now: Instant) -> bool:
        """At the turn from visits to revisits: does their order wait for sitemaps that are being read again?"""
        ahead, pages = strategy.revisits_ahead(), self._ledger.pages
        if ahead and self._capture.life.reference is None:
            self.turn(now)
        told = self._hints is not None or self._tests.failed or any(map(pages.last_modified, ahead))
        return told and self._site_hints().replans(strategy, ahead)

    # -- after a restart ---------------------------------------------------------------------------------------------

    def recall_pages(self, rows: Sequence[PageRow]) -> None:
        """Who named one with a lastmod is read again at T; who was repriced was so there."""
        if any(row.source == MODIFIED for row in rows):
            self._site_hints().replanned = True
        for row in rows:
            near = row.depth <= 1 and row.kind is _PAGE and row.state != State.LATE
            if near and PERHAPS.search(row.url.lower()):
                self._may_be_hubs([row.page])
            if row.hints is not None:
                self._tests.stated(row.page, row.hints)
                told = row.hints.lastmod is not None and row.parent != NO_PARENT
                if told and self._ledger.pages.kinds[row.parent] is Kind.SITEMAP:  # not a feed's page
                    self._site_hints().sitemaps[row.parent] = 0.0  # its download is among the visits

    def recall_lastmod(self, row: LastmodRow) -> None:
        """It was said before T, or at T."""
        self._site_hints().said.ingest(row.page, row.read, row.lastmod, row.lastmod + row.precision)
        self._site_hints().replanned = True

    def reference_of(self, part: int | None) -> Instant | None:  # noqa: ARG002 - the protocol's
        """The site's reference instant: it has no parts."""
        return self._capture.reference

    def rebuilt(self, strategy: Door, firsts: Sequence[Visit]) -> frozenset[PageId]:
        """Before the strategy is told of the revisits made: their order as it was.

        Where the sitemaps' reading at T was cut off, what is missing is read, and the order is made then.
        """
        if self._capture.phase is Phase.REVISIT:
            if not self._drew:
                self._draw()
            states = self._ledger.pages.states
            made = (states[visit.page] == State.JUDGED or self.left_open(visit.page) for visit in firsts)
            if self._hints is not None:
                self._hints.order_again(strategy, any(made))
        return self._left_open()


def lists_changes(url: str) -> bool:
    """Does its address say that a page lists recent changes, or is a feed?

    >>> lists_changes("http://h/wiki/Special:RecentChanges"), lists_changes("http://h/changelog.html")
    (True, True)
    >>> lists_changes("http://h/recent"), lists_changes("http://h/recently-opened-museums")
    (True, False)
    """
    name = url.rstrip("/").rpartition("/")[2].lower()
    return PERHAPS.search(name) is not None and LISTS_CHANGES.search(unquote(name)) is not None


_PAGE, _OK, _NOT_MODIFIED, _ONLY = Kind.PAGE, Result.OK, Result.NOT_MODIFIED, Slot.ONLY  # looked up once
_ANSWERED = (Kind.PAGE, Kind.DATA)  # whose 304s are tested
