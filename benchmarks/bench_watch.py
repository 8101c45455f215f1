"""What it costs a crawl to be watched: its processor time while its own page is asked, and while that of another is.

    python benchmarks/bench_watch.py --pages 4000 --pairs 150

One crawl of the living site runs. All the time, the page of a `sharc watch --web` is asked twice a second, twice as
often as a browser does. In one block of two seconds it shows this crawl; in the other block of the pair, another
capture, which is over. So a neighbour is as busy in both, and what differs is being watched. Which comes first is
drawn for each pair. Counted is the processor time of all the crawl's processes, by the scheduler's nanoseconds, for
each request that the site had. With `--calls` the system calls are counted, too (needs `perf` and the right to use
it).
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
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.cli.demo import PROFILE
from sharc_crawler.demo import LivingSite, serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

BLOCK = 2.0  #: seconds
ASKED = 0.5  #: seconds between two questions


def crawl(capture: Path, url: str, delay: float) -> subprocess.Popen[bytes]:
    """A crawl, begun."""
    given = [f"url={url}", f"delay={delay}", f"output={capture}", "strategy=bfs"]
    words = ["-m", "scrapy", "crawl", "site", *(word for one in given for word in ("-a", one))]
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": PROFILE}
    quiet = subprocess.DEVNULL
    return subprocess.Popen([sys.executable, *words], env=environment, stdout=quiet, stderr=quiet)


class Watcher:
    """`sharc watch --web` of a capture."""

    def __init__(self, capture: Path) -> None:
        words = [str(Path(sys.executable).with_name("sharc")), "watch", str(capture), "--web"]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self._process.stdout is not None
        self._page = self._process.stdout.readline().strip()

    def ask(self) -> None:
        """As its page in a browser does."""
        with urllib.request.urlopen(f"{self._page}facts.json") as answer:
            answer.read()

    def end(self) -> None:
        """Stop it."""
        self._process.terminate()
        self._process.wait()


def family(process: int) -> list[int]:
    """A process and all that it began."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *(one for child in children for one in family(int(child)))]


def spent(process: int) -> dict[str, int]:
    """Nanoseconds that each thread of a crawl's processes has run."""
    places = (one for each in family(process) for one in Path(f"/proc/{each}/task").iterdir())
    return {one.name: int((one / "schedstat").read_text().split()[0]) for one in places}


class Calls:
    """System calls of a crawl's processes during a block, by perf."""

    def __init__(self, process: int) -> None:
        words = ["perf", "stat", "-x,", "-e", "raw_syscalls:sys_enter", "-p", ",".join(map(str, family(process)))]
        self._perf = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)

    def ended(self) -> int:
        """How many there were."""
        self._perf.send_signal(signal.SIGINT)
        found = re.match(r"(\d+),", self._perf.communicate()[1])
        assert found, "perf counts"
        return int(found[1])


def block(process: int, log: list[object], watcher: Watcher, *, calls: bool) -> dict[str, float]:
    """Two seconds of a crawl: what it took a request; nothing, where it made none (it plans its revisits)."""
    counting = Calls(process) if calls else None
    before, requests, end = spent(process), len(log), time.monotonic() + BLOCK
    while (left := end - time.monotonic()) > 0:
        watcher.ask()
        time.sleep(min(left, ASKED))
    after, answered = spent(process), len(log) - requests
    counted = {"ms": sum(now - before.get(thread, 0) for thread, now in after.items()) / 1e6}
    if counting:
        counted["calls"] = counting.ended()
    return {name: number / answered for name, number in counted.items()} if answered else {}


def pairs(folder: Path, options: argparse.Namespace) -> Iterator[tuple[dict[str, float], dict[str, float]]]:
    """Of a crawl that runs: being watched, and another being watched."""
    with serve(LivingSite(seed=1, pages=50)) as server:
        assert crawl(folder / "over", server.url, 0.01).wait() == 0, "the crawl ended as it should"
    capture, drawn = folder / "watched", random.Random(1)
    capture.mkdir()
    site: AbstractContextManager = serve(LivingSite(seed=2, pages=options.pages))
    with site as server:
        process = crawl(capture, server.url, options.delay)
        watchers = Watcher(capture), Watcher(folder / "over")
        while len(server.log) < 100:
            time.sleep(0.1)
        made = 0
        while made < options.pairs and process.poll() is None:
            found: list[dict[str, float]] = [{}, {}]
            for which in drawn.sample((0, 1), 2):
                found[which] = block(process.pid, server.log, watchers[which], calls=options.calls)
            if all(found):
                made += 1
                yield found[0], found[1]
        process.send_signal(signal.SIGINT)
        process.wait()
        for watcher in watchers:
            watcher.end()


def main() -> None:
    """Print how the two compare, and what chance may add."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--pairs", type=int, default=150)
    parser.add_argument("--delay", type=float, default=0.02)
    parser.add_argument("--calls", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = list(pairs(Path(folder), options))
    for name in found[0][0]:
        watched, other = ([pair[which][name] for pair in found] for which in (0, 1))
        differences = [one - another for one, another in zip(watched, other, strict=True)]
        mean, error = statistics.mean(differences), statistics.stdev(differences) / len(found) ** 0.5
        base = statistics.mean(other)
        print(
            f"{name} a request: watched {statistics.mean(watched):.3f}, another watched {base:.3f}; "
            f"difference {100 * mean / base:+.2f} % ± {100 * error / base:.2f} (standard error), "
            f"median {100 * statistics.median(differences) / base:+.2f} %"
        )
    print(f"{len(found)} pairs; load {os.getloadavg()[0]:.0f}")


if __name__ == "__main__":
    main()
