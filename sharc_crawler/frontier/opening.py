"""A site capture begins: seeds, their hosts' robots.txt, sitemaps; then, with all that is known, its strategy."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin

from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.capture import SiteCapture
from sharc_crawler.frontier.modes import subsites
from sharc_crawler.frontier.modes.attested import Attesting
from sharc_crawler.model import Kind, Sighting
from sharc_crawler.strategies.base import Setting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sharc_crawler.frontier.admission import Admitter, Queuer
    from sharc_crawler.frontier.hosts import Host
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.parts import Parts
    from sharc_crawler.frontier.spec import CaptureSpec
    from sharc_crawler.model import Instant, PageId
    from sharc_crawler.strategies.base import Strategy

WELL_KNOWN_SITEMAP = "/sitemap.xml"


class Opener:
    """Leads captures from their seeds to their first decision."""

    def __init__(self, ledger: Ledger, parts: Parts, queuer: Queuer, admitter: Admitter) -> None:
        self._ledger = ledger
        self._parts = parts
        self._queuer = queuer
        self._admitter = admitter

    def open(self, spec: CaptureSpec, now: Instant, seeded: bool) -> SiteCapture:
        """A new capture with its seeds; robots.txt and sitemaps come first where they are asked for."""
        ledger = self._ledger
        capture = SiteCapture(len(ledger.captures), spec, self._parts.scope(spec), self._parts.rates(spec), now)
        self.prepare(capture)
        ledger.captures.append(capture)
        ledger.changed_capture(capture)
        if seeded:
            self._seed(capture, now)
        return capture

    def prepare(self, capture: SiteCapture) -> None:
        """What must be known of the strategy before there is one: does it take the server's word, does it revisit?"""
        spec = capture.spec
        strategy = self._parts.strategy(spec, Setting())
        subsites.check(strategy, spec.subsites)
        if strategy.attests:
            capture.attesting = Attesting(self._parts.history(spec), spec.audit)
        capture.compares = strategy.revisits or strategy.attests
        capture.budget.all_revisited = strategy.revisits and not strategy.attests

    def _seed(self, capture: SiteCapture, now: Instant) -> None:
        spec = capture.spec
        kind = Kind.HUB if spec.mode == "instant" else Kind.PAGE
        if not self._admitter.admit(capture, [Sighting(url, kind) for url in spec.seeds], now).new:
            raise UsageError(f"seeds={spec.seeds!r} of {spec.site!r}: no URL that its scope admits")
        for url in spec.seeds:
            seed = self._parts.canonical(url)
            if seed and kind is Kind.PAGE:
                capture.budget.seeds.update(capture.seen.find((seed,)))
            if seed:
                self._open_host(capture, self._parts.host_of(seed), seed)
        self._add_sitemaps(capture, spec.sitemaps or ())
        self._ledger.wake(capture)

    def _open_host(self, capture: SiteCapture, name: str, seed: str) -> None:
        """A seed's host: its robots.txt is read before the first page, for its rules and its sitemaps."""
        known = self._ledger.seeded.setdefault(name, [])
        if capture in known:
            return
        known.append(capture)
        host = self._ledger.hosts[self._ledger.host_numbers[name]]
        if host.waits:
            capture.opening += 1
        else:
            self._look_for_sitemaps(capture, host, seed)

    def host_opened(self, number: int, text_url: str) -> None:
        """A host's robots.txt has been read: the captures that waited for it look for its sitemaps."""
        host = self._ledger.hosts[number]
        for capture in self._ledger.seeded.get(host.name, ()):
            if capture.opening:
                capture.opening -= 1
                self._look_for_sitemaps(capture, host, text_url)
                self._ledger.wake(capture)

    def _look_for_sitemaps(self, capture: SiteCapture, host: Host, url: str) -> None:
        """Those that robots.txt names, else the one at the usual place."""
        if capture.spec.sitemaps is None:
            named = host.rules.sitemaps if host.rules else ()
            self._add_sitemaps(capture, named or [urljoin(url, WELL_KNOWN_SITEMAP)])

    def _add_sitemaps(self, capture: SiteCapture, urls: Iterable[str]) -> None:
        """Sitemaps to be read before the first page."""
        self._admitter.admit(capture, [Sighting(url, Kind.SITEMAP, "robots.txt") for url in urls], capture.started)

    def open_hosts_again(self, capture: SiteCapture) -> None:
        """After a restart: the hosts of the seeds, where robots.txt was still to be read."""
        for url in (*capture.spec.seeds, *capture.moved):
            seed = self._parts.canonical(url)
            name = self._parts.host_of(seed) if seed else ""
            number = self._ledger.host_numbers.get(name)
            host = None if number is None else self._ledger.hosts[number]
            if seed and host and host.waits and not host.rules:  # not where the rules are only read again
                self._open_host(capture, name, seed)

    def widen(self, capture: SiteCapture, page: PageId, location: str) -> bool:
        """A seed that redirects out of its scope takes the scope along."""
        pages = self._ledger.pages
        seed = pages.depths[page] == 0 and pages.urls[page] in capture.spec.seeds
        moved = seed and pages.kinds[page] in (Kind.PAGE, Kind.HUB) and bool(capture.scope.why_not(location))
        if moved:
            capture.scope = capture.scope.widened(location)
            capture.moved.append(location)
            capture.note(f"the seed {pages.urls[page]} redirects to {location}: the scope takes it in")
        return moved

    def open_moved(self, capture: SiteCapture, location: str, now: Instant) -> None:
        """The host that a seed redirects to: its own robots.txt and sitemaps, and what had been read of it before."""
        target = self._parts.canonical(location)
        if target is None:
            return
        self._open_host(capture, self._parts.host_of(target), target)
        listed, capture.elsewhere = capture.elsewhere, []
        self._admitter.admit(capture, listed, now)
        self._admitter.ingest(capture, listed, now)

    def begin(self, capture: SiteCapture, now: Instant) -> Strategy:
        """All that is known from the start is known: build the strategy."""
        spec = capture.spec
        if (
            not capture.visits
            and spec.sitemaps != ()
            and len(capture.waiting) <= len(spec.seeds)
            and not capture.elsewhere
            and spec.mode == "capture"
        ):
            capture.note("no sitemap named any page: pages come from links")
        self._queuer.rate(capture, now)
        step = capture.step or max((self._ledger.hosts[h].delay for h in capture.hosts), default=0.0) or 0.05
        pages, size = capture.waiting, spec.size
        if capture.subsites is not None:
            subsites.remember(capture, self._parts.links)
            pages, size = subsites.open_next(self._ledger, capture, step, now), 0
        size = max(size, len(pages))
        if spec.limit:
            size = min(size, spec.limit)
        capture.strategy = self._parts.strategy(spec, Setting(size=size, step=step, start=now))
        capture.former, capture.waiting = capture.visits, []
        if capture.attesting is not None:
            urls = self._ledger.pages.urls
            capture.attesting.begin({page: urls[page] for page in pages}, now)
            told = {page: urls[page] for page in sorted(capture.attesting.lastmods)}
            capture.attesting.draw(told, seed=round(capture.started))
        self._queuer.add(capture, pages, now)
        return capture.strategy
