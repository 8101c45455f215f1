"""Pages made by script, in a row: the memory of the crawl and of its browsers, and how often a browser was replaced.

    python benchmarks/browser_memory.py --pages 1000

Memory of the crawl is resident, that of the browsers proportional (what their processes share is counted once).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.kill_browsers import browsers_of
from benchmarks.soak import resident_mb
from sharc_crawler.demo import LivingSite, serve

EVERY = 100  #: pages, a line is printed


def shared_out_mb(leader: int) -> float:
    """Of all processes of a session."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[3]) == leader:
                lines = stat.with_name("smaps_rollup").read_text().splitlines()
                total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        except (OSError, IndexError, ValueError):
            continue
    return total / 1000


def watched(crawl: subprocess.Popen[bytes], output: Path) -> None:
    began, seen, browsers = time.monotonic(), set[int](), list[float]()
    due = EVERY
    while crawl.poll() is None:
        time.sleep(1)
        pids = browsers_of(crawl.pid)
        seen.update(pids)
        browsers.append(sum(map(shared_out_mb, pids)))
        shown = len(list(output.glob(".answers/*.shown")))
        if shown < due:
            continue
        due += EVERY
        print(
            f"{shown} pages, {time.monotonic() - began:.0f} s: crawl {resident_mb(crawl.pid):.0f} MB,"
            f" browsers {statistics.median(browsers):.0f} MB ({max(browsers):.0f} at most), {len(seen)} of them by now,"
            f" load {os.getloadavg()[0]:.0f}",
            flush=True,
        )
        browsers.clear()
    assert crawl.returncode == 0, crawl.returncode


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=1000)
    pages = parser.parse_args().pages
    site = LivingSite(seed=6, pages=pages, scale=1e-6, script=1.0, slow=0.0)
    with serve(site, port=0) as server, TemporaryDirectory() as folder:
        output = Path(folder) / "capture"
        terms = {"url": server.url, "output": output, "browser": "always", "delay": "0", "strategy": "sharc-online"}
        arguments = [word for name, value in terms.items() for word in ("-a", f"{name}={value}")]
        command = [sys.executable, "-m", "scrapy", "crawl", "site", *arguments, "-s", "SHARC_PROGRESS=False"]
        environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "sharc_crawler.live.profile"}
        watched(subprocess.Popen([*command, "-L", "ERROR"], env=environment), output)


if __name__ == "__main__":
    main()
