"""Machines that several workers ask are asked by one of them at a time."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from itertools import pairwise
from time import monotonic
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from sharc_crawler.fleet.ledger import Reservation
from sharc_crawler.fleet.opening import open_fleet
from sharc_crawler.frontier.hosts import Host, Politeness
from sharc_crawler.live.fleet.clerk import Clerk
from sharc_crawler.live.fleet.pacing import Turns
from tests.fleet.ledger_means import site_order

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DELAY, TERM = 0.2, 60.0


@pytest.fixture
def dsn(tmp_path: Path) -> str:
    dsn = f"sqlite:{tmp_path / 'fleet.db'}"
    ledger = open_fleet(dsn, make=True)
    ledger.add([site_order("a.example")])
    ledger.close()
    return dsn


@contextmanager
def worker(dsn: str, *, by_address: bool = False) -> Iterator[tuple[Turns, Clerk]]:
    clerk = Clerk(open_fleet(dsn), "w", TERM)
    turns = Turns(clerk, by_address=by_address)
    task = asyncio.ensure_future(turns.reserve())
    try:
        yield turns, clerk
    finally:
        task.cancel()
        clerk.close()


def of(host: str) -> SimpleNamespace:
    return SimpleNamespace(host=host)


async def ask(turns: Turns, machine: str) -> float:
    """When it is sent."""
    while not turns.may_send(of(machine)):
        await asyncio.sleep(turns.wait(machine, DELAY))
    return monotonic()


@pytest.mark.slow
@deferred_f_from_coro_f
async def test_two_workers_ask_a_machine_one_after_the_other(dsn: str):
    with worker(dsn) as (first, _), worker(dsn) as (second, _):
        sent = [await ask((first, second)[turn % 2], "cdn.example") for turn in range(4)]
        assert all(later - former >= DELAY for former, later in pairwise(sent))
        assert not first.may_send(of("other.example")), "a machine without a turn is not asked"


@deferred_f_from_coro_f
async def test_a_site_asks_its_own_machine_without_until_others_do(dsn: str):
    with worker(dsn) as (turns, clerk):
        [tenure] = clerk.ledger.claim("w", 1, TERM)
        clerk.take(tenure, monotonic())
        host = Host("www.a.example", Politeness(), pace := turns.pace("a.example"))
        host.has_pages = True
        assert pace.free(5.0, host) == 5.0
        assert turns.may_send(of("www.a.example"))
        clerk.held["a.example"].shared = True  # as renewing tells it
        assert pace.free(5.0, host) > 5.0
        assert not turns.may_send(of("www.a.example"))


@deferred_f_from_coro_f
async def test_who_has_nothing_to_ask_reserves_nothing(dsn: str):
    with worker(dsn) as (turns, clerk):
        host = Host("cdn.example", Politeness(), pace := turns.pace("cdn.example"))
        assert pace.free(5.0, host) == 0.0
        await asyncio.sleep(0.1)
        given = clerk.ledger.reserve([Reservation("cdn.example", 9.0, own=False)], TERM)
        assert given["cdn.example"] <= 0, "it is the first"


@pytest.mark.slow
@deferred_f_from_coro_f
async def test_names_of_one_address_are_one_machine_by_order(dsn: str):
    with worker(dsn, by_address=True) as (first, _), worker(dsn, by_address=True) as (second, _):
        former = await ask(first, "127.0.0.1:8001")
        assert await ask(second, "127.0.0.1:8002") - former >= DELAY
