"""| A worker's share of the fleet's budget, drawn from the ledger in advance, in small amounts."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.fleet.ledger import Allowance

if TYPE_CHECKING:
    from sharc_crawler.live.fleet.clerk import Clerk
    from sharc_crawler.model import Seconds

LEAST = 10  #: requests drawn at once; one per held site if that is more
A_REQUEST = 100_000  #: bytes drawn for each request
LOOK: Seconds = 1.0  #: between two draws while nothing is left


class Purse:
    """The requests and bytes that this worker may still spend, and until when."""

    def __init__(self, clerk: Clerk, period: Seconds) -> None:
        self._clerk, self._period = clerk, period
        self._left = Allowance(0, 0, -inf)
        self._drawn = 0.0  #: when, by the monotonic clock
        self._low = asyncio.Event()
        self._asking = asyncio.Lock()  #: giving back waits for a draw, whose amount is given back, too
        self._over = False  #: nothing is drawn any more
        self.used_up = False  #: the fleet has nothing left to give

    @property
    def empty(self) -> bool:
        """Whether nothing may be sent."""
        requests, size, seconds = self._left
        return requests < 1 or size <= 0 or monotonic() >= self._drawn + seconds

    def request(self) -> None:
        """Count a request."""
        self._spend(1, 0)

    def receive(self, size: int) -> None:
        """Count received bytes."""
        self._spend(0, size)

    def _spend(self, requests: int, size: int) -> None:
        left = self._left = Allowance(self._left.requests - requests, self._left.size - size, self._left.seconds)
        if left.requests < self._wanted / 2 or left.size < self._wanted * A_REQUEST / 2:
            self._low.set()

    @property
    def _wanted(self) -> int:
        return max(LEAST, len(self._clerk.held))

    async def fill(self) -> None:
        """Draw what is needed until cancelled; at least once a period, as the budget may change."""
        while not self._over:
            with suppress(StoreUnavailable):  # renewing logs it
                await self._draw()
            self._low.clear()
            if self.empty:
                await asyncio.sleep(LOOK)
            else:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._low.wait(), self._period)

    async def _draw(self) -> None:
        async with self._asking:
            if self._over:
                return
            asked, ledger, wanted = monotonic(), self._clerk.ledger, self._wanted
            requests = max(0.0, wanted - self._left.requests)
            size = max(0.0, wanted * A_REQUEST - self._left.size)
            given = await self._clerk.ask(ledger.draw, requests, size)
            left = self._left  # less than before
            self._left = Allowance(_sum(left.requests, given.requests), _sum(left.size, given.size), given.seconds)
            self._drawn = asked
            self.used_up = self.empty and bool(requests or size)

    async def give_back(self) -> None:
        """Give back what is left, or draw what was overspent."""
        self._over = True
        async with self._asking:
            requests, size, _ = self._left
            self._left = Allowance(0, 0, -inf)
            given = [-amount if amount < inf else 0.0 for amount in (requests, size)]
            if any(given):
                await self._clerk.ask(self._clerk.ledger.draw, *given)


def _sum(left: float, given: float) -> float:
    """The sum, where infinity means "no bound": a bound that is new or gone replaces the former value."""
    return given if inf in (left, given) else left + given
