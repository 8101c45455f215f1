"""Begin a site capture: seeds, robots.txt, sitemaps; then build the strategy with all that is known.

:class:`Parts` has what can be replaced in a frontier.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import urljoin

from sharc_crawler.addresses.scope import Scope
from sharc_crawler.addresses.urls import canonical, host_of
from sharc_crawler.errors import StrategyError, UsageError
from sharc_crawler.frontier.capture import SiteCapture, Spending
from sharc_crawler.frontier.modes import Mode, Untested
from sharc_crawler.links.robots import leads_on, missing, rules_of, rules_text
from sharc_crawler.model import (
    NO_VALIDATORS,
    Fetch,
    HowMade,
    Instant,
    Kind,
    Outcome,
    PageId,
    RateEstimate,
    Result,
    Sighting,
    Validators,
)
from sharc_crawler.state.lifecycle import Event
from sharc_crawler.strategies.base import Setting
from sharc_crawler.strategies.door import Door
from sharc_crawler.strategies.make import make_strategy

if TYPE_CHECKING:
    from sharc_crawler.frontier.admission import Admitter, Queuer
    from sharc_crawler.frontier.hosts import Host, Task
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.rates.history import SiteHistory
    from sharc_crawler.rates.swings import Swings
    from sharc_crawler.state.spec import CaptureSpec
    from sharc_crawler.strategies.base import Strategy

    Aside = Callable[[Callable[[], Any], int], Future[Any]]


class Admission(Protocol):
    """Decides which URLs are pages of a capture (:class:`~sharc_crawler.addresses.scope.Scope`)."""

    def why_not(self, url: str) -> str | None:
        """Return why a URL is not admitted, in a few words, else ``None``."""

    def outside(self, urls: Collection[str]) -> dict[str, str]:
        """Return the URLs that are not admitted, each with the reason."""

    def widened(self, seed: str) -> Admission:
        """Return the scope with one more seed."""


class Rates(Protocol):
    """A source of rates that never abstains (a chain that ends in a prior)."""

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> Sequence[RateEstimate]:
        """Return one estimate per sighting."""

    def weight(self, sighting: Sighting) -> float:
        """Return the page's weight in blur and coherence."""

    def swings(self) -> Swings | None:
        """Return how far these rates vary together, from the history; ``None``: not known."""


class LastSeen(NamedTuple):
    """What the archive last saw at a URL."""

    time: Instant
    digest: str  #: of the decoded content
    fingerprint: str | None = None

    def shows(self, outcome: Outcome) -> bool:
        """Has the outcome the same content?"""
        same = self.digest == (outcome.decoded or outcome.digest)
        return same or (self.fingerprint is not None and self.fingerprint == outcome.fingerprint)


def named_strategy(spec: CaptureSpec, setting: Setting) -> Strategy:
    """Make the strategy that a spec names, by entry point or dotted path."""
    return make_strategy(spec.strategy, setting)


def no_history(spec: CaptureSpec) -> SiteHistory:
    """Return the history of a site never captured."""
    from sharc_crawler.rates.history import SiteHistory  # only if a mode needs it

    return SiteHistory.empty(spec.site)


def at_once(work: Callable[[], Any], _: int) -> Future[Any]:
    """Do the work in the caller's thread."""
    done = Future[Any]()
    done.set_result(work())
    return done


def default_rates(_: CaptureSpec) -> Rates:
    """Make the rates of a first capture: from sitemaps, else the mean of the known pages."""
    from sharc_crawler.rates.chain import default_chain  # many sites state nothing

    return default_chain()


@dataclass(frozen=True, slots=True)
class Parts:
    """Factories, one per port; the defaults are what a live crawl uses."""

    strategy: Callable[[CaptureSpec, Setting], Strategy] = named_strategy
    scope: Callable[[CaptureSpec], Admission] = lambda spec: Scope(spec.seeds, spec.scope, spec.include, spec.exclude)
    rates: Callable[[CaptureSpec], Rates] = default_rates
    history: Callable[[CaptureSpec], SiteHistory] = no_history  #: the base of trust in lastmods
    links: Callable[[CaptureSpec], Iterable[tuple[str, str]]] = lambda _: ()  #: former captures' links, by URL
    #: validators of a URL's answer in a former capture
    former: Callable[[CaptureSpec, str], Validators] = lambda _spec, _url: NO_VALIDATORS
    believed: Callable[[], bool] = lambda: True  #: are this server's 304s trusted?
    #: a URL's answer in a former capture, as an outcome: it may stand for a visit if nothing has changed since
    taken: Callable[[CaptureSpec, str], Outcome | None] = lambda _spec, _url: None
    seen: Callable[[CaptureSpec, str, Instant], LastSeen | None] | None = None  #: last seen before an instant
    canonical: Callable[[str], str | None] = canonical  #: None: not a URL to crawl
    host_of: Callable[[str], str] = host_of
    aside: Aside = at_once  #: runs slow work (a callable, its number of pages), perhaps in another thread


WELL_KNOWN_SITEMAP = "/sitemap.xml"
MAX_NAMED_SITEMAPS = 1_000  #: read of one robots.txt: each is a request before the first page


class Opener:
    """Leads a capture from its seeds to its first decision."""

    def __init__(self, ledger: Ledger, parts: Parts, queuer: Queuer, admitter: Admitter) -> None:
        self._ledger = ledger
        self.parts = parts
        self._queuer = queuer
        self._admitter = admitter
        self._steps: Iterator[Future[Any]] | None = None  # steps left until the strategy is built
        self._work: Future[Any] | None = None  # the step under way

    def open(self, spec: CaptureSpec, now: Instant, seeded: bool) -> SiteCapture:
        """Open a new capture, with its seeds unless the caller adds URLs itself."""
        ledger = self._ledger
        capture = ledger.capture = self.prepared(spec, now)
        ledger.changed_capture()
        if seeded:
            self._seed(capture, now)
        return capture

    def prepared(self, spec: CaptureSpec, started: Instant) -> SiteCapture:
        """Make a capture in the mode that its spec and strategy ask for."""
        parts = self.parts
        capture = SiteCapture(spec, parts.scope(spec), parts.rates(spec), started)
        strategy = parts.strategy(spec, Setting())
        capture.budget = spending_of(spec, started)
        capture.mode = make_mode(self._ledger, capture, strategy, parts)
        capture.budget.all_revisited = strategy.revisits and not strategy.attests
        return capture

    def _seed(self, capture: SiteCapture, now: Instant) -> None:
        spec, kind = capture.spec, capture.mode.seeds
        if not self._admitter.admit(capture, [Sighting(url, kind) for url in spec.seeds], now).new:
            raise UsageError(f"seeds={spec.seeds!r}: no URL that is taken in ({capture.scope.why_not(spec.seeds[0])})")
        for url in spec.seeds:
            seed = self.parts.canonical(url)
            if seed and kind is Kind.PAGE:
                capture.budget.keep_room(capture.seen.find((seed,)))
            if seed:
                self.open_host(capture, self.parts.host_of(seed), seed)
        self._add_sitemaps(capture, spec.sitemaps or ())
        self._ledger.ring.wake_all()

    def open_host(self, capture: SiteCapture, name: str, seed: str) -> None:
        """Open a seed's host: read its robots.txt, then its sitemaps, before pages."""
        if name in self._ledger.seeded or name not in self._ledger.host_numbers:
            return
        self._ledger.seeded.add(name)
        host = self._ledger.hosts[self._ledger.host_numbers[name]]
        if host.waits:
            capture.owed.before_visits(name)
        else:
            self._look_for_sitemaps(capture, host, seed)

    def _host_opened(self, number: int, text_url: str) -> None:
        """A host's robots.txt is read: if it is a seed's, read its sitemaps next."""
        host, capture = self._ledger.hosts[number], self._ledger.capture
        if host.name in capture.owed.first:
            capture.owed.was_read(host.name)
            self._look_for_sitemaps(capture, host, text_url)
            self._ledger.ring.wake_all()

    # -- robots.txt and sitemaps that were read --------------------------------------------------------------------

    def robots_read(self, capture: SiteCapture, page: PageId, outcome: Outcome) -> None:
        """Take the rules of a host, or follow a redirect to them."""
        ledger = self._ledger
        pages = ledger.pages
        number, hops, url = pages.hosts[page], pages.depths[page], pages.urls[page]
        if leads_on(outcome, hops) and outcome.location:
            self._queuer.owe_robots(capture, number, outcome.location, hops + 1)
            return
        host = ledger.hosts[number]
        first, host.waits, host.read = host.rules is None, False, outcome.ended
        if not first and missing(outcome):
            return  # the former rules stay (RFC 9309, 2.4)
        text = rules_text(outcome)
        host.obey(rules_of(text, ledger.politeness.agent, url), ledger.politeness.max_delay)
        host.pace.asked(host, outcome.sent or outcome.started)
        host.missing = missing(outcome)
        if why := host.missing or host.too_slow:
            capture.note(f"{url} {why}: nothing on it is fetched")
        elif text:
            from sharc_crawler.links.robots_rules import noted

            if note := noted(url, text):
                capture.note(note)
        ledger.changed_host(host, text)
        if first:
            self._host_opened(number, url)

    def sitemap_read(self, capture: SiteCapture, fetch: Fetch, task: Task, outcome: Outcome) -> None:
        """Note how a sitemap's download ended."""
        self._ledger.pages.move(fetch.page, Event.CAPTURED if outcome.result is Result.OK else Event.NO_CONTENT)
        capture.owed.was_read(fetch.page)
        capture.mode.sitemap_read(fetch.page, task.slot, outcome)
        if outcome.result not in (Result.OK, Result.REDIRECTED):
            note = f"sitemap {fetch.url}: {outcome.error or f'status {outcome.status}'}"
            if outcome.result is Result.FAILED and not capture.turned:
                note += ": pages that only it lists are missing from this capture"
            capture.note(HowMade(note) if outcome.result is Result.GONE else note)
        elif outcome.error:
            capture.note(f"sitemap {fetch.url}: {outcome.error}")
        self._ledger.changed_capture()

    def claim(self, capture: SiteCapture, page: PageId) -> None:
        """Take a sitemap's canonical URL for the sitemap: it named something, so it is no page."""
        capture.seen.add(self.parts.canonical(self._ledger.pages.urls[page]) or "", page)

    def _look_for_sitemaps(self, capture: SiteCapture, host: Host, url: str) -> None:
        """Add the sitemaps that robots.txt names, else the one at the well-known place."""
        if capture.spec.sitemaps is None:
            named = host.rules.sitemaps if host.rules else ()
            if len(named) > MAX_NAMED_SITEMAPS:
                taken = f"the first {MAX_NAMED_SITEMAPS:,} are read (others: sitemap=URL)"
                capture.note(f"{url} names {len(named):,} sitemaps: {taken}")
            self._add_sitemaps(capture, named[:MAX_NAMED_SITEMAPS] or [urljoin(url, WELL_KNOWN_SITEMAP)])

    def _add_sitemaps(self, capture: SiteCapture, urls: Iterable[str]) -> None:
        """Add sitemaps, read before the first page."""
        named = [self._admitter.sitemap(capture, Sighting(url, Kind.SITEMAP, "robots.txt")) for url in urls]
        self._admitter.admit(capture, named, capture.started)

    def _made(self, spec: CaptureSpec, setting: Setting) -> Door:
        try:
            return Door(self.parts.strategy(spec, setting), spec.strategy)
        except Exception as error:
            why = f"strategy={spec.strategy!r} cannot be made: {type(error).__name__}: {error}"
            raise StrategyError(why) from error

    def begin(self, capture: SiteCapture, now: Instant, aside: Aside | None = None) -> Door | None:
        """Build the strategy from all known pages; ``None`` while that goes on in another thread."""
        if self._work is not None and not self._work.done():
            return None
        steps = self._steps or self._begin(capture, now, aside or self.parts.aside)
        self._steps, capture.beginning = None, False
        for self._work in steps:
            if not self._work.done():
                self._steps, capture.beginning = steps, True
                return None
        return capture.strategy

    def _begin(self, capture: SiteCapture, now: Instant, aside: Aside) -> Iterator[Future[Any]]:
        """Yield the slow steps of building the strategy; then add pages found meanwhile."""
        spec, front, mode = capture.spec, capture.front, capture.mode
        listed = len(front.waiting) + mode.pooled > len(spec.seeds) or front.elsewhere or spec.sitemaps == ()
        if mode.whole and not (listed or capture.owed.unread or capture.counts.visits):
            capture.note(HowMade("no sitemap lists any page: pages are found by links"))
        known = front.take()
        yield from self._queuer.rating(capture, now, aside)
        step = mode.step or max((host.delay for host in self._ledger.hosts), default=None) or 0.05
        pages = mode.first_pages(known, step, now)
        size = max(mode.size(spec.size), len(pages))
        bounded = bool(spec.limit or spec.max_requests or spec.max_bytes or spec.max_time)
        strategy = self._made(spec, Setting(min(size, spec.limit or size), step, now, bounded=bounded))
        yield (prepared := aside(partial(mode.prepare, pages, now), len(pages)))
        prepared.result()
        capture.begin(strategy)
        self._ledger.changed_capture()
        mode.begun(pages, now)
        capture.budget.keep_listed(pages, self._ledger.pages)
        self._queuer.add(capture, pages, now)
        if front.waiting:
            yield from self._queuer.rating(capture, now, at_once)
            self._queuer.offer(capture, front.take(), now)


def spending_of(spec: CaptureSpec, started: Instant) -> Spending:
    """Make the budget of a capture."""
    if not (spec.max_requests or spec.max_bytes or spec.max_time):
        return Spending()
    from sharc_crawler.frontier.bounded import SiteBudget  # only with a bound

    return SiteBudget(spec, started)


def make_mode(ledger: Ledger, capture: SiteCapture, strategy: Strategy, parts: Parts) -> Mode:
    """Make the mode; raise :class:`UsageError` as :func:`check` does."""
    spec = capture.spec
    tests = _tests(ledger, capture, parts)
    check(strategy, spec.subsites, spec.mode)
    if spec.mode == "instant":
        from sharc_crawler.frontier.modes.instant import Instantly

        return Instantly(ledger, capture, compares=strategy.revisits)
    if spec.mode == "survey":
        from sharc_crawler.frontier.modes.by_lastmods import Surveyed

        return Surveyed(ledger, capture, parts.history(spec), tests, parts.aside)
    if spec.mode == "continuous":
        from sharc_crawler.frontier.modes.continuous import Continuously

        return Continuously(ledger, capture, tests)
    if strategy.attests:
        from sharc_crawler.frontier.modes.by_lastmods import ByLastmods

        seen = parts.seen and partial(parts.seen, spec)
        return ByLastmods(ledger, capture, parts.history(spec), tests, parts.aside, seen)
    if spec.subsites:
        from sharc_crawler.frontier.modes.subsites import Subsites

        return Subsites(ledger, capture, lambda: parts.links(spec), tests)
    from sharc_crawler.frontier.modes.two_visits import TwoVisits

    return TwoVisits(ledger, capture, tests, compares=strategy.revisits)


def _tests(ledger: Ledger, capture: SiteCapture, parts: Parts) -> Untested:
    """Make the tests of the capture's rates by what the archive last saw, if there is an archive."""
    if (seen := parts.seen) is None:
        return Untested()
    from sharc_crawler.frontier.modes.rate_tests import RateTests

    return RateTests(capture, ledger.pages, partial(seen, capture.spec), partial(parts.history, capture.spec))


def check(strategy: Strategy, subsites: str, mode: str = "capture") -> None:
    """Check that the strategy suits subsites and mode: both need visits and revisits around a T.

    Raises :class:`~sharc_crawler.errors.UsageError` if it does not.
    """
    if mode == "continuous" and (subsites or strategy.attests or not strategy.revisits):
        why = f"subsites={subsites!r} has several" if subsites else "the strategy makes single visits"
        raise UsageError(f"mode='continuous' ends with one T, visits before it and revisits after it, and {why}")
    if subsites and (strategy.attests or not strategy.revisits):
        why = "has one T for the whole site" if strategy.attests else "makes single visits"
        raise UsageError(
            f"subsites={subsites!r} needs visits and revisits around a reference instant for each part, and the"
            f" strategy {why}; use sharc-selective, or leave subsites= out"
        )
