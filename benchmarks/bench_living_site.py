"""Pages of the living site that each strategy captures coherently: real crawls over loopback, one world for all.

    python benchmarks/bench_living_site.py --seeds 10 --pages 120
    python benchmarks/bench_living_site.py --seeds 3 --pages 200 --scale 3000 --word  # by what sitemap and feed say

Per seed one site (its pages change at the same instants relative to nothing but their own processes), crawled once
with each strategy, one crawl after the other. Judged by our report and by the site's own change log.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from rich.progress import track

from sharc_crawler.cli.demo import PROFILE, site_truth
from sharc_crawler.demo import LivingSite, answers, serve
from sharc_crawler.report.opened import open_facts

if TYPE_CHECKING:
    from collections.abc import Mapping

SELECTIVE = "sharc-selective"
STRATEGIES = (SELECTIVE, "bfs:revisits=fifo", "bfs:revisits=lifo", "dfs:revisits=fifo", "dfs:revisits=lifo")
#: by the sitemap: without second looks, with them, on the server's word; by a feed of the latest changes alone
WORD = (
    f"{SELECTIVE} hints=0",
    SELECTIVE,
    "sharc-attested",
    "bfs:revisits=fifo hints=0",
    f"{SELECTIVE} sitemap=off hints=0",
    f"{SELECTIVE} sitemap=off",
)
FEED, NAMED = "/changes.xml", 40  #: changes, the latest
LINK = f'<link rel="alternate" type="application/atom+xml" href="{FEED}"></head>'.encode()


class TellingSite(LivingSite):
    """One whose front page names a feed that tells of each page's last change."""

    def _answer(self, target: str, headers: Mapping[str, str], now: float) -> answers.Response:
        if target == FEED:
            return answers.ok(FEED, self._feed(f"http://{headers['host']}", now))
        answer = super()._answer(target, headers, now)
        return replace(answer, body=answer.body.replace(b"</head>", LINK)) if target == "/" else answer

    def _feed(self, base: str, now: float) -> bytes:
        latest = sorted(((self._began(path, now), path) for path in self.paths), reverse=True)[:NAMED]
        entries = "".join(
            f'<entry><link href="{escape(base + path)}"/>'
            f"<updated>{datetime.fromtimestamp(began // 1, UTC):%Y-%m-%dT%H:%M:%SZ}</updated></entry>"
            for began, path in latest
        )
        return f'<feed xmlns="http://www.w3.org/2005/Atom">{entries}</feed>'.encode()


def crawl(seed: int, how: str, options: argparse.Namespace) -> dict[str, float]:
    """One crawl of one world: a strategy, and further arguments behind it."""
    strategy, *more = how.split()
    site = (TellingSite if options.word else LivingSite)(seed=seed, pages=options.pages, scale=options.scale, slow=0.2)
    with serve(site) as server, tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "capture"
        given = {"url": server.url, "strategy": strategy, "delay": str(options.delay), "output": str(capture)}
        arguments = [text for name, value in given.items() for text in ("-a", f"{name}={value}")]
        arguments += [text for each in more for text in ("-a", each)]
        settings = ["-s", f"SHARC_CHANGEFREQ={json.dumps(site.changefreqs)}", "-s", "SHARC_BACK_OFF=0.2"]
        subprocess.run(
            [sys.executable, "-m", "scrapy", "crawl", "site", *arguments, *settings],
            env={**os.environ, "SCRAPY_SETTINGS_MODULE": PROFILE},
            cwd=folder,
            check=True,
            capture_output=True,
        )
        with open_facts(capture, site_truth(site)) as (facts,):
            pages = [page for page in facts.pages if page.kind == "page" and page.verdict]
    judged = [page for page in pages if page.truth is not None and page.verdict != "unknown"]
    return {
        "incoherent": sum(page.verdict != "coherent" for page in pages),
        "judged": len(judged),
        "wrong": sum((page.verdict == "coherent") != page.truth for page in judged),
        "claimed": sum(page.verdict == "coherent" and not page.truth for page in judged),
    }


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--pages", type=int, default=120)
    parser.add_argument("--scale", type=float, default=4000.0, help="how many times faster than a real site it lives")
    parser.add_argument("--delay", type=float, default=0.02)
    parser.add_argument("--word", action="store_true", help="crawls by what the sitemap says while they go on")
    options = parser.parse_args()
    crawls = WORD if options.word else STRATEGIES
    runs = [(strategy, seed) for seed in range(options.seeds) for strategy in crawls]
    found: dict[str, list[dict[str, float]]] = {strategy: [] for strategy in crawls}
    for strategy, seed in track(runs, description="crawls"):
        found[strategy].append(crawl(seed, strategy, options))
    print(f"{options.pages} pages, scale {options.scale:g}, delay {options.delay:g} s, {options.seeds} seeds\n")
    print(
        "| strategy | not coherent, mean (least–most) | fewer than selective in | judged otherwise | of these claimed |"
    )
    print("|---|---|---|---|---|")
    best = [run["incoherent"] for run in found[SELECTIVE]]
    for strategy, results in found.items():
        lost = [run["incoherent"] for run in results]
        better = sum(mine < theirs for mine, theirs in zip(lost, best, strict=True))
        judged, wrong, claimed = (int(sum(run[key] for run in results)) for key in ("judged", "wrong", "claimed"))
        print(
            f"| {strategy} | {statistics.mean(lost):.1f} ({min(lost):g}–{max(lost):g}) | {better} of {len(lost)} seeds"
            f" | {wrong} of {judged:,} | {claimed} |"
        )


if __name__ == "__main__":
    main()
