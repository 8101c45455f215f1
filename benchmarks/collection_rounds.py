"""A collection that is kept, over loopback with fast clocks, while its processes are killed; what holds at its end.

    python benchmarks/collection_rounds.py [--rounds 10] [--kills 12] [--seed 1] [--minutes 5]

`sharc keep` keeps three living sites that are due every 15 to 25 seconds, and one that is due once a day. At random
moments its process, a crawl's, or all of both are ended by SIGKILL; the same command goes on. When each quick site has
so many complete captures, the service is told to stop, and `sharc keep --once` ends what is left. Then it is checked,
from the servers' logs, the captures and `sharc verify`:

- twice: no capture began before its site was due; the daily site has one; requests exceed recorded visits by at most
  one for each kill; a URL is asked at most twice in a capture, but for retries, for pages that had changed between two
  visits before T (`hints=`), and, once for each kill, for a list of changes, by its name (what it said is not kept);
  no request was made outside a capture
- missed: each capture began as soon as it was due and nothing was in its way, but for the keeper's look at the folder;
  all are complete, and each has all pages of its site
- proved: `sharc verify DIR` finds nothing; no verdict is wrong by the sites' own change logs

Ends with 1 at the first violation.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import ExitStack, suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.cli.demo import site_truth
from sharc_crawler.collection.folder import Collection, is_over
from sharc_crawler.collection.keeper import LOOK
from sharc_crawler.collection.terms import FILE
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.frontier.modes.two_visits import lists_changes
from sharc_crawler.report.opened import open_facts
from sharc_crawler.storage.beside import load_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sharc_crawler.demo.answers import Response
    from sharc_crawler.demo.server import DemoServer

EVERY = {"a": 15, "b": 20, "c": 25, "daily": 86_400}  #: seconds, by site
SHARC = Path(sys.executable).with_name("sharc")
PATIENCE = 20.0  #: seconds more than a look at the folder that a busy machine may take to begin
WAYS = ("keeper", "crawl", "both")


class ViolationError(AssertionError):
    """A promise was broken."""


def must(holds: bool, what: str) -> None:
    if not holds:
        raise ViolationError(what)


class WeighedSite:
    """A living site that notes the bytes of each answer's body."""

    def __init__(self, site: LivingSite) -> None:
        self._site = site
        self.sent: list[tuple[float, int]] = []  #: instant, bytes

    def respond(self, method: str, target: str, headers: Mapping[str, str], now: float) -> Response:
        """The site's answer."""
        answer = self._site.respond(method, target, headers, now)
        self.sent.append((now, len(answer.body)))
        return answer


class Capture(NamedTuple):
    """A complete capture, and what its server saw of it."""

    folder: Path
    begun: float  #: by the name of its folder
    started: float
    ended: float
    pages: set[str]
    requests: int
    sent: int  #: bytes of bodies
    wrong: int  #: verdicts, by the site's own change log


class Service:
    """`sharc keep`, begun again and again."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.said = folder, folder.with_name("said.txt")
        self.starts: list[float] = []
        self.kills: Counter[str] = Counter()
        self.start()

    def start(self) -> None:
        self.starts.append(time.time())
        self._process = self._begun("--at-once", str(len(EVERY)))

    def _begun(self, *options: str) -> subprocess.Popen[bytes]:
        with self.said.open("ab") as out:
            return subprocess.Popen([SHARC, "keep", str(self.folder), *options], stdout=out, stderr=out)

    def crawls(self) -> list[int]:
        """Processes of crawls that run."""
        pids = map(int, re.findall(r"captured, by process (\d+);", self.said.read_text()))
        return [pid for pid in pids if _is_of(pid, self.folder)]

    def kill(self, dice: random.Random) -> None:
        way, crawls = dice.choice(WAYS), self.crawls()
        if way != "keeper":
            if not crawls:
                return
            with suppress(ProcessLookupError):
                os.killpg(dice.choice(crawls), signal.SIGKILL)
        if way != "crawl":
            self._process.kill()
            self._process.wait()
            time.sleep(3 * dice.random())
            self.start()
        self.kills[way] += 1

    def stop(self) -> None:
        """As a service manager does it, and then to the end."""
        self._process.send_signal(signal.SIGTERM)
        must(self._process.wait(120) == 0, f"sharc keep ended with {self._process.returncode}")
        while self.crawls():
            time.sleep(0.2)
        must(self._begun("--once", "--at-once", str(len(EVERY))).wait(240) == 0, "sharc keep --once failed")


def _is_of(pid: int, folder: Path) -> bool:
    """Does a process crawl into a collection?"""
    try:
        return f"collection={folder}".encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def keep(folder: Path, given: argparse.Namespace) -> Service:
    """Until there are captures enough, with kills in between."""
    dice, collection, service = random.Random(given.seed), Collection(folder), Service(folder)
    end, kill = time.monotonic() + 60 * given.minutes, time.monotonic() + 5
    try:
        while time.monotonic() < end and not _enough(collection, given.rounds):
            if service.kills.total() < given.kills and time.monotonic() >= kill:
                service.kill(dice)
                kill = time.monotonic() + dice.uniform(4, 18)
            time.sleep(0.3)
    finally:
        service.stop()
    return service


def _enough(collection: Collection, rounds: int) -> bool:
    quick = [name for name, every in EVERY.items() if every < 3600]
    return all(sum(is_over(one.folder) for one in collection.captures(name)) >= rounds for name in quick)


def captures(collection: Collection, name: str, weighed: WeighedSite) -> list[Capture]:
    """All captures of a site, each checked by itself."""
    found = []
    for one in collection.captures(name):
        must(is_over(one.folder), f"{one.folder} is not complete")
        with open_facts(one.folder, site_truth(weighed._site)) as (facts,):
            judged = [page for page in facts.pages if page.truth is not None and page.verdict not in (None, "unknown")]
            wrong = sum((page.verdict == "coherent") != page.truth for page in judged)
            pages = {str(page.url) for page in facts.pages if page.kind == "page" and page.verdict}
            started, ended = facts.started, facts.ended or 0.0
        sent = [size for at, size in weighed.sent if one.time <= at <= ended]
        _check_visits(one.folder, weighed._site)
        found.append(Capture(one.folder, one.time, started, ended, pages, len(sent), sum(sent), wrong))
    return found


def _check_visits(folder: Path, site: LivingSite) -> None:
    """A page has a visit and a revisit; before T it is visited again for a cause alone.

    It had changed since (`hints=`); or it lists changes, by its name (here ``/news/``), and a kill lay between: what it
    had named is not kept, so it is asked anew.
    """
    state = load_state(folder)
    (capture,) = state.captures.values()
    urls, visits = {one.page: one.url for one in state.pages}, defaultdict[tuple[int, str], list[float]](list)
    for visit in state.visits:
        if visit.finished:
            visits[visit.page, visit.slot.value].append(visit.outcome.started)
    changes = site_truth(site)
    for (page, slot), times in visits.items():
        for before, again in pairwise(times):
            url = str(urls[page])
            found = () if slot == "second" else changes(url, before, again)
            cut = slot != "second" and any(before < start and end < again for start, end in capture.interruptions)
            caused = (found is not None and len(list(found)) > 0) or (cut and lists_changes(url))
            must(caused, f"{folder}: {url} ({slot}) at {times}: no cause")


def check_site(name: str, found: list[Capture], server: DemoServer, service: Service) -> list[float]:
    """Nothing twice, nothing missed; how long each capture waited, beyond what was in its way."""
    must(bool(found), f"{name} was never captured")
    if EVERY[name] > 3600:
        must(len(found) == 1, f"{name} is due once a day, and has {len(found)} captures")
    made = sum(visit.attempt > 0 for one in found for visit in load_state(one.folder).visits)
    repeated, kills = len(server.log) - made, service.kills.total()
    must(0 <= repeated <= kills, f"{name}: {repeated} requests beyond the {made} recorded, after {kills} kills")
    outside = [one for one in server.log if not any(c.begun <= one.time <= c.ended for c in found)]
    must(not outside, f"{name}: requests outside of captures: {outside[:3]}")
    whole = set.union(*(one.pages for one in found))
    for one in found:
        must(one.pages == whole, f"{one.folder} lacks {sorted(whole - one.pages)[:3]}")
        must(not one.wrong, f"{one.folder}: {one.wrong} verdicts are wrong by the site's own log")
    waits = []
    for before, after in pairwise(found):
        due = before.begun + EVERY[name]
        must(after.begun >= due, f"{after.folder} began {due - after.begun:.0f} s before it was due")
        up = max(start for start in service.starts if start <= after.started)
        waits.append(max(0.0, after.begun - max(due, before.ended, up)))
        must(waits[-1] <= LOOK + PATIENCE, f"{after.folder} began {waits[-1]:.0f} s late, and nothing was in its way")
    return waits


def row(name: str, found: list[Capture], waits: list[float]) -> str:
    first, *later = found
    cells = [name, f"{EVERY[name]} s", str(len(found)), str(len(first.pages)), str(first.requests), f"{first.sent:,}"]
    if later:
        share = [one.sent / first.sent for one in later]
        cells += [
            f"{statistics.median(one.requests for one in later):.0f}",
            f"{statistics.median(one.sent for one in later):,.0f}",
            f"{100 * statistics.median(share):.0f} % ({100 * min(share):.0f}–{100 * max(share):.0f})",
            f"{statistics.median(waits):.0f} s, {max(waits):.0f} s",
        ]
    return f"| {' | '.join(cells + [''] * (10 - len(cells)))} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=5.0, help="at most, until it is told to stop")
    parser.add_argument("--scale", type=float, default=60.0, help="how many times faster than a real site they live")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "kept"
        folder.mkdir()
        worlds = {
            name: WeighedSite(LivingSite(seed=given.seed * 10 + number, pages=20, scale=given.scale))
            for number, name in enumerate(EVERY)
        }
        servers = {name: stack.enter_context(serve(world)) for name, world in worlds.items()}
        sites = "".join(f"- {{url: '{servers[name].url}', name: {name}, every: {EVERY[name]}s}}\n" for name in EVERY)
        terms = "settings: {SHARC_BACK_OFF: '0.2'}\ndefaults: {delay: 0.05}\n"
        (folder / FILE).write_text(f"{terms}sites:\n{sites}")
        service = keep(folder, given)
        print(f"kills: {dict(service.kills)} (seed {given.seed})", flush=True)
        try:
            report(Collection(folder), servers, worlds, service, given.rounds)
        except ViolationError:
            print(service.said.read_text(), *[log.read_text() for log in (folder / "logs").iterdir()], sep="\n")
            raise
    return 0


def report(
    collection: Collection,
    servers: Mapping[str, DemoServer],
    worlds: Mapping[str, WeighedSite],
    service: Service,
    rounds: int,
) -> None:
    """Check all, and print a Markdown table."""
    print("| site | every | captures | pages | requests, first | bytes | requests, later | bytes | share | waited |")
    print("|" + "---|" * 10)
    for name in EVERY:
        found = captures(collection, name, worlds[name])
        print(row(name, found, check_site(name, found, servers[name], service)), flush=True)
        must(EVERY[name] > 3600 or len(found) >= rounds, f"{name}: {len(found)} captures; give it more --minutes")
    proved = subprocess.run([SHARC, "verify", str(collection.folder)], capture_output=True, text=True, check=False)
    must(proved.returncode == 0, f"sharc verify ended with {proved.returncode}: {proved.stdout[-3000:]}")
    print(
        f"proved: {proved.stdout.count('digest sha256:')} certificates of {len(list(collection.captures()))} captures"
    )


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ViolationError as violation:
        sys.exit(f"VIOLATION: {violation}")
