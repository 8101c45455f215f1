"""What the clerk of a worker tells its ledger, and when it tells it no more."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from threading import Event
from time import sleep
from typing import TYPE_CHECKING

import pytest
from scrapy.utils.defer import deferred_f_from_coro_f

from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.fleet.journal import lines_of, state_of
from sharc_crawler.fleet.opening import open_fleet
from sharc_crawler.live.fleet import clerk as module
from sharc_crawler.live.fleet.clerk import Clerk, Heartbeat
from tests.fleet.ledger_means import site_order

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sharc_crawler.fleet.ledger import FleetLedger

TERM = 30.0


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[FleetLedger]:
    ledger = open_fleet(f"sqlite:{tmp_path / 'fleet.db'}", make=True)
    ledger.add([site_order("a"), site_order("b")])
    yield ledger
    ledger.close()


def holding(ledger: FleetLedger, asked: float | None = None) -> Clerk:
    clerk = Clerk(ledger, "w", TERM)
    for tenure in ledger.claim("w", 2, TERM):
        clerk.take(tenure, module.monotonic() if asked is None else asked)
    return clerk


@deferred_f_from_coro_f
async def test_what_sites_did_is_one_statement_then_they_go_on(ledger: FleetLedger, monkeypatch: pytest.MonkeyPatch):
    clerk, went_on, asked = holding(ledger), [], []
    monkeypatch.setattr(ledger, "step", lambda steps, term, step=ledger.step: asked.append(steps) or step(steps, term))
    clerk.written = went_on.append
    for line in ("{}", "{}"):
        clerk.append("a", line)
    clerk.append("b", "{}")
    await clerk.flush()
    assert [len(steps) for steps in asked] == [2]
    assert sorted(went_on) == ["a", "b"]
    assert list(lines_of(ledger.journal("a", 1))) == ["{}", "{}"]
    clerk.close()


@deferred_f_from_coro_f
async def test_what_comes_while_the_ledger_answers_waits_for_other_sites_steps(
    ledger: FleetLedger, monkeypatch: pytest.MonkeyPatch
):
    clerk, asked, loop = holding(ledger), [], asyncio.get_running_loop()
    enough = loop.create_future()

    def step(steps, term, step=ledger.step):
        asked.append(sorted(one.site for one in steps))
        return step(steps, term)

    def written(site: str) -> None:
        if len(asked) == 1:
            clerk.append("b", "{}")
            loop.call_later(0.01, clerk.append, "a", "{}")
        elif not enough.done():
            enough.set_result(site)

    monkeypatch.setattr(ledger, "step", step)
    monkeypatch.setattr(module, "A_SITE", module.LONGEST)
    clerk.written = written
    clerk.append("a", "{}")
    writing = asyncio.ensure_future(clerk.write())
    await enough
    writing.cancel()
    assert asked == [["a"], ["a", "b"]]
    clerk.close()


@deferred_f_from_coro_f
async def test_a_lost_answer_is_asked_for_again_and_what_came_meanwhile_follows(
    ledger: FleetLedger, monkeypatch: pytest.MonkeyPatch
):
    clerk, step = holding(ledger), ledger.step

    def lost(steps, term):
        step(steps, term)
        raise StoreUnavailable("no answer")

    monkeypatch.setattr(module, "AGAIN", 0.0)
    monkeypatch.setattr(ledger, "step", lost)
    clerk.append("a", '"one"')
    await clerk.flush()
    assert not clerk.held["a"].safe
    clerk.append("a", '"two"')
    monkeypatch.setattr(ledger, "step", step)
    await clerk.flush()
    await clerk.flush()
    assert clerk.held["a"].safe
    assert list(lines_of(ledger.journal("a", 9))) == ['"one"', '"two"']
    clerk.close()


@deferred_f_from_coro_f
async def test_who_is_superseded_is_told_and_writes_nothing(ledger: FleetLedger):
    clerk, lost = holding(ledger), []
    clerk.superseded = lambda *which: lost.append(which)
    ledger.release("a", epoch := clerk.held["a"].tenure.epoch)
    assert ledger.claim("other", 1, TERM)[0].site == "a"
    clerk.append("a", "{}")
    await clerk.flush()
    assert lost == [("a", epoch)]
    assert clerk.superseded_steps == 1
    assert not clerk.may_send("a")
    assert clerk.may_send("b")
    assert list(ledger.journal("a", 9)) == []
    clerk.close()


@deferred_f_from_coro_f
async def test_nothing_is_sent_later_than_two_thirds_of_a_term_after_the_ledger_was_asked(ledger: FleetLedger):
    long_ago = module.monotonic() - TERM * 2 / 3 - 0.01
    clerk = holding(ledger, asked=long_ago)
    assert not clerk.may_send("a")
    clerk.append("a", "{}")
    await clerk.flush()
    assert clerk.may_send("a"), "a step renews"
    assert not clerk.may_send("b")
    clerk.close()


@deferred_f_from_coro_f
async def test_rows_are_merged_and_read_as_they_were(ledger: FleetLedger, monkeypatch: pytest.MonkeyPatch):
    clerk = holding(ledger)
    for number in range(25):
        clerk.append("a", json.dumps({"members": [[number, 1]]}))
        await clerk.flush()
    monkeypatch.setattr(module, "ROWS", 10)
    assert clerk._merge("a", clerk.held["a"].tenure.epoch, 25) == 20
    assert clerk._merge("a", clerk.held["a"].tenure.epoch, 25) == 20
    assert len(list(ledger.journal("a", 25))) == 2 + 5
    assert len(lines := list(lines_of(ledger.journal("a", 25)))) == 2 + 5
    assert [page for page, _ in state_of(lines).members] == list(range(25))
    assert clerk._merge("a", 0, 45) == 20, "another's is left alone"
    clerk.close()


@deferred_f_from_coro_f
async def test_a_ledger_that_is_away_as_a_worker_begins_is_waited_for(
    ledger: FleetLedger, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    clerk, clock, answers = Clerk(ledger, "w", TERM), ledger.clock, [False, False, True]

    def may_answer() -> float:
        if not answers.pop(0):
            raise StoreUnavailable("server closed the connection")
        return clock()

    caplog.set_level("INFO", module.__name__)
    monkeypatch.setattr(module, "AGAIN", 0.01)
    monkeypatch.setattr(ledger, "clock", may_answer)
    asked, now = await clerk.time()
    assert not answers
    assert asked <= module.monotonic()
    assert now <= clock()
    assert [record.getMessage().split()[0] for record in caplog.records] == ["event=ledger-away", "event=ledger-back"]
    clerk.close()


@deferred_f_from_coro_f
async def test_what_is_held_is_kept_while_the_reactor_is_busy_and_nothing_is_sent_on_that(
    ledger: FleetLedger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "RENEW", 0.1 / TERM)
    clerk = holding(ledger, asked=module.monotonic() - TERM)
    renewing, other = asyncio.ensure_future(clerk.renew()), sqlite3.connect(tmp_path / "fleet.db")
    while not clerk.may_send("a"):
        await asyncio.sleep(0.01)
    until, ends = clerk.held["a"].until, ends_of(other)
    while ends_of(other) <= ends:  # in the reactor: it renews nothing itself
        sleep(0.01)
    assert clerk.held["a"].until == until
    renewing.cancel()
    clerk.close()
    other.close()


def ends_of(fleet: sqlite3.Connection) -> float:
    """When the terms of what is held run out."""
    return fleet.execute("SELECT min(expires) FROM fleet_site").fetchone()[0]


def test_who_hangs_for_good_keeps_nothing():
    renewed, hung = [], Event()
    Heartbeat(lambda: renewed.append(hung.is_set()), period=1e-3, most=4, hung=hung.set)
    assert hung.wait(100.0)
    assert renewed == [False] * 3, "from the second period on, until it hung"


@deferred_f_from_coro_f
async def test_the_reactor_beats_while_the_ledger_does_not_answer(ledger: FleetLedger, monkeypatch: pytest.MonkeyPatch):
    asked, answers, beaten = Event(), Event(), asyncio.Event()

    class Heart(Heartbeat):
        async def go_on(self) -> None:
            while not asked.is_set():
                await asyncio.sleep(0.01)
            beaten.set()

    monkeypatch.setattr(module, "Heartbeat", Heart)
    monkeypatch.setattr(ledger, "renew", lambda *_: (asked.set(), answers.wait(100.0)))
    clerk = holding(ledger)
    renewing = asyncio.ensure_future(clerk.renew())
    await beaten.wait()
    renewing.cancel()
    answers.set()
    clerk.close()


HUNG = """
import asyncio, sys, time
from sharc_crawler.fleet.opening import open_fleet
from sharc_crawler.live.fleet import clerk as module

module.HANGS = 0.2
clerk = module.Clerk(open_fleet(sys.argv[1]), "w", 1.0)

async def work():
    asyncio.ensure_future(clerk.renew())
    await asyncio.sleep(0)
    time.sleep(1_000_000)

asyncio.run(work())
"""


def test_a_worker_that_hangs_for_good_ends_and_says_where_it_was(ledger: FleetLedger, tmp_path: Path):
    words = [sys.executable, "-c", HUNG, f"sqlite:{tmp_path / 'fleet.db'}"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert 'File "<string>", line 12 in work' in done.stderr
