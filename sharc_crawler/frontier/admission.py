"""Admit URLs to a capture: canonical, new and in scope; then rate and queue them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import compress, groupby, islice, repeat
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from sharc_crawler.addresses.known_urls import UNSEEN, SeenUrls, picked
from sharc_crawler.addresses.scope import MOST_LISTED
from sharc_crawler.model import EMBEDDED, Instant, Kind, PageId, RateEstimate, Sighting, Slot, columns_of
from sharc_crawler.state.lifecycle import Event, State
from sharc_crawler.state.pages import HUB_KEY, NO_PARENT, UNRATED
from sharc_crawler.state.unrated import Sightings
from sharc_crawler.strategies.base import Candidates

if TYPE_CHECKING:
    from concurrent.futures import Future

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.opening import Aside, Parts

    Keyed = tuple[str, Sighting]  #: a sighting with its key
    Keys = Sequence[str | None]

_PAGE, _QUEUED = Kind.PAGE, int(State.QUEUED)  # local names are faster
#: why URLs are left out that a larger ``limit`` or ``hops`` would admit
OVER_LIMIT, TOO_FAR = "over limit={}", "more than {0} links from a seed or sitemap (hops={0})"
MOST = 2_000_000  #: pages known without ``limit``; beyond that no link is followed, as each page takes memory
LOG_OUT = "it would end the session"
ORDER = "in a session, it would be an order to the server, by its name"
_FILES = (".xml", ".gz", ".txt")  #: endings of sitemaps that cannot be pages


class Admitted(NamedTuple):
    """Result of admitting the sightings of one document."""

    new: int  #: URLs that were unknown and are admitted
    linked: list[PageId]  #: all sighted pages of the capture, new or known


class Origin(NamedTuple):
    """The document that names URLs."""

    now: Instant
    parent: PageId  #: its page
    depth: int  #: of the URLs that it names
    listed: bool  #: it is a sitemap, or a redirect that a sitemap names


class Admitter:
    """Decides which sighted URLs belong to the capture, and adds them as pages, resources or sitemaps."""

    def __init__(self, ledger: Ledger, parts: Parts, queuer: Queuer) -> None:
        self._ledger = ledger
        self.canonical = parts.canonical
        self.host_of = parts.host_of
        self._queuer = queuer
        self.nested = 0  #: sitemaps named by indexes within indexes

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
        """Admit the sightings of one document (see :class:`Origin`)."""
        # Most URLs are known as spelled: look them all up at once, in columns, since reading each field is as costly.
        urls, kinds, hints, keyed, canonicals = columns_of(sightings)
        if listed and Kind.SITEMAP in kinds:
            sightings = [self.sitemap(capture, sighting) for sighting in sightings]
            urls, kinds, hints, keyed, canonicals = columns_of(sightings)
        found = capture.seen.find([key or url for key, url in zip(keyed, urls, strict=True)] if keyed else urls)
        plain = kinds.count(_PAGE) == len(kinds) and not hints
        if plain and UNSEEN not in found:
            return Admitted(0, found)
        keys = self._unknown(capture.seen, urls, keyed, canonicals, found)
        sightings = [*sightings] if 8 * len(keys) > len(found) else sightings  # all at once, where many are new
        for at, page in () if plain else enumerate(found):
            if page != UNSEEN and (kinds[at] is not _PAGE or (hints and hints[at])):
                self._seen_again(capture, page, sightings[at], now, parent)
        new = [(key, sightings[at]) for at, key in keys.items() if found[at] == UNSEEN]
        fresh = self._taken(capture, new, origin := Origin(now, parent, depth, listed))
        entered = dict(zip(fresh, self._queuer.enter(capture, fresh, origin), strict=True))
        for at, key in keys.items():
            found[at] = entered.get(key, found[at])
        if not plain:
            for key, frame in [pair for pair in new if pair[1].kind in EMBEDDED and fresh.get(*pair).kind is _PAGE]:
                self._seen_again(capture, entered[key], frame, now, parent)  # it is a page and a resource
            found = [page if kind is _PAGE else UNSEEN for page, kind in zip(found, kinds, strict=True)]
        if len(fresh) < len(found) and hints:
            dated = [at for at, told in enumerate(hints) if told and found[at] != UNSEEN]
            known = [(at, keys.get(at) or (keyed[at] if keyed else None) or urls[at]) for at in dated]
            again = {found[at]: sightings[at]._replace(url=key) for at, key in known if key not in fresh}
            self._queuer.rate_again(capture, again, now)
        return Admitted(len(fresh), [page for page in found if page != UNSEEN] if UNSEEN in found else found)

    def sitemap(self, capture: SiteCapture, sighting: Sighting) -> Sighting:
        """Give a sitemap a key other than its canonical URL until it is read: the URL may be a page's."""
        if sighting.kind is not Kind.SITEMAP or sighting.key:
            return sighting
        key = self.canonical(sighting.url)
        known = not key or key in capture.seen or urlsplit(key).path.lower().endswith(_FILES)
        return sighting if known else sighting._replace(key=f"{key}#")

    def _unknown(
        self, seen: SeenUrls, urls: Sequence[str], keyed: Keys, canonical: Mapping[str, str | None], found: list[PageId]
    ) -> dict[int, str]:
        """Return the keys, by place, of URLs unknown as spelled; those known by their key are put in ``found``."""
        at = -1
        places = [at := found.index(UNSEEN, at + 1) for _ in range(found.count(UNSEEN))]
        named, own = picked(urls, places), picked(keyed, places) if keyed else repeat(None)
        pairs = zip(own, named, strict=False)
        keys = [key or (canonical and canonical.get(url)) or self.canonical(url) or "" for key, url in pairs]
        if (*keys,) != named:
            for at, key in zip(places, keys, strict=True):
                found[at] = seen.get(key)
        return dict(zip(places, keys, strict=True))

    def take_up(self, capture: SiteCapture, pages: list[PageId], now: Instant) -> None:
        """Queue pages that had been left out."""
        for page in pages:
            self._ledger.pages.move(page, Event.WANTED)
            capture.counts.left(-1)
        self._queuer.offer(capture, pages, now)

    def _taken(self, capture: SiteCapture, new: Sequence[Keyed], origin: Origin) -> dict[str, Sighting]:
        """Return those new URLs that the capture admits, by key, each with its first sighting."""
        if capture.spec.session or not all(key for key, _ in new):
            new = [(key, one) for key, one in new if self._can_be_asked(capture, key, one)]
        fresh: dict[str, Sighting] = {}
        for is_page, run in groupby(new, key=_is_page):
            if is_page:
                fresh |= self._pages_taken(capture, [(key, one) for key, one in run if key not in fresh], origin)
                continue
            for key, one in run:
                if key not in fresh and self._wanted_besides(capture, one, key, origin):
                    fresh[key] = one
        return fresh

    def _can_be_asked(self, capture: SiteCapture, key: str, sighting: Sighting) -> bool:
        """Is it an http(s) URL, and in a session neither a log-out nor an order?"""
        why = (_why_not(sighting.url) if capture.spec.session else "") if key else "not an http(s) URL"
        if why:
            self._ledger.left_out(key or sighting.url, why, sighting.via)
        return not why

    def _pages_taken(self, capture: SiteCapture, named: Sequence[Keyed], origin: Origin) -> dict[str, Sighting]:
        """Return those new pages that the capture admits, by key, each with its first sighting."""
        pages = dict(named)
        if len(pages) < len(named):
            pages |= reversed(named)
        outside = capture.scope.outside(pages)
        within = [key for key in pages if key not in outside] if outside else list(pages)
        left = outside | self._endless(capture, within, origin)
        limit = capture.spec.limit or MOST * (capture.mode.whole and origin.depth > 0 and not origin.listed)
        if limit and capture.counts.pages + len(within) > limit:
            over = [key for key in within if key not in left][max(0, limit - capture.counts.pages) :]
            left |= dict.fromkeys(over, OVER_LIMIT.format(limit))
        for key, one in named if left else ():
            if key in left:
                pages.pop(key, None)
                self._ledger.left_out(key, left[key], one.via)
            if key in outside:
                self._ledger.shared.outside(one, key, origin.depth)
                if capture.strategy is None and origin.parent != NO_PARENT:
                    capture.front.lies_elsewhere(one)
        capture.counts.known(len(pages))
        return pages

    def _wanted_besides(self, capture: SiteCapture, sighting: Sighting, key: str, origin: Origin) -> bool:
        """Is a resource, hub, probe or sitemap admitted?"""
        if sighting.kind in EMBEDDED:
            return capture.spec.resources
        if sighting.kind is Kind.HUB:
            return capture.mode.takes_hubs and capture.scope.why_not(key.removeprefix(HUB_KEY)) is None
        if sighting.kind is Kind.PROBE or not origin.depth:
            return True
        from sharc_crawler.frontier.besides_links import why_not  # many sites have no sitemap index

        if why := why_not(self, self._ledger.pages, capture.scope, key, origin.parent, origin.depth):
            self._ledger.left_out(key, why, sighting.via)
        return why is None

    def out_of_scope(self, capture: SiteCapture, url: str) -> str | None:
        """Return why an admitted page is now out of scope: a resumed capture may have a narrower one."""
        key = self.canonical(url)
        return None if key is None else capture.scope.why_not(key)

    def _endless(self, capture: SiteCapture, urls: Sequence[str], origin: Origin) -> dict[str, str]:
        """Return which linked URLs look like endlessly many, each with the reason: too many hops, or a trap."""
        hops, depth = capture.spec.hops, origin.depth
        if depth and hops and depth > hops:
            for url in urls[: MOST_LISTED - len(capture.far)]:
                capture.far.setdefault(url, origin.parent)
            return dict.fromkeys(urls, TOO_FAR.format(hops))
        return capture.traps.endless(urls, origin.parent) if depth and capture.traps and not origin.listed else {}

    def _seen_again(self, capture: SiteCapture, page: PageId, sighting: Sighting, now: Instant, parent: PageId) -> None:
        """Handle a known URL: a resource of one more page, a page that is also a hub, or a page dated now."""
        ledger = self._ledger
        if sighting.kind in EMBEDDED and ledger.pages.kinds[page] is Kind.SITEMAP:  # read once, never judged
            self.admit(capture, [sighting._replace(key=f"{self.canonical(sighting.url)}#")], now, parent)
        elif sighting.kind in EMBEDDED:
            if parent != NO_PARENT:
                ledger.embeds(parent, page)
        elif sighting.kind is Kind.HUB and ledger.pages.kinds[page] is not Kind.HUB:  # known, but not as a hub
            self.admit(capture, [sighting._replace(key=HUB_KEY + ledger.pages.urls[page])], now, parent)
        elif sighting.hints:
            capture.mode.dated(page, sighting)

    def ingest(self, capture: SiteCapture, sightings: Sequence[Sighting], read: Instant) -> None:
        """Pass lastmods of sitemaps to the mode, if it listens."""
        if capture.mode.listens:
            from sharc_crawler.frontier.besides_links import ingest  # only if the mode listens

            ingest(self._ledger, self.canonical, capture, sightings, read)


def _why_not(url: str) -> str:
    """Return why a URL is not requested in a session; empty if it is."""
    from sharc_crawler.addresses.orders import is_order
    from sharc_crawler.login import is_log_out  # only where there is one

    return LOG_OUT if is_log_out(url) else ORDER if is_order(url) else ""


TOO_LATE = "discovered after the reference instant"


class Queuer:
    """Rates admitted pages and gives them to the strategy, or keeps them until there is one."""

    def __init__(self, ledger: Ledger, parts: Parts) -> None:
        self._ledger = ledger
        self._host_of = parts.host_of

    def enter(self, capture: SiteCapture, fresh: Mapping[str, Sighting], origin: Origin) -> list[PageId]:
        """Rate, number and queue new URLs; return their numbers."""
        numbers, queued = list[PageId](), list[PageId]()
        if not fresh:
            return numbers
        estimates: Iterator[RateEstimate] = repeat(UNRATED)
        if not _waits(capture):
            named = [(key, sighting) for key, sighting in fresh.items() if sighting.kind is _PAGE]
            pages = [one if one.url == key else one._replace(url=key) for key, one in named]
            estimates = iter(capture.rates.rates(pages, origin.now))
        for is_page, run in groupby(fresh.items(), key=_is_page):
            if is_page:
                entered, own = self._enter_pages(capture, list(run), estimates, origin)
                numbers += entered
                queued += own
            else:
                numbers += [self._enter_other(capture, key, sighting, origin) for key, sighting in run]
        if queued:
            self.offer(capture, queued, origin.now)
        return numbers

    def _enter_pages(
        self, capture: SiteCapture, named: list[Keyed], estimates: Iterator[RateEstimate], origin: Origin
    ) -> tuple[range, list[PageId]]:
        """Number pages, all at once; return all numbers, and those of queued pages."""
        ledger, mode = self._ledger, capture.mode
        late = TOO_LATE if capture.turned and not mode.parted else ""
        keys, sightings = zip(*named, strict=True)
        hosts = self._hosts(capture, named)
        for host in set(hosts):
            ledger.may_have_pages(host)
        why_left = [late] * len(keys) if late else [*map(mode.why_left, sightings, repeat(origin.parent))]
        rates, weights = [*islice(estimates, len(keys))], [*map(capture.rates.weight, sightings)]
        numbers = ledger.add_pages(keys, sightings, hosts, origin.depth, origin.parent, rates, weights, why_left)
        queued = [state == _QUEUED for state in ledger.pages.states[numbers.start :]]
        taken = list(compress(numbers, queued))
        capture.counts.left(len(numbers) - len(taken))
        if _waits(capture):
            capture.front.unrated.put_all(taken, list(compress(named, queued)))
        mode.queued(taken, origin.parent, list(compress(sightings, queued)), origin.now)
        return numbers, taken

    def _hosts(self, capture: SiteCapture, named: Sequence[Keyed]) -> list[int]:
        """Return the numbers of the URLs' hosts; a new host owes its robots.txt first."""
        ledger, known = self._ledger, self._ledger.host_numbers
        names = [one.host or self._host_of(one.url if one.key else key) for key, one in named]
        for name, (_, one) in () if known.keys() >= set(names) else zip(names, named, strict=True):
            if name not in known and ledger.hosts[ledger.host(name)].waits:
                self.owe_robots(capture, known[name], urljoin(one.url, "/robots.txt"))
        return list(map(known.__getitem__, names))

    def _enter_other(self, capture: SiteCapture, key: str, sighting: Sighting, origin: Origin) -> PageId:
        """Number a resource, hub, probe or sitemap, which its host owes whatever the strategy says."""
        ledger, parent = self._ledger, origin.parent
        embedded = parent != NO_PARENT and sighting.kind in EMBEDDED
        beyond = embedded and capture.embedded.full(ledger.pages.owner(parent))  # not fetched, so no host is added
        (host,) = [ledger.pages.hosts[parent]] if beyond else self._hosts(capture, [(key, sighting)])
        late = TOO_LATE if capture.turned else ""
        (page,) = ledger.add_pages([key], [sighting], [host], origin.depth, parent, reasons=[late])
        if late:
            if embedded:  # missing from its page's state at T
                ledger.embeds(parent, page)
            return page
        if sighting.kind is Kind.HUB:
            capture.mode.hub(page)
            return page
        if sighting.kind is Kind.SITEMAP:
            capture.owed.before_visits(page)
            ledger.owe(page, Slot.ONLY)
            return page
        twice = parent != NO_PARENT and capture.strategy is not None and capture.strategy.revisits
        if parent == NO_PARENT:  # no page will wake its host: ask it for visits, and in the end for the capture's end
            ledger.may_have_pages(host)
        else:
            ledger.embeds(parent, page)
            capture.embedded.add(ledger.pages.owner(parent), page)
        ledger.owe(page, Slot.FIRST if twice else Slot.ONLY)
        return page

    def owe_robots(self, capture: SiteCapture, number: int, url: str, depth: int = 0) -> None:
        """Make the host owe this robots.txt (or what it redirects to) before all else."""
        key = f"robots:{url}"
        if key in capture.seen:  # it is read again after a day
            key += f" {len(self._ledger.pages)}"
        (page,) = self._ledger.add_pages([key], [Sighting(url, Kind.ROBOTS, "host")], [number], depth, NO_PARENT)
        self._ledger.owe(page, Slot.ONLY)

    def rating(self, capture: SiteCapture, now: Instant, aside: Aside) -> Iterator[Future[Any]]:
        """Rate all pages known before the first decision in one call, so that rates are learned once."""
        if unrated := capture.front.take_unrated():
            waiting = Sightings(unrated, self._ledger.pages.urls)
            yield (rates := aside(partial(capture.rates.rates, waiting, now), len(unrated)))
            self._ledger.rated_all(unrated.pages, rates.result())
        capture.swings = capture.swings or capture.rates.swings()

    def rate_again(self, capture: SiteCapture, dated: Mapping[PageId, Sighting], now: Instant) -> None:
        """Rate known pages anew that a document dates and that are not visited yet."""
        ledger, pages, known = self._ledger, self._ledger.pages, {}
        for page, sighting in dated.items():
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

    def offer(self, capture: SiteCapture, queued: Sequence[PageId], now: Instant) -> None:
        """Give found pages to the strategy, or keep them until there is one."""
        if capture.strategy is None:
            capture.front.wait(queued)
        elif own := capture.mode.joining(queued):
            self.add(capture, own, now)

    def add(self, capture: SiteCapture, queued: Sequence[PageId], now: Instant) -> None:
        """Give pages to the strategy."""
        assert capture.strategy is not None, "pages are offered until there is one"
        pages = self._ledger.pages
        columns = pages.rates, pages.weights, pages.shapes
        rates, weights, shapes = [array("d", map(column.__getitem__, queued)) for column in columns]
        capture.strategy.add(
            Candidates.of(
                queued, capture.mode.planned_by(queued, rates), weights, shapes, capture.mode.attestable(queued, now)
            )
        )


def _waits(capture: SiteCapture) -> bool:
    """Are rates computed later, once all sitemaps are read?"""
    return capture.strategy is None and capture.mode.whole


def _is_page(named: Keyed) -> bool:
    return named[1].kind is _PAGE
