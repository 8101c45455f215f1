"""Hubs that tell what changed on a site: feeds, and pages that list recent changes.

They are polled while first visits go on, as often as they bring something. An entry that is new since the last poll, or
has moved ahead of others, stands for a page that has changed; where it has a date, that says when. These are hints:
bytes judge, as of any page.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.polling.novelty import Novelty

if TYPE_CHECKING:
    from sharc_crawler.model import Instant, PageId

MOST = 8  #: hubs of a capture; twice as many with those that are known for what they are
FILLED = 0.5  #: share of a list that may be new at its next poll: what falls off its end is never seen
UNDATED = 10  #: entries that may be, at most, where no entry says when
EXPECTED = 0.5  #: new entries, at least, that a hub is asked for once more at the end of the visits
LEAST = 0.2  #: probability that a page in a list without times changed after its visit, of those called changed
DAY = 86_400.0


def moved(before: Mapping[PageId, int], named: Sequence[PageId]) -> list[PageId]:
    """Entries that are new, or lie ahead of others that they followed.

    The fewest whose removal leaves the others in their former order (all but a longest increasing subsequence): menus
    around a list, which stay where they are, are not among them.

    >>> moved({7: 0, 1: 1, 2: 2, 3: 3, 9: 4}, [7, 3, 5, 1, 2, 9])
    [3, 5]
    """
    ends: list[int] = []  # place that the best subsequence of each length ends with, the least that is possible
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
    """What a hub named at its last poll, and when that began."""

    places: Mapping[PageId, int] | None  #: None: it did not answer
    read: Instant


class HintHubs:
    """The hubs of a capture, by their page numbers."""

    def __init__(self) -> None:
        self._novelty = Novelty(half_life=100 * DAY)
        self._numbers: dict[PageId, int] = {}
        self._last: dict[PageId, _Last] = {}
        self._due: dict[PageId, Instant] = {}
        self._dated: set[PageId] = set()  # those whose entries say when
        self.next: Instant = math.inf  #: when a hub is due

    def __contains__(self, page: PageId) -> bool:
        return page in self._numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def room(self) -> int:
        """How many more hubs may be polled."""
        return MOST - len(self)

    def add(self, page: PageId, certain: bool = False) -> None:
        """One more, to be polled at once; ``certain``: it is known for what it is, not by its name alone."""
        if page in self or len(self) >= (2 * MOST if certain else MOST):
            return
        self._numbers[page] = self._novelty.add()
        self._due[page] = self.next = -math.inf

    def drop(self, page: PageId) -> None:
        """A page turned out to be no hub."""
        for known in (self._numbers, self._last, self._due):
            known.pop(page, None)
        self.next = min(self._due.values(), default=math.inf)

    def asked(self, page: PageId) -> Instant:
        """When it was polled last; -inf: never."""
        return self._last[page].read if page in self._last else -math.inf

    def unchanged(self, page: PageId, read: Instant) -> None:
        """A poll showed what the one before had shown."""
        last = self._last.get(page, _Last({}, read))
        self._polled(page, _Last(last.places or {}, read), read - last.read, 0)

    def missed(self, page: PageId, read: Instant) -> None:
        """A poll brought no answer: nothing is expected of it before the end of the visits."""
        self._last.setdefault(page, _Last(None, read))
        self._due[page] = math.inf

    def polled(
        self, page: PageId, read: Instant, named: Sequence[PageId], dates: Mapping[PageId, Instant]
    ) -> list[tuple[PageId, Instant]]:
        """What a poll that began at ``read`` says: pages that have changed, and when, as far as it is known.

        ``dates``: of entries that have one. Without a date a change lies between two polls; what is told is the latest
        time after which it is likely enough to be worth a look.
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
        """It is due when half of its list is expected to be new, or so many entries that their times are unknown."""
        number = self._numbers[page]
        self._last[page] = found
        self._novelty.looked(number, seconds, new)
        most = max(FILLED * len(found.places or ()), UNDATED)  # an empty list may be a long one
        wanted = most if page in self._dated else min(most, UNDATED)
        self._due[page] = found.read + wanted / self._novelty.rates()[number]
        self.next = min(self._due.values())

    def take_due(self, now: Instant) -> list[PageId]:
        """The hubs to poll now, before entries fall off their ends; from now on they are under way."""
        taken = [page for page, due in self._due.items() if due <= now]
        self._due |= dict.fromkeys(taken, math.inf)
        self.next = min(self._due.values())
        return taken

    def best(self, most: int, now: Instant, expected: float = EXPECTED) -> list[PageId]:
        """So many of those that are ``expected`` to have so much new; most of it first."""
        rates = self._novelty.rates() if self._last else ()
        new = {page: rates[self._numbers[page]] * (now - last.read) for page, last in self._last.items()}
        worth = [page for page in new if new[page] >= expected]
        return sorted(worth, key=new.__getitem__, reverse=True)[: max(0, most)]
