"""Many workers in virtual time, with the real frontier, journal and ledger: nothing is lost, nothing is done twice."""

from __future__ import annotations

import pytest

from benchmarks.bench_fleet_simulation import World, parsed, run

SMALL = ["--workers", "12", "--sites", "40", "--pages", "3", "--room", "10", "--term", "20"]


@pytest.mark.slow
def test_workers_that_die_hang_and_are_cut_off_lose_nothing_and_do_nothing_twice():
    done, wrong = run(parsed(SMALL))
    assert wrong == {}
    assert done["takeovers"] > 10
    assert done["repeated"] < done["requests"] / 2


def test_an_old_owners_request_is_found():
    world = World(parsed(SMALL))
    for epoch in (2, 1):
        world.ask("a.example", epoch)
    assert +world.wrong == {"the delay was undercut": 1, "an old owner asked after the new one": 1}
