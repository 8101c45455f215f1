"""Kill crawls at random moments, over and over, and prove after each kill and at each end that nothing was lost.

    python benchmarks/prove_kills.py [--kills 200] [--seed 1] [--lossy] [--at-once 16] [--strategy NAME ...]

Captures of a living site on loopback are killed (SIGKILL) at random moments: at start-up and while a capture is being
resumed, between any two requests of visits and revisits, at changes of file names (a WARC file is opened, rotated,
indexed, the end is written). The same command resumes it until it is complete; then the next capture begins. With
`--lossy` the output folder lies on `lossy_fs.py` and every kill is a power failure: what was not synced is lost from a
random write on (needs FUSE, the rights to mount, and `pip install mfusepy`).

After each kill: the state can be read; each visit that counts has its whole record in a WARC file, and closed WARC
files are valid; nothing that was known at the kill before is gone. At each end: everything discovered is finished; the
pages are those of a capture that nobody interrupted, and as coherent; requests exceed recorded fetches by at most those
in flight at each kill (one, or as many as `--at-once` says); every WARC file passes gzip -t and has right digests;
`sharc verify` proves the certificate; the report tells of the interruptions; pages visited before one and revisited
after it are judged.
Ends with 1 at the first violation.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from warcio.archiveiterator import ArchiveIterator

from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.model import Kind, Phase, Slot
from sharc_crawler.state.rows import Batch
from sharc_crawler.storage.beside import load_state
from sharc_crawler.storage.folders import RUNNING
from sharc_crawler.storage.opening import holds_state
from sharc_crawler.storage.sqlite import FILE_NAME

if TYPE_CHECKING:
    from sharc_crawler.demo.server import DemoServer

#: it fills a handful of WARC files; it hardly changes, so captures compare
SITE = LivingSite(seed=5, pages=60, scale=1e-6, slow=0.02)
SETTINGS = ("SHARC_WARC_SIZE=50000", "SHARC_BACK_OFF=0.05", "LOG_LEVEL=WARNING")
PATIENCE = 240  #: seconds that a run may take before something is wrong
TRIGGERS = ("time", "requests", "names")
STRATEGY = "sharc-selective"  #: where none is named
Found = tuple[set[str], int]  #: pages, and how many pages and resources came out coherent


class ViolationError(AssertionError):
    """A promise was broken."""


def must(holds: bool, what: str) -> None:
    if not holds:
        raise ViolationError(what)


class Disk:
    """The output folder, on the file system of its parent or on one that loses what was not synced."""

    def __init__(self, parent: Path, lossy: bool) -> None:
        self.state, self.folder = parent / "state", parent / "capture"
        self.lossy = lossy
        self.folder.mkdir()
        if lossy:
            self.state.mkdir()
            self._mount()

    def _mount(self) -> None:
        script = Path(__file__).with_name("lossy_fs.py")
        command = [sys.executable, str(script), str(self.state), str(self.folder)]
        self._server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        until(lambda: self.folder.is_mount() or self._server.poll() is not None)
        must(self.folder.is_mount(), f"{script.name} does not run: see above")

    def power_failure(self, dice: random.Random) -> None:
        """Nothing, on a disk that keeps its promises."""
        if self.lossy:
            with suppress(OSError):
                (self.folder / f".crash-{dice.random()}").exists()
            self._server.wait(PATIENCE)
            subprocess.run(["umount", "-l", str(self.folder)], check=True)
            self._mount()

    def close(self) -> None:
        if self.lossy:
            subprocess.run(["umount", "-l", str(self.folder)], check=True)
            self._server.kill()  # readers of a crawl that was killed may still hold a file of it
            self._server.wait()

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())


def until(condition) -> bool:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.002)
    raise ViolationError(f"nothing happened for {PATIENCE} s")


@dataclass
class Capture:
    """One capture, from its first start to its completion."""

    disk: Disk
    site: DemoServer
    at_once: int = 1  #: requests in flight
    strategy: str = STRATEGY
    kills: int = 0
    interruptions: int = 0  #: runs that went on with unfinished state
    known: set[str] = field(default_factory=set)  #: URLs, at the last kill
    out: str = ""  #: of the last run

    def start(self) -> subprocess.Popen[str]:
        at_once = [f"{name}={self.at_once}" for name in ("CONCURRENT_REQUESTS", "CONCURRENT_REQUESTS_PER_DOMAIN")]
        given = {"url": self.site.url, "output": str(self.disk.folder), "delay": "0.001", "strategy": self.strategy}
        return subprocess.Popen(
            [sys.executable, "-m", "scrapy", "crawl", "site"]
            + [text for name, value in given.items() for text in ("-a", f"{name}={value}")]
            + [text for setting in (*SETTINGS, *at_once) for text in ("-s", setting)],
            env={**os.environ, "SCRAPY_SETTINGS_MODULE": "sharc_crawler.live.profile"},
            cwd=self.disk.folder.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run_and_kill(self, dice: random.Random) -> str | None:
        """The moment of the kill; None: the capture had come to its end before."""
        before = self._begin()
        process, asked = self.start(), len(self.site.log)
        self._moment(process, dice)
        process.kill()
        out, _ = process.communicate()
        self.out = out
        if process.returncode == 0:
            return None
        must(process.returncode == -9, f"exit code {process.returncode}: {out[-2000:]}")
        self.kills += 1
        self.disk.power_failure(dice)
        state = self.load()
        self._check(state)
        phases = {row.phase for row in state.captures.values()}
        if phases == {Phase.DONE} and not (self.disk.folder / RUNNING).exists():
            return None  # all was written; only the process had not ended
        if len(self.site.log) == asked:
            return "resuming" if before.captures else "start-up"
        return "shutdown" if phases == {Phase.DONE} else str(min(phases, default=Phase.VISIT))

    def _moment(self, process: subprocess.Popen[str], dice: random.Random) -> None:
        """Wait for a random moment."""
        trigger = dice.choice(TRIGGERS)
        asked = len(self.site.log)
        pause = dice.random()
        goal = dice.randrange(1, 80)
        if trigger == "time":
            ready = time.monotonic() + 4 * pause
            until(lambda: time.monotonic() > ready or process.poll() is not None)
            return
        if trigger == "names" and pause < 0.5:
            goal = 0  # of this run's first changes, one
        until(lambda: len(self.site.log) >= asked + goal or process.poll() is not None)
        if trigger == "names":
            for _ in range(dice.randrange(1, 8)):
                names = self.disk.names()
                until(lambda names=names: self.disk.names() != names or process.poll() is not None)
        time.sleep(0.01 * pause)

    def load(self) -> Batch:
        """The state as a copy shows it: reading must not mend anything."""
        with tempfile.TemporaryDirectory() as copy:
            for path in self.disk.folder.glob(f"{FILE_NAME}*"):
                if not path.name.endswith("-shm"):
                    shutil.copy(path, copy)
            return load_state(Path(copy)) if holds_state(Path(copy)) else Batch()

    def _check(self, state: Batch) -> None:
        """After a kill."""
        known = {row.key for row in state.pages}
        must(self.known <= known, f"forgotten: {sorted(self.known - known)[:3]}")
        self.known = known
        urls = {row.page: row.url for row in state.pages}
        for visit in state.visits:
            if visit.outcome.capture:
                self._check_record(urls[visit.page], visit.outcome.capture)
        for path in self.disk.folder.glob("*.warc.gz"):
            records(path)

    def _check_record(self, url: str, ref) -> None:
        path = self.disk.folder / ref.file
        path = path if path.exists() else path.with_name(f"{ref.file}.open")
        must(path.exists(), f"{ref.file} is gone, which holds {url}")
        with path.open("rb") as stream:
            stream.seek(ref.offset)
            unpacker = zlib.decompressobj(31)
            record = unpacker.decompress(stream.read(ref.length))
        must(unpacker.eof, f"{url} counts, but its record in {path.name} at {ref.offset} is torn")
        must(f"WARC-Target-URI: {url}\r\n".encode() in record, f"{url} is not at {ref.offset} in {path.name}")

    def finish(self) -> None:
        """The last run, to the end."""
        self._begin()
        process = self.start()
        self.out = out = process.communicate(timeout=PATIENCE)[0]
        must(process.returncode == 0, f"exit code {process.returncode}: {out[-2000:]}")

    def _begin(self) -> Batch:
        """The state that a run begins with."""
        state = self.load()
        self.interruptions += any(row.phase is not Phase.DONE for row in state.captures.values())
        return state

    def check_end(self, wanted: Found) -> None:
        """The capture is complete."""
        folder, state = self.disk.folder, self.load()
        finished = Counter(visit.page for visit in state.visits if visit.finished)
        must(set(finished) == {row.page for row in state.pages if row.state == 0}, "not all that was found was fetched")
        twice = [finished[row.page] <= 2 for row in state.pages if row.kind is Kind.PAGE]
        must(all(twice), "a page was finished too often")
        made = sum(visit.attempt > 0 for visit in state.visits)
        repeated = len(self.site.log) - made
        must(0 <= repeated <= self.kills * self.at_once, f"{repeated} requests were repeated after {self.kills} kills")
        left = [name for name in self.disk.names() if name.endswith(".open") or name == ".running"]
        must(not left, f"the end was not written: {left}; {self.out[-3000:]}")
        for path in folder.glob("*.warc.gz"):
            subprocess.run(["gzip", "-t", str(path)], check=True)
            records(path)
        must(
            subprocess.run(
                [Path(sys.executable).with_name("sharc"), "verify", str(folder)], capture_output=True
            ).returncode
            == 0,
            "sharc verify found a fault",
        )
        must(found(state) == wanted, "pages or their verdicts differ from the capture that nobody interrupted")
        self._check_interruptions(state)

    def _check_interruptions(self, state: Batch) -> None:
        (row,) = state.captures.values()
        told = len(row.interruptions)
        must(
            told <= self.interruptions and (told > 0 or not self.interruptions), f"{told} of {self.interruptions} told"
        )
        (capture,) = json.loads((self.disk.folder / "report.json").read_text())["captures"]
        must(len(capture["times"]["interruptions"]) == told, "the report does not tell of the interruptions")
        first = {v.page: v.outcome.started for v in state.visits if v.finished and v.slot is Slot.FIRST}
        second = {v.page: v.outcome.started for v in state.visits if v.finished and v.slot is Slot.SECOND}
        judged = {row.page: row.verdict for row in state.judgements}
        for start, end in row.interruptions:
            spanning = [page for page in second if page in first and first[page] <= start and end <= second[page]]
            must(
                all(judged[page] == "coherent" for page in spanning), "a page that spans an interruption is not judged"
            )


def records(path: Path) -> int:
    """How many records a WARC file has; raises where one is not valid."""
    with path.open("rb") as stream:
        return sum(
            1 for record in ArchiveIterator(stream, check_digests="raise") if record.content_stream().read() or 1
        )


def found(state: Batch) -> Found:
    """The pages, and how many came out coherent."""
    pages = {row.url.split("/", 3)[3] for row in state.pages if row.kind is Kind.PAGE}
    return pages, sum(row.verdict == "coherent" for row in state.judgements)


def capture(
    dice: random.Random,
    kills: int,
    moments: Counter[str],
    wanted: Found | None,
    *,
    lossy: bool = False,
    at_once: int = 1,
    strategy: str = STRATEGY,
) -> Found:
    """One capture with at most so many kills; what was found."""
    with tempfile.TemporaryDirectory() as parent, serve(SITE) as site:
        one = Capture(Disk(Path(parent), lossy), site, at_once, strategy)
        try:
            return run(one, dice, kills, moments, wanted)
        finally:
            one.disk.close()


def run(one: Capture, dice: random.Random, kills: int, moments: Counter[str], wanted: Found | None) -> Found:
    for _ in range(kills):
        moment = one.run_and_kill(dice)
        if moment is None:
            break
        moments[moment] += 1
    else:
        one.finish()
    if wanted:
        one.check_end(wanted)
    return found(one.load())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lossy", action="store_true", help="every kill is a power failure")
    parser.add_argument("--at-once", type=int, default=1, help="requests in flight")
    parser.add_argument("--strategy", nargs="+", default=[STRATEGY], help="the captures' in turn")
    args = parser.parse_args()
    dice, moments, captures, began = random.Random(args.seed), Counter[str](), 0, time.monotonic()
    wanted: dict[str, Found] = {}
    for name in args.strategy:
        wanted[name] = pages, coherent = capture(dice, 0, moments, None, at_once=args.at_once, strategy=name)
        print(f"{name}, uninterrupted: {len(pages)} pages, {coherent} pages and resources coherent", flush=True)
    names = cycle(args.strategy)
    while (made := sum(moments.values())) < args.kills:
        kills = min(dice.randrange(4, 16), args.kills - made)
        name = next(names)
        capture(dice, kills, moments, wanted[name], lossy=args.lossy, at_once=args.at_once, strategy=name)
        captures += 1
        made = sum(moments.values())
        left = (time.monotonic() - began) / max(made, 1) * (args.kills - made)
        print(
            f"{made}/{args.kills} kills, {captures} captures, last {name}, {dict(moments)}, {left / 60:.0f} min left",
            flush=True,
        )
    what = "power failures" if args.lossy else "kills"
    print(f"{made} {what} over {captures} captures (seed {args.seed}): nothing lost. Moments: {dict(moments)}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ViolationError as violation:
        sys.exit(f"VIOLATION: {violation}")
