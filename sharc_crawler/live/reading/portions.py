"""| Takes in long sitemaps in portions, so that the reactor can do other work in between."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING

from sharc_crawler.live.clock import Alarm
from sharc_crawler.model import Kind
from sharc_crawler.uncollected import uncollected

if TYPE_CHECKING:
    from sharc_crawler.frontier.sites import Sites
    from sharc_crawler.live.requests import Lease

PORTION = 5_000  #: addresses, which take 0.08 s of processor time
TEXT = 400_000  #: characters of addresses: unusual ones take up to 2 s for a million


class Portions:
    """Sitemaps taken in by portions. ``end`` gets each at its last portion, ``wake`` is called when one is due."""

    def __init__(self, sites: Sites, end: Callable[[Lease], None], wake: Callable[[], None] = lambda: None) -> None:
        self._sites, self._end, self._wake = sites, end, wake
        self._long: deque[Lease] = deque()
        self._is_next_turn = False
        self._next_turn = Alarm(self._turn)

    def __bool__(self) -> bool:
        """Whether there is more to take in."""
        return bool(self._long)

    def add(self, lease: Lease) -> bool:
        """Keep a sitemap for the turns to come if it is long."""
        is_long = lease.fetch.kind is Kind.SITEMAP and len(lease.links) > PORTION
        if is_long:
            self._long.append(lease)
        return is_long

    def take_in_turn(self) -> None:
        """Take one portion per turn of the reactor, however often the engine asks."""
        if self and self._is_next_turn:
            self._is_next_turn = False
            self.take()
        if self:
            self._next_turn.set(0)

    def _turn(self) -> None:
        self._is_next_turn = True
        self._wake()

    def rest(self) -> None:
        """Wake nobody any more."""
        self._next_turn.cancel()

    def take(self) -> None:
        """Take in the next portion, in one transaction; after a kill the sitemap is read again."""
        while self._long and self._long[0].fetch.site not in self._sites:  # another process has taken it over
            self._long.popleft()
        if not self._long:
            return
        lease = self._long[0]
        assert lease.outcome is not None, "noted before it is taken in"
        size = max(sum(1 for text in accumulate(len(link.url) for link in lease.links[:PORTION]) if text <= TEXT), 1)
        portion, rest = lease.links[:size], lease.links[size:]
        if not rest:
            self._long.popleft()
        with uncollected(), self._sites.one_step(lease.fetch.site):
            if rest:
                lease.links = rest
                self._sites.named(lease.fetch, lease.outcome, portion)
            else:
                self._end(lease)
