"""What the frontiers of one process share: the paces of machines, the numbers of leases, the polls' budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.hosts import Pace
from sharc_crawler.urls import machine_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.model import Sighting
    from sharc_crawler.polling.polls import Polls
    from sharc_crawler.polling.terms import Terms


class Shared:
    """One for all sites; a frontier that is alone has its own."""

    def __init__(
        self,
        terms: Terms | None = None,
        machine: Callable[[str], str] = machine_of,
        pace: Callable[[str], Pace] = lambda _: Pace(),
    ) -> None:
        self._machine = machine  #: which hosts are one
        self._new_pace = pace  #: of a machine
        #: by machine: who captures two sites of it asks it no more often than for one
        self._paces: dict[str, Pace] = {}
        self.terms = terms  #: of an instant crawl
        self.polls: Polls | None = None  #: its polls, once there are some
        self.last = 0  #: the number of the lease granted last
        self.unwritten: set[Ledger] = set()  #: whose last changes could not be written, or are to be soon
        self.woken: Callable[[Ledger], None] = lambda _: None  #: a frontier that had no host to ask has one
        #: a page that is not this frontier's may be another's: by its canonical URL, so many links from a seed
        self.outside: Callable[[Sighting, str, int], None] = lambda *_: None

    def pace(self, host: str) -> Pace:
        """The pace of the machine that a host is on; may be called in any thread."""
        machine = self._machine(host)
        pace = self._paces.get(machine)
        return pace or self._paces.setdefault(machine, self._new_pace(machine))
