"""Machines that several sites of a fleet ask (CDNs, image hosts): one worker at a time.

A worker asks such a machine in a turn reserved in the ledger, timed by a clock that cannot be set. A site's own machine
needs no turns as long as nobody else asks it. With ``by_address`` all names of an address are one machine, and every
request needs a turn.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.addresses.urls import machine_of
from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.fleet.ledger import Reservation
from sharc_crawler.frontier.hosts import Host, Pace

if TYPE_CHECKING:
    from sharc_crawler.live.fleet.clerk import Clerk
    from sharc_crawler.model import Fetch, Instant, Seconds

LOOK: Seconds = 0.1  #: between two looks for a turn
SHORTEST: Seconds = 1.0  #: length of a turn, unless the delay is longer: busy workers need it to get to the first byte


class ReservedTurn(NamedTuple):
    """A turn, by the monotonic clock."""

    begins: float
    ends: float


class FleetPace(Pace):
    """A machine's pace among all workers."""

    __slots__ = ("_turns", "machine")

    def __init__(self, machine: str, turns: Turns) -> None:
        super().__init__()
        self.machine = machine
        self._turns = turns

    def free(self, now: Instant, host: Host) -> Instant:
        """When the machine is free: as for one worker, then in shared turns."""
        if self.due > now or not host.owes:
            return self.due
        return now + self._turns.wait(self.machine, host.delay)


class Turns:
    """The turns of a worker, one per machine, which :meth:`reserve` gets from the ledger."""

    def __init__(self, clerk: Clerk, *, by_address: bool = False) -> None:
        self._clerk, self._by_address = clerk, by_address
        self._reserved: dict[str, ReservedTurn] = {}
        self._wanted: dict[str, Seconds] = {}  #: the delay, by machine
        self._told = asyncio.Event()

    def pace(self, machine: str) -> FleetPace:
        """The pace of a machine."""
        return FleetPace(machine, self)

    def wait(self, machine: str, delay: Seconds) -> Seconds:
        """Seconds not to ask a machine; a missing turn is requested."""
        if self._ours(machine):
            return 0.0
        turn, now = self._reserved.get(machine), monotonic()
        if turn is not None and now < turn.ends:
            return max(0.0, turn.begins - now)
        self._wanted[machine] = delay
        self._told.set()
        return LOOK

    def may_send(self, fetch: Fetch) -> bool:
        """Whether a request's machine may be asked now."""
        machine = machine_of(fetch.host)
        turn = self._reserved.get(machine)
        return self._ours(machine) or (turn is not None and turn.begins <= monotonic() < turn.ends)

    async def reserve(self) -> None:
        """Reserve turns until cancelled."""
        while True:
            await self._told.wait()
            self._told.clear()
            clerk, (wanted, self._wanted) = self._clerk, (self._wanted, {})
            machines = {await self._name(machine): machine for machine in wanted}  # of one address: one at a time
            turns = [
                Reservation(name, wanted[machine] + lasts(wanted[machine]), own=name in clerk.held)
                for name, machine in machines.items()
            ]
            asked = monotonic()
            with suppress(StoreUnavailable):  # renewing logs it; it is asked for again
                given = await clerk.ask(clerk.ledger.reserve, turns, clerk.term)
                now = monotonic()
                for name, machine in machines.items():  # the ledger's clock was read between question and answer
                    ends = asked + given[name] + lasts(wanted[machine])
                    self._reserved[machine] = ReservedTurn(now + given[name], ends)

    def _ours(self, machine: str) -> bool:
        """Whether no other worker asks a machine."""
        held = self._clerk.held.get(machine)
        return not self._by_address and held is not None and not held.shared

    async def _name(self, machine: str) -> str:
        """The name under which turns are reserved: the address, if that counts."""
        if not self._by_address:
            return machine
        host = machine.rpartition(":")[0] if machine.rpartition(":")[2].isdecimal() else machine
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
        except OSError:
            return machine
        return min(str(answer[4][0]) for answer in found)


def lasts(delay: Seconds) -> Seconds:
    """The length of a turn.

    >>> lasts(0.2), lasts(4.0)
    (1.0, 4.0)
    """
    return max(SHORTEST, delay)
