"""One site capture: a scope with one reference instant, one strategy, one queue.

Its state is split into objects that only their own methods change: the phase (:class:`Life`), counts, owed downloads,
pages found before the first decision, embedded resources, URLs left out, the budget. Each mode keeps further state.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sharc_crawler.addresses.known_urls import SeenUrls
from sharc_crawler.addresses.scope import LeftOut
from sharc_crawler.evidence.judgement import Revisits
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.frontier.hosts import Task
from sharc_crawler.model import Instant, Kind, Outcome, PageId, Phase, Seconds, Sighting, Slot
from sharc_crawler.state.lifecycle import Life
from sharc_crawler.state.pages import PageTable
from sharc_crawler.state.rows import SOLE, CaptureRow, VisitRow
from sharc_crawler.state.unrated import Unrated
from sharc_crawler.traps.rules import Traps

if TYPE_CHECKING:
    from sharc_crawler.frontier.modes import Mode
    from sharc_crawler.frontier.opening import Admission, Rates
    from sharc_crawler.frontier.throttling import Refusals
    from sharc_crawler.rates.swings import Swings
    from sharc_crawler.state.spec import CaptureSpec
    from sharc_crawler.strategies.door import Door
    from sharc_crawler.traps.doubted import Doubted
    from sharc_crawler.traps.trails import ShortestWays

PREFIX = "budget: "  #: begins the reasons of downloads that the budget forbids
MAX_ELSEWHERE = 50_000  #: pages of other hosts in sitemaps, kept in case a seed redirects there


class Counts:
    """Numbers of pages known, visited, captured, revisited and late; hubs count as captured, too."""

    __slots__ = ("captured", "dropped", "late", "pages", "revisits", "visits")

    def __init__(self) -> None:
        self.pages = 0  #: admitted, of kind PAGE
        self.visits = 0  #: pages whose first visit is over
        self.captured = 0  #: first visits that brought content
        self.revisits = 0
        self.dropped = 0  #: visits and revisits refused without a request
        self.late = 0  #: pages recorded but not fetched

    def known(self, pages: int = 1) -> None:
        """Count admitted pages."""
        self.pages += pages

    def left(self, pages: int = 1) -> None:
        """Count pages recorded but not fetched; -1 if one is fetched after all."""
        self.late += pages

    def visited(self, captured: bool, pages: int = 1) -> None:
        """Count finished first visits."""
        self.visits += pages
        self.captured += captured * pages

    def polled(self) -> None:
        """Count a hub that has answered for the first time."""
        self.captured += 1

    def revisited(self) -> None:
        """Count a finished revisit."""
        self.revisits += 1


class Owed:
    """Downloads given to hosts and not finished."""

    __slots__ = ("first", "pending", "unread")

    def __init__(self) -> None:
        self.pending = 0  #: downloads of any kind
        self.first: set[PageId | str] = set()  #: sitemaps, and hosts whose robots.txt, the next visit waits for
        self.unread: set[PageId] = set()  #: sitemaps that T waits for, but visits no longer do

    def add(self) -> None:
        """Count a download given to its host."""
        self.pending += 1

    def ended(self) -> None:
        """Count off a finished download."""
        self.pending -= 1

    def before_visits(self, what: PageId | str) -> None:
        """Let the next visit wait for a sitemap, or for the robots.txt of a host."""
        self.first.add(what)

    def was_read(self, what: PageId | str) -> None:
        """Wait for it no longer: it was read, or is lost."""
        self.first.discard(what)
        self.unread.discard(what)


class Front:
    """Pages found before there is a strategy."""

    def __init__(self) -> None:
        self.waiting = array("i")
        self.unrated = Unrated()  #: pages to be rated together before the first decision
        self.moved: list[str] = []  #: targets of seeds' redirects, outside the seeds' scope
        self.elsewhere: list[Sighting] = []  #: out-of-scope pages that the first sitemaps named

    def wait(self, pages: Iterable[PageId]) -> None:
        """Keep pages until there is a strategy."""
        self.waiting.extend(pages)

    def take(self) -> Sequence[PageId]:
        """Return the waiting pages and keep none."""
        taken, self.waiting = self.waiting, array("i")
        return taken

    def take_unrated(self) -> Unrated:
        """Return the unrated pages and keep none."""
        taken, self.unrated = self.unrated, Unrated()
        return taken

    def lies_elsewhere(self, sighting: Sighting) -> None:
        """Keep an out-of-scope page: the site may have moved there."""
        if len(self.elsewhere) < MAX_ELSEWHERE:
            self.elsewhere.append(sighting)

    def moved_to(self, location: str) -> None:
        """Note where a seed redirects to."""
        self.moved.append(location)

    def take_elsewhere(self) -> list[Sighting]:
        """Return the out-of-scope pages and keep none."""
        taken, self.elsewhere = self.elsewhere, []
        return taken


class Embedded:
    """Resources by the page on which each was first found."""

    def __init__(self, most: int) -> None:
        """``most``: resources fetched of one page; 0: no limit."""
        self._most = most
        self._found: dict[PageId, list[PageId]] = {}
        self._beyond: set[PageId] = set()

    def add(self, page: PageId, resource: PageId) -> None:
        """Add a resource that this page was the first to embed."""
        if self.full(page):
            self._beyond.add(resource)
        self._found.setdefault(page, []).append(resource)

    def full(self, page: PageId) -> bool:
        """Has the page reached its limit?"""
        return 0 < self._most <= len(self._found.get(page, ()))

    def why_not(self, resource: PageId) -> str | None:
        """Return why a resource is not fetched, else ``None``."""
        return f"its page embeds more than SHARC_PAGE_RESOURCES={self._most}" if resource in self._beyond else None

    def __contains__(self, page: PageId) -> bool:
        return page in self._found

    def take(self, page: PageId) -> list[PageId]:
        """Return a page's resources and forget them."""
        return self._found.pop(page, [])

    def clear(self) -> None:
        """Forget all."""
        self._found.clear()


class Spending:
    """What a capture without bounds has spent."""

    ends: Instant = math.inf  #: the end of the time budget

    def __init__(self) -> None:
        self.received = 0  #: bytes
        self.room = math.inf  #: requests left
        self.all_revisited = True  #: a page visited as the last one is revisited if more pages follow
        self.paused: Seconds = 0.0  #: time in which no process ran
        self.listed = 0  #: pages of sitemaps that the budget left out
        self.unproven: dict[PageId, str] = {}  #: page → why it was not revisited

    def why_not(self, task: Task, kind: Kind, url: str, now: Instant) -> str | None:
        """Return which bound forbids a download, or ``None``."""

    def spare(self, now: Instant) -> float:  # noqa: ARG002 - for subclasses
        """Return about how many requests are left that no due revisit needs."""
        return math.inf

    def keep_room(self, seeds: Iterable[PageId]) -> None:
        """Keep room for the visits and revisits of seeds."""

    def keep_listed(self, known: Iterable[PageId], pages: PageTable) -> None:
        """Keep room for pages that sitemaps name, before others."""

    def leased(self, task: Task, kind: Kind) -> None:
        """Count a request that is made."""

    def ended(self, task: Task, url: str, outcome: Outcome, finished: bool) -> None:  # noqa: ARG002 - for subclasses
        """Count the end of a request."""
        self.received += outcome.length

    def forgone(self, task: Task, reason: str) -> None:
        """Count a download that was not made."""
        if task.slot is Slot.SECOND:
            self.unproven[task.page] = Reason.NEVER_REVISITED.of(reason.removeprefix(PREFIX))

    def restore(self, visits: Sequence[VisitRow], pages: PageTable) -> None:  # noqa: ARG002 - for subclasses
        """Count all former fetches, in the order in which they ended."""
        self.received += sum(visit.outcome.length for visit in visits if visit.attempt)
        for visit in visits:
            if not visit.attempt and (reason := visit.outcome.error or "").startswith(PREFIX):
                self.forgone(Task(visit.page, visit.slot), reason)


class SiteCapture:
    """The state of one site capture."""

    mode: Mode  #: how this kind of capture decides; set when opened or restored

    def __init__(self, spec: CaptureSpec, scope: Admission, rates: Rates, started: Instant) -> None:
        self.spec = spec
        self.scope = scope
        self.rates = rates
        self.started = started
        self.life = Life(f"the capture of {spec.site} by strategy={spec.strategy!r}")
        self.counts = Counts()
        self.owed = Owed()
        self.front = Front()
        self.embedded = Embedded(spec.page_resources)
        self.left_out = LeftOut()
        self.far: dict[str, PageId] = {}  #: URLs left out for ``hops``, and who named each; their way may prove shorter
        self.ways: ShortestWays | None = None  #: while the distances of these are computed
        self.revisited = Revisits()  #: judges revisits
        self.seen = SeenUrls()  #: all known URLs, by key
        self.budget = Spending()  #: or a :class:`~sharc_crawler.frontier.bounded.SiteBudget`
        self.traps = Traps() if spec.traps and spec.mode in ("capture", "continuous") else None
        self.doubted: Doubted | None = None  #: once there are doubted pages
        self.strategy: Door | None = None  #: built once robots.txt and the sitemaps are read
        self.later: list[tuple[Instant, Task]] = []  #: failed tasks with due times, tried once more after the visits
        self.refusals: dict[int, Refusals] = {}  #: by host: pages refused alike in a row
        self.beginning = False  #: the strategy is being built
        self.weighing = False  #: evidence is being weighed, or links are being followed, in another thread or in steps
        self.former = 0  #: visits finished when the strategy was built
        #: pages downloaded (again) only after T, as the record of before is lost
        self.again: frozenset[PageId] = frozenset()
        self.swings: Swings | None = None  #: how far the pages' rates vary together, once known
        self.notes: list[str] = []
        self.noted = False  #: notes have changed since they were written
        self.interruptions: list[tuple[Instant, Instant]] = []

    @property
    def phase(self) -> Phase:
        """The capture's phase."""
        return self.life.phase

    @property
    def reference(self) -> Instant | None:
        """T, once fixed."""
        return self.life.reference

    @property
    def turned(self) -> bool:
        """Are visits over, and T of the site (or the open part) past?"""
        after = self.strategy is not None and self.strategy.accepts_late
        phase = self.life.phase
        return phase not in (Phase.OPENING, Phase.VISIT) and not (phase is Phase.REVISIT and after)

    def begin(self, strategy: Door) -> None:
        """Let this strategy decide from now on."""
        self.life.begin()
        self.strategy = strategy
        self.former = self.counts.visits

    def next_part(self) -> None:
        """Prepare for the next part, with a strategy and a T of its own."""
        self.life.next_part()
        self.strategy = None

    def widen(self, location: str) -> None:
        """Widen the scope to where a seed redirects."""
        self.scope = self.scope.widened(location)
        self.front.moved_to(location)

    def note(self, text: str, instead_of: str = "") -> None:
        """Add a note to the report, once, in place of an older one; the step's commit writes it."""
        self.noted = True
        if instead_of in self.notes:
            self.notes.remove(instead_of)
        if text not in self.notes:
            self.notes.append(text)

    def row(self) -> CaptureRow:
        """Return the row that the store keeps."""
        return CaptureRow(
            SOLE,
            self.spec,
            self.life.phase,
            self.started,
            self.life.reference,
            self.life.ended,
            tuple(self.notes),
            tuple(self.interruptions),
            dict(self.left_out.reasons),
            self.mode.audit,
            self.swings,
        )
