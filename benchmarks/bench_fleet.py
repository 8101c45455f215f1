"""What a fleet costs: steps a second by group, taking a site over by its pages, bytes of journal a page, idle sites.

    python benchmarks/bench_fleet.py [steps] [takeover] [idle] [workers] [crowd] [--pages N,N…]

``--pages``: of the sites that ``takeover`` takes over; a million take some minutes.

Needs PostgreSQL's programs (Debian: postgresql). Ratios are taken in one run; times are of the process's own processor
where it says CPU.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parents[1]))

from benchmarks.bench_frontier import OwnRates, links, url
from sharc_crawler.demo.layout import FEWEST
from sharc_crawler.fleet.journal import SMALL, lines_of, packed, state_of
from sharc_crawler.fleet.ledger import JournalStep, SiteOrder
from sharc_crawler.fleet.opening import open_fleet
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.opening import Parts
from sharc_crawler.live.fleet.clerk import ROWS
from sharc_crawler.model import CaptureRef, Done, Fetch, Outcome, Result, Slot, Validators, Wait
from sharc_crawler.state.rows import Batch
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.storage.plain import joined, to_json
from sharc_crawler.uncollected import uncollected
from tests.fleet.database import Database
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

GROUPS = (1, 10, 100, 600)  #: sites a statement
SITES, DELAY = (12, 120), 0.0  #: of the crawls: as fast as it goes, on one address each
PAGES = 12_000  #: of all sites of these: none ends
ROUNDS, WARM, MIDDLE = 3, 400, 1_200  #: of each; requests before its middle, and in it
COST = "ms a request"  #: of a processor: of workers, or of crawls without a fleet, and of their processes
CROWD = {1: 3_000, 600: 40}  #: sites of a worker, and pages of each
WINDOW = 2_500  #: requests in the middle of a crawl
SCRAPY = str(Path(sys.executable).with_name("scrapy"))
SHARC = str(Path(sys.executable).with_name("sharc"))
SERVER = Path(__file__).resolve().parents[1] / "tests/acceptance/fleet_chaos/sites.py"
TERM = 60.0
TAKEN_OVER = [1_000, 10_000, 50_000]  #: pages
OPERATOR = ("-s", "SHARC_OPERATOR=bench@library.example")


class Taped:
    """Keeps what a journal would be told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def commit(self, batch) -> None:
        self.lines.append(to_json(batch))

    def taken(self) -> list[str]:
        lines, self.lines = self.lines, []
        return lines


def taped(pages: int, visits: int | None = None) -> Iterator[str]:
    """The batches of a capture of a synthetic site, as a worker tells them; ``visits``: after so many it is cut off."""
    tape = Taped()
    rates = OwnRates(array("d", [1e-6] * pages))
    frontier = Frontier(Politeness(delay=0.0, obey_robots=False), tape, Parts(rates=lambda _: rates))
    settings = {"run": "epoch-0001"}
    first = (url(0),)
    spec = CaptureSpec("site", first, "sharc-selective", sitemaps=(), size=pages, resources=False, settings=settings)
    frontier.open(spec, 0.0)
    now, made = 0.0, 0
    while made != visits and not isinstance(fetch := frontier.next(now), Done):
        if isinstance(fetch, Wait):
            now = fetch.until
            continue
        page = int(fetch.url[-8:])
        ref = CaptureRef("site-20260101000000-00000-epoch-0001.warc.gz", page * 9000, 9000)
        outcome = Outcome(
            Result.OK, now, now + 0.01, 200, digest=f"sha1:{page:032}", validators=Validators(f'"{page:x}"', None),
            length=20_000, media_type="text/html", capture=ref,
        )  # fmt: skip
        frontier.finished(fetch, outcome, links(page, pages, 10) if fetch.slot is not Slot.SECOND else [])
        now, made = now + 0.05, made + 1
        yield from tape.taken()
    yield from tape.taken()


def steps(database: Database) -> dict[str, int]:
    """Site-steps a second of the clock, one worker, by sites a statement."""
    line = list(taped(200))[100]
    found = {}
    ledger = open_fleet(database.new(), make=True)
    ledger.add(SiteOrder(f"s{number}", {"url": f"http://s{number}/"}) for number in range(max(GROUPS)))
    tenures = ledger.claim("w", max(GROUPS), TERM)
    done = dict.fromkeys((one.site for one in tenures), 0)
    for group in GROUPS:
        rounds = max(10, 1500 // group)
        began = time.perf_counter()
        for _ in range(rounds):
            batch = []
            for one in tenures[:group]:
                done[one.site] += 1
                batch.append(JournalStep(one.site, one.epoch, done[one.site], packed([line])))
            assert len(ledger.step(batch, TERM)) == group
        found[f"{group} sites a statement"] = round(group * rounds / (time.perf_counter() - began))
    ledger.close()
    return found


def takeover(database: Database) -> dict[str, dict[str, float]]:
    """From a journal in the ledger to a frontier that decides, in a process of its own; all pages are visited."""
    found = {}
    for pages in TAKEN_OVER:
        dsn = database.new()
        rows, size = _journalled(dsn, pages)
        words = [sys.executable, __file__, "--takes-over", dsn, str(pages)]
        taken = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        found[f"{pages:,} pages"] = {"rows": rows, "journal bytes a page": round(size / pages), **json.loads(taken)}
    return found


def _journalled(dsn: str, pages: int) -> tuple[int, int]:
    """Rows and bytes of a journal whose owner is gone; they are merged, as a worker merges them."""
    ledger = open_fleet(dsn, make=True)
    ledger.add([SiteOrder("site", {"url": url(0)})])
    [tenure] = ledger.claim("w1", 1, TERM)
    lines, size, seq = taped(pages, pages), 0, 0
    while some := list(islice(lines, ROWS)):
        seq, body = seq + 1, packed([joined(some)], SMALL)
        size += len(body)
        assert ledger.step([JournalStep("site", tenure.epoch, seq, body)], TERM)
    ledger.release("site", tenure.epoch)
    ledger.close()
    return seq, size


async def takes_over(dsn: str, pages: int) -> None:
    """Prints what it takes, as JSON; in a thread, and how long a reactor beside it waits for its turn at most."""
    ledger, before = open_fleet(dsn), _peak()
    spent, longest = {}, [0.0]

    @contextmanager
    def timed(what: str) -> Iterator[None]:
        began, cpu = time.perf_counter(), time.process_time()
        yield
        spent[f"{what}: CPU s"] = round(time.process_time() - cpu, 2)
        spent[f"{what}: s"] = round(time.perf_counter() - began, 2)

    async def turns() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.01)
            longest[0] = max(longest[0], time.perf_counter() - began - 0.01)

    rates = OwnRates(array("d", [1e-6] * pages))
    politeness, parts = Politeness(delay=0.0, obey_robots=False), Parts(rates=lambda _: rates)
    other = asyncio.ensure_future(turns())
    with timed("in all"):
        with timed("journal"):
            [again] = ledger.claim("w2", 1, TERM)
            bodies = await asyncio.to_thread(lambda: list(ledger.journal("site", again.seq)))
            state = await asyncio.to_thread(lambda: state_of(lines_of(bodies)))
        store = MemoryStore()
        store.commit(Batch(links=state.links))
        state = replace(state, links=[])
        with timed("frontier"), uncollected():
            frontier = Frontier(politeness, store, parts)
            await asyncio.to_thread(frontier.recall, state, 1e6)
        with timed("in the reactor"):
            frontier.recalled(state)
            assert isinstance(frontier.next(1e6), Fetch)
    other.cancel()
    assert len(state.visits) == pages
    spent |= {"MB": round((_peak() - before) / 1e6), "longest wait of others: s": round(longest[0], 2)}
    print(json.dumps(spent))


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Server:
    """Living sites on loopback addresses of their own."""

    def __init__(self, folder: Path, sites: int, pages: int, port: int = 0) -> None:
        port = port or free_port()
        self.places = [f"127.9.{1 + number // 200}.{1 + number % 200}:{port}" for number in range(sites)]
        words = [str(SERVER), str(folder / "access.jsonl"), str(pages), "1", *self.places]
        self._process = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"
        self.log = folder / "access.jsonl"
        self.seeds = folder / "seeds.txt"
        self.seeds.write_text("".join(f"http://{place}/\n" for place in self.places))

    def requests(self) -> int:
        return sum(1 for _ in self.log.open())

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def work(dsn: str, output: Path, *more: str) -> list[str]:
    settings = ("-s", "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8", "-s", f"DOWNLOAD_DELAY={DELAY}", *OPERATOR)
    return [SHARC, "fleet", "work", dsn, "--output", str(output), "--until-done", *settings, *more]


def workers(database: Database) -> dict[str, dict[str, float]]:
    """The middle of crawls of the same sites: one or two processes without a fleet, one or two workers; medians.

    Each round has all four, so what the machine does meanwhile befalls all. Sites and database are told apart: a
    fleet has them elsewhere.
    """
    rounds: dict[int, list[dict[str, dict[str, float]]]] = {sites: [] for sites in SITES}
    for number, sites in product(range(ROUNDS), SITES):
        told = {}
        for count in (1, 2):
            with tempfile.TemporaryDirectory() as name:
                server = Server(Path(name), sites, PAGES // sites)
                told[f"{count} without a fleet"] = _middle(plain(server, Path(name), count), server, database)
            with tempfile.TemporaryDirectory() as name:
                server, dsn = Server(Path(name), sites, PAGES // sites), database.new()
                for words in (["init", dsn], ["add", dsn, str(server.seeds)]):
                    subprocess.run([SHARC, "fleet", *words], check=True, capture_output=True)
                commands = [work(dsn, Path(name, "x"), "--sites", str(-(-sites // count)))] * count
                told[f"{count} worker(s)"] = _middle(commands, server, database)
        rounds[sites].append(told)
        print(f"round {number + 1} of {ROUNDS}: load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    return {f"{sites} sites, {what}": _medians(told, what) for sites, told in rounds.items() for what in told[0]}


def _medians(rounds: list[dict[str, dict[str, float]]], what: str) -> dict[str, float]:
    """Of what was told of it, and how much as many pages of each without a fleet cost, of what they cost here."""
    found = {name: statistics.median(one[what][name] for one in rounds) for name in rounds[0][what]}
    for other in (name for name in rounds[0] if name.endswith("fleet")):
        found[f"of {other}"] = statistics.median(one[other][COST] / one[what][COST] for one in rounds)
    return {name: round(value, 2) for name, value in found.items()}


def _middle(commands: list[list[str]], server: Server, database: Database) -> dict[str, float]:
    """What a request costs in the middle of crawls, in milliseconds of a processor; all are ended then."""
    processes = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for words in commands]
    try:
        _until(lambda: server.requests() > WARM, 0.05)
        asked, cpu, its, began = server.requests(), _of(processes), _cpu(database.pid), time.perf_counter()
        _until(lambda: server.requests() > asked + MIDDLE, 0.05)
        asked, seconds = server.requests() - asked, time.perf_counter() - began
        cpu, its = _of(processes) - cpu, _cpu(database.pid) - its
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()
        server.close()
    per = {COST: cpu, "ms of the database": its}
    return {"requests/s": asked / seconds, **{name: 1000 * spent / asked for name, spent in per.items()}}


def _of(processes: list[subprocess.Popen[bytes]]) -> float:
    return sum(_cpu(process.pid) for process in processes)


def plain(server: Server, folder: Path, count: int) -> list[list[str]]:
    """So many crawls without a fleet, of as many sites each."""
    commands, seeds = [], server.seeds.read_text().splitlines()
    for number in range(count):
        part = folder / f"seeds{number}.txt"
        part.write_text("\n".join(seeds[number::count]))
        words = [SCRAPY, "crawl", "site", "-a", f"seeds={part}", "-a", f"output={folder / f'plain{count}-{number}'}"]
        words += ["-a", f"delay={DELAY}", "-s", "SHARC_PROGRESS=0", *OPERATOR]
        commands.append([*words, "-s", "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8"])
    return commands


def crowd(database: Database) -> dict[str, float]:
    """Processor time of a request in the middle of a crawl, by how many sites a worker holds."""
    found = {}
    for count, pages in CROWD.items():
        with tempfile.TemporaryDirectory() as name:
            server, dsn = Server(Path(name), count, pages), database.new()
            for words in (["init", dsn], ["add", dsn, str(server.seeds)]):
                subprocess.run([SHARC, "fleet", *words], check=True, stdout=subprocess.DEVNULL)
            process = subprocess.Popen(work(dsn, Path(name, "x"), "--sites", "600"), stderr=subprocess.DEVNULL)
            try:
                _until(lambda: server.requests() > max(500, 4 * count))  # noqa: B023 - used at once
                asked, cpu = server.requests(), _cpu(process.pid)
                _until(lambda: server.requests() > asked + WINDOW)  # noqa: B023
                spent = (_cpu(process.pid) - cpu) / (server.requests() - asked)
                found[f"{count} site(s): CPU ms a request"] = round(1000 * spent, 2)
            finally:
                process.kill()
                process.wait()
                server.close()
    return found


def _until(condition, pause: float = 0.5) -> None:
    deadline = time.monotonic() + 2400
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(pause)


def _cpu(pid: int) -> float:
    """Seconds of a process and its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK") + sum(_cpu(int(child)) for child in children)


def idle(database: Database) -> dict[str, float]:
    """Memory of a worker whose sites wait an hour for their next request, by how many it holds."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        server = Server(Path(name), 600, FEWEST)
        try:
            for count in (20, 600):
                dsn = database.new()
                seeds = Path(name, "some.txt")
                seeds.write_text("".join(f"http://{place}/\n" for place in server.places[:count]))
                for words in (["init", dsn], ["add", dsn, str(seeds), "-a", "delay=1h"]):
                    subprocess.run([SHARC, "fleet", *words], check=True, stdout=subprocess.DEVNULL)
                output = Path(name, f"idle{count}")
                process = subprocess.Popen(work(dsn, output, "--sites", "600"), stderr=subprocess.DEVNULL)
                try:
                    ledger, deadline = open_fleet(dsn), time.monotonic() + 1200
                    while sum(one.seq > 0 for one in ledger.sites()) < count and time.monotonic() < deadline:
                        time.sleep(1)
                    time.sleep(10)
                    found[f"{count} sites: MB"] = round(_memory(process.pid) / 1e6, 1)
                    found[f"{count} sites: begun"] = sum(one.seq > 0 for one in ledger.sites())
                    ledger.close()
                finally:
                    process.kill()
                    process.wait()
        finally:
            server.close()
    return {**found, "MB a site": round((found["600 sites: MB"] - found["20 sites: MB"]) / 580, 3)}


def _memory(pid: int) -> int:
    """Of a process and its children, what each has for itself."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    found = re.findall(r"Private_\w+:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text())
    return sum(map(int, found)) * 1024 + sum(_memory(int(child)) for child in children)


def main() -> None:
    if sys.argv[1:2] == ["--takes-over"]:
        asyncio.run(takes_over(sys.argv[2], int(sys.argv[3])))
        return
    kinds = {"steps": steps, "takeover": takeover, "workers": workers, "idle": idle, "crowd": crowd}
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="*", choices=[[], *kinds])
    parser.add_argument("--pages", type=lambda text: [int(one) for one in text.split(",")], default=TAKEN_OVER)
    given = parser.parse_args()
    TAKEN_OVER[:] = given.pages
    database = Database(Path(tempfile.mkdtemp()))
    try:
        for name in given.kinds or kinds:
            print(json.dumps({name: kinds[name](database)}, indent=1), flush=True)
    finally:
        database.stop()


if __name__ == "__main__":
    main()
