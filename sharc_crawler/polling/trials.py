"""Hubs found on new pages: on trial until they show what no other hub shows, dropped where the others show it all."""

from __future__ import annotations

import math

MOST = 100  #: such hubs at a time
PATIENCE = 50  #: new pages that all hubs show while such a hub shows none alone
MOST_DOUBLED = 4  #: times


class Trials:
    """Which hubs, by number, are on trial, and how patient the crawl is with those that it found.

    >>> trials = Trials()
    >>> trials.begin(7); trials.polled(7, alone=False, new_pages=0)
    >>> trials.barren(7, new_pages=49), trials.barren(7, new_pages=50)
    (False, True)
    >>> trials.polled(7, alone=True, new_pages=50)
    >>> trials.barren(7, new_pages=60), trials.under_way
    (False, set())
    """

    def __init__(self) -> None:
        self.under_way: set[int] = set()
        self._marks: dict[int, float] = {}  #: found hub → all new pages when first polled, or last worth it
        self._vain = 0  #: trials in a row that came to nothing

    def begin(self, hub: int) -> None:
        """A hub is found."""
        self.under_way.add(hub)
        self._marks[hub] = math.inf

    def polled(self, hub: int, alone: bool, new_pages: int) -> None:
        """A hub answered, when all had shown so many new pages; ``alone``: no other showed most that is new there."""
        if hub in self._marks and (alone or self._marks[hub] == math.inf):
            self._marks[hub] = new_pages
        if alone and hub in self.under_way:
            self.under_way.remove(hub)
            self._vain = 0

    def barren(self, hub: int, new_pages: int) -> bool:
        """Is this a found hub that has shown nothing alone for long?"""
        return new_pages - self._marks.get(hub, math.inf) >= PATIENCE

    def end(self, hub: int) -> None:
        """The hub is dropped."""
        if self._marks.pop(hub, None) is not None and hub in self.under_way:
            self.under_way.remove(hub)
            self._vain += 1

    def room(self, hubs: int) -> int:
        """How many more may be tried: one for four others (a fortieth of the polls), or for a single one (a tenth)."""
        others = hubs - len(self.under_way)
        return max(0, min(max(others // 4, 1) - len(self.under_way), MOST - len(self._marks)))

    @property
    def stretch(self) -> float:
        """How much more rarely than any other a hub on trial is polled: each trial in vain doubles it."""
        return 2.0 ** min(self._vain, MOST_DOUBLED)
