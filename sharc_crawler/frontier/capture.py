"""One site capture: a scope with one reference instant, one strategy, one queue.

It is parted into values, each of which is written by its own methods alone: where the capture stands (:class:`Life`),
what is counted, what is owed, what was found before the first decision, what is embedded where, what was left out,
what it may cost. What a mode has to know beyond that lies in its own object.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sharc_crawler.addresses.known_urls import SeenUrls
from sharc_crawler.evidence.judgement import Revisits
from sharc_crawler.frontier.budget import Spending
from sharc_crawler.frontier.lifecycle import Life
from sharc_crawler.frontier.rows import SOLE, CaptureRow
from sharc_crawler.frontier.scope import LeftOut
from sharc_crawler.frontier.traps.rules import Traps
from sharc_crawler.frontier.unrated import Unrated
from sharc_crawler.model import Instant, PageId, Phase, Sighting

if TYPE_CHECKING:
    from sharc_crawler.frontier.hosts import Task
    from sharc_crawler.frontier.modes.base import Mode
    from sharc_crawler.frontier.parts import Admission, Rates
    from sharc_crawler.frontier.spec import CaptureSpec
    from sharc_crawler.frontier.traps.doubted import Doubted
    from sharc_crawler.frontier.visits.nearer import ShortestWays
    from sharc_crawler.frontier.visits.throttling import Refusals
    from sharc_crawler.rates.swings import Swings
    from sharc_crawler.strategies.door import Door

MAX_ELSEWHERE = 50_000  #: pages of other hosts in sitemaps, kept for a seed that turns out to have moved there


class Counts:
    """How many pages of a capture are known, visited, captured, revisited, late; hubs count as captured, too."""

    __slots__ = ("captured", "dropped", "late", "pages", "revisits", "visits")

    def __init__(self) -> None:
        self.pages = 0  #: of kind PAGE, admitted
        self.visits = 0  #: pages whose first visit is over
        self.captured = 0  #: of these visits, those that brought content
        self.revisits = 0
        self.dropped = 0  #: visits and revisits that no request was made for
        self.late = 0  #: pages that are recorded and not fetched

    def known(self, pages: int = 1) -> None:
        """A page is admitted, or several."""
        self.pages += pages

    def left(self, pages: int = 1) -> None:
        """An admitted page is only recorded, or several; -1: one of these is fetched after all."""
        self.late += pages

    def visited(self, captured: bool, pages: int = 1) -> None:
        """A page's first visit is over, or that of several."""
        self.visits += pages
        self.captured += captured * pages

    def polled(self) -> None:
        """A hub has answered for the first time."""
        self.captured += 1

    def revisited(self) -> None:
        """A page's second visit is over."""
        self.revisits += 1


class Owed:
    """What was handed to hosts and is not over."""

    __slots__ = ("first", "pending", "unread")

    def __init__(self) -> None:
        self.pending = 0  #: downloads of any kind
        self.first: set[PageId | str] = set()  #: sitemaps, and hosts' robots.txt, that the next visit waits for
        self.unread: set[PageId] = set()  #: sitemaps that visits wait for no longer, and T does

    def one(self) -> None:
        """A download is handed to its host."""
        self.pending += 1

    def ended(self) -> None:
        """A fetch that the capture had owed is over."""
        self.pending -= 1

    def before_visits(self, what: PageId | str) -> None:
        """A sitemap, or the robots.txt of a host, is to be read before the next visit is decided."""
        self.first.add(what)

    def was_read(self, what: PageId | str) -> None:
        """It was read, or is lost."""
        self.first.discard(what)
        self.unread.discard(what)


class Front:
    """What is found before there is a strategy, and waits for it."""

    def __init__(self) -> None:
        self.waiting = array("i")
        self.unrated = Unrated()  #: whose rates are asked for once all that waits is known
        self.moved: list[str] = []  #: where seeds redirect to, out of the scope that they span
        self.elsewhere: list[Sighting] = []  #: out of scope by the sitemaps that were read before the first page

    def wait(self, pages: Iterable[PageId]) -> None:
        """Pages wait for the strategy."""
        self.waiting.extend(pages)

    def take(self) -> Sequence[PageId]:
        """The pages that waited for a strategy; from now on none waits."""
        taken, self.waiting = self.waiting, array("i")
        return taken

    def take_unrated(self) -> Unrated:
        """All of these, once."""
        taken, self.unrated = self.unrated, Unrated()
        return taken

    def lies_elsewhere(self, sighting: Sighting) -> None:
        """The site may turn out to have moved there."""
        if len(self.elsewhere) < MAX_ELSEWHERE:
            self.elsewhere.append(sighting)

    def moved_to(self, location: str) -> None:
        """A seed leads to another place."""
        self.moved.append(location)

    def take_elsewhere(self) -> list[Sighting]:
        """What lay elsewhere is looked at again."""
        taken, self.elsewhere = self.elsewhere, []
        return taken


class Embedded:
    """Page → resources that were first found on it."""

    def __init__(self, most: int) -> None:
        """``most``: of one page that are fetched; 0: all."""
        self._most = most
        self._found: dict[PageId, list[PageId]] = {}
        self._beyond: set[PageId] = set()

    def add(self, page: PageId, resource: PageId) -> None:
        """The page was the first to embed it."""
        if self.full(page):
            self._beyond.add(resource)
        self._found.setdefault(page, []).append(resource)

    def full(self, page: PageId) -> bool:
        """Is no more of a page fetched?"""
        return 0 < self._most <= len(self._found.get(page, ()))

    def why_not(self, resource: PageId) -> str | None:
        """Why one is not fetched; ``None``: it is."""
        return f"its page embeds more than SHARC_PAGE_RESOURCES={self._most}" if resource in self._beyond else None

    def __contains__(self, page: PageId) -> bool:
        return page in self._found

    def take(self, page: PageId) -> list[PageId]:
        """Those of a page, once."""
        return self._found.pop(page, [])

    def clear(self) -> None:
        """Nobody will ask again."""
        self._found.clear()


class SiteCapture:
    """The state of one site capture."""

    mode: Mode  #: what it decides its own way; chosen when it is opened, or restored

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
        self.far: dict[str, PageId] = {}  #: left for ``hops``, and who named it: its way may prove shorter
        self.ways: ShortestWays | None = None  #: while it is being found how far these are
        self.revisited = Revisits()  #: how revisits are judged
        self.seen = SeenUrls()  #: every URL known to this capture, by its key
        self.budget = spending_of(spec, started)
        self.traps = Traps() if spec.traps and spec.mode in ("capture", "continuous") else None
        self.doubted: Doubted | None = None  #: once there are such pages
        self.strategy: Door | None = None  #: built once robots.txt and the sitemaps are read
        self.later: list[tuple[Instant, Task]] = []  #: what failed, and when: tried once more at the end of the visits
        self.refusals: dict[int, Refusals] = {}  #: by host: pages in a row that were refused alike
        self.beginning = False  #: that is being worked on
        self.weighing = False  #: all that the server said is being weighed, or all links are followed
        self.former = 0  #: visits that were over when it was built
        #: to be downloaded, or downloaded, after T, as their former record is lost
        self.again: frozenset[PageId] = frozenset()
        self.swings: Swings | None = None  #: how far the site's changes swing together, once its rates are known
        self.notes: list[str] = []
        self.interruptions: list[tuple[Instant, Instant]] = []

    @property
    def phase(self) -> Phase:
        """The phase that the capture is in."""
        return self.life.phase

    @property
    def reference(self) -> Instant | None:
        """T, once it is fixed."""
        return self.life.reference

    @property
    def turned(self) -> bool:
        """The reference instant has passed, of the site or of the part under way, and visits are over."""
        after = self.strategy is not None and self.strategy.accepts_late
        phase = self.life.phase
        return phase not in (Phase.OPENING, Phase.VISIT) and not (phase is Phase.REVISIT and after)

    def begin(self, strategy: Door) -> None:
        """Its strategy (of its next part, or made again) decides from now on."""
        self.life.begin()
        self.strategy = strategy
        self.former = self.counts.visits

    def next_part(self) -> None:
        """Another strategy is to come, with a T of its own."""
        self.life.next_part()
        self.strategy = None

    def widen(self, location: str) -> None:
        """A seed leads out of the scope: it takes the scope along."""
        self.scope = self.scope.widened(location)
        self.front.moved_to(location)

    def note(self, text: str, instead_of: str = "") -> None:
        """What a reader of the report must know; each text once."""
        if instead_of in self.notes:
            self.notes.remove(instead_of)
        if text not in self.notes:
            self.notes.append(text)

    def row(self) -> CaptureRow:
        """The capture as the store keeps it."""
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


def spending_of(spec: CaptureSpec, started: Instant) -> Spending:
    """The budget of a capture by this order."""
    if not (spec.max_requests or spec.max_bytes or spec.max_time):
        return Spending()
    from sharc_crawler.frontier.bounded import SiteBudget  # only where something is bounded

    return SiteBudget(spec, started)
