"""One site capture: a scope with one reference instant, one strategy, one queue."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol

from sharc_crawler.evidence.judgement import Revisits
from sharc_crawler.frontier.budget import SiteBudget
from sharc_crawler.frontier.modes.subsites import Subsites
from sharc_crawler.frontier.seen import Outside, SeenUrls
from sharc_crawler.frontier.store import CaptureRow
from sharc_crawler.frontier.traps import Traps
from sharc_crawler.model import Phase
from sharc_crawler.polling.candidates import Candidates
from sharc_crawler.subsites.make import make_division

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sharc_crawler.frontier.hosts import Task
    from sharc_crawler.frontier.modes.attested import Attesting
    from sharc_crawler.frontier.spec import CaptureSpec
    from sharc_crawler.model import Instant, PageId, RateEstimate, Seconds, Sighting
    from sharc_crawler.strategies.base import Strategy


class Admission(Protocol):
    """Which URLs are pages of a capture (:class:`~sharc_crawler.frontier.scope.Scope`)."""

    def why_not(self, url: str) -> str | None:
        """``None``: admitted; else the reason in a few words."""

    def widened(self, seed: str) -> Admission:
        """The same scope with one more seed."""


class Rates(Protocol):
    """Where rates come from; never abstains (a chain that ends in a prior)."""

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> Sequence[RateEstimate]:
        """One estimate per sighting."""

    def weight(self, sighting: Sighting) -> float:
        """How much the page counts in blur and coherence."""


class SiteCapture:
    """The state of one site capture."""

    def __init__(self, number: int, spec: CaptureSpec, scope: Admission, rates: Rates, started: Instant) -> None:
        self.number = number
        self.spec = spec
        self.scope = scope
        self.rates = rates
        self.started = started
        self.strategy: Strategy | None = None  #: built once robots.txt and the sitemaps are read
        self.waiting: list[PageId] = []  #: pages known before that
        self.unrated: dict[PageId, Sighting] = {}  #: those whose rates are to be asked for once all these are known
        self.seen = SeenUrls()  #: every URL known to this capture, by its key
        self.phase = Phase.VISIT
        self.reference: Instant | None = None
        self.ended: Instant | None = None
        self.pages = 0  #: of kind PAGE, admitted
        self.visits = 0  #: pages with a settled first visit
        self.captured = 0  #: of these visits, those that brought content
        self.revisits = 0
        self.late = 0  #: pages discovered after the reference instant
        self.pending = 0  #: tasks handed to hosts and not settled
        self.opening = 0  #: robots.txt of the seeds, and sitemaps, that the first page waits for
        self.moved: list[str] = []  #: where seeds redirect to, out of the scope that they span
        self.elsewhere: list[Sighting] = []  #: out of scope by the sitemaps that were read before the first page
        self.embedded: dict[PageId, list[PageId]] = {}  #: page → resources first found on it
        self.apex: PageId | None = None  #: the last visit, where it was made in slot ONLY
        self.compares = True  #: pages are downloaded again, and compared with their visit
        self.revisited = Revisits()  #: how revisits are judged
        self.attesting: Attesting | None = None  #: where the strategy takes the server's word
        self.held: Task | None = None  #: the first visit after T, until the sitemaps have been read again
        self.audit: Mapping[str, Any] | None = None  #: what became of the server's word
        self.sitemaps: dict[PageId, Instant] = {}  #: those that tell when pages changed, and when they were read last
        self.news: dict[PageId, tuple[Instant, Instant]] | None = None  #: what they say at T, while they are read again
        self.replanned = False  #: the revisits are in an order that was made at T
        self.subsites = Subsites(make_division(spec.subsites)) if spec.subsites else None
        self.step: Seconds | None = None  #: Δ as measured in a former part
        self.former = 0  #: visits settled before the strategy was built
        self.again: set[PageId] = set()  #: to be downloaded, or downloaded, after T, as their former record is lost
        self.hosts: dict[int, None] = {}
        self.skipped: Counter[str] = Counter()  #: reason → URLs not admitted, as often as they were seen
        self.budget = SiteBudget(spec, started)
        self.traps = Traps() if spec.traps and spec.mode == "capture" else None
        self.candidates = Candidates()  #: of an instant crawl: what may be hubs
        self.outside = Outside()  #: which of these are listed
        self.notes: list[str] = []
        self.interruptions: list[tuple[Instant, Instant]] = []

    @property
    def too_late(self) -> bool:
        """A page discovered now is recorded, and not fetched: no part is to come that it might belong to."""
        return self.turned and self.subsites is None

    @property
    def turned(self) -> bool:
        """The reference instant has passed, of the site or of the part under way, and visits are over."""
        after = self.strategy is not None and self.strategy.accepts_late
        return self.phase is not Phase.VISIT and not (self.phase is Phase.REVISIT and after)

    def note(self, text: str, instead_of: str = "") -> None:
        """What a reader of the report must know; each text once."""
        if instead_of in self.notes:
            self.notes.remove(instead_of)
        if text not in self.notes:
            self.notes.append(text)

    def row(self) -> CaptureRow:
        """The capture as the store keeps it."""
        return CaptureRow(
            self.number,
            self.spec,
            self.phase,
            self.started,
            self.reference,
            self.ended,
            tuple(self.notes),
            tuple(self.interruptions),
            dict(self.skipped),
            self.audit,
        )
