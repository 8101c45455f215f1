"""What an instant crawl does beyond a capture: hubs are polled, what they newly name is fetched, all else is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.lifecycle import Event, State
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.frontier.seen import UNSEEN
from sharc_crawler.frontier.store import NoveltyRow
from sharc_crawler.model import Kind, Result, Sighting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.model import Instant, Outcome, PageId

LEFT = "not new: left to the common crawl"
FORERUN = 60.0  #: seconds that a server's clock may be ahead of ours
ANSWERED = (Result.OK, Result.NOT_MODIFIED)
HUB_KEY = "hub:"  #: before the URL of a hub that was a page before


def enter(ledger: Ledger, capture: SiteCapture, page: PageId) -> None:
    """A hub is known, and is polled from now on: on trial, where a new page or a hub on trial led to it."""
    host, parent = ledger.pages.hosts[page], ledger.pages.parents[page]
    trial = parent != NO_PARENT and (ledger.pages.kinds[parent] is Kind.PAGE or ledger.polls.on_trial(parent))
    ledger.polls.add(page, host, capture.number, trial)
    ledger.hosts[host].captures[capture.number] = None


def why_left(ledger: Ledger, capture: SiteCapture, sighting: Sighting, parent: PageId) -> str:
    """Why a page is recorded and not fetched; empty: it has come into being since the crawl began, and is."""
    return "" if _is_new(ledger, capture, sighting, parent) else LEFT


def _is_new(ledger: Ledger, capture: SiteCapture, sighting: Sighting, parent: PageId) -> bool:
    """Has this page come into being since the crawl began?

    By the word of a feed or news sitemap; or since the hub that names it did not name it at its last poll.
    """
    if sighting.hints and sighting.hints.published is not None:
        return sighting.hints.published >= capture.started
    if parent == NO_PARENT:
        return False
    if ledger.pages.kinds[parent] is not Kind.HUB:
        return parent in ledger.novelties  # what a new page redirects to
    return ledger.pages.states[parent] == State.LEASED_AGAIN


def show(ledger: Ledger, page: PageId, hub: PageId, sighting: Sighting, seen: Instant) -> None:
    """A hub shows a page that nobody has shown before (or a new page redirects to it)."""
    if hub in ledger.novelties:
        ledger.novel(ledger.novelties[hub]._replace(page=page))
        return
    published = sighting.hints.published if sighting.hints else None
    ledger.novel(NoveltyRow(page, hub, seen, ledger.polls.last(hub), published))
    ledger.polls.news(hub)


def embedded(links: Sequence[Sighting]) -> list[Sighting]:
    """What a new page needs. Other pages that it names are news once a hub names them, and not known before."""
    return [sighting for sighting in links if sighting.kind is Kind.RESOURCE]


def candidates(ledger: Ledger, capture: SiteCapture, links: Sequence[Sighting]) -> list[Sighting]:
    """What a new page names, as a hub on trial: no more than the polls have room for, most often named first."""
    capture.candidates.named(link.key or link.url for link in links if link.kind is Kind.PAGE)
    chosen: list[Sighting] = []
    urls = capture.candidates.taken() if ledger.polls.room else iter(())
    while len(chosen) < ledger.polls.room and (url := next(urls, None)) is not None:
        known = capture.seen.get(url)
        hub = HUB_KEY + url in capture.seen or (known != UNSEEN and ledger.pages.kinds[known] is Kind.HUB)
        if not hub and capture.scope.why_not(url) is None:
            chosen.append(Sighting(url, Kind.HUB, "new pages"))
    return chosen


def date(ledger: Ledger, page: PageId, sighting: Sighting) -> None:
    """A feed says when a page was published that a hub without dates had shown."""
    row = ledger.novelties[page]
    if row.published is None and sighting.hints and sighting.hints.published is not None:
        ledger.novel(row._replace(published=sighting.hints.published))


def polled(ledger: Ledger, capture: SiteCapture, page: PageId, outcome: Outcome, linked: Sequence[PageId] = ()) -> None:
    """A poll ended for good, after what it named was taken in: ``linked``, pages of the capture."""
    first = ledger.pages.states[page] == State.LEASED
    if outcome.result in ANSWERED:
        ledger.pages.move(page, Event.CAPTURED if first else Event.POLLED)
        capture.captured += first
        _remember(ledger, page, outcome)
        ledger.polls.polled(page, outcome.started, _alone(ledger, page, linked))
        if ledger.polls.barren(page):
            close(ledger, capture, page, "the others showed all that it did")
    elif first and outcome.result is not Result.FAILED:
        ledger.pages.move(page, Event.NO_CONTENT)
        close(ledger, capture, page, outcome.error or f"status {outcome.status}")
    else:
        ledger.pages.move(page, Event.GIVEN_BACK)
        ledger.polls.missed(page, outcome.started)


def _alone(ledger: Ledger, hub: PageId, linked: Sequence[PageId]) -> bool:
    """Has the hub shown most of what was new since its last poll before any other? Once, that may be chance."""
    since = ledger.polls.last(hub)
    rows = [ledger.novelties[page] for page in linked if page in ledger.novelties]
    first = [row.hub == hub for row in rows if since is not None and row.seen > since]
    return sum(first) > len(first) / 2


def close(ledger: Ledger, capture: SiteCapture, page: PageId, reason: str) -> None:
    """The hub is none: it is not asked again."""
    ledger.polls.drop(page, ledger.pages.hosts[page], capture.number)
    capture.note(f"{ledger.pages.urls[page]} is not polled: {reason}")


def _remember(ledger: Ledger, page: PageId, outcome: Outcome) -> None:
    """The next poll asks whether this state has changed."""
    if outcome.result is Result.OK:
        ledger.pages.remember(page, outcome)
