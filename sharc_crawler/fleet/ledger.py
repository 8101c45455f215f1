"""The port of a fleet: which sites there are, who holds each, and what each of their steps changed.

A worker holds a site by a *tenure*: an epoch, one more with each owner, and a term that it renews. The epoch is the
fence: a step is written in the one statement that checks it, so no pause and no clock lets an old owner write. Times
are told by the ledger's own clock alone. Implementations pass
``FleetLedgerContract`` (``tests/fleet/ledger_contract.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from sharc_crawler.model import Instant, Seconds


class SiteState(StrEnum):
    """The state of a site."""

    WAITING = "waiting"  #: for a worker, for its time, or to go on after a hand-over
    HELD = "held"  #: a worker has it; seen as such, kept as WAITING with an owner
    PAUSED = "paused"  #: by order; seen as such, kept as WAITING
    DONE = "done"
    FAILED = "failed"  #: it cannot go on; the row says why
    STOPPED = "stopped"  #: by order, before its end


class Wish(StrEnum):
    """What people want of a site."""

    RUN = "run"
    PAUSE = "pause"  #: nobody holds it until it is resumed
    STOP = "stop"  #: it ends as it is, with its report


class SiteOrder(NamedTuple):
    """A site to be captured."""

    site: str
    arguments: Mapping[str, str]  #: as behind ``-a`` of a crawl: ``url``, ``strategy``, ``limit`` …
    priority: int = 0  #: higher ones are begun first
    due: Instant = 0.0  #: not begun before


class Tenure(NamedTuple):
    """A site that a worker holds."""

    site: str
    arguments: Mapping[str, str]
    round: int  #: its captures are numbered from 1
    epoch: int
    seq: int  #: the journal's last step; 0: nothing was done yet
    wish: Wish
    clock: Instant  #: the ledger's, as it was claimed
    former: str | None  #: the owner whose term ran out; ``None``: it was free
    shared: bool = False  #: others ask the machine of its name, too
    silent: int = 0  #: owners before, one after the other, not heard of any more, that did no more than begin


class JournalStep(NamedTuple):
    """What a step of a site changed, to be written as number ``seq`` of its journal."""

    site: str
    epoch: int
    seq: int
    body: bytes
    pages: int = 0  #: known by now; these three are what :meth:`FleetLedger.status` tells
    visits: int = 0  #: made by now, revisits included
    size: int = 0  #: bytes received by now


class Pulse(NamedTuple):
    """What a worker says of itself when it renews its tenures."""

    worker: str
    held: Mapping[str, int]  #: epoch by site
    room: int  #: sites that it would take at most
    superseded: int = 0  #: steps refused since it began
    skew: Seconds = 0.0  #: its clock less the ledger's


class Renewal(NamedTuple):
    """What a worker is told then."""

    wishes: Mapping[str, Wish]  #: of the sites that it holds still; one that is missing is another's, or nobody's
    draining: bool  #: it is to hand over what it holds, and take nothing more
    surplus: int  #: so many sites it holds beyond its share, while others have room
    shared: frozenset[str] = frozenset()  #: of the sites that it holds, those whose machines others ask, too


class Reservation(NamedTuple):
    """When a machine is to be asked by one worker, and by no other for so long."""

    machine: str
    gap: Seconds  #: until the next one's turn
    own: bool  #: the worker holds the site of this name


class Allowance(NamedTuple):
    """What of the fleet's budget a worker may spend; infinity: it is not bounded."""

    requests: float
    size: float  #: bytes
    seconds: float  #: from now on; negative: the time is over


class Bound(NamedTuple):
    """A bound of the fleet's budget."""

    what: str  #: ``requests``, ``bytes`` or ``until``
    bound: float  #: of ``until``: an instant
    spent: float = 0.0  #: with what workers have drawn, and not used yet


@dataclass(frozen=True, slots=True)
class SiteStatus:
    """A site, as people ask for it."""

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
    """A worker, as people ask for it."""

    worker: str
    held: int
    room: int
    seen: Seconds  #: since it was heard of
    draining: bool
    superseded: int
    skew: Seconds


@dataclass(frozen=True, slots=True)
class FleetStatus:
    """The fleet's sites and workers, in sums."""

    time: Instant  #: by the ledger's clock
    states: Mapping[SiteState, int]
    pages: int
    visits: int
    size: int
    takeovers: int
    superseded: int
    oldest: Seconds | None  #: since the last step of the held site that waits longest for one
    workers: tuple[WorkerStatus, ...] = field(default=())
    budget: tuple[Bound, ...] = field(default=())


class FleetLedger(Protocol):
    """Owns all that the workers of a fleet share.

    Each method is one transaction. What cannot be reached raises
    :class:`~sharc_crawler.errors.StoreUnavailable`: it may have been done all the same, and is asked for again.
    """

    def clock(self) -> Instant:
        """The time by the ledger's clock."""

    def add(self, orders: Iterable[SiteOrder]) -> int:
        """Sites to be captured; how many of them are new. One that is known stays as it is."""

    def claim(self, worker: str, most: int, term: Seconds, *, silent: bool = True) -> list[Tenure]:
        """Hold up to so many sites that nobody holds and that are due, those of high priority first.

        ``silent``: then those of owners whose terms ran out. To find them takes as long as many sites are held. Where
        the last two did no more than begin, the site may have ended them: a worker is given one such at a time.
        """

    def step(self, steps: Sequence[JournalStep], term: Seconds) -> frozenset[str]:
        """Write a step of each of these sites and renew its tenure; the sites whose step is in the journal.

        One that is missing is another's. A step that is given again with the same number is written once.
        """

    def renew(self, pulse: Pulse, term: Seconds) -> Renewal:
        """Renew a worker's tenures."""

    def reserve(self, wanted: Sequence[Reservation], term: Seconds) -> Mapping[str, Seconds]:
        """Turns at machines that several sites ask: how long to wait for each, from now. No two of a machine overlap.

        Whoever holds the site of a machine's name asks it without, until it is told that others ask it, too: their
        first turn lies a ``term`` ahead.
        """

    def bound(self, bounds: Mapping[str, float]) -> None:
        """Bound what all workers do together, from now on: ``requests``, ``bytes``, ``until``; 0: no bound any more."""

    def draw(self, requests: float, size: float) -> Allowance:
        """Take so much of the budget, as far as it goes; what is negative is given back."""

    def further(self, site: str, epoch: int) -> bool:
        """Where nothing was done of a site yet, its capture is a further round; ``False``: it is another's by now."""

    def release(
        self, site: str, epoch: int, state: SiteState = SiteState.WAITING, reason: str = "", rest: Seconds = 0.0
    ) -> bool:
        """Hold a site no longer: it is to go on elsewhere, or has ended so; ``False``: it was another's already.

        ``rest``: nobody claims it for so long.
        """

    def journal(self, site: str, upto: int, after: int = 0) -> Iterator[bytes]:
        """The bodies of a site's steps after a number up to another, in order; merged ones together."""

    def merged(self, site: str) -> int:
        """The last step of a site that was merged with those before it; 0: none was."""

    def merge(self, site: str, epoch: int, after: int, upto: int, body: bytes) -> bool:
        """Put one body in place of the rows after a number up to another; ``False``: the site is another's."""

    def forget_journal(self, site: str, epoch: int) -> bool:
        """Drop a site's journal, which lies elsewhere by now; ``False``: the site is another's."""

    def history(self, site: str) -> list[bytes]:
        """What captures of a site taught, in the order of their ends; it outlives the site's row."""

    def masks(self, site: str) -> str:
        """The masks that captures of a site learned, as the last of them left them; empty: none did."""

    def remember(self, site: str, epoch: int, body: bytes, masks: str = "") -> bool:
        """Keep what a capture taught, once for each epoch; ``False``: the site is another's.

        ``masks``: all that hold for the next one; empty: it learned no more.
        """

    def robots(self, host: str, age: Seconds) -> tuple[Instant, str] | None:
        """When a host's robots.txt was read last and what it said; ``None``: by nobody within so long."""

    def keep_robots(self, host: str, text: str) -> None:
        """A host's robots.txt was read just now."""

    def wish(self, wish: Wish, sites: Sequence[str] | None) -> int:
        """Order something of these sites (``None``: all that have not ended); of how many."""

    def requeue(self, sites: Sequence[str] | None) -> int:
        """Have ended sites go on, or captured again; how many (``None``: all failed ones).

        One that is done, or whose journal was forgotten, has no more to do: it is captured again, as a further round.
        """

    def drop(self, sites: Sequence[str]) -> int:
        """Forget sites, with their journals; their owners stop at once. What was captured stays where it is."""

    def drain(self, worker: str) -> bool:
        """A worker is to hand over its sites and end; ``False``: none of this name is known."""

    def leave(self, worker: str) -> None:
        """Note that a worker has ended."""

    def status(self) -> FleetStatus:
        """Sums over all sites, and all workers."""

    def sites(self, sites: Sequence[str] | None = None, most: int = 1_000) -> list[SiteStatus]:
        """The status of these sites (``None``: of all, held ones first, then failed ones), at most so many."""

    def close(self) -> None:
        """Let go of the ledger."""
