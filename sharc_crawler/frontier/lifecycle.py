"""The life of a page, as a table.

A page is *queued* when discovered, *leased* while its first download runs, *visited* once that is settled with content,
*leased again* for its revisit and *judged* at its end (or *visited* again, until all evidence is in). A page whose
first download brought no content is *lost* (gone, refused, redirected or failed for good): it is listed, and nothing is
left to revisit. A page discovered after the reference instant is *late*, and so is one that an instant crawl leaves: it
is recorded and not fetched. A lease that is given back (a retry, a crash, an expired lease) returns the page to where
it was.
"""

from __future__ import annotations

from enum import IntEnum


class State(IntEnum):
    """Where a page stands."""

    QUEUED = 0
    LEASED = 1
    VISITED = 2
    LEASED_AGAIN = 3
    JUDGED = 4
    LOST = 5
    LATE = 6


class Event(IntEnum):
    """What can happen to a page."""

    LEASE = 0
    GIVEN_BACK = 1
    CAPTURED = 2
    NO_CONTENT = 3
    JUDGE = 4
    POLLED = 5


TRANSITIONS: dict[tuple[int, int], State] = {
    (State.QUEUED, Event.LEASE): State.LEASED,
    (State.LEASED, Event.GIVEN_BACK): State.QUEUED,
    (State.LEASED, Event.CAPTURED): State.VISITED,
    (State.LEASED, Event.NO_CONTENT): State.LOST,
    (State.VISITED, Event.LEASE): State.LEASED_AGAIN,
    (State.VISITED, Event.JUDGE): State.JUDGED,  # single visits, the apex, and revisits that were never made
    (State.LEASED_AGAIN, Event.GIVEN_BACK): State.VISITED,
    (State.LEASED_AGAIN, Event.JUDGE): State.JUDGED,
    (State.LEASED_AGAIN, Event.POLLED): State.VISITED,  # a hub's visits have no end
    (State.LEASED_AGAIN, Event.CAPTURED): State.VISITED,  # a sitemap read again; a page that is judged at the end
    (State.LEASED_AGAIN, Event.NO_CONTENT): State.VISITED,
}
