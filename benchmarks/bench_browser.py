"""Pages made by script: a capture with ``browser=always`` beside Playwright alone, which loads them one by one.

Both use the same Chromium and the same server on this machine, in turn, and every other round the other way round.
Each side's figures are its wall time and the processor time of all its processes; a capture's begin, revisits and
report are included. Playwright gives each page a context of its own, as a capture does, waits for its network to be
idle, and archives nothing.

    pip install playwright && python benchmarks/bench_browser.py --pages 120 --rounds 3
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.live.browser.chromium import found

TICKS = os.sysconf("SC_CLK_TCK")
PLAYWRIGHT = """
import json, sys
from playwright.sync_api import sync_playwright
urls, program = json.load(sys.stdin), sys.argv[1]
with sync_playwright() as play:
    browser = play.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
    for url in urls:
        context = browser.new_context()
        page = context.new_page()
        page.goto(url, wait_until="networkidle")
        page.content()
        context.close()
    browser.close()
"""


class Spent(NamedTuple):
    """What a side took."""

    wall: float
    processor: float
    pages: int

    def line(self, name: str) -> str:
        per_page = 1000 * self.processor / self.pages
        return f"{name}: {60 * self.pages / self.wall:.1f} pages/min, {per_page:.0f} ms of processor a page"


def processor_time(root: int, seen: dict[int, float]) -> None:
    """Note what each process under ``root`` has used; ended ones stay as they were last seen."""
    parents, used = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(stat.parent.name)
        parents[number] = int(fields[1])
        used[number] = (int(fields[11]) + int(fields[12])) / TICKS
    for number, own in used.items():
        above = number
        while above not in (0, 1, root):
            above = parents.get(above, 0)
        if above == root or number in seen:
            seen[number] = own


def watched(command: list[str], text: str, environment: dict[str, str], pages: int) -> Spent:
    began, seen = time.perf_counter(), dict[int, float]()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment, text=True
    )
    assert process.stdin
    process.stdin.write(text)
    process.stdin.close()
    while process.poll() is None:
        processor_time(process.pid, seen)
        time.sleep(0.1)
    wall = time.perf_counter() - began
    assert process.returncode == 0, process.stderr and process.stderr.read()[-2000:]
    return Spent(wall, sum(seen.values()), pages)


def capture(url: str, output: Path, pages: int) -> Spent:
    terms = {
        "url": url,
        "output": output,
        "browser": "always",
        "behaviors": "off",
        "delay": "0",
        "strategy": "sharc-online",
    }
    arguments = [word for name, value in terms.items() for word in ("-a", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "crawl", "site", *arguments, "-s", "SHARC_PROGRESS=False"]
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "sharc_crawler.live.profile"}
    return watched([*command, "-s", "SHARC_BACK_OFF=0.1", "-L", "ERROR"], "", environment, pages)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    site = LivingSite(seed=6, pages=options.pages, scale=1e-6, script=1.0, slow=0.0)
    faster, lighter = [], []
    with serve(site, port=0) as server, TemporaryDirectory() as place:
        urls = json.dumps([server.url.rstrip("/") + path for path in site.paths])
        for number in range(options.rounds):
            output, pages = Path(place) / str(number), len(site.paths)
            ours = capture(server.url, output, pages) if number % 2 else None
            alone = watched([sys.executable, "-c", PLAYWRIGHT, found()], urls, dict(os.environ), pages)
            ours = ours or capture(server.url, output, pages)
            load = f"load {os.getloadavg()[0]:.0f}"
            print(alone.line("Playwright alone"), "|", ours.line("capture"), "|", load, flush=True)
            faster.append(alone.wall / ours.wall)
            lighter.append(alone.processor / ours.processor)
    print(f"capture: {statistics.median(faster):.2f} times the pages/min ({min(faster):.2f} to {max(faster):.2f}),")
    ratios = sorted(1 / one for one in lighter)
    spread = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
    print(f"{statistics.median(ratios):.2f} times the processor time a page ({spread}), of Playwright alone")


if __name__ == "__main__":
    main()
