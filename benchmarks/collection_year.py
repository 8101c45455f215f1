"""A year of a collection of living sites, kept by `sharc keep` in virtual time, with kills; what holds at its end.

    python benchmarks/collection_year.py [--sites 24] [--days 365] [--kills 60] [--away 40] [--seed 1]

The keeper is the one that runs, with its files and its folder; its clock is virtual, and it looks at the folder each
six hours, and whenever something is due or has ended. A crawl is not run: it takes its time, its folder has a capture's
name and marks, and what the site's pages then show goes into the collection's history. Pages change as Poisson
processes. The terms are read once, and a capture is over where its mark of running is gone: no state is read. An
eighth of the sites has `every: auto`, the others between a day and two weeks. At random moments the keeper, a crawl, or
all of both are killed; the keeper begins again up to two days later. Sites are away for up to three days. Checked is:

- twice: no capture begins before its site is due, and none while another of its site runs
- missed: each begins as soon as it is due, but for what was in its way: no keeper, all slots taken, a site that rests

Ends with 1 at the first violation.
"""

from __future__ import annotations

import argparse
import bisect
import fcntl
import sys
import tempfile
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import IO, Any

import numpy as np

from sharc_crawler.collection import keeper
from sharc_crawler.collection.attempts import back_off
from sharc_crawler.collection.folder import Collection
from sharc_crawler.collection.planning import plan
from sharc_crawler.collection.terms import AUTO, FILE
from sharc_crawler.model import Change, Result, Url
from sharc_crawler.observation import Observation
from sharc_crawler.storage.folders import LOCK, RUNNING
from sharc_crawler.storage.observations import ObservationStore
from sharc_crawler.storage.sqlite import FILE_NAME

DAY, HOUR = 86_400.0, 3600.0
BEGIN = 1_798_761_600.0  # 2027-01-01
TICK = 120.0  #: the keeper sleeps so long
EVERY = ("1d", "2d", "3d", "5d", "7d", "10d", "14d", AUTO)
SLOTS, PAGES, REQUEST = 4, 30, 10.0


class KilledError(BaseException):
    """The keeper's process ends here."""


@dataclass
class Site:
    """Its pages' changes, when it is away, and what was done about it."""

    name: str
    changes: list[list[float]]
    away: list[tuple[float, float]]
    auto: bool
    seen: list[int] = field(default_factory=list)
    begun: list[float] = field(default_factory=list)  #: captures, not those that went on
    waited: list[float] = field(default_factory=list)
    found: int = 0  #: captures that saw a change
    ended: float = 0.0  #: its last crawl
    failures: int = 0  #: in a row, that the keeper saw
    failed: float = 0.0  #: when it saw the last one

    def shows(self, now: float) -> list[int]:
        """The version of each page."""
        return [bisect.bisect(changes, now) for changes in self.changes]

    def look(self, now: float) -> bool:
        """A capture; has it seen a change?"""
        before, self.seen = self.seen, self.shows(now)
        return bool(before) and self.seen != before

    def is_away(self, now: float) -> bool:
        return any(start <= now < end for start, end in self.away)


@dataclass
class Crawl:
    """In the place of a process."""

    site: Site
    folder: Path
    ends: float
    code: int
    held: IO[bytes]
    world: World
    pid: int = 0
    over: int | None = None

    def poll(self) -> int | None:
        """The keeper asks, and writes down what it hears."""
        if self.over is not None:
            self.site.failures = self.site.failures + 1 if self.over else 0
            self.site.failed = self.world.now
        return self.over


class World:
    """The clock, the sites, and what runs."""

    def __init__(self, folder: Path, given: argparse.Namespace) -> None:
        dice = np.random.default_rng(given.seed)
        self.now, self.end = BEGIN, BEGIN + given.days * DAY
        self.collection = Collection(folder)  # read once: nobody edits its terms
        self.running: list[Crawl] = []
        self.blocked: list[tuple[float, float]] = []  # no keeper, or no slot
        self.full_since: float | None = None
        self.sites = {
            f"s{number}": self._site(f"s{number}", EVERY[number % len(EVERY)] == AUTO, given, dice)
            for number in range(given.sites)
        }
        self.kills = [(when, str(way)) for when, way in zip(
            np.sort(dice.uniform(BEGIN, self.end, given.kills)).tolist(),
            dice.choice(["keeper", "crawl", "both"], given.kills), strict=True,
        )]  # fmt: skip
        self.down = dice.exponential(4 * HOUR, given.kills).clip(0, 2 * DAY).tolist()
        self.made = {"keeper": 0, "crawl": 0, "both": 0}
        self.went_on = self.failed = 0

    def _site(self, name: str, auto: bool, given: argparse.Namespace, dice: np.random.Generator) -> Site:
        rates = dice.gamma(0.5, 2.0 / (20 * DAY), PAGES)  # a page changes every 20 days on average
        length = self.end - self.now
        changes = [np.sort(dice.uniform(BEGIN, self.end, dice.poisson(rate * length))).tolist() for rate in rates]
        starts = dice.uniform(BEGIN, self.end, dice.poisson(given.away / given.sites))
        return Site(name, changes, [(start, start + dice.uniform(HOUR, 3 * DAY)) for start in starts.tolist()], auto)

    # -- the keeper's clock ------------------------------------------------------------------------------------------

    def time(self) -> float:
        return self.now

    def sleep(self, _: float) -> None:
        self.now += TICK
        self._finish()
        if self.now >= self.end:
            raise KilledError
        if self.kills and self.now >= self.kills[0][0]:
            self._kill(self.kills.pop(0)[1])

    def _kill(self, way: str) -> None:
        if way != "keeper":
            for crawl in self.running[: None if way == "both" else 1]:
                self._ended(crawl, -9)
        self.made[way] += 1
        if way != "crawl":
            raise KilledError

    def rest(self) -> None:
        """Until somebody begins the keeper again."""
        until, began = self.now + self.down.pop(), self.now
        while self.now < until and self.now < self.end:
            self.now += TICK
            self._finish()
        self.blocked.append((began, self.now))

    # -- crawls ------------------------------------------------------------------------------------------------------

    def popen(self, command: list[str], **_: Any) -> Crawl:
        """What the keeper begins, checked."""
        site = self.sites[next(word for word in command if word.startswith("url=")).removeprefix("url=")]
        collection = self.collection
        last = next(reversed(list(collection.captures(site.name))), None)
        goes_on = last is not None and (last.folder / RUNNING).exists()
        self._check(site, collection, goes_on)
        folder = last.folder if last is not None and goes_on else collection.capture_folder(site.name, self.now)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE_NAME).write_bytes(b"a crawl that was not run")
        (folder / RUNNING).touch()
        held = (folder / LOCK).open("ab")
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)  # twice at once: this raises
        away = site.is_away(self.now)
        crawl = Crawl(site, folder, self.now + (60.0 if away else 2 * PAGES * REQUEST), int(away), held, self)
        self.running.append(crawl)
        if len(self.running) == SLOTS:
            self.full_since = self.now
        return crawl

    def _check(self, site: Site, collection: Collection, goes_on: bool) -> None:
        every: float = {**{one.name: one.every for one in collection.terms.sites}, **plan(collection)}[site.name]
        planned = site.begun[-1] + every if site.begun and not goes_on else BEGIN
        if self.now < planned:
            raise AssertionError(f"{site.name} began {planned - self.now:.0f} s before it was due")
        rests = site.failed + back_off(site.failures, every) if site.failures else 0.0
        due = max(planned, site.ended, rests)
        if self.now < due:
            raise AssertionError(f"{site.name} did not rest: {due - self.now:.0f} s too early")
        site.waited.append(self.now - due - self._in_the_way(due))
        if site.waited[-1] > 2 * TICK and not site.auto:
            raise AssertionError(f"{site.name} began {site.waited[-1]:.0f} s late, and nothing was in its way")
        self.went_on += goes_on
        if not goes_on:
            site.begun.append(self.now)

    def _in_the_way(self, since: float) -> float:
        spans = [(max(start, since), end) for start, end in self.blocked if end > since]
        if self.full_since is not None:
            spans.append((max(self.full_since, since), self.now))
        passed, until = 0.0, since
        for start, end in sorted(spans):
            passed += max(0.0, end - max(start, until))
            until = max(until, end)
        return passed

    def _finish(self) -> None:
        for crawl in [one for one in self.running if one.ends <= self.now]:
            self._ended(crawl, crawl.code)

    def _ended(self, crawl: Crawl, code: int) -> None:
        if len(self.running) == SLOTS and self.full_since is not None:
            self.blocked.append((self.full_since, self.now))
            self.full_since = None
        self.running.remove(crawl)
        crawl.over = code
        crawl.held.close()
        site = crawl.site
        site.ended = self.now
        self.failed += code == 1
        if code == 0 and site.auto:
            self._remember(site)
        if code == 0:
            site.found += site.look(self.now)
            (crawl.folder / RUNNING).unlink()

    def _remember(self, site: Site) -> None:
        """As a capture does at its end, for sites whose intervals are planned by it."""
        rows, before = [], site.seen
        for page, version in enumerate(site.shows(self.now)):
            change = (Change.CHANGED if version != before[page] else Change.UNCHANGED) if before else Change.UNKNOWN
            url = Url(f"http://{site.name}.example/{page}")
            rows.append(Observation(f"{site.name}.example", url, self.now, Result.OK, change, digest=f"sha1:{version}"))
        with ObservationStore(self.collection.history) as history:
            history.append(rows)


class Nobody:
    """In the place of the confirmer: nothing here is provisional."""

    running = False

    def __init__(self, *_: object) -> None: ...

    def begin(self, *_: object) -> None: ...

    def ended(self) -> str:
        return ""


def year(folder: Path, given: argparse.Namespace) -> World:
    """All of it, by the keeper that runs."""
    sites = "".join(
        f"- {{url: 'http://s{number}.example/', name: s{number}, every: {EVERY[number % len(EVERY)]}}}\n"
        for number in range(given.sites)
    )
    (folder / FILE).write_text(f"budget: {given.budget}\nsites:\n{sites}")
    world = World(folder, given)
    vars(keeper).update(
        time=world, subprocess=SimpleNamespace(Popen=world.popen, DEVNULL=None), LOOK=6 * HOUR, Confirmer=Nobody,
        Collection=lambda _: world.collection, is_over=lambda one: not (one / RUNNING).exists(),
    )  # fmt: skip
    while world.now < world.end:
        try:
            keeper.CollectionKeeper(folder, SLOTS, lambda _: None).run(once=False)
        except KilledError:
            world.rest()
    return world


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=int, default=24)
    parser.add_argument("--days", type=float, default=365.0)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--away", type=float, default=40.0, help="times that a site is away, in all")
    parser.add_argument("--budget", type=int, default=150, help="requests a day, for the sites with every: auto")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        world = year(Path(folder), given)
    print(f"{world.made} kills, {world.went_on} crawls went on, {world.failed} reached nobody (seed {given.seed})")
    print("| every | sites | captures, each | of these saw a change | days between two | waited: median, longest (s) |")
    print("|" + "---|" * 6)
    for every in dict.fromkeys(EVERY):
        found = [site for number, site in enumerate(world.sites.values()) if EVERY[number % len(EVERY)] == every]
        captures = [len(site.begun) for site in found]
        gaps = [later - one for site in found for one, later in pairwise(site.begun)]
        waits = [wait for site in found for wait in site.waited]
        share = sum(site.found for site in found) / max(1, sum(captures))
        print(
            f"| {every} | {len(found)} | {min(captures)}–{max(captures)} | {share:.0%}"
            f" | {median(gaps) / DAY:.2f} | {median(waits):.0f}, {max(waits):.0f} |"
        )


if __name__ == "__main__":
    try:
        main()
    except AssertionError as violation:
        sys.exit(f"VIOLATION: {violation}")
