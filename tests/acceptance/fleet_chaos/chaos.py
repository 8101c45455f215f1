"""Workers of a fleet that crawl living sites, and all that can happen to them; then the checks.

    python tests/acceptance/fleet_chaos/chaos.py FOLDER --faults 50 --seed 1 [--objects] [--no-fence]

Each worker is a machine of its own (a network namespace) with a clock of its own, which may jump by an hour; one begins
with a clock that is an hour wrong. Needs root, iproute2, PostgreSQL and faketime (Debian). With ``--objects`` captures
lie in an object store (npm's s3rver), and workers are cut off from it, too; it refuses whoever's clock is wrong. Takes
some minutes; prints what was done and found; exit code 1: something is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[3]))
sys.path.insert(0, str(Path(__file__).parent))

from checks import check, check_delays, owners_of
from databases import Databases
from network import Network, missing
from sites import living_site

from tests.object_store import BUCKET, CREDENTIALS, program

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
PORT = 8000
URL = f"s3://{BUCKET}/fleet"
KINDS = ("kill", "kill", "stop", "stop", "database", "sites", "crash", "disk", "clock")
HOUR = 3600


class Machine:
    """A worker and where it runs."""

    def __init__(self, world: World, number: int) -> None:
        self._world, self._number, self._starts = world, number, 0
        self.log = world.folder / f"worker{number}.log"
        self.busy = threading.Lock()
        self._clock = world.folder / f"clock{number}"
        self.set_clock(HOUR if number == 0 and not world.environment else 0)  # S3 refuses a wrong clock
        self.start()

    def set_clock(self, ahead: int) -> None:
        """So many seconds ahead of everybody else's, from now on."""
        draft = self._clock.with_suffix(".new")
        draft.write_text(f"{ahead:+d}s\n")
        draft.replace(self._clock)

    def start(self) -> None:
        world = self._world
        self._starts += 1
        words = list(world.network.words(world.network.workers[self._number]))
        words += [sys.executable, str(HERE / "unfenced.py")] if world.unfenced else [str(BIN / "sharc")]
        words += ["fleet", "work", world.databases.dsn, *world.kept, "--term", str(world.term)]
        words += ["--sites", str(world.room), "--name", f"w{self._number}-{self._starts}", "--until-done"]
        for setting in world.settings:
            words += ["-s", setting]
        env = {**os.environ, **world.environment, **_clock_of(self._clock)}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, env=env, cwd="/tmp", start_new_session=True)

    def signal_all(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.start()

    def end(self) -> None:
        self.signal_all(signal.SIGCONT)
        self.signal_all(signal.SIGKILL)
        self.process.wait()


def _clock_of(file: Path) -> dict[str, str]:
    """Environment of a process that reads how wrong its clock is from a file, each second."""
    [library] = Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")
    rules = {"TIMESTAMP_FILE": str(file), "CACHE_DURATION": "1", "DONT_FAKE_MONOTONIC": "1"}
    path = os.pathsep.join(filter(None, (str(HERE / "clock"), os.environ.get("PYTHONPATH"))))
    return {"PYTHONPATH": path, "LD_PRELOAD": str(library), **{f"FAKETIME_{name}": one for name, one in rules.items()}}


class World:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.folder, self.unfenced = arguments.folder, arguments.no_fence
        self.term, self.delay, self.pages, self.seed = arguments.term, arguments.delay, arguments.pages, arguments.seed
        self.folder.mkdir(parents=True)
        self.output = self.folder / "captures"
        self.output.mkdir()
        self._ends = ExitStack()
        try:
            self._begin(arguments)
        except BaseException:
            self._ends.close()
            raise

    def _begin(self, arguments: argparse.Namespace) -> None:
        end = self._ends.callback
        end(subprocess.run, ["umount", "-l", str(self.output)], check=False)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", str(self.output)], check=True)
        self.network = Network(arguments.workers, arguments.sites)
        end(self.network.close)
        self.places = [f"{address}:{PORT}" for address in self.network.sites]
        self.room = -(-arguments.sites // arguments.workers) + 4
        self.settings = (
            "SHARC_ALLOWED_ADDRESSES=10.77.0.0/16",
            "SHARC_OPERATOR=chaos@library.example",
            f"DOWNLOAD_DELAY={self.delay}",
            "DOWNLOAD_TIMEOUT=4",
            "SHARC_BACK_OFF=0.5",
            "SHARC_ATTEMPTS=20",
            "SHARC_MIN_FREE=5M",
        )
        hub = self.network.words(self.network.hub)
        words = [str(HERE / "sites.py"), str(self.folder / "access.jsonl"), str(self.pages), str(self.seed)]
        self._begin_beside([*hub, sys.executable, *words, *self.places])
        self._begin_beside([*hub, sys.executable, str(HERE / "wire.py"), str(self.folder / "wire.jsonl"), str(PORT)])
        self.kept, self.environment, self.kinds = ["--output", str(self.output)], {}, KINDS
        if arguments.objects:
            self._store(hub)
        self.databases = Databases(hub, self.network.address("database"), self.network.address("standby"))
        end(self.databases.close)
        self._hub = hub
        seeds = self.folder / "seeds.txt"
        seeds.write_text("".join(f"http://{place}/\n" for place in self.places))
        self.sharc("init", self.databases.dsn)
        self.sharc("add", self.databases.dsn, str(seeds))
        self.machines = [Machine(self, number) for number in range(arguments.workers)]

    def _begin_beside(self, words: list[str]) -> None:
        process = subprocess.Popen(words, stdout=subprocess.PIPE)
        self._ends.callback(process.kill)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"

    def _store(self, hub: list[str]) -> None:
        """An object store on the hub; the folder is workers' scratch then."""
        address, found = self.network.address("objects"), program()
        assert found, "npm install --prefix .venv-s3 s3rver"
        words = [found, "-d", str(self.folder / "objects"), "-a", address, "-p", "9000", "--no-vhost-buckets", "-s"]
        store = subprocess.Popen([*hub, *words, "--configure-bucket", BUCKET], stdout=subprocess.DEVNULL)
        self._ends.callback(store.kill)
        self.environment = {**CREDENTIALS, "AWS_ENDPOINT_URL": f"http://{address}:9000"}
        self.kept = ["--output", URL, "--scratch", str(self.output)]
        self.kinds = (*KINDS, "objects", "objects")

    def sharc(self, *words: str) -> str:
        command = [*self._hub, str(BIN / "sharc"), "fleet", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout

    def states(self) -> Counter[str]:
        found = json.loads(self.sharc("status", self.databases.dsn, "--json"))
        return Counter(found["states"])

    def supervise(self) -> None:
        """Start again what has ended, as when it came while a disk was full."""
        for machine in self.machines:
            if machine.busy.acquire(blocking=False):  # else it is being killed
                try:
                    if machine.process.poll() is not None:
                        machine.start()
                finally:
                    machine.busy.release()

    def close(self) -> None:
        for machine in self.machines:
            machine.end()
        try:
            self._keep()
        finally:
            self._ends.close()

    def _keep(self) -> None:
        kept = self.folder / "kept"
        if self.environment:
            words = [*self._hub, str(BIN / "sharc"), "fetch", URL, str(kept)]
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **self.environment})
        else:
            shutil.copytree(self.output, kept, dirs_exist_ok=True)


class Faults:
    """One after the other; those that last go on while others begin."""

    def __init__(self, world: World, dice: random.Random) -> None:
        self._world, self._dice = world, dice
        self.done: Counter[str] = Counter()
        self._lasting: list[threading.Thread] = []
        self._locks = {"crash": threading.Lock(), "disk": threading.Lock()}
        self._locks["failover"] = self._locks["crash"]

    def one(self, kind: str) -> None:
        number = self._dice.randrange(len(self._world.machines))
        thread = threading.Thread(target=self._do, args=(kind, number))
        thread.start()
        self._lasting.append(thread)

    def wait(self) -> None:
        for thread in self._lasting:
            thread.join()

    def _do(self, kind: str, number: int) -> None:
        machine = self._world.machines[number]
        with self._locks.get(kind, machine.busy):
            self.done[kind] += 1
            self._log(f"{kind} {number} begins")
            getattr(self, f"_{kind}")(machine, number)
            self._log(f"{kind} {number} is over")

    def _log(self, what: str) -> None:
        with (self._world.folder / "faults.log").open("a") as log:
            log.write(f"{time.time():.1f} {what}\n")

    def _kill(self, machine: Machine, _: int) -> None:
        machine.kill()

    def _stop(self, machine: Machine, _: int) -> None:
        machine.signal_all(signal.SIGSTOP)
        time.sleep(2 * self._world.term)
        machine.signal_all(signal.SIGCONT)

    def _database(self, _: Machine, number: int) -> None:
        self._cut(number, "database", "standby")

    def _cut(self, number: int, *services: str) -> None:
        for service in services:
            self._world.network.cut(number, service)
        time.sleep(2 * self._world.term)
        for service in services:
            self._world.network.cut(number, service, off=False)

    def _sites(self, _: Machine, number: int) -> None:
        self._cut(number, "sites")

    def _objects(self, _: Machine, number: int) -> None:
        self._cut(number, "objects")

    def _clock(self, machine: Machine, _: int) -> None:
        """It jumps, and is put right two terms later."""
        machine.set_clock(self._dice.choice((-HOUR, HOUR)))
        time.sleep(2 * self._world.term)
        machine.set_clock(0)

    def _crash(self, *_: object) -> None:
        databases = self._world.databases
        name = databases.primary
        databases.crash(name)
        time.sleep(1)
        databases.start(name)

    def _failover(self, *_: object) -> None:
        self._world.databases.fail_over()

    def _disk(self, *_: object) -> None:
        filler = self._world.output / ".filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(65_536))
        time.sleep(self._world.term)
        filler.unlink()


def ordered(kinds: Sequence[str], number: int, dice: random.Random) -> list[str]:
    """So many faults: each kind, then drawn at random; one failover in the middle."""
    found = [*kinds, *(dice.choice(kinds) for _ in range(number))][:number]
    dice.shuffle(found)
    found[number // 2] = "failover"
    return found


def run(arguments: argparse.Namespace) -> int:
    if why := missing():
        print(why, file=sys.stderr)
        return 77
    if not shutil.which("faketime"):
        print("faketime is missing (Debian: faketime)", file=sys.stderr)
        return 77
    dice = random.Random(arguments.seed)
    world = World(arguments)
    faults, kinds = Faults(world, dice), ordered(world.kinds, arguments.faults, dice)
    began = time.monotonic()
    try:
        while sum(world.states()[state] for state in ("held",)) < arguments.sites / 2 and time.monotonic() < began + 60:
            time.sleep(1)
        for number in range(arguments.faults):
            if time.monotonic() > began + arguments.most or _all_ended(world):
                break
            faults.one(kinds[number])
            world.supervise()
            time.sleep(dice.uniform(0.5, 1.5) * arguments.every)
        faults.wait()
        while time.monotonic() < began + arguments.most and not _all_ended(world):
            time.sleep(5)
            if not _all_ended(world):
                world.supervise()
        states = world.states()
    finally:
        world.close()
    took = time.monotonic() - began
    names = {place: world.folder / "kept" / _folder(world, place) for place in world.places}
    sites = {place: living_site(world.seed, at, world.pages) for at, place in enumerate(world.places)}
    logs = {world.network.worker_address(number): one.log for number, one in enumerate(world.machines)}
    found = check(world.folder / "access.jsonl", names, sites, owners_of(logs))
    check_delays(world.folder / "wire.jsonl", world.delay, found)
    text = "\n".join(log.read_text() for log in logs.values())
    claims = text.count("event=claimed")
    if found.figures["repeated"] > claims - arguments.sites + found.figures["failed visits"]:
        found.note("more was repeated than was in flight", claims)
    document = {
        "faults": dict(faults.done),
        "seconds": round(took),
        "states": dict(states),
        "claims": claims,
        "superseded": text.count("event=superseded"),
        "tracebacks": text.count("Traceback"),
        "figures": {name: round(value, 3) for name, value in found.figures.items()},
        "wrong": dict(found.wrong),
        "examples": found.examples,
    }
    print(json.dumps(document, indent=1))
    return int(bool(found.wrong))


def _folder(world: World, place: str) -> str:
    from sharc_crawler.archive.warc_names import safe_name

    return safe_name(place)


def _all_ended(world: World) -> bool:
    try:
        states = world.states()
    except subprocess.SubprocessError:
        return False
    return not (states["waiting"] or states["held"])


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--sites", type=int, default=20)
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--term", type=float, default=6.0)
    parser.add_argument("--faults", type=int, default=50)
    parser.add_argument("--every", type=float, default=3.0, help="seconds between two faults")
    parser.add_argument("--most", type=float, default=900.0, help="seconds in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--objects", action="store_true", help="captures lie in an object store")
    parser.add_argument("--no-fence", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(run(parsed()))
