"""Instant crawls: poll hubs, fetch pages that they newly name, and leave all others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.evidence.headers import UNTOLD
from sharc_crawler.evidence.intervals import no_later, reach
from sharc_crawler.frontier.modes import Mode
from sharc_crawler.model import Fetch, Instant, Kind, Outcome, PageId, Result, Sighting
from sharc_crawler.polling.dates import Dating, Span, published
from sharc_crawler.polling.polls import Polls
from sharc_crawler.polling.site import HubCandidates, SitePolls
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.pages import HUB_KEY, NO_PARENT
from sharc_crawler.state.rows import NoveltyRow

if TYPE_CHECKING:
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger

LEFT = "not new: left to the common crawl"
PERHAPS_NEW = "perhaps new: its date does not show whether it appeared before the crawl began"
LINKED = "new pages"  #: ``via`` of hubs found on new pages
EVEN = 0.5


class Instantly(Mode):
    """The mode of an instant crawl: seeds are hubs, polled for new pages."""

    seeds = Kind.HUB
    whole = False
    takes_hubs = True

    def __init__(self, ledger: Ledger, capture: SiteCapture, compares: bool) -> None:
        self._ledger = ledger
        self._capture = capture
        self.compares = compares
        shared = ledger.shared
        if shared.polls is None:  # all sites of a crawl begin together
            shared.polls = Polls(shared.terms)
            shared.polls.begin(capture.started)
        self._polls = ledger.polls = SitePolls(shared.polls)
        self._candidates = HubCandidates()  # URLs that may be hubs
        self._answer: Outcome | None = None  # of the document being processed
        self._lists: dict[str, Instant] = {}  # sitemaps that became hubs: start of their first reading
        self._reaches: dict[str, tuple[Outcome, Instant]] = {}  # hubs: first answer with their last Date, its reach
        self._shown: dict[str, set[PageId]] = {}  # pages left, by the hubs that show them
        self._first = False  # the document is its hub's first answer
        self._dated: dict[PageId, Sighting] = {}  # pages left that the document dates
        self._listing: set[PageId] = set()  # hubs that have named pages
        self._dating = Dating()
        self._named: dict[PageId, tuple[set[PageId], set[PageId]]] = {}  # new pages named by hubs: ever, and last

    def owes_more(self, now: Instant) -> bool:
        """Owe polls until the crawl's time is over."""
        return self._polls.open(now)

    def hub(self, page: PageId) -> None:
        """Poll a hub from now on: on trial if a new page or a hub on trial led to it."""
        ledger = self._ledger
        host, parent = ledger.pages.hosts[page], ledger.pages.parents[page]
        trial = parent != NO_PARENT and (ledger.pages.kinds[parent] is Kind.PAGE or self._polls.on_trial(parent))
        self._polls.add(page, host, trial)
        ledger.may_have_pages(host)

    # -- new pages ---------------------------------------------------------------------------------------------------

    def why_left(self, sighting: Sighting, parent: PageId) -> str:
        """Return why a page is left; empty if it is new.

        A page is new if the hub's last poll lacked it, whatever its date. At a hub's first poll dates decide: a page is
        new if it was more likely published after the crawl began than before.
        """
        pages = self._ledger.pages
        if parent == NO_PARENT:
            return LEFT
        if pages.kinds[parent] is Kind.PAGE:
            return "" if parent in self._ledger.novelties else LEFT  # a new page's redirect is new
        return self._why_old(sighting) if self._lacked(parent) is None else ""

    def _why_old(self, sighting: Sighting) -> str:
        """Return why a page is, or may be, older than the crawl by its date; empty if it is newer."""
        span = self._span(sighting)
        share = span.after(self._capture.started, self._answer.ended) if span and self._answer else 0.0
        return "" if share >= EVEN else PERHAPS_NEW if share else LEFT

    def _lacked(self, parent: PageId) -> Instant | None:
        """Return the start of the hub's last poll, or of its reading as a sitemap; ``None`` if this is the first."""
        pages = self._ledger.pages
        if pages.kinds[parent] is not Kind.HUB:
            return None
        before = self._polls.last(parent)
        return self._lists.get(pages.urls[parent]) if before is None else before

    def _span(self, sighting: Sighting) -> Span | None:
        return published(sighting.hints, self._answer) if self._answer else None

    def reconsidered(self, parent: PageId, linked: Sequence[PageId], now: Instant) -> list[PageId]:
        """Return pages left at another hub that this hub newly shows.

        At the hub's first answer, return those that it dates after the crawl's beginning.
        """
        pages = self._ledger.pages
        shown = self._shown.get(pages.urls[parent])
        if shown is None:  # not a hub, or not answered yet
            return []
        new = {page for page in linked if pages.states[page] == State.LATE} - shown
        if self._first:  # since the crawl began or resumed
            shown |= new
            new = {page for page in new if page in self._dated and not self._why_old(self._dated[page])}
        for page in sorted(new):
            self._found(page, parent, self._dated.get(page), now)
        return sorted(new)

    def queued(self, pages: Sequence[PageId], parent: PageId, named: Sequence[Sighting], now: Instant) -> None:
        """Note pages that a hub is the first to show, or that a new page redirects to."""
        ledger = self._ledger
        for page, sighting in zip(pages, named, strict=True):
            if parent in ledger.novelties:
                ledger.novel(ledger.novelties[parent]._replace(page=page))
            else:
                self._found(page, parent, sighting, now)

    def _found(self, page: PageId, hub: PageId, sighting: Sighting | None, now: Instant) -> None:
        since = self._reaches.get(self._ledger.pages.urls[hub], (None, None))[1]
        if since is not None and (self._older_than(since) or self._wavering(hub) in self._capture.notes):
            since = None  # an old copy may show entries dropped since
        row = NoveltyRow(page, hub, now, since, None, None, None)
        self._ledger.novel(self._with_date(row, sighting) if sighting else row)
        self._polls.news(hub)

    def _older_than(self, instant: Instant) -> bool:
        """Is the answer a cache's copy made before this instant?"""
        answer = self._answer
        return bool(answer and answer.age is not None and answer.ended - answer.age < instant)

    def _with_date(self, row: NoveltyRow, sighting: Sighting) -> NoveltyRow:
        """Add the date that the document gives to a page."""
        span = self._span(sighting)
        if span is None or sighting.hints is None or not self._dating.believed:
            return row
        self._dating.dates(row.page)
        return row._replace(published=sighting.hints.published, earliest=span.earliest, latest=span.latest)

    def dated(self, page: PageId, sighting: Sighting) -> None:
        """Add a feed's date to a page that a hub without dates showed first."""
        row = self._ledger.novelties.get(page)
        if row is None:
            self._dated[page] = sighting
            return
        if row.published is None and (dated := self._with_date(row, sighting)) != row:
            self._ledger.novel(dated)
        if self._answer and row.seen < self._answer.started and (span := self._span(sighting)):
            self._dating.dates_again(late=span.earliest > row.seen)

    def _disproved(self, url: str) -> None:
        """Withdraw the dates of a list that proved wrong."""
        if (fallen := self._dating.disproved()) is None:
            return
        for page in fallen:
            self._ledger.novel(self._ledger.novelties[page]._replace(published=None, earliest=None, latest=None))
        self._capture.note(f"{url} dates pages after they had been seen: no delay rests on its dates")

    def named(self, fetch: Fetch, outcome: Outcome, links: Sequence[Sighting]) -> Sequence[Sighting]:
        """Of a new page's links, keep resources and hubs on trial.

        Other pages that it links to must stay unknown until a hub names them.
        """
        self._answer = outcome
        self._dated.clear()
        self._dating.reads(fetch.url)
        again = fetch.kind is Kind.ROBOTS and fetch.attempt > self._ledger.politeness.attempts
        if again and fetch.host in self._ledger.seeded:
            self._capture.owed.before_visits(fetch.host)  # it had been given up
        if fetch.kind is Kind.SITEMAP and any(link.kind is Kind.HUB and link.url == fetch.url for link in links):
            self._lists[fetch.url] = outcome.started  # entries added by its first poll are new
            self._note_reach(fetch.url, outcome)
        if outcome.result is Result.OK and (fetch.kind is Kind.HUB or fetch.url in self._lists):
            self._first = fetch.url not in self._shown
            self._shown.setdefault(fetch.url, set())
        if fetch.kind is not Kind.PAGE:
            return links
        return [*(sighting for sighting in links if sighting.kind is Kind.RESOURCE), *self._hubs_among(links)]

    def _hubs_among(self, links: Sequence[Sighting]) -> list[Sighting]:
        """Return links of a new page as hubs on trial, as many as the polls have room for; most linked first."""
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
        """Enter a poll: schedule the hub's next one, or drop the hub."""
        pages, polls = self._ledger.pages, self._polls
        first = pages.states[page] == State.LEASED
        if pages.polled(page, outcome):
            if first:
                self._capture.counts.polled()
            self._overflown(page, outcome, linked)
            self._wavers(page, outcome, linked)
            self._disproved(pages.urls[page])
            self._note_reach(pages.urls[page], outcome)
            polls.polled(page, outcome.started, self._alone(page, linked))
            if polls.barren(page):
                self.closed(page, "other hubs showed everything that it showed")
        elif pages.states[page] == State.LOST:
            self.closed(page, outcome.error or f"status {outcome.status}")
        else:
            polls.missed(page, outcome.started)

    def _note_reach(self, url: str, outcome: Outcome) -> None:
        """Note the instant up to which an answer shows its hub: a cache's copy shows an earlier state."""
        if outcome.age != UNTOLD:
            first, until = self._reaches.get(url, (outcome, -math.inf))
            until = max(until, reach(outcome, first, None))  # new entries were in no earlier answer
            self._reaches[url] = (first if no_later(outcome, first) else outcome, until)

    def _alone(self, hub: PageId, linked: Sequence[PageId]) -> bool:
        """Was the hub the first to show most pages new since its last poll? (Once may be chance.)"""
        ledger = self._ledger
        since = self._polls.last(hub)
        rows = [ledger.novelties[page] for page in linked if page in ledger.novelties]
        first = [row.hub == hub for row in rows if since is not None and row.seen > since]
        return sum(first) > len(first) / 2

    def _overflown(self, hub: PageId, outcome: Outcome, linked: Sequence[PageId]) -> None:
        """Note a list of only new pages: it may have dropped others unseen."""
        rows = [self._ledger.novelties.get(page) for page in linked]
        all_new = all(row is not None and row.seen == outcome.ended for row in rows)
        if rows and all_new and hub in self._listing:
            url = self._ledger.pages.urls[hub]
            self._capture.note(f"{url} listed only new pages at a poll: others may be missing. Use a shorter every=")
        if rows:
            self._listing.add(hub)

    def _wavers(self, hub: PageId, outcome: Outcome, linked: Sequence[PageId]) -> None:
        """Note a hub that names dropped entries again: what it lacks may still be there, so no delay rests on it."""
        if self._answer is None or outcome.result is not Result.OK or not linked:
            return  # while restoring (only what each poll named first is known), or nothing changed
        novelties = self._ledger.novelties
        named = {page for page in linked if page in novelties}
        ever, last = self._named.get(hub, (set(), set()))
        back = (named & ever) - last
        ever |= named
        self._named[hub] = ever, named
        if not back or (note := self._wavering(hub)) in self._capture.notes:
            return
        for row in [row for row in novelties.values() if row.hub == hub and row.since is not None]:
            self._ledger.novel(row._replace(since=None))
        self._capture.note(note)

    def _wavering(self, hub: PageId) -> str:
        """Return the note on such a hub, by which it is recognized after a restart."""
        return f"{self._ledger.pages.urls[hub]} listed pages again that it had dropped: what it lacked shows no delay"

    def closed(self, page: PageId, reason: str) -> None:
        """Drop a hub."""
        pages = self._ledger.pages
        self._polls.drop(page, pages.hosts[page])
        self._capture.note(f"{pages.urls[page]} is not polled: {reason}")
