"""What a worker spends it has drawn before, and no more is drawn than there is."""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from math import inf
from threading import Event
from typing import TYPE_CHECKING

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from sharc_crawler.fleet.opening import open_fleet
from sharc_crawler.live.fleet import purse as module
from sharc_crawler.live.fleet.clerk import Clerk
from sharc_crawler.live.fleet.purse import LEAST, Purse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sharc_crawler.fleet.ledger import Allowance, FleetLedger


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FleetLedger]:
    monkeypatch.setattr(module, "LOOK", 0.01)
    ledger = open_fleet(f"sqlite:{tmp_path / 'fleet.db'}", make=True)
    yield ledger
    ledger.close()


@contextmanager
def worker(folder: Path) -> Iterator[Purse]:
    """With a connection of its own, as each worker has: its thread and the test's would write in one transaction."""
    clerk = Clerk(open_fleet(f"sqlite:{folder / 'fleet.db'}"), "w", 60.0)
    purse = Purse(clerk, 0.02)
    task = asyncio.ensure_future(purse.fill())
    try:
        yield purse
    finally:
        task.cancel()
        clerk.close()
        clerk._thread.shutdown()
        clerk.ledger.close()


async def until(condition) -> None:
    for _ in range(24_000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError


async def spend(purse: Purse) -> int:
    """All that can be had."""
    spent = 0
    while not purse.used_up:
        if purse.empty:
            await asyncio.sleep(0.005)
        else:
            purse.request()
            spent += 1
    return spent


@deferred_f_from_coro_f
async def test_two_workers_spend_the_budget_and_no_more(ledger: FleetLedger, tmp_path: Path):
    ledger.bound({"requests": 3 * LEAST + 4})
    with worker(tmp_path) as first, worker(tmp_path) as second:
        assert first.empty, "nothing is sent before something was drawn"
        assert sum(await asyncio.gather(spend(first), spend(second))) == 3 * LEAST + 4
        ledger.bound({"requests": 3 * LEAST + 5})
        await until(lambda: not (first.empty and second.empty))


@deferred_f_from_coro_f
async def test_a_budget_that_is_set_later_counts_and_what_is_left_is_given_back(ledger: FleetLedger, tmp_path: Path):
    with worker(tmp_path) as purse:
        await until(lambda: not purse.empty)
        purse.request()
        ledger.bound({"bytes": 5e6})
        await until(lambda: purse._left.size < inf)  # it knows
        purse.receive(700)
        await purse.give_back()
        assert purse.empty
    assert ledger.status().budget[0].spent == 700


@deferred_f_from_coro_f
async def test_what_is_drawn_while_a_worker_leaves_is_given_back_too(
    ledger: FleetLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    ledger.bound({"requests": 1000})
    answered, drawn = Event(), []

    def late(requests: float, size: float) -> Allowance:
        given = draw(requests, size)
        drawn.append(requests)
        assert len(drawn) > 1 or answered.wait(60)
        return given

    with worker(tmp_path) as purse:
        draw = purse._clerk.ledger.draw
        monkeypatch.setattr(purse._clerk.ledger, "draw", late)
        await until(lambda: drawn)
        giving = asyncio.ensure_future(purse.give_back())
        await asyncio.sleep(0)  # it has begun
        answered.set()
        await giving
        assert purse.empty
    assert drawn == [LEAST, -LEAST]
    assert ledger.status().budget[0].spent == 0


@deferred_f_from_coro_f
async def test_after_its_time_nothing_is_sent(ledger: FleetLedger, tmp_path: Path):
    with worker(tmp_path) as purse:
        await until(lambda: not purse.empty)
        ledger.bound({"until": time.time() - 1})
        await until(lambda: purse.empty)
        ledger.bound({"until": time.time() + 3600})
        await until(lambda: not purse.empty)
