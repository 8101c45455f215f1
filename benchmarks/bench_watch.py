"""What it costs a crawl to be watched: its processor time alone, watched, and beside a watcher of something else.

    python benchmarks/bench_watch.py --pages 300 --rounds 5

The living site is captured in turn alone, under `sharc watch --web` whose page is asked once a second, as a browser
does, and while such a page of another capture, which is over, is asked. The order changes, so that a busy machine meets
all alike. The crawl's own processor time counts (user and system, of its process), divided by its requests. What the
third has more than the first is what any neighbour costs; what the second has more than the third is being watched.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import urllib.request
from pathlib import Path
from typing import NamedTuple

from sharc_crawler.cli._capture_demo import PROFILE
from sharc_crawler.demo import LivingSite, serve

WAYS = ("alone", "watched", "beside")


class Cost(NamedTuple):
    """Of one crawl: processor milliseconds a request, of the crawl and of the watcher, and how often that looked."""

    crawl: float
    watcher: float
    looks: int


def crawl(capture: Path, options: argparse.Namespace, seed: int, watched: Path | None) -> Cost:
    """One crawl of a new world, while the page of a capture is looked at."""
    with serve(LivingSite(seed=seed, pages=options.pages)) as server:
        given = [f"url={server.url}", f"delay={options.delay}", f"output={capture}"]
        words = ["-m", "scrapy", "crawl", "site", *(word for one in given for word in ("-a", one))]
        capture.mkdir()
        looks = _Looks(_watcher(watched)) if watched else None
        process = subprocess.Popen(
            [sys.executable, *words, "-s", "SHARC_BACK_OFF=0.2"],
            env={**os.environ, "SCRAPY_SETTINGS_MODULE": PROFILE},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(process.pid, 0)
        assert status == 0, "the crawl ended as it should"
        spent, looked = looks.ended() if looks else (0.0, 0)
        requests = len(server.log)
    return Cost(1000 * (used.ru_utime + used.ru_stime) / requests, 1000 * spent / requests, looked)


def _watcher(capture: Path) -> subprocess.Popen[str]:
    words = [str(Path(sys.executable).with_name("sharc")), "watch", str(capture), "--web"]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


class _Looks:
    """Asks a watcher's page once a second."""

    def __init__(self, watcher: subprocess.Popen[str]) -> None:
        assert watcher.stdout is not None
        self._watcher, self._over, self._number = watcher, threading.Event(), 0
        self._address = watcher.stdout.readline().strip()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        while not self._over.wait(1.0):
            with urllib.request.urlopen(f"{self._address}facts.json") as answer:
                answer.read()
            self._number += 1

    def ended(self) -> tuple[float, int]:
        """End it: the watcher's processor seconds, and how often it was asked."""
        self._over.set()
        self._thread.join()
        self._watcher.terminate()
        _, _, used = os.wait4(self._watcher.pid, 0)
        return used.ru_utime + used.ru_stime, self._number


def main() -> None:
    """Print the rounds, and the median of their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--delay", type=float, default=0.02)
    options = parser.parse_args()
    found: list[dict[str, Cost]] = []
    with tempfile.TemporaryDirectory() as folder:
        over = Path(folder) / "over"
        crawl(over, options, options.rounds, None)
        for number in range(options.rounds):
            costs = {}
            for way in (*WAYS[number % 3 :], *WAYS[: number % 3]):
                capture = Path(folder) / f"{number}-{way}"
                costs[way] = crawl(capture, options, number, {"watched": capture, "beside": over}.get(way))
                shutil.rmtree(capture)
            found.append(costs)
            print(", ".join(f"{way} {cost.crawl:.2f} ms a request" for way, cost in sorted(costs.items())), flush=True)
    for way, other in (("watched", "alone"), ("watched", "beside"), ("beside", "alone")):
        ratios = [costs[way].crawl / costs[other].crawl for costs in found]
        total = sum(costs[way].crawl for costs in found) / sum(costs[other].crawl for costs in found)
        print(f"{way} / {other}: median {statistics.median(ratios):.3f}, of the sums {total:.3f}")
    watchers = [costs["watched"].watcher for costs in found]
    print(f"the watcher {statistics.median(watchers):.2f} ms a request of the crawl; load {os.getloadavg()[0]:.0f}")


if __name__ == "__main__":
    main()
