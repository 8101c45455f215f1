"""The lives of a page and of a capture, as tables: what may follow what. An illegal step is a :class:`StateError`.

A page is *queued* when discovered, *leased* while its first download runs, *visited* once that is over with content,
*leased again* for its revisit and *judged* at its end (or *visited* again, until all evidence is in). A page whose
first download brought no content is *lost* (gone, refused, redirected or failed for good): it is listed, and nothing is
left to revisit. A page discovered after the reference instant is *late*, and so is one that an instant crawl leaves: it
is recorded and not fetched, until a hub names it that did not before. A lease that is given back (a retry, a crash, an
expired lease) returns the page to where it was.

A capture is *opening* while robots.txt and sitemaps are read, in *visit* from its strategy's first decision on, in
*revisit* once all first visits are over and the reference instant T is fixed, in *check* while what is claimed on the
server's word is audited, and *done*. A site captured part by part opens anew for each part, with a T of its own.
"""

from __future__ import annotations

from enum import IntEnum, unique

from sharc_crawler.errors import StateError
from sharc_crawler.model import Instant, Phase


@unique
class State(IntEnum):
    """Where a page stands."""

    QUEUED = 0
    LEASED = 1
    VISITED = 2
    LEASED_AGAIN = 3
    JUDGED = 4
    LOST = 5
    LATE = 6


@unique
class Event(IntEnum):
    """What can happen to a page."""

    LEASE = 0
    GIVEN_BACK = 1
    CAPTURED = 2
    NO_CONTENT = 3
    JUDGE = 4
    POLLED = 5
    WANTED = 6


TRANSITIONS: dict[tuple[int, int], State] = {
    (State.LATE, Event.WANTED): State.QUEUED,  # an instant crawl's hub names it that did not before
    (State.QUEUED, Event.LEASE): State.LEASED,
    (State.LEASED, Event.GIVEN_BACK): State.QUEUED,
    (State.LEASED, Event.CAPTURED): State.VISITED,
    (State.LEASED, Event.NO_CONTENT): State.LOST,
    (State.VISITED, Event.LEASE): State.LEASED_AGAIN,
    (State.VISITED, Event.JUDGE): State.JUDGED,  # single visits, the apex, and revisits that were never made
    (State.JUDGED, Event.JUDGE): State.JUDGED,  # another part of the site shows what the server's word is worth
    (State.LEASED_AGAIN, Event.GIVEN_BACK): State.VISITED,
    (State.LEASED_AGAIN, Event.JUDGE): State.JUDGED,
    (State.LEASED_AGAIN, Event.POLLED): State.VISITED,  # a hub's visits have no end
    (State.LEASED_AGAIN, Event.CAPTURED): State.VISITED,  # a sitemap read again; a page that is judged at the end
    (State.LEASED_AGAIN, Event.NO_CONTENT): State.VISITED,
}


class Step(IntEnum):
    """What can happen to a capture."""

    BEGIN = 0  #: its strategy is built, with all that is known
    TURN = 1  #: all first visits are over: T is fixed
    CHECK = 2  #: all visits and revisits are made, and audits are left
    NEXT_PART = 3  #: a part of the site is judged, others wait
    END = 4


PHASES: dict[tuple[Phase, Step], Phase] = {
    (Phase.OPENING, Step.BEGIN): Phase.VISIT,
    (Phase.VISIT, Step.TURN): Phase.REVISIT,
    (Phase.REVISIT, Step.CHECK): Phase.CHECK,
    (Phase.REVISIT, Step.NEXT_PART): Phase.OPENING,
    (Phase.VISIT, Step.END): Phase.DONE,  # single visits, polls and surveys have no T
    (Phase.REVISIT, Step.END): Phase.DONE,
    (Phase.CHECK, Step.END): Phase.DONE,
}


class Life:
    """Where a capture stands, and since when T and the end are known; nobody else moves them.

    >>> life = Life("the capture of h by strategy='bfs'")
    >>> life.begin(); life.turn(12.0); life.phase.value, life.reference
    ('revisit', 12.0)
    >>> life.turn(15.0)
    Traceback (most recent call last):
    sharc_crawler.errors.StateError: the capture of h by strategy='bfs' is in the phase 'revisit': it cannot TURN
    """

    __slots__ = ("_who", "ended", "phase", "reference")

    def __init__(self, who: str) -> None:
        self._who = who  #: named in errors
        self.phase = Phase.OPENING
        self.reference: Instant | None = None
        self.ended: Instant | None = None

    def restore(self, phase: Phase, reference: Instant | None, ended: Instant | None) -> None:
        """Put back phase, T and end as they were stored."""
        self.phase, self.reference, self.ended = phase, reference, ended

    def begin(self) -> None:
        """The strategy is there; one that is made again after a restart finds the capture where it was."""
        if self.phase is Phase.OPENING:
            self._move(Step.BEGIN)

    def turn(self, reference: Instant) -> None:
        """All first visits are over; T is fixed, once."""
        self._move(Step.TURN)
        self.reference = reference

    def check(self) -> None:
        """All visits and revisits are made."""
        self._move(Step.CHECK)

    def next_part(self) -> None:
        """The next part has a T of its own."""
        self._move(Step.NEXT_PART)
        self.reference = None

    def end(self, now: Instant) -> None:
        """All pages are judged: the capture is over."""
        self._move(Step.END)
        self.ended = now

    def forget_reference(self) -> None:
        """Each part had its own T: the whole has none."""
        self.reference = None

    def _move(self, step: Step) -> None:
        then = PHASES.get((self.phase, step))
        if then is None:
            raise StateError(f"{self._who} is in the phase {self.phase.value!r}: it cannot {step.name}")
        self.phase = then
