"""The port of a fleet's ledger: the sites, who holds each, and the journal of their steps.

A worker holds a site by a *tenure*: an epoch, which grows by one with each owner, and a term that it renews. The epoch
is the fence: a step is written in the statement that checks it, so no pause and no clock lets an old owner write. All
times are by the ledger's clock. Implementations pass ``FleetLedgerContract`` (``tests/fleet/ledger_contract.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from sharc_crawler.model import Instant, Seconds


class SiteState(StrEnum):
    """The state of a site."""

    WAITING = "waiting"  #: for a worker, for its time, or to be continued
    HELD = "held"  #: by a worker; stored as WAITING with an owner
    PAUSED = "paused"  #: by order; stored as WAITING
    DONE = "done"
    FAILED = "failed"  #: it cannot go on; its row says why
    STOPPED = "stopped"  #: by order, before its end


class Wish(StrEnum):
    """What an operator ordered for a site."""

    RUN = "run"
    PAUSE = "pause"  #: nobody holds it until it is resumed
    STOP = "stop"  #: it ends now, with its report


class SiteOrder(NamedTuple):
    """A site to capture."""

    site: str
    arguments: Mapping[str, str]  #: as of ``-a``: ``url``, ``strategy``, ``limit`` …
    priority: int = 0  #: higher ones are begun first
    due: Instant = 0.0  #: not begun before


class Tenure(NamedTuple):
    """A site that a worker holds."""

    site: str
    arguments: Mapping[str, str]
    round: int  #: number of the capture, from 1
    epoch: int
    seq: int  #: last step of the journal; 0: none
    wish: Wish
    clock: Instant  #: the ledger's, when it was claimed
    former: str | None  #: the owner whose term ran out; ``None``: the site was free
    shared: bool = False  #: other sites ask its machine, too
    silent: int = 0  #: successive former owners that disappeared after hardly beginning


class JournalStep(NamedTuple):
    """A step of a site, to be written as number ``seq`` of its journal."""

    site: str
    epoch: int
    seq: int
    body: bytes
    pages: int = 0  #: known so far; like the next two for :meth:`FleetLedger.status`
    visits: int = 0  #: made so far, including revisits
    size: int = 0  #: bytes received so far


class Pulse(NamedTuple):
    """A worker's report when it renews its tenures."""

    worker: str
    held: Mapping[str, int]  #: epoch by site
    room: int  #: most sites that it would hold
    superseded: int = 0  #: steps refused since it began
    skew: Seconds = 0.0  #: its clock minus the ledger's


class Renewal(NamedTuple):
    """The answer to a pulse."""

    wishes: Mapping[str, Wish]  #: of the sites that it still holds; others are another's, or nobody's
    draining: bool  #: hand over everything, and claim nothing
    surplus: int  #: sites that it holds above its share, while others have room
    shared: frozenset[str] = frozenset()  #: of the sites that it holds, those whose machines others ask, too


class Reservation(NamedTuple):
    """A turn to reserve at a machine."""

    machine: str
    gap: Seconds  #: until the next turn
    own: bool  #: the worker holds the site of this name


class Allowance(NamedTuple):
    """What a worker may spend of the budget; infinity: no bound."""

    requests: float
    size: float  #: bytes
    seconds: float  #: from now; negative: the time is over


class Bound(NamedTuple):
    """A bound of the budget."""

    what: str  #: ``requests``, ``bytes`` or ``until``
    bound: float  #: of ``until``: an instant
    spent: float = 0.0  #: including what workers have drawn but not used


@dataclass(frozen=True, slots=True)
class SiteStatus:
    """The status of a site."""

    site: str
    state: SiteState
    round: int
    epoch: int
    owner: str | None
    left: Seconds | None  #: of its owner's term; negative: it ran out
    seq: int
    pages: int
    visits: int
    size: int
    stepped: Seconds | None  #: since its last step
    priority: int
    due: Instant
    reason: str  #: why it failed


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """The status of a worker."""

    worker: str
    held: int
    room: int
    seen: Seconds  #: since its last sign of life
    draining: bool
    superseded: int
    skew: Seconds


@dataclass(frozen=True, slots=True)
class FleetStatus:
    """Totals of the fleet's sites, and its workers."""

    time: Instant  #: by the ledger's clock
    states: Mapping[SiteState, int]
    pages: int
    visits: int
    size: int
    takeovers: int
    superseded: int
    oldest: Seconds | None  #: longest time since the last step of a held site
    workers: tuple[WorkerStatus, ...] = field(default=())
    budget: tuple[Bound, ...] = field(default=())


class FleetLedger(Protocol):
    """Owns everything that the workers of a fleet share.

    Each method is one transaction. If the ledger cannot be reached it raises
    :class:`~sharc_crawler.errors.StoreUnavailable`: the change may have been made all the same, and is asked for again.
    """

    def clock(self) -> Instant:
        """The time by the ledger's clock."""

    def add(self, orders: Iterable[SiteOrder]) -> int:
        """Add sites; returns how many are new. Known ones stay as they are."""

    def claim(self, worker: str, most: int, term: Seconds, *, silent: bool = True) -> list[Tenure]:
        """Claim up to ``most`` free sites that are due, in order of priority.

        ``silent``: then those whose owners' terms ran out, which takes time proportional to the held sites. A site
        whose last two owners did no more than begin may have ended them: a worker gets one such at a time.
        """

    def step(self, steps: Sequence[JournalStep], term: Seconds) -> frozenset[str]:
        """Write a step of each site and renew its tenure; returns the sites whose step is in the journal.

        A missing one is another's. A step that is repeated with the same number is written once.
        """

    def renew(self, pulse: Pulse, term: Seconds) -> Renewal:
        """Renew a worker's tenures."""

    def reserve(self, wanted: Sequence[Reservation], term: Seconds) -> Mapping[str, Seconds]:
        """Reserve turns at machines that several sites ask; returns the seconds until each. Turns never overlap.

        The holder of the site with the machine's name needs no turns until it is told that others ask, too: their first
        turn is a ``term`` ahead.
        """

    def bound(self, bounds: Mapping[str, float]) -> None:
        """Set bounds for all workers together: ``requests``, ``bytes``, ``until``; 0 removes a bound."""

    def draw(self, requests: float, size: float) -> Allowance:
        """Draw from the budget, as far as it goes; negative amounts are given back."""

    def further(self, site: str, epoch: int) -> bool:
        """Make a site's capture a further round, if nothing was done yet; ``False``: it is another's."""

    def release(
        self, site: str, epoch: int, state: SiteState = SiteState.WAITING, reason: str = "", rest: Seconds = 0.0
    ) -> bool:
        """Release a site, at rest for ``rest`` seconds, or with its final state; ``False``: it was another's."""

    def journal(self, site: str, upto: int, after: int = 0) -> Iterator[bytes]:
        """The bodies of a site's steps with ``after`` < number <= ``upto``; merged ones together."""

    def merged(self, site: str) -> int:
        """The last merged step of a site; 0: none."""

    def merge(self, site: str, epoch: int, after: int, upto: int, body: bytes) -> bool:
        """Replace the rows with ``after`` < number <= ``upto`` by one body; ``False``: the site is another's."""

    def forget_journal(self, site: str, epoch: int) -> bool:
        """Delete a site's journal, now that it lies elsewhere; ``False``: the site is another's."""

    def history(self, site: str) -> list[bytes]:
        """What captures of a site taught, in the order of their ends; outlives the site's row."""

    def masks(self, site: str) -> str:
        """The masks learned by captures of a site, as of the last one; "": none."""

    def remember(self, site: str, epoch: int, body: bytes, masks: str = "") -> bool:
        """Keep what a capture taught, once per epoch; ``False``: the site is another's.

        ``masks``: all that are valid for the next capture; "": unchanged.
        """

    def robots(self, host: str, age: Seconds) -> tuple[Instant, str] | None:
        """When a host's robots.txt was read, and its text; ``None``: not within ``age``."""

    def keep_robots(self, host: str, text: str) -> None:
        """Store a robots.txt that was just read."""

    def wish(self, wish: Wish, sites: Sequence[str] | None) -> int:
        """Order something for these sites (``None``: all that have not ended); returns their number."""

    def requeue(self, sites: Sequence[str] | None) -> int:
        """Have ended sites continued, or captured again; returns their number (``None``: all failed ones).

        A site that is done, or has no journal, is captured again, as a further round.
        """

    def drop(self, sites: Sequence[str]) -> int:
        """Delete sites and their journals; their owners stop at once. Captured files stay."""

    def drain(self, worker: str) -> bool:
        """Have a worker hand over its sites and end; ``False``: it is not known."""

    def leave(self, worker: str) -> None:
        """Record that a worker has ended."""

    def status(self) -> FleetStatus:
        """Totals over all sites, and all workers."""

    def sites(self, sites: Sequence[str] | None = None, most: int = 1_000) -> list[SiteStatus]:
        """The status of these sites (``None``: of all; held ones first, then failed ones), at most ``most``."""

    def close(self) -> None:
        """Close the ledger."""
