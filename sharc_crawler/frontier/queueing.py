"""What is new gets a host, a rate and a number, and is queued: pages by their strategy, all else by its host."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from sharc_crawler.frontier import hubs, subsites
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.model import Kind, PageId, RateEstimate, Sighting, Slot
from sharc_crawler.strategies.base import Candidates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.parts import Parts
    from sharc_crawler.model import Instant

UNRATED = RateEstimate(0.0, "none")
TOO_LATE = "discovered after the reference instant"


class Queuer:
    """Queues what was admitted."""

    def __init__(self, ledger: Ledger, parts: Parts) -> None:
        self._ledger = ledger
        self._host_of = parts.host_of

    def enter(
        self, capture: SiteCapture, fresh: Mapping[str, Sighting], now: Instant, parent: PageId, depth: int
    ) -> None:
        """Rate, number and queue what is new."""
        ledger = self._ledger
        # Rates are known by canonical URL, whatever spelling was found.
        pages = [
            sighting if sighting.url == key else replace(sighting, url=key)
            for key, sighting in fresh.items()
            if sighting.kind is Kind.PAGE
        ]
        estimates = iter(capture.rates.rates(pages, now))
        instant = capture.spec.mode == "instant"
        late = TOO_LATE if capture.too_late else ""
        queued: list[PageId] = []
        for key, sighting in fresh.items():
            host = self._host(capture, self._host_of(sighting.url if sighting.key else key), sighting.url)
            if sighting.kind is not Kind.PAGE:
                self._enter_other(capture, key, sighting, host, depth, parent)
                continue
            left = late or (hubs.why_left(ledger, capture, sighting, parent) if instant else "")
            weight = capture.rates.weight(sighting)
            page = ledger.add_page(capture, key, sighting, host, depth, parent, next(estimates), weight, left)
            ledger.hosts[host].captures[capture.number] = None
            if left:
                capture.late += 1
                continue
            queued.append(page)
            if instant:
                hubs.show(ledger, page, parent, sighting, now)
        if queued:
            self.offer(capture, queued, now)

    def _enter_other(
        self, capture: SiteCapture, key: str, sighting: Sighting, host: int, depth: int, parent: PageId
    ) -> None:
        """Resources and sitemaps: owed by their host, whatever the strategy says."""
        ledger = self._ledger
        late = TOO_LATE if capture.turned else ""
        page = ledger.add_page(capture, key, sighting, host, depth, parent, UNRATED, reason=late)
        if late:
            return
        if sighting.kind is Kind.HUB:
            hubs.enter(ledger, capture, page)
            return
        if sighting.kind is Kind.SITEMAP:
            capture.opening += 1
            ledger.owe(capture, page, Slot.ONLY)
            return
        twice = parent != NO_PARENT and capture.strategy is not None and capture.strategy.revisits
        if parent != NO_PARENT:
            ledger.embeds(parent, page)
            capture.embedded.setdefault(ledger.owner(parent), []).append(page)
        ledger.owe(capture, page, Slot.FIRST if twice else Slot.ONLY)

    def _host(self, capture: SiteCapture, name: str, url: str) -> int:
        """A host's number; one that is new owes its robots.txt before all else."""
        known = len(self._ledger.hosts)
        number = self._ledger.host(name, capture)
        if number == known and self._ledger.hosts[number].waits:
            self.owe_robots(capture, number, urljoin(url, "/robots.txt"))
        return number

    def owe_robots(self, capture: SiteCapture, number: int, url: str, depth: int = 0) -> None:
        """The host owes this robots.txt (or what it redirects to) before all else."""
        key = f"robots:{url}"
        if key in capture.seen:  # read again after a day
            key += f" {len(self._ledger.pages)}"
        page = self._ledger.add_page(
            capture, key, Sighting(url, Kind.ROBOTS, "host"), number, depth, NO_PARENT, UNRATED
        )
        self._ledger.owe(capture, page, Slot.ONLY)

    def offer(self, capture: SiteCapture, queued: list[PageId], now: Instant) -> None:
        """Pages were found: the strategy takes them, or they wait until there is one for them."""
        if capture.strategy is None:
            capture.waiting.extend(queued)
        elif own := subsites.joining(self._ledger, capture, queued):
            self.add(capture, own, now)

    def add(self, capture: SiteCapture, queued: list[PageId], now: Instant) -> None:
        """Hand pages to the strategy."""
        assert capture.strategy is not None, "pages are offered until there is one"
        pages, attesting = self._ledger.pages, capture.attesting
        capture.strategy.add(
            Candidates.of(
                queued,
                [pages.rates[page] for page in queued],
                [pages.weights[page] for page in queued],
                [pages.shapes[page] for page in queued],
                [attesting.attestable(page, pages.urls[page], now) for page in queued] if attesting else None,
            )
        )
