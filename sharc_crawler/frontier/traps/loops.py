"""Pages that are visited again and again, each time with something else in one place of their addresses.

A site may make something up in each link of each answer (``/kqzv/page7``, ``/page/7?r=0.8444``), and say something else
each time. Then a strategy can go round a few pages. Where an address was visited often with something else in a place,
who named it is asked for once more. Unless that link is there again, what was visited with something else there waits
until nothing else is left.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sharc_crawler.frontier.traps.idle_places import forms
from sharc_crawler.frontier.traps.rules import LAST
from sharc_crawler.known_urls import UNSEEN
from sharc_crawler.unlikely import look_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.frontier.pages import PageTable
    from sharc_crawler.frontier.traps.fleeting import FleetingLinks
    from sharc_crawler.model import PageId

OFTEN = 8  #: visits of an address with something else in a place, from which on such pages wait
ASKED = 5  #: places for which a page is asked for once more
MOST = 20_000  #: addresses without what stands in a place that are counted


class Loops:
    """Counts visits by what is left of an address without one place."""

    def __init__(self) -> None:
        self._visits: Counter[int] = Counter()
        self._looks: dict[str, tuple[PageId, PageId]] = {}  # by place: who is asked for once more, and named this

    def saw(self, page: PageId, pages: PageTable) -> Sequence[str]:
        """A page was captured that names new ones alone, as the one that named it; what is to be asked for."""
        wanted, parent = [], pages.parents[page]
        for one in forms(pages.urls[page]):
            rest = hash(one.rest)
            if rest in self._visits or len(self._visits) < MOST:
                self._visits[rest] += 1
            if self._visits[rest] == OFTEN and one.place not in self._looks and len(self._looks) < ASKED:
                self._looks[one.place] = parent, page
                wanted.append(look_at(pages.urls[parent]))
        return wanted

    def doubts(self, url: str, looks: FleetingLinks | None) -> int:
        """Is a page to wait, and how long? A whole query may tell pages apart, beside what is made up in it."""
        again = [one.place for one in forms(url) if hash(one.rest) in self._visits] if self._looks else ()
        return max((LAST + (place != "?*") for place in again if not self._stays(place, looks)), default=0)

    def _stays(self, place: str, looks: FleetingLinks | None) -> bool:
        """Is the link there each time? Some servers do not answer when they are asked so."""
        parent, page = self._looks.get(place, (UNSEEN, UNSEEN))
        return page == UNSEEN or (looks is not None and page in looks.again.get(parent, ()))
