"""False "coherent" beside the claims, on a hostile site with a log of the truth (``benchmarks/hostile_site.py``).

    python benchmarks/bench_hostile.py --runs 10

``by 304``: of those, by the server's word, beside the bound that the audit states. ``weak``: by weak validators, which
the claim counts apart. ``silent``: pages that changed and changed back without a word, out of anybody's reach.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.hostile_site import KINDS, SILENT, HostileSite
from benchmarks.site_crawl import captured
from sharc_crawler.instants import unix

MANY = "still", "liar-304", "weak-etag", "naive-304", "share-304"  #: as many as make a kind that is audited by itself


def crawl(url: str, folder: Path, strategy: str, delay: float) -> dict:
    sitemap = "auto" if strategy.startswith("sharc-attested") else "off"
    return captured(
        folder, {"url": url, "strategy": strategy, "delay": delay, "sitemap": sitemap}, "SHARC_BACK_OFF=0.2"
    )


def false_claims(site: HostileSite, capture: dict) -> tuple[Counter[str], Counter[str]]:
    """Of the pages that are claimed: how many by evidence (``silent`` apart), and how many falsely, by kind."""
    reference = unix(capture["times"]["reference"])
    claimed: Counter[str] = Counter()
    false: Counter[str] = Counter()
    for page in capture["pages"]:
        if page["verdict"] != "coherent" or page["kind"] != "page":
            continue
        wrong = site.false(page["url"], unix(page["visit"]["started"]), reference)
        if wrong is None:
            continue
        name = page["url"].removeprefix(site.url).partition("/")[0]
        what = "silent" if name in SILENT else page["evidence"]
        claimed[what] += 1
        if wrong:
            false[f"{what}: {name}"] += 1
    return claimed, false


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--count", type=int, default=6, help="pages of each kind")
    parser.add_argument("--many", type=int, default=45, help="pages of the kinds that 304s are claimed of")
    parser.add_argument("--delay", type=float, default=0.02)
    parser.add_argument("--strategy", default="sharc-selective")
    parser.add_argument("--only", nargs="*", default=[], choices=KINDS, metavar="KIND", help="of these kinds alone")
    options = parser.parse_args()
    print(f"{len(options.only or KINDS)} kinds of pages, {len(SILENT)} of them silent", flush=True)
    head = "| seed | claimed by bytes | by 304 | weak | by lastmod | silent"
    print(
        f"{head} | false by bytes | by 304 or lastmod (bound) | weak | silent | which |\n|{'--:|' * 10}---|", flush=True
    )
    more = dict.fromkeys(MANY, options.many)
    for seed in range(options.runs):
        with HostileSite(seed, options.count, more=more, only=options.only) as site:
            threading.Thread(target=site.serve_forever, daemon=True).start()
            with tempfile.TemporaryDirectory() as folder:
                capture = crawl(site.url, Path(folder), options.strategy, options.delay)
            site.shutdown()
            claimed, false = false_claims(site, capture)
        wrong = Counter[str]()
        for name, number in false.items():
            wrong[name.partition(":")[0]] += number
        told, bound = claimed["attested"] + claimed["provisional"], (capture["audit"] or {}).get("bound", 0)
        word = f"{wrong['validator'] + wrong['attested'] + wrong['provisional']} ({bound})"
        numbers = [*(claimed[what] for what in ("bytes", "validator", "weak-validator")), told, claimed["silent"],
                   wrong["bytes"], word, wrong["weak-validator"], wrong["silent"]]  # fmt: skip
        print(f"| {seed} | {' | '.join(map(str, numbers))} | {dict(false) or ''} |", flush=True)


if __name__ == "__main__":
    main()
