"""A fleet in virtual time: real frontier, journal and ledger (SQLite), a thousand workers that die, hang, are cut off.

    python benchmarks/bench_fleet_simulation.py --workers 1000 --sites 100000 --pages 3

A worker is what its clerk and its scheduler do, tick by tick: it claims, renews each fifth of a term, hands over what
it is told to, sends nothing later than two thirds of a term after the ledger was asked, and asks a site for its next
page when the journal has the last step. Then what servers were asked is held against what the journals say. Exit code
1: something is wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

from sharc_crawler.fleet import sqlite
from sharc_crawler.fleet.journal import lines_of, packed, state_of
from sharc_crawler.fleet.ledger import JournalStep, Pulse, SiteOrder, SiteState
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.model import Fetch, Outcome, Result, Sighting, Slot
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.plain import to_json

TICK, DELAY = 1.0, 1.0


class Told:
    """A frontier's store: what it did, as lines of the journal."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def commit(self, batch) -> None:
        self.lines.append(to_json(batch))

    def links(self):
        return ()


class Held:
    def __init__(self, tenure, frontier, told, until) -> None:
        self.tenure, self.frontier, self.told, self.until = tenure, frontier, told, until
        self.seq, self.ready = tenure.seq, 0.0
        self.going: JournalStep | None = None  #: given again as it was, until there is an answer

    @property
    def safe(self) -> bool:
        return self.going is None and not self.told.lines


class World:
    """Sites, servers, the clock, and what was done to workers."""

    def __init__(self, arguments) -> None:
        self.now, self.term, self.pages, self.room = 1e9, arguments.term, arguments.pages, arguments.room
        self.dice, self.count, self.wrong = random.Random(arguments.seed), Counter(), Counter()
        self.last: dict[str, tuple[float, int]] = {}  #: by site when it was asked last, and by which owner

    def monotonic(self) -> float:
        return self.now

    time = monotonic

    def ask(self, site: str, epoch: int) -> None:
        """A server is asked."""
        at, owner = self.last.get(site, (0.0, 0))
        self.wrong["the delay was undercut"] += self.now - at < DELAY - 1e-6
        self.wrong["an old owner asked after the new one"] += epoch < owner
        self.last[site] = self.now, max(epoch, owner)
        self.count["requests"] += 1

    def check(self, state) -> None:
        """Each page was visited once and revisited once, as far as its journal counts."""
        visits = Counter((one.page, one.slot) for one in state.visits if one.finished and one.attempt)
        self.wrong["a page was visited twice"] += any(number > 1 for number in visits.values())
        self.wrong["a page is missing"] += len({page for page, _ in visits}) != self.pages
        self.count["visits kept"] += sum(visits.values())


class Worker:
    def __init__(self, world, ledger, name) -> None:
        self.world, self.ledger, self.name = world, ledger, name
        self.held: dict[str, Held] = {}
        self.renewed = self.looked = -1e9
        self.stands = self.cut = 0.0  #: until then
        self.not_before = world.dice.random() * 5
        self.extra = self.superseded = 0

    def tick(self) -> None:
        world = self.world
        if world.now < self.stands:
            return
        if world.now >= self.cut:
            self._tell()
            if world.now >= self.renewed + world.term / 5:
                self._renew()
            if len(self.held) < world.room and world.now >= self.not_before:
                self._claim()
        for site, held in list(self.held.items()):
            if held.safe and world.now >= held.ready and world.now < held.until:
                self._step(site, held)

    def _tell(self) -> None:
        steps = []
        for site, held in self.held.items():
            if held.going is None and held.told.lines:
                held.going = JournalStep(site, held.tenure.epoch, held.seq + 1, packed(held.told.lines))
                held.told.lines = []
            if held.going is not None:
                steps.append(held.going)
        written = self.ledger.step(steps, self.world.term) if steps else ()
        self.world.count["statements"] += bool(steps)
        for step in steps:
            held = self.held[step.site]
            if step.site not in written:
                self.superseded += 1
                self.world.count["superseded steps"] += 1
                del self.held[step.site]
                continue
            held.seq, held.going, held.until = step.seq, None, self.world.now + self.world.term * 2 / 3
            if held.frontier.done:
                self.world.check(state_of(lines_of(self.ledger.journal(step.site, held.seq))))
                self.ledger.forget_journal(step.site, held.tenure.epoch)
                self.ledger.release(step.site, held.tenure.epoch, SiteState.DONE)
                del self.held[step.site]

    def _renew(self) -> None:
        self.renewed = now = self.world.now
        pulse = Pulse(self.name, {site: one.tenure.epoch for site, one in self.held.items()}, self.world.room)
        answer = self.ledger.renew(pulse, self.world.term)
        for site in list(self.held):
            if site in answer.wishes:
                self.held[site].until = now + self.world.term * 2 / 3
            else:
                del self.held[site]
        extra, self.extra = min(self.extra, answer.surplus), answer.surplus
        for site in [site for site, held in self.held.items() if held.safe][:extra]:
            self.ledger.release(site, self.held.pop(site).tenure.epoch)
            self.world.count["handed over"] += 1
            self.not_before = now + self.world.term / 2

    def _claim(self) -> None:
        now, silent = self.world.now, self.world.now >= self.looked + self.world.term / 5
        self.looked = now if silent else self.looked
        self.not_before = now + 1
        most = min(20, self.world.room - len(self.held))
        for tenure in self.ledger.claim(self.name, most, self.world.term, silent=silent):
            told = Told()
            frontier = Frontier(Politeness(delay=DELAY, obey_robots=False), told)
            if tenure.seq:
                state = state_of(lines_of(self.ledger.journal(tenure.site, tenure.seq)))
                state.links.clear()
                frontier.restore(state, now)
                self.world.count["takeovers"] += tenure.former is not None
            else:
                root = f"http://{tenure.site}/"
                frontier.open(CaptureSpec(tenure.site, (root,), strategy="bfs", sitemaps=()), now)
            for host in frontier.ledger.hosts:
                host.pace.pause(now + host.delay)
            self.held[tenure.site] = Held(tenure, frontier, told, now + self.world.term * 2 / 3)

    def _step(self, site, held) -> None:
        now = self.world.now
        decision = held.frontier.next(now)
        if not isinstance(decision, Fetch):
            held.ready = getattr(decision, "until", now)
            return
        self.world.ask(site, held.tenure.epoch)
        first = decision.slot is not Slot.SECOND and decision.page == 0
        links = [Sighting(f"http://{site}/{number}") for number in range(1, self.world.pages)] if first else []
        held.frontier.finished(decision, Outcome(Result.OK, now, now, 200, "sha1:A"), links)


def harm(world, ledger, workers) -> None:
    """One of them dies, hangs, or is cut off."""
    number = world.dice.randrange(len(workers))
    kind = world.dice.choice(("killed", "stopped", "cut off"))
    world.count[kind] += 1
    if kind == "killed":
        workers[number] = Worker(world, ledger, f"w{number}-{world.count['killed']}")
    elif kind == "stopped":
        workers[number].stands = world.now + 2 * world.term
    else:
        workers[number].cut = world.now + 2 * world.term


def run(arguments) -> tuple[Counter[str], Counter[str]]:
    """What was done, and what is wrong."""
    world = World(arguments)
    clock, sqlite.time = sqlite.time, SimpleNamespace(monotonic=world.monotonic, time=world.monotonic)
    try:
        _run(world, arguments)
    finally:
        sqlite.time = clock
    world.count["repeated"] = world.count["requests"] - world.count["visits kept"]
    return world.count, +world.wrong


def _run(world, arguments) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").exists() else None) as folder:
        ledger = sqlite.SqliteLedger(Path(folder) / "fleet.db", make=True)
        ledger.add(SiteOrder(f"s{number}.example", {}) for number in range(arguments.sites))
        workers = [Worker(world, ledger, f"w{number}") for number in range(arguments.workers)]
        start = world.now
        while ledger.status().states != {SiteState.DONE: arguments.sites}:
            for _ in range(10):
                world.now += TICK
                for _ in range(arguments.faults):
                    harm(world, ledger, workers)
                world.dice.shuffle(order := list(workers))
                for worker in order:
                    worker.tick()
            if sys.stderr.isatty():
                print(f"{world.now - start:.0f} s", dict(world.count), end="\r", file=sys.stderr)
        ledger.close()
    world.count["virtual seconds"] = round(world.now - start)


def parsed(words=None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--sites", type=int, default=100_000)
    parser.add_argument("--pages", type=int, default=3)
    parser.add_argument("--room", type=int, default=50, help="sites held by a worker at most")
    parser.add_argument("--term", type=float, default=60.0)
    parser.add_argument("--faults", type=int, default=1, help="each second")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(words)


if __name__ == "__main__":
    began = time.process_time()
    figures, wrong = run(parsed())
    figures["CPU seconds"] = round(time.process_time() - began)
    print(json.dumps({"figures": figures, "wrong": wrong}, indent=1))
    sys.exit(int(bool(wrong)))
