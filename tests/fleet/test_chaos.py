"""Workers that crawl real sites, one killed, one stopped for too long: nothing is lost, nothing is done twice.

The long form, with partitions, failover, full disks and wrong clocks: tests/acceptance/fleet_chaos.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from sharc_crawler.archive.warc_names import safe_name
from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.fleet.ledger import SiteState
from sharc_crawler.fleet.opening import open_fleet
from tests.acceptance.fleet_chaos.checks import check
from tests.acceptance.fleet_chaos.sites import living_site
from tests.fleet.database import missing
from tests.live import warm
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
SITES = 3
SETTINGS = ("SHARC_ALLOWED_ADDRESSES=127.0.0.0/8", "SHARC_BACK_OFF=0.2", "SHARC_OPERATOR=tests@library.example")
PAGES, DELAY, TERM = 20, 0.1, 5.0


@contextmanager
def served(folder, places):
    words = [ROOT / "tests/acceptance/fleet_chaos/sites.py", folder / "access.jsonl", PAGES, 3, *places]
    process = subprocess.Popen([sys.executable, *map(str, words)], stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"ready\n"
        yield folder / "access.jsonl"
    finally:
        process.kill()
        process.wait()


class Worker:
    def __init__(self, folder, dsn, name):
        words = ["fleet", "work", dsn, "--output", folder / "captures", "--name", name, "--term", TERM, "--until-done"]
        settings = [f"DOWNLOAD_DELAY={DELAY}", *SETTINGS]
        more = [text for one in settings for text in ("-s", one)]
        self.log = (folder / f"{name}.log").open("wb")
        words = [*map(str, words), *more]
        self.process = warm.Scrapy(words, folder, dict(os.environ), group=True, out=self.log, program=warm.SHARC)

    def signal(self, number):
        os.killpg(self.process.pid, number)

    def end(self):
        for number in (signal.SIGCONT, signal.SIGKILL):
            if self.process.poll() is None:
                self.signal(number)
        self.process.wait()
        self.log.close()


def until(log, requests, limit=500):
    """So many further requests were answered."""
    count, deadline = lines(log) + requests, time.monotonic() + limit
    while lines(log) < count and time.monotonic() < deadline:
        time.sleep(0.05)
    return lines(log) >= count


def hang(worker, dsn, tries=20):
    """Stop a worker, but not in the middle of a write to a SQLite file: nobody else could work then (docs/fleet.md)."""
    for _ in range(tries):
        worker.signal(signal.SIGSTOP)
        try:
            open_fleet(dsn, 0.2).close()
        except StoreUnavailable:
            worker.signal(signal.SIGCONT)
            time.sleep(0.1)
        else:
            return
    raise AssertionError("it always writes")


def lines(log):
    return log.read_bytes().count(b"\n") if log.exists() else 0


@pytest.fixture(params=["postgresql", "sqlite"])
def dsn(request, tmp_path):
    if request.param == "postgresql":
        return request.getfixturevalue("database").new()
    if not missing():
        pytest.skip("PostgreSQL is installed: the same over it")
    return f"sqlite:{tmp_path / 'fleet.db'}"


@pytest.mark.long
def test_a_killed_worker_and_one_that_hangs_lose_nothing_and_do_nothing_twice(dsn, tmp_path):
    workers, port = [], free_port()
    places = [f"127.9.8.{number + 1}:{port}" for number in range(SITES)]
    with served(tmp_path, places) as log:
        try:
            (tmp_path / "seeds.txt").write_text("".join(f"http://{place}/\n" for place in places))
            for words in (["init", dsn], ["add", dsn, str(tmp_path / "seeds.txt")]):
                assert warm.finished(["fleet", *words], tmp_path, program=warm.SHARC).returncode == 0
            workers.append(Worker(tmp_path, dsn, "killed"))
            assert until(log, 40)
            workers[0].process.kill()
            workers.append(Worker(tmp_path, dsn, "hangs"))
            assert until(log, 40)
            hang(workers[1], dsn)
            workers.append(Worker(tmp_path, dsn, "goes-on"))
            assert until(log, 20)
            workers[1].signal(signal.SIGCONT)
            assert workers[2].process.wait(500) == 0
            states = open_fleet(dsn).status()
        finally:
            for worker in workers:
                worker.end()
    assert states.states == {SiteState.DONE: SITES}
    assert states.takeovers >= 2
    folders = {place: tmp_path / "captures" / safe_name(place) for place in places}
    sites = {place: living_site(3, number, PAGES) for number, place in enumerate(places)}
    found = check(log, folders, sites, {})
    assert not found.wrong, found.examples
    in_flight = 2 * max(SITES, states.takeovers) + found.figures["failed visits"]
    assert found.figures["repeated"] <= in_flight
    assert found.figures["judgements compared"] >= PAGES
