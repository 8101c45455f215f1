"""Instant crawls: hubs are polled, what they newly name is fetched, all else is left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.evidence.headers import UNTOLD
from sharc_crawler.evidence.intervals import no_later, reach
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.modes.base import Mode
from sharc_crawler.frontier.pages import HUB_KEY, NO_PARENT
from sharc_crawler.frontier.rows import NoveltyRow
from sharc_crawler.model import Fetch, Instant, Kind, Outcome, PageId, Result, Sighting
from sharc_crawler.polling.dates import Dating, Span, published
from sharc_crawler.polling.polls import Polls
from sharc_crawler.polling.site import HubCandidates, SitePolls

if TYPE_CHECKING:
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger

LEFT = "not new: left to the common crawl"
PERHAPS_NEW = "perhaps new: its date does not say whether it came to be before the crawl began"
LINKED = "new pages"  #: via which a hub was found
EVEN = 0.5


class Instantly(Mode):
    """The mode of an instant crawl: seeds are hubs, which are polled for new pages."""

    seeds = Kind.HUB
    whole = False
    takes_hubs = True

    def __init__(self, ledger: Ledger, capture: SiteCapture, compares: bool) -> None:
        self._ledger = ledger
        self._capture = capture
        self.compares = compares
        shared = ledger.shared
        if shared.polls is None:  # all sites of a crawl begin at once
            shared.polls = Polls(shared.terms)
            shared.polls.begin(capture.started)
        self._polls = ledger.polls = SitePolls(shared.polls)
        self._candidates = HubCandidates()  # what may be hubs
        self._answer: Outcome | None = None  # what is being read
        self._lists: dict[str, Instant] = {}  # sitemaps that became hubs: start of their reading
        self._told_of: dict[str, tuple[Outcome, Instant]] = {}  # hubs: their last Date's first answer, and until when
        self._shown: dict[str, set[PageId]] = {}  # pages that are left, by the hubs (or such sitemaps) that show them
        self._first = False  # it is the first answer of its hub
        self._told: dict[PageId, Sighting] = {}  # pages that are left, and dated by the answer that is being read
        self._listing: set[PageId] = set()  # hubs that have named any
        self._dating = Dating()
        self._named: dict[PageId, tuple[set[PageId], set[PageId]]] = {}  # new pages that hubs named: ever, and last

    def owes_more(self, now: Instant) -> bool:
        """Polls, until the crawl's time is over."""
        return self._polls.open(now)

    def hub(self, page: PageId) -> None:
        """It is polled from now on: on trial, where a new page or a hub on trial led to it."""
        ledger = self._ledger
        host, parent = ledger.pages.hosts[page], ledger.pages.parents[page]
        trial = parent != NO_PARENT and (ledger.pages.kinds[parent] is Kind.PAGE or self._polls.on_trial(parent))
        self._polls.add(page, host, trial)
        ledger.hosts[host].has_pages = True

    # -- what is new -------------------------------------------------------------------------------------------------

    def why_left(self, sighting: Sighting, parent: PageId) -> str:
        """It has come into being since the crawl began, or is left.

        New is what a hub's last poll lacked, whatever its date says. Of what its first poll names, dates tell: new is
        what is more likely to have been published after the crawl began than before.
        """
        pages = self._ledger.pages
        if parent == NO_PARENT:
            return LEFT
        if pages.kinds[parent] is Kind.PAGE:
            return "" if parent in self._ledger.novelties else LEFT  # what a new page redirects to
        return self._why_old(sighting) if self._lacked(parent) is None else ""

    def _why_old(self, sighting: Sighting) -> str:
        """By its date it is older than the crawl, or may be; empty: it is newer."""
        span = self._span(sighting)
        share = span.after(self._capture.started, self._answer.ended) if span and self._answer else 0.0
        return "" if share >= EVEN else PERHAPS_NEW if share else LEFT

    def _lacked(self, parent: PageId) -> Instant | None:
        """Start of the poll, or of the reading as a sitemap, that did not name what this hub names now."""
        pages = self._ledger.pages
        if pages.kinds[parent] is not Kind.HUB:
            return None
        before = self._polls.last(parent)
        return self._lists.get(pages.urls[parent]) if before is None else before

    def _span(self, sighting: Sighting) -> Span | None:
        return published(sighting.hints, self._answer) if self._answer else None

    def reconsidered(self, parent: PageId, linked: Sequence[PageId], now: Instant) -> list[PageId]:
        """Pages that were left when another hub showed them, and that this one had never shown until now.

        Of what it shows first, those that it dates after the crawl's beginning, which the other may not have done.
        """
        pages = self._ledger.pages
        shown = self._shown.get(pages.urls[parent])
        if shown is None:  # no hub, or one that has not answered
            return []
        new = {page for page in linked if pages.states[page] == State.LATE} - shown
        if self._first:  # since the crawl began, or went on
            shown |= new
            new = {page for page in new if page in self._told and not self._why_old(self._told[page])}
        for page in sorted(new):
            self._found(page, parent, self._told.get(page), now)
        return sorted(new)

    def queued(self, pages: Sequence[PageId], parent: PageId, named: Sequence[Sighting], now: Instant) -> None:
        """A hub shows pages that nobody has shown before (or a new page redirects to one)."""
        ledger = self._ledger
        for page, sighting in zip(pages, named, strict=True):
            if parent in ledger.novelties:
                ledger.novel(ledger.novelties[parent]._replace(page=page))
            else:
                self._found(page, parent, sighting, now)

    def _found(self, page: PageId, hub: PageId, sighting: Sighting | None, now: Instant) -> None:
        since = self._told_of.get(self._ledger.pages.urls[hub], (None, None))[1]
        if since is not None and (self._older_than(since) or self._wavering(hub) in self._capture.notes):
            since = None  # an old copy shows what the hub had dropped by then
        row = NoveltyRow(page, hub, now, since, None, None, None)
        self._ledger.novel(self._with_date(row, sighting) if sighting else row)
        self._polls.news(hub)

    def _older_than(self, instant: Instant) -> bool:
        """Is the answer a copy from a cache that was made before?"""
        answer = self._answer
        return bool(answer and answer.age is not None and answer.ended - answer.age < instant)

    def _with_date(self, row: NoveltyRow, sighting: Sighting) -> NoveltyRow:
        """The date that this answer gives to the page."""
        span = self._span(sighting)
        if span is None or sighting.hints is None or not self._dating.believed:
            return row
        self._dating.dates(row.page)
        return row._replace(published=sighting.hints.published, earliest=span.earliest, latest=span.latest)

    def dated(self, page: PageId, sighting: Sighting) -> None:
        """A feed says when a page was published that a hub without dates had shown."""
        row = self._ledger.novelties.get(page)
        if row is None:
            self._told[page] = sighting
            return
        if row.published is None and (dated := self._with_date(row, sighting)) != row:
            self._ledger.novel(dated)
        if self._answer and row.seen < self._answer.started and (span := self._span(sighting)):
            self._dating.dates_again(late=span.earliest > row.seen)

    def _disproved(self, url: str) -> None:
        """No delay rests on the dates of a list that are none."""
        if (fallen := self._dating.disproved()) is None:
            return
        for page in fallen:
            self._ledger.novel(self._ledger.novelties[page]._replace(published=None, earliest=None, latest=None))
        self._capture.note(f"{url} dates pages after they had been seen: no delay rests on its dates")

    def named(self, fetch: Fetch, outcome: Outcome, links: Sequence[Sighting]) -> Sequence[Sighting]:
        """What a new page needs, and hubs on trial.

        Other pages that it names are news once a hub names them, and not known before.
        """
        self._answer = outcome
        self._told.clear()
        self._dating.reads(fetch.url)
        again = fetch.kind is Kind.ROBOTS and fetch.attempt > self._ledger.politeness.attempts
        if again and fetch.host in self._ledger.seeded:
            self._capture.owed.before_visits(fetch.host)  # which nothing waited for any longer
        if fetch.kind is Kind.SITEMAP and any(one.kind is Kind.HUB and one.url == fetch.url for one in links):
            self._lists[fetch.url] = outcome.started  # what its first poll as a hub names that it does not name is new
            self._tells(fetch.url, outcome)
        if outcome.result is Result.OK and (fetch.kind is Kind.HUB or fetch.url in self._lists):
            self._first = fetch.url not in self._shown
            self._shown.setdefault(fetch.url, set())
        if fetch.kind is not Kind.PAGE:
            return links
        return [*(sighting for sighting in links if sighting.kind is Kind.RESOURCE), *self._hubs_among(links)]

    def _hubs_among(self, links: Sequence[Sighting]) -> list[Sighting]:
        """What a new page names, as a hub on trial: no more than the polls have room for, most often named first."""
        ledger, capture = self._ledger, self._capture
        self._candidates.named(link.key or link.url for link in links if link.kind is Kind.PAGE)
        chosen: list[Sighting] = []
        urls = self._candidates.taken() if self._polls.room else iter(())
        while len(chosen) < self._polls.room and (url := next(urls, None)) is not None:
            known = capture.seen.get(url)
            hub = HUB_KEY + url in capture.seen or (known != UNSEEN and ledger.pages.kinds[known] is Kind.HUB)
            if not hub and capture.scope.why_not(url) is None:
                chosen.append(Sighting(url, Kind.HUB, LINKED))
        return chosen

    # -- polls -------------------------------------------------------------------------------------------------------

    def polled(self, page: PageId, outcome: Outcome, linked: Sequence[PageId]) -> None:
        """What it named is taken in: the hub's next poll falls due, or it is none."""
        pages, polls = self._ledger.pages, self._polls
        first = pages.states[page] == State.LEASED
        if pages.polled(page, outcome):
            if first:
                self._capture.counts.polled()
            self._overflown(page, outcome, linked)
            self._wavers(page, outcome, linked)
            self._disproved(pages.urls[page])
            self._tells(pages.urls[page], outcome)
            polls.polled(page, outcome.started, self._alone(page, linked))
            if polls.barren(page):
                self.closed(page, "the others showed all that it did")
        elif pages.states[page] == State.LOST:
            self.closed(page, outcome.error or f"status {outcome.status}")
        else:
            polls.missed(page, outcome.started)

    def _tells(self, url: str, outcome: Outcome) -> None:
        """Up to when an answer shows its hub: a copy shows it as it was when the copy was made."""
        if outcome.age != UNTOLD:
            first, until = self._told_of.get(url, (outcome, -math.inf))
            until = max(until, reach(outcome, first, None))  # what it names now, no answer before has named
            self._told_of[url] = (first if no_later(outcome, first) else outcome, until)

    def _alone(self, hub: PageId, linked: Sequence[PageId]) -> bool:
        """Has the hub shown most of what was new since its last poll before any other? Once, that may be chance."""
        ledger = self._ledger
        since = self._polls.last(hub)
        rows = [ledger.novelties[page] for page in linked if page in ledger.novelties]
        first = [row.hub == hub for row in rows if since is not None and row.seen > since]
        return sum(first) > len(first) / 2

    def _overflown(self, hub: PageId, outcome: Outcome, linked: Sequence[PageId]) -> None:
        """A list that names new pages alone may have dropped some before they were seen: that is said."""
        rows = [self._ledger.novelties.get(page) for page in linked]
        all_new = all(row is not None and row.seen == outcome.ended for row in rows)
        if rows and all_new and hub in self._listing:
            url = self._ledger.pages.urls[hub]
            self._capture.note(f"{url} named new pages alone at a poll: others may have come and gone; see every=")
        if rows:
            self._listing.add(hub)

    def _wavers(self, hub: PageId, outcome: Outcome, linked: Sequence[PageId]) -> None:
        """A hub that names again what it had dropped is behind at times, or takes turns: what it lacks may be there."""
        if self._answer is None or outcome.result is not Result.OK or not linked:
            return  # of a run before it is known what each poll named first; or nothing changed
        novelties = self._ledger.novelties
        named = {page for page in linked if page in novelties}
        ever, last = self._named.get(hub, (set(), set()))
        back = (named & ever) - last
        ever |= named
        self._named[hub] = ever, named
        if not back or (told := self._wavering(hub)) in self._capture.notes:
            return
        for row in [row for row in novelties.values() if row.hub == hub and row.since is not None]:
            self._ledger.novel(row._replace(since=None))
        self._capture.note(told)

    def _wavering(self, hub: PageId) -> str:
        """What is noted of it then, and known by when the crawl goes on."""
        return f"{self._ledger.pages.urls[hub]} named again what it had dropped: no delay rests on what it lacked"

    def closed(self, page: PageId, reason: str) -> None:
        """The hub is none."""
        pages = self._ledger.pages
        self._polls.drop(page, pages.hosts[page])
        self._capture.note(f"{pages.urls[page]} is not polled: {reason}")
