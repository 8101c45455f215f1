"""Runs the frontier and strategies of a live crawl on a simulated site, in virtual time, with one download per Δ."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import InitVar, dataclass, replace
from itertools import chain
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.errors import unknown_name
from sharc_crawler.evidence.intervals import DATE_PRECISION
from sharc_crawler.evidence.judgement import of_comparison
from sharc_crawler.evidence.lastmods import Lastmod, weigh
from sharc_crawler.frontier.capture import SiteCapture
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import TAKEN, Politeness
from sharc_crawler.frontier.modes.by_lastmods import ByLastmods
from sharc_crawler.frontier.opening import LastSeen, Parts, no_history
from sharc_crawler.lab.belief import Belief, BelievedRates
from sharc_crawler.lab.published import weekly_captures
from sharc_crawler.lab.rates import believe
from sharc_crawler.lab.schedule import DownloadTimes
from sharc_crawler.lab.site import Site
from sharc_crawler.lab.web import EveryLink, Published, Web
from sharc_crawler.model import (
    Done,
    Fetch,
    Instant,
    Judgement,
    Kind,
    Outcome,
    PageId,
    Phase,
    Plan,
    Result,
    Seconds,
    Slot,
    Url,
    Verdict,
    Wait,
)
from sharc_crawler.rates.history import CHANGED, UNKNOWN, SiteHistory
from sharc_crawler.state.rows import SubsiteRow
from sharc_crawler.state.spec import HINTS, CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.strategies.base import Candidates, Setting, Strategy
from sharc_crawler.strategies.make import make_strategy

SHORT = 1.0  #: seconds between a change and the access made up before it


def experience(site: Site, seen: Instant | None) -> SiteHistory:
    """The history of each page's last change before the archive last saw it, with the lastmod that reported it.

    Each such page has two accesses: just before the change, and when the archive last saw it. These lastmods are true:
    lying pages begin to lie when the window begins.
    """
    pages, changes = [], []
    for page, row in enumerate(site.past.rows if seen is not None else ()):
        if done := bisect_right(row, seen):
            pages.append(page)
            changes.append(float(row[done - 1]))
    times = np.array([(change - SHORT, seen) for change in changes], np.float64).reshape(-1)
    lastmods = np.array([(np.nan, change // 1) for change in changes], np.float64).reshape(-1)
    return SiteHistory(
        site.name,
        cast("list[Url]", [site.urls[page] for page in pages]),
        2 * np.arange(len(pages) + 1),
        times,
        np.tile(np.array([UNKNOWN, CHANGED], np.int8), len(pages)),
        lastmods,
        np.where(np.isnan(lastmods), np.nan, SHORT),
        np.full(len(lastmods), np.nan),
    )


GRAPHS = ("known", "recapture", "discover")
LISTED = "listed"  #: like ``known``, but walkers too know all pages at the start, from a sitemap
AT_ONCE = 5_000  #: number of seeds handed to the frontier at a time, to save memory
#: baselines that are defined by how they walk a graph: even if it is known, they get pages only as links reveal them
WALKERS = ("bfs", "dfs", "hottest-first", "hottest-last")
HOST = "site"
TELL_EVERY = 1000  #: decisions between reports of progress
SLACK = 0.002  #: share of the slots left free in the next try, after a capture outlasted the window


@dataclass(frozen=True, slots=True)
class VirtualCrawl:
    """The course of a simulated crawl."""

    schedule: DownloadTimes
    hopeless: NDArray[np.bool_]  #: pages the strategy gave up
    step: Seconds  #: Δ
    decisions: int
    attested: NDArray[np.bool_]  #: pages whose lastmod the frontier trusted when it handed them to the strategy
    audits: NDArray[np.float64]  #: when pages were downloaded for the audit; NaN: they were not
    reference: Instant | None = None  #: T, if the frontier fixed one
    judged: Mapping[int, Judgement] | None = None  #: the frontier's judgements by page, if the site has a sitemap
    confirmed: Mapping[int, Judgement] | None = None  #: the same after a reading of the sitemap when its lag is over
    audit: Mapping[str, Any] | None = None
    parts: tuple[SubsiteRow, ...] = ()  #: the parts of a site captured part by part
    members: Mapping[int, int] | None = None  #: page → number of its part
    taken: NDArray[np.bool_] | None = None  #: pages not requested, as the archive's copy was taken (at the beginning)


def crawl(
    site: Site,
    belief: Belief,
    strategy: str,
    graph: str = "discover",
    tell: Callable[[float], None] = lambda _: None,
    published: Published | None = None,
    audit: float = 0.0,
    subsites: str = "",
    hints: float = HINTS,
    skip: str = "off",
    judged: bool = True,
) -> VirtualCrawl:
    """Crawl a site once in virtual time.

    If the site has no Δ of its own, Δ is chosen so that two downloads of each page fill the window. It counts the pages
    known at the start, or, if so many are discovered that the capture would outlast the window, those discovered. The
    capture lies around the middle of the window; a capture with single visits fills half of it.

    Parameters
    ----------
    strategy: name, with options if needed, such as ``bfs:revisits=fifo``
    graph: ``known`` (pages and links of the start are given), ``discover`` (pages are found through the links at each
        download), ``recapture`` (pages that the archive knows are given, others are found) or :data:`LISTED`
    tell: is called from time to time with the share of the window that has passed
    published: what the site publishes of its changes: a sitemap, which is read at the start, at T, and at the end if
        claims rest on it; a feed and a list of recent changes, which are polled before T
    audit: share of the pages claimed by the sitemap that is downloaded once more
    subsites: how the site is divided into parts, such as ``path`` or ``links:share=0.9``; empty: it is not
    hints: greatest share of the slots for visiting changed pages again before T
    skip: ``attested``: send no request for pages that are unchanged in the archive by the sitemap's word
    judged: whether to return the frontier's judgements, if there is a sitemap: they take memory for each page

    """
    if graph not in (*GRAPHS, LISTED):
        raise unknown_name("graph", graph, GRAPHS)
    pages = len(site.known)
    while True:
        step = site.step or spread(site, pages)
        done = Simulation(site, belief, strategy, step, published, audit, subsites, hints, skip, judged).run(
            graph, tell
        )
        if site.step or done.schedule.interval[1] < site.end:
            return done
        found = int(done.schedule.visited.sum())
        more = math.ceil((1 + SLACK) * done.decisions / 2) if done.decisions > 2 * found else 0
        pages = max(pages + 1, found, more)


def spread(site: Site, pages: int) -> Seconds:
    """The Δ with which two downloads of each page fill the window."""
    return (site.end - site.start) / (2 * pages)


def begins(site: Site, strategy: str, attested: NDArray[np.bool_], step: Seconds | None = None) -> Instant:
    """The instant of the first download, such that the capture lies in the middle of the window."""
    if site.step:
        return site.start
    size = len(site.known)
    made = make_strategy(strategy, Setting(size, step or spread(site, size), site.start))
    made.add(Candidates.of(site.known, site.rates[site.known], attested=attested[site.known]))
    share = len(made) / (2 * len(site.known))  # the share of the window that the downloads fill
    return site.start + (1 - share) / 2 * (site.end - site.start)


@dataclass(eq=False)
class Simulation:
    """A capture in virtual time."""

    site: Site
    belief: Belief
    strategy: str
    step: Seconds
    published: Published | None = None
    audit: float = 0.0
    subsites: str = ""
    hints: float = HINTS
    skip: str = "off"
    judged: InitVar[bool] = True

    def __post_init__(self, judged: bool) -> None:
        site, step = self.site, self.step
        self._taken = np.zeros(len(site.urls), np.bool_)
        self._takes = min(step, DATE_PRECISION)  # duration of a download; a slower one could not be T itself
        self._begin = begins(site, self.strategy, self.belief.attested, step)
        self._visits = np.full(len(site.urls), math.nan)
        self._revisits = np.full(len(site.urls), math.nan)
        self._audits = np.full(len(site.urls), math.nan)
        self._attested = np.zeros(len(site.urls), np.bool_)
        self._hopeless = np.zeros(len(site.urls), np.bool_)
        parts = Parts(
            strategy=self._make,
            scope=lambda _: EveryLink(),
            rates=lambda spec: BelievedRates(self.belief, site.numbers, self._new_rates(spec)),
            links=lambda _: self._known_links(),
            history=self._history,
            taken=lambda _, url: self._archived(site.numbers[url]),
            seen=lambda _, url, __: self._seen(site.numbers[url]),
            canonical=str,
            host_of=lambda _: HOST,
        )
        self._known_graph = False
        # keeps the judgements, and the parts
        self._store = MemoryStore() if self.subsites or (judged and self.published is not None) else None
        politeness = Politeness(delay=step, obey_robots=False)
        self.frontier = Frontier(politeness, self._store, parts, lease_time=math.inf)

    def _make(self, spec: CaptureSpec, setting: Setting) -> Strategy:
        """The strategy; its candidates get Olston and Pandey's utilities, which the frontier cannot know."""
        strategy = make_strategy(spec.strategy, setting)
        add = strategy.add

        def informed(candidates: Candidates) -> None:
            pages = [self._number(page) for page in candidates.pages.tolist()]
            self._attested[pages] = candidates.attested
            add(replace(candidates, utilities=self.belief.utilities[pages]))

        strategy.add = informed  # type: ignore[method-assign]
        return strategy

    def _seen(self, page: int) -> LastSeen | None:
        """The archive's last capture of a page."""
        site, time = self.site, self.belief.seen
        if time is None or not site.created[page] < time:
            return None
        past = site.past.rows[page]
        later = len(past) - bisect_right(past, time)  # number of changes since
        return LastSeen(time, str(-later) if later else str(site.changes.version(page, time)))

    def _history(self, spec: CaptureSpec) -> SiteHistory:
        """The archive's history of the site."""
        then = self.site.as_of(self._begin)
        if self.skip != "off":
            return experience(then, self.belief.seen)
        return weekly_captures(then) if self._dated() else no_history(spec)

    def _new_rates(self, spec: CaptureSpec) -> Callable[[Instant], Belief] | None:
        """New rates during the crawl, if the strategy claims pages by the sitemaps' word."""
        late = self.published.late if self.published is not None else 0.0
        if not (self.belief.again and make_strategy(spec.strategy, Setting()).attests):
            return None
        return lambda now: believe(self.site, self.belief.source, now - late)

    def _archived(self, page: int) -> Outcome | None:
        """The archive's copy of a page as the outcome of a visit."""
        last = self._seen(page)
        return last and Outcome(Result.OK, last.time, last.time, 200, last.digest, date=last.time)

    def _dated(self) -> bool:
        """Whether a sitemap was read after the archive last saw the pages."""
        return self.belief.seen is not None and self.belief.seen < self._begin

    def _number(self, page: PageId) -> int:
        return self.site.numbers[self.frontier.pages.urls[page]]

    def run(self, graph: str, tell: Callable[[float], None] = lambda _: None) -> VirtualCrawl:
        """Drive the frontier until it is done."""
        walks = self.strategy.partition(":")[0] in WALKERS and graph != LISTED
        planned, still = graph != "discover" and not walks, graph in ("known", LISTED)
        seeds = [self.site.root] if not planned else self.site.known if still else self.site.archived
        self._known_graph = planned and still
        now = self._begin
        web = Web(self.site, frozen=still, published=self.published, dated=self._dated())
        size = len(self.site.archived if planned and graph == "recapture" else self.site.known)
        capture = self.frontier.open(self._spec(size, discover=not self._known_graph), now, seeded=False)
        for start in range(0, len(seeds), AT_ONCE):
            self.frontier.schedule(web.seeds(seeds[start : start + AT_ONCE], now), now)
        if self.published is not None:
            self.frontier.schedule(self.published.lists, now)
        decisions = 0
        while not isinstance(what := self.frontier.next(now), Done):
            if isinstance(what, Wait):
                now = what.until
                continue
            if what.attempt == TAKEN:
                self._take(what, web)
                continue
            self._download(what, web, capture)
            decisions += 1
            now += self.step
            if decisions % TELL_EVERY == 0:
                tell(min(1.0, (now - self.site.start) / (self.site.end - self.site.start)))
        return self._done(capture, web, decisions, now)

    def _done(self, capture: SiteCapture, web: Web, decisions: int, now: Instant) -> VirtualCrawl:
        """The result of the crawl."""
        attested = capture.strategy is not None and capture.strategy.attests
        schedule = DownloadTimes(self._visits, self._revisits, capture.reference if attested else None)
        done = VirtualCrawl(
            schedule, self._hopeless, self.step, decisions, self._attested, self._audits, capture.reference,
            self._judged(), self._confirmed(capture, web, now), capture.mode.audit,
            taken=self._taken if self.skip != "off" else None,
        )  # fmt: skip
        return self._divided(done) if self.subsites else done

    def _spec(self, size: int, *, discover: bool) -> CaptureSpec:
        return CaptureSpec(
            self.site.name,
            (self.site.urls[self.site.root],),
            self.strategy,
            sitemaps=(),
            size=size,
            discover=discover,
            resources=False,
            traps=False,  # a pure tree's pages name none but new ones
            audit=self.audit,
            subsites=self.subsites,
            hints=self.hints if self.published is not None or self._dated() else 0.0,
            skip=self.skip,
        )

    def _known_links(self) -> Iterator[tuple[str, str]]:
        """The links at the start, if the graph is known."""
        site = self.site
        for page in site.known if self._known_graph else ():
            for target in site.graph.links(page, site.start):
                yield site.urls[page], site.urls[target]

    def _divided(self, done: VirtualCrawl) -> VirtualCrawl:
        """The crawl with the parts in which the site was captured."""
        assert self._store is not None, "it remembers the parts"
        state = self._store.load()
        members = {self._number(page): number for page, number in state.members}
        return replace(done, parts=tuple(row for _, row in sorted(state.subsites.items())), members=members)

    def _judged(self) -> Mapping[int, Judgement] | None:
        """The frontier's judgements by page of the site."""
        if self._store is None or self.published is None:
            return None
        rows = self._store.load().judgements
        return {self._number(row.page): Judgement(row.verdict, row.evidence, row.reason) for row in rows}

    def _confirmed(self, capture: SiteCapture, web: Web, ended: Instant) -> Mapping[int, Judgement] | None:
        """The frontier's judgements after a later reading of the sitemap (``sharc confirm``)."""
        judged, mode, reference = self._judged(), capture.mode, capture.reference
        if judged is None or self.published is None or reference is None or not isinstance(mode, ByLastmods):
            return judged
        known, later = mode.attestations, {}
        read = ended + known.lag
        for sighting in chain.from_iterable(web.sitemap(read, url) for url in self.published.sitemaps):
            if (hints := sighting.hints) is not None and hints.lastmod is not None:
                later[sighting.url] = Lastmod(read, hints.lastmod, hints.lastmod + hints.lastmod_precision)
        found = dict(judged)
        for page, downloads in known.downloads.items():
            url = self.frontier.pages.urls[page]
            before = found.get(number := self.site.numbers[url])
            if before is not None and before.evidence.dated and before.verdict is Verdict.COHERENT and url in later:
                words = [*known.lastmods.get(page, ()), later[url]]
                found[number] = of_comparison(weigh(downloads, words, reference, lag=known.lag).comparison)
        return found

    def _take(self, fetch: Fetch, web: Web) -> None:
        """Take the archive's copy instead of a download; it takes no time, and has the page's current links."""
        page = self.site.numbers[fetch.url]
        outcome = self._archived(page)
        assert outcome is not None, "it was asked before"
        self._visits[page], self._taken[page] = self._begin, True
        self.frontier.finished(fetch, outcome, web.links(page, self._begin))

    def _download(self, fetch: Fetch, web: Web, capture: SiteCapture) -> None:
        now = fetch.decided
        if fetch.kind is Kind.PROBE:
            self.frontier.finished(fetch, Outcome(Result.GONE, now, now + self._takes, 404))
            return
        if fetch.kind in (Kind.SITEMAP, Kind.HUB):
            outcome = Outcome(Result.OK, now, now + self._takes, 200, date=now + self._takes)
            named = web.hub(fetch.url, now) if fetch.kind is Kind.HUB else web.sitemap(now, fetch.url)
            self.frontier.finished(fetch, outcome, named)
            return
        page = self.site.numbers[fetch.url]
        strategy = capture.strategy
        twice = strategy is not None and strategy.revisits and not strategy.attests
        if capture.phase is Phase.CHECK:
            self._audits[page] = now
        elif fetch.slot is Slot.SECOND:
            self._revisits[page] = now
        else:
            self._visits[page] = now
            self._hopeless[page] = fetch.plan is Plan.HOPELESS
            if fetch.slot is Slot.ONLY and twice and not self.belief.attested[page]:
                self._revisits[page] = now  # the apex
        self.frontier.finished(fetch, web.download(page, now, self._takes), web.links(page, now))
