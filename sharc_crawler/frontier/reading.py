"""What robots.txt and sitemaps mean for a capture: rules for a host, the end of its opening, T by the server's word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.lifecycle import Event
from sharc_crawler.frontier.robots import RobotsRules, is_page, leads_on, missing, rules_text
from sharc_crawler.model import Phase, Result, Slot

if TYPE_CHECKING:
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.hosts import Task
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.opening import Opener
    from sharc_crawler.frontier.queueing import Queuer
    from sharc_crawler.model import Fetch, Outcome, PageId


class Reader:
    """Takes in how the fetches of robots.txt and sitemaps ended."""

    def __init__(self, ledger: Ledger, opener: Opener, queuer: Queuer) -> None:
        self._ledger = ledger
        self._opener = opener
        self._queuer = queuer

    def robots(self, capture: SiteCapture, fetch: Fetch, outcome: Outcome) -> None:
        """Rules for a host, or the redirect to follow for them."""
        ledger = self._ledger
        pages = ledger.pages
        number, hops = pages.hosts[fetch.page], pages.depths[fetch.page]
        self._end(fetch.page, outcome)
        if leads_on(outcome, hops) and outcome.location:
            self._queuer.owe_robots(capture, number, outcome.location, hops + 1)
            return
        host = ledger.hosts[number]
        first, host.waits, host.read = host.rules is None, False, outcome.ended
        if not first and outcome.result is Result.FAILED:
            return  # what was read before holds on (RFC 9309, 2.4)
        text = rules_text(outcome)
        host.obey(RobotsRules(text, ledger.politeness.agent, fetch.url), ledger.politeness.max_delay)
        host.pace.pause(outcome.started + host.delay)
        host.missing = missing(outcome)
        if why := host.missing or host.too_slow:
            capture.note(f"{fetch.url} {why}: nothing on it is fetched")
        elif is_page(text):
            capture.note(f"{fetch.url} is an HTML page, not a robots.txt: nothing in it counts, all may be fetched")
        ledger.changed_host(host, text)
        if first:
            self._opener.host_opened(number, fetch.url)
        ledger.changed_capture(capture)

    def sitemap(self, capture: SiteCapture, fetch: Fetch, task: Task, outcome: Outcome) -> None:
        """A sitemap was read, or could not be; the first that is read again is at T."""
        self._end(fetch.page, outcome)
        capture.opening -= 1
        if fetch.page in capture.sitemaps:
            capture.sitemaps[fetch.page] = outcome.started
        if capture.attesting is not None:
            capture.attesting.read(fetch.page, outcome)
        if task.slot is Slot.SECOND and capture.attesting is not None and capture.reference is None:
            capture.reference = outcome.started
            capture.phase = Phase.REVISIT
            assert capture.strategy is not None, "sitemaps are read again when visits are made"
            capture.strategy.reference_passed()
        if outcome.result not in (Result.OK, Result.REDIRECTED):
            capture.note(f"sitemap {fetch.url}: {outcome.error or f'status {outcome.status}'}")
        elif outcome.error:
            capture.note(f"sitemap {fetch.url}: {outcome.error}")
        self._ledger.changed_capture(capture)

    def _end(self, page: PageId, outcome: Outcome) -> None:
        """They are captured or lost, never judged."""
        self._ledger.pages.move(page, Event.CAPTURED if outcome.result is Result.OK else Event.NO_CONTENT)
