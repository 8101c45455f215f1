"""Instant crawls: hubs are polled, what they newly name is fetched, all else is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.lifecycle import Event, State
from sharc_crawler.frontier.modes.base import Mode
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.frontier.seen import HUB_KEY, UNSEEN
from sharc_crawler.frontier.store import NoveltyRow
from sharc_crawler.model import Kind, Result, Sighting
from sharc_crawler.polling.candidates import HubCandidates
from sharc_crawler.polling.polls import Polls
from sharc_crawler.polling.site import SitePolls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.model import Fetch, Instant, Outcome, PageId

LEFT = "not new: left to the common crawl"
FORERUN = 60.0  #: seconds that a server's clock may be ahead of ours
ANSWERED = (Result.OK, Result.NOT_MODIFIED)


class Instantly(Mode):
    """The seeds are hubs."""

    seeds = Kind.HUB
    whole = False

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
        """It has come into being since the crawl began, or is left."""
        return "" if self._is_new(sighting, parent) else LEFT

    def _is_new(self, sighting: Sighting, parent: PageId) -> bool:
        """Has this page come into being since the crawl began?

        By the word of a feed or news sitemap; or since the hub that names it did not name it at its last poll.
        """
        if sighting.hints and sighting.hints.published is not None:
            return sighting.hints.published >= self._capture.started
        if parent == NO_PARENT:
            return False
        if self._ledger.pages.kinds[parent] is not Kind.HUB:
            return parent in self._ledger.novelties  # what a new page redirects to
        return self._ledger.pages.states[parent] == State.LEASED_AGAIN

    def queued(self, page: PageId, parent: PageId, sighting: Sighting, now: Instant) -> None:
        """A hub shows a page that nobody has shown before (or a new page redirects to it)."""
        ledger = self._ledger
        if parent in ledger.novelties:
            ledger.novel(ledger.novelties[parent]._replace(page=page))
            return
        published = sighting.hints.published if sighting.hints else None
        ledger.novel(NoveltyRow(page, parent, now, self._polls.last(parent), published))
        self._polls.news(parent)

    def dated(self, page: PageId, sighting: Sighting) -> None:
        """A feed says when a page was published that a hub without dates had shown."""
        row = self._ledger.novelties.get(page)
        published = sighting.hints.published if sighting.hints else None
        if row is not None and row.published is None and published is not None:
            self._ledger.novel(row._replace(published=published))

    def named(self, fetch: Fetch, links: Sequence[Sighting]) -> Sequence[Sighting]:
        """What a new page needs, and hubs on trial.

        Other pages that it names are news once a hub names them, and not known before.
        """
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
                chosen.append(Sighting(url, Kind.HUB, "new pages"))
        return chosen

    # -- polls -------------------------------------------------------------------------------------------------------

    def polled(self, page: PageId, outcome: Outcome, linked: Sequence[PageId]) -> None:
        """What it named is taken in: the hub's next poll falls due, or it is none."""
        pages, polls = self._ledger.pages, self._polls
        first = pages.states[page] == State.LEASED
        if outcome.result in ANSWERED:
            pages.move(page, Event.CAPTURED if first else Event.POLLED)
            if first:
                self._capture.counts.polled()
            if outcome.result is Result.OK:  # the next poll asks whether this state has changed
                pages.remember(page, outcome)
            polls.polled(page, outcome.started, self._alone(page, linked))
            if polls.barren(page):
                self.closed(page, "the others showed all that it did")
        elif first and outcome.result is not Result.FAILED:
            pages.move(page, Event.NO_CONTENT)
            self.closed(page, outcome.error or f"status {outcome.status}")
        else:
            pages.move(page, Event.GIVEN_BACK)
            polls.missed(page, outcome.started)

    def _alone(self, hub: PageId, linked: Sequence[PageId]) -> bool:
        """Has the hub shown most of what was new since its last poll before any other? Once, that may be chance."""
        ledger = self._ledger
        since = self._polls.last(hub)
        rows = [ledger.novelties[page] for page in linked if page in ledger.novelties]
        first = [row.hub == hub for row in rows if since is not None and row.seen > since]
        return sum(first) > len(first) / 2

    def closed(self, page: PageId, reason: str) -> None:
        """The hub is none."""
        pages = self._ledger.pages
        self._polls.drop(page, pages.hosts[page])
        self._capture.note(f"{pages.urls[page]} is not polled: {reason}")
