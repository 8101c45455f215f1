"""The life cycles of a page and of a capture, as tables. An illegal step raises :class:`StateError`.

A page is *queued* when discovered, *leased* during its first download and *visited* when that brought content. It is
*leased again* for its revisit and *judged* at its end (or *visited* again until all evidence is in). If its first
download brings no content, it is *lost* (gone, refused, redirected or failed for good) and never revisited. Pages
discovered after T are *late*: recorded but not fetched. So are old pages of an instant crawl, until a hub newly names
them. A lease given back (a retry, a crash, an expired lease) returns the page to its former state.

A capture is *opening* while robots.txt and sitemaps are read, in *visit* from its strategy's first decision on, in
*revisit* once all first visits are over and the reference instant T is fixed, in *check* while claims on the server's
word are audited, and finally *done*. A site captured part by part opens again for each part, which has its own T.
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
    """An event in a page's life."""

    LEASE = 0
    GIVEN_BACK = 1
    CAPTURED = 2
    NO_CONTENT = 3
    JUDGE = 4
    POLLED = 5
    WANTED = 6


TRANSITIONS: dict[tuple[int, int], State] = {
    (State.LATE, Event.WANTED): State.QUEUED,  # a hub of an instant crawl newly names it
    (State.QUEUED, Event.LEASE): State.LEASED,
    (State.LEASED, Event.GIVEN_BACK): State.QUEUED,
    (State.LEASED, Event.CAPTURED): State.VISITED,
    (State.LEASED, Event.NO_CONTENT): State.LOST,
    (State.VISITED, Event.LEASE): State.LEASED_AGAIN,
    (State.VISITED, Event.JUDGE): State.JUDGED,  # single visits, the apex, and pages never revisited
    (State.JUDGED, Event.JUDGE): State.JUDGED,  # judged again: another part shows what the server's word is worth
    (State.LEASED_AGAIN, Event.GIVEN_BACK): State.VISITED,
    (State.LEASED_AGAIN, Event.JUDGE): State.JUDGED,
    (State.LEASED_AGAIN, Event.POLLED): State.VISITED,  # a hub is polled again and again
    (State.LEASED_AGAIN, Event.CAPTURED): State.VISITED,  # a sitemap read again; a page that is judged at the end
    (State.LEASED_AGAIN, Event.NO_CONTENT): State.VISITED,
}


class Step(IntEnum):
    """An event in a capture's life."""

    BEGIN = 0  #: its strategy is built
    TURN = 1  #: all first visits are over: T is fixed
    CHECK = 2  #: all visits and revisits are made; audits are left
    NEXT_PART = 3  #: a part of the site is judged; others wait
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
    """A capture's phase, T and end; only these methods change them.

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
        """Set phase, T and end as stored."""
        self.phase, self.reference, self.ended = phase, reference, ended

    def begin(self) -> None:
        """Enter the visit phase; after a restart the phase stays."""
        if self.phase is Phase.OPENING:
            self._move(Step.BEGIN)

    def turn(self, reference: Instant) -> None:
        """Enter the revisit phase and fix T, once."""
        self._move(Step.TURN)
        self.reference = reference

    def check(self) -> None:
        """Enter the check phase."""
        self._move(Step.CHECK)

    def next_part(self) -> None:
        """Open the next part, which has its own T."""
        self._move(Step.NEXT_PART)
        self.reference = None

    def end(self, now: Instant) -> None:
        """End the capture."""
        self._move(Step.END)
        self.ended = now

    def forget_reference(self) -> None:
        """Clear T: each part had its own."""
        self.reference = None

    def _move(self, step: Step) -> None:
        then = PHASES.get((self.phase, step))
        if then is None:
            raise StateError(f"{self._who} is in the phase {self.phase.value!r}: it cannot {step.name}")
        self.phase = then
