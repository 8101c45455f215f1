"""From a sighting to a queued page: canonical, in scope, new, rated, handed to its strategy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

from sharc_crawler.errors import UsageError
from sharc_crawler.frontier import hubs
from sharc_crawler.frontier.attesting import Attesting
from sharc_crawler.frontier.capture import SiteCapture
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.frontier.seen import UNSEEN
from sharc_crawler.model import Kind, PageId, RateEstimate, Sighting, Slot
from sharc_crawler.strategies.base import Candidates, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.parts import Parts
    from sharc_crawler.frontier.spec import CaptureSpec
    from sharc_crawler.model import Instant
    from sharc_crawler.strategies.base import Strategy

MAX_SITEMAP_DEPTH = 5  #: index files within index files
UNRATED = RateEstimate(0.0, "none")
HUB_KEY = "hub:"  #: before the URL of a hub that was a page before
WELL_KNOWN_SITEMAP = "/sitemap.xml"


class Admitted(NamedTuple):
    """What came of the sightings of one document."""

    new: int  #: URLs that the capture has not known
    linked: list[PageId]  #: pages of the capture among them, new or not


class Admitter:
    """Takes sightings in."""

    def __init__(self, ledger: Ledger, parts: Parts) -> None:
        self._ledger = ledger
        self._parts = parts
        self._by_host: dict[str, list[SiteCapture]] = {}

    # -- captures ------------------------------------------------------------------------------------------------

    def open(self, spec: CaptureSpec, now: Instant, seeded: bool) -> SiteCapture:
        """A new capture with its seeds; robots.txt and sitemaps come first where they are asked for."""
        ledger = self._ledger
        capture = SiteCapture(len(ledger.captures), spec, self._parts.scope(spec), self._parts.rates(spec), now)
        capture.attesting = self.attesting(spec)
        ledger.captures.append(capture)
        ledger.changed_capture(capture)
        if seeded:
            self._seed(capture, now)
        return capture

    def attesting(self, spec: CaptureSpec) -> Attesting | None:
        """Where the strategy takes the server's word: what that is held against."""
        attests = self._parts.strategy(spec, Setting()).attests
        return Attesting(self._parts.history(spec), spec.audit) if attests else None

    def _seed(self, capture: SiteCapture, now: Instant) -> None:
        spec = capture.spec
        kind = Kind.HUB if spec.mode == "instant" else Kind.PAGE
        if not self.admit(capture, [Sighting(url, kind) for url in spec.seeds], now).new:
            raise UsageError(f"seeds={spec.seeds!r} of {spec.site!r}: no URL that its scope admits")
        for url in spec.seeds:
            seed = self._parts.canonical(url)
            if seed:
                self._open_host(capture, self._parts.host_of(seed), seed)
        self.add_sitemaps(capture, spec.sitemaps or ())
        self._ledger.wake(capture)

    def _open_host(self, capture: SiteCapture, name: str, seed: str) -> None:
        """A seed's host: its robots.txt is read before the first page, for its rules and its sitemaps."""
        known = self._by_host.setdefault(name, [])
        if capture in known:
            return
        known.append(capture)
        host = self._ledger.hosts[self._ledger.host_numbers[name]]
        if host.waits:
            capture.opening += 1
        elif capture.spec.sitemaps is None:
            named = host.rules.sitemaps if host.rules else ()
            self.add_sitemaps(capture, named or [urljoin(seed, WELL_KNOWN_SITEMAP)])

    def host_opened(self, number: int, text_url: str) -> None:
        """A host's robots.txt has been read: the captures that waited for it look for its sitemaps."""
        host = self._ledger.hosts[number]
        for capture in self._by_host.get(host.name, ()):
            if capture.strategy is None and capture.opening:
                capture.opening -= 1
                if capture.spec.sitemaps is None:
                    named = host.rules.sitemaps if host.rules else ()
                    self.add_sitemaps(capture, named or [urljoin(text_url, WELL_KNOWN_SITEMAP)])
                self._ledger.wake(capture)

    def add_sitemaps(self, capture: SiteCapture, urls: Iterable[str], via: str = "robots.txt") -> None:
        """Sitemaps to be read before the first page."""
        self.admit(capture, [Sighting(url, Kind.SITEMAP, via) for url in urls], capture.started)

    def widen(self, capture: SiteCapture, page: PageId, location: str) -> None:
        """A seed that redirects out of its scope takes the scope along."""
        pages = self._ledger.pages
        seed = pages.depths[page] == 0 and pages.urls[page] in capture.spec.seeds
        if seed and pages.kinds[page] in (Kind.PAGE, Kind.HUB) and capture.scope.why_not(location):
            capture.scope = capture.scope.widened(location)
            capture.note(f"the seed {pages.urls[page]} redirects to {location}: the scope takes it in")

    def open_hosts_again(self, capture: SiteCapture) -> None:
        """After a restart: the hosts of the seeds, where robots.txt was still to be read."""
        for url in capture.spec.seeds:
            seed = self._parts.canonical(url)
            name = self._parts.host_of(seed) if seed else ""
            if seed and name in self._ledger.host_numbers and self._ledger.hosts[self._ledger.host_numbers[name]].waits:
                self._open_host(capture, name, seed)

    def begin(self, capture: SiteCapture, now: Instant) -> Strategy:
        """All that is known from the start is known: build the strategy."""
        spec = capture.spec
        if spec.sitemaps != () and len(capture.waiting) <= len(spec.seeds) and spec.mode == "capture":
            capture.note("no sitemap named any page: pages come from links")
        step = max((self._ledger.hosts[h].delay for h in capture.hosts), default=0.0)
        size = max(spec.size, len(capture.waiting))
        if spec.limit:
            size = min(size, spec.limit)
        capture.strategy = self._parts.strategy(spec, Setting(size=size, step=step or 0.05, start=now))
        if capture.attesting is not None:
            urls = {page: self._ledger.pages.urls[page] for page in capture.waiting}
            capture.attesting.begin(urls, now)
        self._offer(capture, capture.waiting, now)
        capture.waiting = []
        return capture.strategy

    # -- sightings -----------------------------------------------------------------------------------------------

    def route(self, sightings: Iterable[Sighting], now: Instant) -> int:
        """Sightings from outside: each goes to the captures that have a seed on its host."""
        new = 0
        for sighting in sightings:
            key = self._key(sighting)
            for capture in self._by_host.get(self._parts.host_of(key), ()) if key else ():
                new += self.admit(capture, [sighting], now).new
                self._ledger.wake(capture)
        return new

    def admit(
        self,
        capture: SiteCapture,
        sightings: Sequence[Sighting],
        now: Instant,
        parent: PageId = NO_PARENT,
        depth: int = 0,
    ) -> Admitted:
        """Sightings of one document."""
        # Most links are known, and spelled canonically: look them up first, all at once, as they are.
        found = capture.seen.find([sighting.key or sighting.url for sighting in sightings])
        page_kind = Kind.PAGE  # looked up once: a page names many
        fresh: dict[str, Sighting] = {}
        linked: list[PageId] = []
        closer: list[str] = []
        for sighting, page in zip(sightings, found, strict=True):
            if page == UNSEEN:
                key = self._look_closer(capture, sighting, fresh, now, parent, depth)
                if key is not None and sighting.kind is page_kind:
                    closer.append(key)
            else:
                if sighting.kind is page_kind:
                    linked.append(page)
                if sighting.hints or sighting.kind is not page_kind:
                    self._seen_again(capture, page, sighting, now, parent)
        if fresh:
            self._enter(capture, fresh, now, parent, depth)
        return Admitted(len(fresh), [*linked, *(page for page in capture.seen.find(closer) if page != UNSEEN)])

    def _look_closer(
        self,
        capture: SiteCapture,
        sighting: Sighting,
        fresh: dict[str, Sighting],
        now: Instant,
        parent: PageId,
        depth: int,
    ) -> str | None:
        """A URL that is not known as it is spelled: nothing, or known under its canonical form, or new."""
        key = self._key(sighting)
        if key is None:
            capture.skipped["not an http(s) URL"] += 1
        elif key in fresh:
            pass
        elif key in capture.seen:
            self._seen_again(capture, capture.seen[key], sighting, now, parent)
        elif self._wanted(capture, sighting, key, parent, depth):
            fresh[key] = sighting
        return key

    def _key(self, sighting: Sighting) -> str | None:
        return sighting.key or self._parts.canonical(sighting.url)

    def _wanted(self, capture: SiteCapture, sighting: Sighting, key: str, parent: PageId, depth: int) -> bool:
        """Does the capture take a URL it has not known?"""
        if sighting.kind is Kind.RESOURCE:
            return capture.spec.resources
        if sighting.kind is Kind.HUB:
            return capture.scope.why_not(key.removeprefix(HUB_KEY)) is None
        if sighting.kind is not Kind.PAGE:
            return depth <= MAX_SITEMAP_DEPTH and self._may_name(capture, key, parent)
        reason = capture.scope.why_not(key)
        if reason is not None:
            capture.skipped[reason] += 1
            self._pass_on(capture, sighting, key)
            return False
        limit = capture.spec.limit
        if limit and capture.pages >= limit:
            capture.skipped[f"over limit={limit}"] += 1
            return False
        capture.pages += 1
        return True

    def _may_name(self, capture: SiteCapture, key: str, parent: PageId) -> bool:
        """An index names sitemaps of its own host or of the site; robots.txt and people may name any."""
        pages = self._ledger.pages
        at_home = parent == NO_PARENT or self._parts.host_of(key) == self._parts.host_of(pages.urls[parent])
        if at_home or capture.scope.why_not(key) is None:
            return True
        capture.skipped["a sitemap index names another site's sitemap"] += 1
        return False

    def _pass_on(self, capture: SiteCapture, sighting: Sighting, key: str) -> None:
        """What one site links to may be a page of another that is captured at the same time."""
        for other in self._by_host.get(self._parts.host_of(key), ()):
            if other is not capture and key not in other.seen and other.spec.mode == "capture":
                self.admit(other, [sighting], other.started)
                self._ledger.wake(other)

    def _enter(
        self, capture: SiteCapture, fresh: dict[str, Sighting], now: Instant, parent: PageId, depth: int
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
        queued: list[PageId] = []
        for key, sighting in fresh.items():
            host = self._host(capture, self._parts.host_of(sighting.url if sighting.key else key), sighting.url)
            if sighting.kind is Kind.PAGE:
                left = self._why_left(capture, sighting, parent)
                capture.late += bool(left)
                page = ledger.add_page(
                    capture,
                    key,
                    sighting,
                    host,
                    depth,
                    parent,
                    next(estimates),
                    capture.rates.weight(sighting),
                    State.LATE if left else State.QUEUED,
                    left,
                )
                ledger.hosts[host].captures[capture.number] = None
                if not left:
                    queued.append(page)
                    if capture.spec.mode == "instant":
                        hubs.show(ledger, page, parent, sighting, now)
            else:
                self._enter_other(capture, key, sighting, host, depth, parent)
        if queued:
            self._offer(capture, queued, now)

    def _why_left(self, capture: SiteCapture, sighting: Sighting, parent: PageId) -> str:
        """Why a page is recorded and not fetched; empty: it is fetched."""
        if capture.too_late:
            return "discovered after the reference instant"
        if capture.spec.mode == "instant" and not hubs.is_new(self._ledger, capture, sighting, parent):
            return hubs.LEFT
        return ""

    def _enter_other(
        self, capture: SiteCapture, key: str, sighting: Sighting, host: int, depth: int, parent: PageId
    ) -> None:
        """Resources and sitemaps: owed by their host, whatever the strategy says."""
        ledger = self._ledger
        late = capture.too_late
        page = ledger.add_page(
            capture, key, sighting, host, depth, parent, UNRATED, state=State.LATE if late else State.QUEUED
        )
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
        new = name not in self._ledger.host_numbers
        number = self._ledger.host(name, capture)
        if new and self._ledger.hosts[number].waits:
            self.owe_robots(capture, number, urljoin(url, "/robots.txt"))
        return number

    def owe_robots(self, capture: SiteCapture, number: int, url: str, depth: int = 0) -> None:
        """The host owes this robots.txt (or what it redirects to) before all else."""
        page = self._ledger.add_page(
            capture, f"robots:{url}", Sighting(url, Kind.ROBOTS, "host"), number, depth, NO_PARENT, UNRATED
        )
        self._ledger.owe(capture, page, Slot.ONLY)

    def _seen_again(self, capture: SiteCapture, page: PageId, sighting: Sighting, now: Instant, parent: PageId) -> None:
        """A known URL: a better rate, or one more page that needs the resource."""
        ledger = self._ledger
        if sighting.kind is Kind.RESOURCE:
            if parent != NO_PARENT:
                ledger.embeds(parent, page)
        elif sighting.kind is Kind.HUB and ledger.pages.kinds[page] is not Kind.HUB:  # known, but not as a hub
            self.admit(capture, [replace(sighting, key=HUB_KEY + ledger.pages.urls[page])], now, parent)
        elif sighting.hints and page in ledger.novelties:
            hubs.date(ledger, page, sighting)
        elif sighting.hints and ledger.pages.kinds[page] is Kind.PAGE and ledger.pages.states[page] == State.QUEUED:
            (estimate,) = capture.rates.rates([sighting], now)
            if estimate.rate == ledger.pages.rates[page]:
                return
            ledger.repriced(page, estimate)
            if capture.strategy is not None:
                capture.strategy.reprice(page, estimate.rate)

    def hear(self, capture: SiteCapture, sightings: Sequence[Sighting], read: Instant) -> None:
        """What sitemaps say of the last changes of pages, where the server's word counts."""
        if capture.attesting is None and capture.news is None:
            return
        for sighting in sightings:
            hints = sighting.hints
            if hints is None or hints.lastmod is None:
                continue
            (page,) = capture.seen.find((sighting.key or sighting.url,))
            if page == UNSEEN and (key := self._key(sighting)) is not None:
                (page,) = capture.seen.find((key,))
            if page != UNSEEN and capture.attesting is not None:
                capture.attesting.hear(page, read, hints.lastmod, hints.lastmod_precision)
                self._ledger.said(page, read, hints.lastmod, hints.lastmod_precision)
            elif page != UNSEEN and capture.news is not None:
                capture.news[page] = hints.lastmod, hints.lastmod + hints.lastmod_precision

    def _offer(self, capture: SiteCapture, queued: list[PageId], now: Instant) -> None:
        """Hand pages to the strategy, or keep them until there is one."""
        if capture.strategy is None:
            capture.waiting.extend(queued)
            return
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
