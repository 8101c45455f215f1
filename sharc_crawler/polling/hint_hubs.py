"""Hubs that list changes on a site: feeds, and pages of recent changes.

Hubs are polled during first visits, as often as they bring news. An entry that is new since the last poll, or moved
ahead of others, stands for a changed page; a date with it says when. These are hints: bytes decide, as for any page.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.polling.novelty import Novelty

if TYPE_CHECKING:
    from sharc_crawler.model import Instant, PageId

MOST = 8  #: hubs of a capture; twice as many if the further ones are certain
FILLED = 0.5  #: share of a list expected to be new at its next poll: entries off its end are never seen
UNDATED = 10  #: maximum of entries expected to be new if entries have no dates
EXPECTED = 0.5  #: minimum of expected new entries for a poll at the end of the visits
LEAST = 0.2  #: probability that an undated change lies after the instant given for it
DAY = 86_400.0


def moved(before: Mapping[PageId, int], named: Sequence[PageId]) -> list[PageId]:
    """Return entries that are new, or moved ahead of others.

    These are the fewest entries without which the others keep their former order (all but a longest increasing
    subsequence). So menus around the list, which stay in place, are not returned.

    >>> moved({7: 0, 1: 1, 2: 2, 3: 3, 9: 4}, [7, 3, 5, 1, 2, 9])
    [3, 5]
    """
    ends: list[int] = []  # least last place of an increasing subsequence, by length
    lengths: dict[PageId, int] = {}
    for page in named:
        place = before.get(page)
        if place is not None:
            lengths[page] = length = bisect_left(ends, place)
            ends[length : length + 1] = [place]
    stay, wanted, bound = set(), len(ends) - 1, math.inf
    for page in reversed(named):
        if lengths.get(page) == wanted and before[page] < bound:
            stay.add(page)
            wanted, bound = wanted - 1, before[page]
    return [page for page in named if page not in stay]


class _Last(NamedTuple):
    """A hub's entries at its last poll, and when that began."""

    places: Mapping[PageId, int] | None  #: None: it did not answer
    read: Instant


class HintHubs:
    """The hubs of a capture, by their page numbers."""

    def __init__(self) -> None:
        self._novelty = Novelty(half_life=100 * DAY)
        self._numbers: dict[PageId, int] = {}
        self._last: dict[PageId, _Last] = {}
        self._due: dict[PageId, Instant] = {}
        self._dated: set[PageId] = set()  # hubs whose entries have dates
        self.next: Instant = math.inf  #: when the next hub is due

    def __contains__(self, page: PageId) -> bool:
        return page in self._numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def room(self) -> int:
        """How many more hubs may be added."""
        return MOST - len(self)

    def add(self, page: PageId, certain: bool = False) -> None:
        """Add a hub, to be polled at once; ``certain``: it is surely a hub, not only by its name."""
        if page in self or len(self) >= (2 * MOST if certain else MOST):
            return
        self._numbers[page] = self._novelty.add()
        self._due[page] = self.next = -math.inf

    def drop(self, page: PageId) -> None:
        """Remove a page that is no hub."""
        for known in (self._numbers, self._last, self._due):
            known.pop(page, None)
        self.next = min(self._due.values(), default=math.inf)

    def asked(self, page: PageId) -> Instant:
        """Return when a hub was last polled; -inf: never."""
        return self._last[page].read if page in self._last else -math.inf

    def unchanged(self, page: PageId, read: Instant) -> None:
        """Enter a poll that showed nothing new."""
        last = self._last.get(page, _Last({}, read))
        self._polled(page, _Last(last.places or {}, read), read - last.read, 0)

    def missed(self, page: PageId, read: Instant) -> None:
        """Enter a poll without an answer: poll again only at the end of the visits."""
        self._last.setdefault(page, _Last(None, read))
        self._due[page] = math.inf

    def polled(
        self, page: PageId, read: Instant, named: Sequence[PageId], dates: Mapping[PageId, Instant]
    ) -> list[tuple[PageId, Instant]]:
        """Enter a poll that began at ``read``; return the pages that have changed, each with an instant.

        ``dates``: of entries that have one. An undated change lies between two polls; its instant is the latest after
        which it is still likely enough to be worth a look.
        """
        entries = list(dict.fromkeys(named))
        if dates:
            self._dated.add(page)
        last = self._last.get(page)
        ahead = set(moved(last.places, entries)) if last and last.places is not None else set[int]()
        places = {entry: place for place, entry in enumerate(entries)}
        self._polled(page, _Last(places, read), read - last.read if last else 0.0, len(ahead))
        perhaps = read - LEAST * (read - last.read) if last else read
        return [(entry, dates.get(entry, perhaps)) for entry in entries if entry in dates or entry in ahead]

    def _polled(self, page: PageId, found: _Last, seconds: float, new: int) -> None:
        """Set when the hub is due: once half of its list, or :data:`UNDATED` undated entries, should be new."""
        number = self._numbers[page]
        self._last[page] = found
        self._novelty.looked(number, seconds, new)
        most = max(FILLED * len(found.places or ()), UNDATED)  # an empty list may be a long one
        wanted = most if page in self._dated else min(most, UNDATED)
        self._due[page] = found.read + wanted / self._novelty.rates()[number]
        self.next = min(self._due.values())

    def take_due(self, now: Instant) -> list[PageId]:
        """Return the hubs due, and mark them as under way."""
        taken = [page for page, due in self._due.items() if due <= now]
        self._due |= dict.fromkeys(taken, math.inf)
        self.next = min(self._due.values())
        return taken

    def best(self, most: int, now: Instant, expected: float = EXPECTED) -> list[PageId]:
        """Return up to ``most`` hubs with at least ``expected`` new entries, those with most first."""
        rates = self._novelty.rates() if self._last else ()
        new = {page: rates[self._numbers[page]] * (now - last.read) for page, last in self._last.items()}
        worth = [page for page in new if new[page] >= expected]
        return sorted(worth, key=new.__getitem__, reverse=True)[: max(0, most)]
