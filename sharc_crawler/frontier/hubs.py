"""What an instant crawl does beyond a capture: hubs are polled, what they newly name is fetched, all else is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.lifecycle import Event, State
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.frontier.store import NoveltyRow
from sharc_crawler.model import Kind, Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.model import Instant, Outcome, PageId, Sighting

LEFT = "not new: left to the common crawl"
FORERUN = 60.0  #: seconds that a server's clock may be ahead of ours
ANSWERED = (Result.OK, Result.NOT_MODIFIED)


def enter(ledger: Ledger, capture: SiteCapture, page: PageId) -> None:
    """A hub is known, and is polled from now on."""
    host = ledger.pages.hosts[page]
    ledger.polls.add(page, host, capture.number)
    ledger.hosts[host].captures[capture.number] = None


def is_new(ledger: Ledger, capture: SiteCapture, sighting: Sighting, parent: PageId) -> bool:
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


def date(ledger: Ledger, page: PageId, sighting: Sighting) -> None:
    """A feed says when a page was published that a hub without dates had shown."""
    row = ledger.novelties[page]
    if row.published is None and sighting.hints and sighting.hints.published is not None:
        ledger.novel(row._replace(published=sighting.hints.published))


def polled(ledger: Ledger, capture: SiteCapture, page: PageId, outcome: Outcome) -> None:
    """A poll ended for good, after what it named was taken in."""
    first = ledger.pages.states[page] == State.LEASED
    if outcome.result in ANSWERED:
        ledger.pages.move(page, Event.CAPTURED if first else Event.POLLED)
        capture.captured += first
        _remember(ledger, page, outcome)
        ledger.polls.polled(page, outcome.started)
    elif first and outcome.result is not Result.FAILED:
        ledger.pages.move(page, Event.NO_CONTENT)
        close(ledger, capture, page, outcome.error or f"status {outcome.status}")
    else:
        ledger.pages.move(page, Event.GIVEN_BACK)
        ledger.polls.missed(page, outcome.started)


def close(ledger: Ledger, capture: SiteCapture, page: PageId, reason: str) -> None:
    """The hub is none: it is not asked again."""
    ledger.polls.drop(page, ledger.pages.hosts[page], capture.number)
    capture.note(f"{ledger.pages.urls[page]} is not polled: {reason}")


def _remember(ledger: Ledger, page: PageId, outcome: Outcome) -> None:
    """The next poll asks whether this state has changed."""
    if outcome.result is Result.OK:
        ledger.pages.remember(page, outcome)
