"""Conformance of what workers of a fleet share by its ledger: turns of a machine, and a budget.

Part of :class:`tests.fleet.ledger_contract.FleetLedgerContract`; what all its checks begin with is here, too.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.fleet.ledger import JournalStep, Pulse, Reservation, SiteOrder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sharc_crawler.fleet.ledger import FleetLedger, Tenure

TERM = 60.0
MOMENT = 0.01  #: a term that has run out as soon as one looks


def site_order(site: str, priority: int = 0, due: float = 0.0) -> SiteOrder:
    """A site to be captured."""
    return SiteOrder(site, {"url": f"http://{site}/", "limit": "10"}, priority, due)


def step_of(tenure: Tenure, seq: int, body: bytes = b"body", **more: int) -> JournalStep:
    """A step of a site that is held."""
    return JournalStep(tenure.site, tenure.epoch, seq, body, **more)


class SharedMeansChecks(ABC):
    """Nothing is given to two, however many ask at once."""

    @abstractmethod
    def open(self) -> FleetLedger:
        """A ledger of the fleet; each call is another process's."""

    @pytest.fixture
    def ledger(self) -> Iterator[FleetLedger]:
        """Of a fleet without sites."""
        ledger = self.open()
        yield ledger
        ledger.close()

    def test_turns_of_a_machine_do_not_overlap(self, ledger: FleetLedger) -> None:
        """Whoever reserves them, however many at once."""
        others = [ledger, *(self.open() for _ in range(3))]
        begun = time.monotonic()

        def reserve(number: int) -> list[tuple[float, float]]:
            found = []
            for _ in range(5):
                asked = time.monotonic() - begun
                wait = others[number].reserve(
                    [Reservation("cdn", 10.0, own=False), Reservation(f"own-{number}", 10.0, own=False)], TERM
                )
                found.append((asked + wait["cdn"], time.monotonic() - begun + wait["cdn"]))
            return found

        with ThreadPoolExecutor(4) as pool:
            turns = sorted(turn for one in pool.map(reserve, range(4)) for turn in one)
        for other in others[1:]:
            other.close()
        assert len(turns) == 20
        assert all(later[1] - former[0] >= 10 - 1e-3 for former, later in pairwise(turns))
        assert turns[0][0] < 10, "the first is free at once"

    def test_whoever_asks_a_sites_machine_first_waits_until_its_owner_knows(self, ledger: FleetLedger) -> None:
        """An owner that is alone there reserves nothing."""
        ledger.add([site_order("a"), site_order("b")])
        held = {one.site: one for one in ledger.claim("w1", 2, TERM)}
        assert not any(one.shared for one in held.values())
        pulse = Pulse("w1", {site: one.epoch for site, one in held.items()}, 9)
        assert ledger.renew(pulse, TERM).shared == frozenset()
        first = ledger.reserve([Reservation("a", 1.0, own=False)], TERM)["a"]
        assert TERM - 1 < first < TERM + 1e-6  # sums of floats
        assert ledger.renew(pulse, TERM).shared == {"a"}
        assert first < ledger.reserve([Reservation("a", 1.0, own=True)], TERM)["a"] < TERM + 1 + 1e-6
        ledger.release("a", held["a"].epoch)
        assert [one.shared for one in ledger.claim("w2", 1, TERM)] == [True]

    def test_an_owners_own_turns_make_its_machine_nobody_elses(self, ledger: FleetLedger) -> None:
        """Else it would be shared for ever."""
        ledger.add([site_order("a")])
        [held] = ledger.claim("w1", 1, TERM)
        assert ledger.reserve([Reservation("a", 1.0, own=True)], TERM)["a"] <= 0
        assert ledger.renew(Pulse("w1", {"a": held.epoch}, 9), TERM).shared == frozenset()
        assert ledger.reserve([Reservation("a", 1.0, own=False)], TERM)["a"] > TERM - 1

    def test_nobody_draws_more_than_there_is(self, ledger: FleetLedger) -> None:
        """However many draw at once; what is given back is others'."""
        assert ledger.draw(5, 5) == (inf, inf, inf)
        ledger.bound({"requests": 100, "bytes": 1e9, "until": time.time() + 3600})
        others = [ledger, *(self.open() for _ in range(3))]

        def draw(number: int) -> float:
            return sum(others[number].draw(7, 0).requests for _ in range(10))

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(draw, range(4))) == 100
        for other in others[1:]:
            other.close()
        ledger.draw(-30, 0)
        requests, size, seconds = ledger.draw(50, 2e9)
        assert (requests, size) == (30, 1e9)
        assert 0 < seconds <= 3600
        assert {one.what: (one.bound, one.spent) for one in ledger.status().budget if one.what != "until"} == {
            "requests": (100, 100),
            "bytes": (1e9, 1e9),
        }

    def test_a_budget_is_changed_and_lifted(self, ledger: FleetLedger) -> None:
        """What was spent stays spent."""
        ledger.bound({"requests": 10})
        assert ledger.draw(10, 0).requests == 10
        ledger.bound({"requests": 5})
        assert ledger.draw(1, 0).requests == 0
        ledger.bound({"requests": 12})
        assert ledger.draw(5, 0) == (2, inf, inf)
        ledger.bound({"requests": 0, "until": 1.0})
        assert ledger.draw(5, 0).requests == inf
        assert ledger.draw(5, 0).seconds < 0
