"""From a sighting to what a capture takes: canonical, not known yet, in scope."""

from __future__ import annotations

from array import array
from functools import partial
from itertools import groupby, repeat
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin

from sharc_crawler.frontier.ledger import NewUrl
from sharc_crawler.frontier.lifecycle import Event, State
from sharc_crawler.frontier.pages import HUB_KEY, NO_PARENT, UNRATED
from sharc_crawler.frontier.unrated import Sightings
from sharc_crawler.known_urls import UNSEEN
from sharc_crawler.model import EMBEDDED, Kind, PageId, Sighting, Slot
from sharc_crawler.strategies.base import Candidates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.parts import Aside, Parts
    from sharc_crawler.model import Instant, RateEstimate

_PAGE, _QUEUED = Kind.PAGE, int(State.QUEUED)  # looked up once
#: why URLs are left that a larger ``limit`` or ``hops`` would take
OVER_LIMIT, TOO_FAR = "over limit={}", "more than {0} links from a seed or sitemap (hops={0})"
MANY = 500  #: that a document names, taken in at once where they can be
LOG_OUT = "it would end the session"


class Admitted(NamedTuple):
    """What came of the sightings of one document."""

    new: int  #: URLs that the capture has not known
    linked: list[PageId]  #: pages of the capture among them, new or not


class Admitter:
    """Takes sightings in."""

    def __init__(self, ledger: Ledger, parts: Parts, queuer: Queuer) -> None:
        self._ledger = ledger
        self.canonical = parts.canonical
        self.host_of = parts.host_of
        self._queuer = queuer
        self.nested = 0  #: sitemaps that indexes within indexes named

    def admit(
        self,
        capture: SiteCapture,
        sightings: Sequence[Sighting],
        now: Instant,
        parent: PageId = NO_PARENT,
        depth: int = 0,
        *,
        listed: bool = False,
    ) -> Admitted:
        """Sightings of one document; ``listed``: it is a sitemap, or what one names and leads on to another address."""
        if not sightings:
            return Admitted(0, [])
        # Most links are known, and spelled canonically: look them up first, all at once, as they are; in columns, as to
        # read a field of each costs as much as its look-up.
        urls, kinds, _, hints, keyed, *_ = zip(*sightings, strict=True)
        found = capture.seen.find([key or url for key, url in zip(keyed, urls, strict=True)] if any(keyed) else urls)
        plain = kinds.count(_PAGE) == len(kinds) and not any(hints)
        if plain and UNSEEN not in found:
            return Admitted(0, found)
        if listed and len(urls) > MANY and (entered := self._at_once(capture, sightings, found, now, parent, depth)):
            return Admitted(len(entered), list(entered))
        closer = [
            at
            for at, page in enumerate(found)
            if page == UNSEEN or not (plain or (kinds[at] is _PAGE and not hints[at]))
        ]
        fresh: dict[str, Sighting] = {}
        keys: dict[int, str] = {}
        for at in closer:
            sighting, page = sightings[at], found[at]
            if page == UNSEEN:
                key = self._look_closer(capture, sighting, fresh, now, parent, depth, listed=listed)
                if key is not None and kinds[at] is _PAGE:
                    keys[at] = key
            else:
                self._seen_again(capture, page, sighting, now, parent)
                if kinds[at] is not _PAGE:
                    found[at] = UNSEEN
        self._queuer.enter(capture, fresh, now, parent, depth)
        for at, key in keys.items():
            found[at] = capture.seen.get(key)
        if told := {
            found[at]: sightings[at]._replace(url=keys.get(at) or keyed[at] or urls[at])
            for at in closer
            if hints[at] and found[at] != UNSEEN and keys.get(at) not in fresh
        }:
            self._queuer.rate_again(capture, told, now)
        return Admitted(len(fresh), [page for page in found if page != UNSEEN] if UNSEEN in found else found)

    def _at_once(self, *about: Any) -> range:
        from sharc_crawler.frontier.listed import enter  # only of long sitemaps

        return enter(self, self._ledger, self._queuer, *about)

    def take_up(self, capture: SiteCapture, pages: list[PageId], now: Instant) -> None:
        """Pages that were left are fetched after all."""
        for page in pages:
            self._ledger.pages.move(page, Event.WANTED)
            capture.counts.left(-1)
        self._queuer.offer(capture, pages, now)

    def _look_closer(
        self,
        capture: SiteCapture,
        sighting: Sighting,
        fresh: dict[str, Sighting],
        now: Instant,
        parent: PageId,
        depth: int,
        *,
        listed: bool,
    ) -> str | None:
        """A URL that is not known as it is spelled: nothing, or known under its canonical form, or new."""
        key = sighting.key or sighting.canonical or self.canonical(sighting.url)
        if key is None:
            self._ledger.left_out(sighting.url, "not an http(s) URL", sighting.via)
        elif key in fresh:
            pass
        elif key != (sighting.key or sighting.url) and (page := capture.seen.get(key)) != UNSEEN:
            self._seen_again(capture, page, sighting, now, parent)
        elif capture.spec.session and _ends_session(sighting.url):
            self._ledger.left_out(key, LOG_OUT, sighting.via)
        elif self._wanted(capture, sighting, key, parent, depth, listed=listed):
            fresh[key] = sighting
        return key

    def _wanted(
        self, capture: SiteCapture, sighting: Sighting, key: str, parent: PageId, depth: int, *, listed: bool
    ) -> bool:
        """Does the capture take a URL it has not known?"""
        if sighting.kind is not _PAGE:
            return self._wanted_besides(capture, sighting, key, parent, depth)
        reason = capture.scope.why_not(key)
        if reason is not None:
            self._ledger.left_out(key, reason, sighting.via)
            self._ledger.shared.outside(sighting, key, depth)
            if capture.strategy is None and parent != NO_PARENT:
                capture.front.lies_elsewhere(sighting)
            return False
        if depth and (reason := self._endless(capture, key, parent, depth, listed=listed)):
            self._ledger.left_out(key, reason, sighting.via)
            return False
        limit = capture.spec.limit
        if limit and capture.counts.pages >= limit:
            self._ledger.left_out(key, OVER_LIMIT.format(limit), sighting.via)
            return False
        capture.counts.known()
        return True

    def _wanted_besides(self, capture: SiteCapture, sighting: Sighting, key: str, parent: PageId, depth: int) -> bool:
        """What is no page: a resource, a hub or a sitemap."""
        if sighting.kind in EMBEDDED:
            return capture.spec.resources
        if sighting.kind is Kind.PROBE:
            return True
        if sighting.kind is Kind.HUB:
            return capture.mode.takes_hubs and capture.scope.why_not(key.removeprefix(HUB_KEY)) is None
        if not depth:
            return True
        from sharc_crawler.frontier.indexes import why_not  # many sites have one sitemap

        if why := why_not(self, self._ledger.pages, capture.scope, key, parent, depth):
            self._ledger.left_out(key, why, sighting.via)
        return why is None

    def out_of_scope(self, capture: SiteCapture, url: str) -> str | None:
        """Why a page is not captured that was admitted before the capture went on with a narrower scope."""
        key = self.canonical(url)
        return None if key is None else capture.scope.why_not(key)

    def _endless(self, capture: SiteCapture, key: str, parent: PageId, depth: int, *, listed: bool) -> str | None:
        """Why a URL that nobody gave us looks like one of endlessly many: by its way here, or by its like."""
        hops = capture.spec.hops
        if hops and depth > hops:
            return TOO_FAR.format(hops)
        return capture.traps.why_not_found(key, parent) if capture.traps and not listed else None

    def _seen_again(self, capture: SiteCapture, page: PageId, sighting: Sighting, now: Instant, parent: PageId) -> None:
        """A known URL: one more page that needs the resource, a page that is a hub, too, or one that is dated now."""
        ledger = self._ledger
        if sighting.kind in EMBEDDED:
            if parent != NO_PARENT:
                ledger.embeds(parent, page)
        elif sighting.kind is Kind.HUB and ledger.pages.kinds[page] is not Kind.HUB:  # known, but not as a hub
            self.admit(capture, [sighting._replace(key=HUB_KEY + ledger.pages.urls[page])], now, parent)
        elif sighting.hints:
            capture.mode.dated(page, sighting)

    def ingest(self, capture: SiteCapture, sightings: Sequence[Sighting], read: Instant) -> None:
        """What sitemaps say of the last changes of pages, where that is wanted."""
        if capture.mode.listens:
            from sharc_crawler.frontier.listed import ingest  # at T, and where changes are looked out for

            ingest(self._ledger, self.canonical, capture, sightings, read)


def _ends_session(url: str) -> bool:
    from sharc_crawler.login import is_log_out  # only where there is one

    return is_log_out(url)


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
        if not fresh:
            return
        waits = capture.strategy is None and capture.mode.whole  # for all pages that the sitemaps name
        estimates: Iterator[RateEstimate] = repeat(UNRATED)
        if not waits:
            pages = [  # known by that
                one if one.url == key else one._replace(url=key) for key, one in fresh.items() if one.kind is _PAGE
            ]
            estimates = iter(capture.rates.rates(pages, now))
        queued: list[PageId] = []
        for is_page, some in groupby(fresh.items(), key=_is_page):
            if is_page:
                queued += self._enter_pages(capture, list(some), estimates, now, parent, depth, waits=waits)
            else:
                for key, sighting in some:
                    self._enter_other(capture, key, sighting, depth, parent)
        if queued:
            self.offer(capture, queued, now)

    def _enter_pages(
        self,
        capture: SiteCapture,
        named: list[tuple[str, Sighting]],
        estimates: Iterator[RateEstimate],
        now: Instant,
        parent: PageId,
        depth: int,
        *,
        waits: bool,
    ) -> list[PageId]:
        """Pages are numbered, all at once; those that are queued."""
        ledger, mode = self._ledger, capture.mode
        late = TOO_LATE if capture.turned and not mode.parted else ""
        hosts = [self.host(capture, key, sighting) for key, sighting in named]
        for host in set(hosts):
            ledger.hosts[host].has_pages = True
        why_left, weight = mode.why_left, capture.rates.weight
        numbers = ledger.add_pages(
            [
                NewUrl(key, one, host, estimate, weight(one), late or why_left(one, parent))
                for (key, one), host, estimate in zip(named, hosts, estimates, strict=False)
            ],
            depth,
            parent,
        )
        taken = [page for page in numbers if ledger.pages.states[page] == _QUEUED]
        capture.counts.left(len(numbers) - len(taken))
        entered = [named[page - numbers.start] for page in taken]
        if waits:
            capture.front.unrated.put_all(taken, entered)
        for page, (_, sighting) in zip(taken, entered, strict=True):
            mode.queued(page, parent, sighting, now)
        return taken

    def _enter_other(self, capture: SiteCapture, key: str, sighting: Sighting, depth: int, parent: PageId) -> None:
        """Resources and sitemaps: owed by their host, whatever the strategy says."""
        ledger = self._ledger
        embedded = parent != NO_PARENT and sighting.kind in EMBEDDED
        beyond = embedded and capture.embedded.full(ledger.owner(parent))  # no host hears of what is not fetched
        host = ledger.pages.hosts[parent] if beyond else self.host(capture, key, sighting)
        late = TOO_LATE if capture.turned else ""
        (page,) = ledger.add_pages([NewUrl(key, sighting, host, UNRATED, reason=late)], depth, parent)
        if late:
            return
        if sighting.kind is Kind.HUB:
            capture.mode.hub(page)
            return
        if sighting.kind is Kind.SITEMAP:
            capture.owed.before_visits()
            ledger.owe(page, Slot.ONLY)
            return
        twice = parent != NO_PARENT and capture.strategy is not None and capture.strategy.revisits
        if parent == NO_PARENT:  # no page brings it: its host asks for what comes next, and after the last for the end
            ledger.hosts[host].has_pages = True
        else:
            ledger.embeds(parent, page)
            capture.embedded.add(ledger.owner(parent), page)
        ledger.owe(page, Slot.FIRST if twice else Slot.ONLY)

    def host(self, capture: SiteCapture, key: str, sighting: Sighting) -> int:
        """The number of a URL's host; one that is new owes its robots.txt before all else."""
        name = sighting.host or self._host_of(sighting.url if sighting.key else key)
        number = self._ledger.host_numbers.get(name)
        if number is None:
            number = self._ledger.host(name)
            if self._ledger.hosts[number].waits:
                self.owe_robots(capture, number, urljoin(sighting.url, "/robots.txt"))
        return number

    def owe_robots(self, capture: SiteCapture, number: int, url: str, depth: int = 0) -> None:
        """The host owes this robots.txt (or what it redirects to) before all else."""
        key = f"robots:{url}"
        if key in capture.seen:  # read again after a day
            key += f" {len(self._ledger.pages)}"
        robots = NewUrl(key, Sighting(url, Kind.ROBOTS, "host"), number, UNRATED)
        (page,) = self._ledger.add_pages([robots], depth, NO_PARENT)
        self._ledger.owe(page, Slot.ONLY)

    def rating(self, capture: SiteCapture, now: Instant, aside: Aside) -> Iterator[Future[Any]]:
        """All pages that are known before the first decision get their rates: one question, and all is learned once."""
        if unrated := capture.front.take_unrated():
            waiting = Sightings(unrated, self._ledger.pages.urls)
            yield (rates := aside(partial(capture.rates.rates, waiting, now), len(unrated)))
            self._ledger.rated_all(unrated.pages, rates.result())
        capture.swings = capture.swings or capture.rates.swings()

    def rate_again(self, capture: SiteCapture, told: Mapping[PageId, Sighting], now: Instant) -> None:
        """A document tells of pages that were known: those not visited yet get better rates."""
        ledger, pages, known = self._ledger, self._ledger.pages, {}
        for page, sighting in told.items():
            if page in capture.front.unrated:
                capture.front.unrated.put(page, sighting, pages.urls[page])
                ledger.hinted(page, sighting.hints)
            elif not capture.beginning and pages.kinds[page] is Kind.PAGE and pages.states[page] == State.QUEUED:
                known[page] = sighting
        for page, estimate in zip(known, capture.rates.rates(list(known.values()), now), strict=True) if known else ():
            if estimate.rate != ledger.pages.rates[page]:
                ledger.rated(page, estimate)
                if capture.strategy is not None:
                    capture.strategy.reprice(page, estimate.rate)

    def offer(self, capture: SiteCapture, queued: list[PageId], now: Instant) -> None:
        """Pages were found: the strategy takes them, or they wait until there is one for them."""
        if capture.strategy is None:
            capture.front.wait(queued)
        elif own := capture.mode.joining(queued):
            self.add(capture, own, now)

    def add(self, capture: SiteCapture, queued: list[PageId], now: Instant) -> None:
        """Hand pages to the strategy."""
        assert capture.strategy is not None, "pages are offered until there is one"
        pages = self._ledger.pages
        rates, weights, shapes = (_taken(column, queued) for column in (pages.rates, pages.weights, pages.shapes))
        capture.strategy.add(
            Candidates.of(
                queued,
                capture.mode.planned_by(queued, rates),
                weights,
                shapes,
                capture.mode.attestable(queued, now),
                early=capture.mode.early(queued),
            )
        )


def _is_page(named: tuple[str, Sighting]) -> bool:
    return named[1].kind is _PAGE


def _taken(column: array[float], pages: list[PageId]) -> array[float]:
    """A column's values of some pages."""
    return array("d", map(column.__getitem__, pages))
