"""What it costs a crawl to be watched: its processor time alone, and beside `sharc watch` as a page that is looked at.

    python benchmarks/bench_watch.py --pages 300 --rounds 5

The living site is captured in turn without and with a watcher, in pairs of changing order, so that a busy machine meets
both alike. The crawl's own processor time counts (user and system, of its process), divided by its requests. The
watcher's page is asked once a second, as a browser does; its processor time is told apart.
"""

from __future__ import annotations

import argparse
import os
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


class Cost(NamedTuple):
    """Of one crawl: processor milliseconds a request, of the crawl and of who watches it, and how often it looked."""

    crawl: float
    watcher: float
    looks: int


def crawl(pages: int, seed: int, delay: float, *, watched: bool) -> Cost:
    """One crawl of a new world."""
    with serve(LivingSite(seed=seed, pages=pages)) as server, tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "capture"
        given = [f"url={server.url}", f"delay={delay}", f"output={capture}"]
        words = ["-m", "scrapy", "crawl", "site", *(word for one in given for word in ("-a", one))]
        capture.mkdir()
        watcher = _watcher(capture) if watched else None
        looks = _Looks(watcher) if watcher else None
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
    ratios = []
    for number in range(options.rounds):
        order = (True, False) if number % 2 else (False, True)
        costs = {watched: crawl(options.pages, number, options.delay, watched=watched) for watched in order}
        alone, beside = costs[False], costs[True]
        ratios.append(beside.crawl / alone.crawl)
        print(
            f"{alone.crawl:.2f} ms a request alone, {beside.crawl:.2f} watched ({ratios[-1] - 1:+.1%});"
            f" the watcher {beside.watcher:.2f}, {beside.looks} looks",
            flush=True,
        )
    print(f"median {statistics.median(ratios) - 1:+.2%} of {options.rounds} pairs; load {os.getloadavg()[0]:.0f}")


if __name__ == "__main__":
    main()
