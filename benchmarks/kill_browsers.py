"""Captures of pages made by script, killed at random moments: the browser, or the crawl, by ``kill -9``.

Each round begins a capture of a site that does not change, kills at random until it is complete, and compares what is
there with a capture that nobody killed: the same pages, data and verdicts, ``sharc verify`` without a finding.

    python benchmarks/kill_browsers.py --kills 50
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from sharc_crawler.certificate.verify import verify
from sharc_crawler.demo import LivingSite, serve

PAGES = 24
SITE = LivingSite(seed=3, pages=PAGES, scale=1e-6, script=1.0, slow=0.0)


def command(url: str, output: Path) -> list[str]:
    terms = {"url": url, "output": output, "browser": "always", "delay": "0.05", "screenshots": "1"}
    arguments = [word for name, value in terms.items() for word in ("-a", f"{name}={value}")]
    settings = ["-s", "SHARC_BACK_OFF=0.2", "-s", "SHARC_PROGRESS=False"]
    return [sys.executable, "-m", "scrapy", "crawl", "site", *arguments, *settings]


def begun(url: str, output: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "sharc_crawler.live.profile"}
    with output.with_suffix(".log").open("ab") as log:
        return subprocess.Popen(command(url, output), env=environment, stdout=log, stderr=log)


def browsers_of(crawl: int) -> list[int]:
    """The first process of each browser that a crawl has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            if parent == crawl and b"--remote-debugging-pipe" in stat.with_name("cmdline").read_bytes():
                found.append(int(stat.parent.name))
        except (OSError, IndexError, ValueError):
            continue
    return found


def killed(url: str, output: Path, left: int, longest: float, rng: random.Random) -> Counter[str]:
    """Capture a site, killing at most so often, within so many seconds each time; what was killed."""
    kills: Counter[str] = Counter()
    crawl = begun(url, output)
    while crawl.poll() is None:
        deadline = time.monotonic() + rng.uniform(1, longest)
        while crawl.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        if crawl.poll() is not None or kills.total() >= left:
            continue
        browsers = browsers_of(crawl.pid)
        if browsers and rng.random() < 0.6:
            os.killpg(rng.choice(browsers), signal.SIGKILL)
            kills["browsers"] += 1
        else:
            crawl.kill()
            crawl.wait()
            kills["crawls"] += 1
            crawl = begun(url, output)
    assert crawl.returncode == 0, output.with_suffix(".log").read_text()[-2000:]
    return kills


def made(output: Path) -> dict[str, tuple[object, ...]]:
    """What is known of each page and resource."""
    lines = map(json.loads, (output / "report-pages.jsonl").read_text().splitlines())
    path = "/".join
    return {
        path(line["url"].split("/")[3:]): (line["kind"], line["verdict"], len(line.get("data", ()))) for line in lines
    }


def notes(output: Path) -> list[str]:
    (capture,) = json.loads((output / "report.json").read_text())["captures"]
    return [note for note in capture["notes"] if "not shown" in note or "shown without" in note]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--longest", type=float, default=12.0, help="seconds between two kills")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, total, number = random.Random(options.seed), Counter[str](), 0
    with TemporaryDirectory() as place, serve(SITE, port=0) as server:
        whole = Path(place) / "whole"
        assert begun(server.url, whole).wait() == 0
        expected = made(whole)
        print(f"not killed: {len(expected)} URLs, {notes(whole)}", flush=True)
        while total.total() < options.kills:
            number += 1
            output = Path(place) / f"killed-{number}"
            total += killed(server.url, output, options.kills - total.total(), options.longest, rng)
            found, findings = made(output), verify(output).findings
            same = found == expected
            print(f"{number}: {dict(total)}; the same: {same}; findings {len(findings)}; {notes(output)}", flush=True)
            if not same:
                for url in sorted(expected.keys() | found.keys()):
                    if expected.get(url) != found.get(url):
                        print("   ", url, expected.get(url), found.get(url))
            left = [one for one in output.rglob("*") if ".answers" in one.parts]
            assert not left, left
            assert not findings, findings


if __name__ == "__main__":
    main()
