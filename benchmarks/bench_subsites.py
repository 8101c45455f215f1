"""docs/subsites.md: sites captured as a whole and part by part, in virtual time, and which parts came out coherent.

    python benchmarks/bench_subsites.py [FOLDER] [--only TEXT] [--size 5000] [--seeds 3]

FOLDER holds NAME.csv.gz, NAME.start.links.jsonl.gz and NAME.linkevents.jsonl.gz of the data sets; without it only the
synthetic sites are crawled. Prints a Markdown table. A capture as a whole is judged in the most generous way: after the
fact, the site is divided, by the same division, into the largest parts of which 95 % really were coherent at its one T.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from pathlib import Path
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

import numpy as np
from real_histories import DATA

from sharc_crawler.lab.experiment import RunSpec, build, run
from sharc_crawler.lab.score import PageFate, verdicts
from sharc_crawler.lab.synthetic import SyntheticSpec
from sharc_crawler.subsites.base import KnownPages
from sharc_crawler.subsites.dividing import divide, fewest_pages
from sharc_crawler.subsites.make import make_division

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sharc_crawler.lab.experiment import ScoredCrawl
    from sharc_crawler.lab.site import Site

SHARE = 0.95
HEAD = ("site", "rates, graph", "division", "coherent pages", "parts", "in coherent parts", "largest coherent part")
KEYS = ("coherent", "pages", "parts", "in_coherent_parts", "largest_coherent_part")


def specs(arguments: argparse.Namespace) -> Iterator[tuple[str, str, str, list[RunSpec]]]:
    """Site, what is known, division ("" as a whole), and its runs."""
    for skew, slow_down in ((1.0, 1.0), (1.2, 1.0), (1.2, 5.0), (1.5, 5.0)):
        name = f"synthetic, skew {skew:g}, slow-down {slow_down:g}"
        sites = [
            SyntheticSpec(size=arguments.size, outdegree=400, skew=skew, slow_down=slow_down, seed=seed)
            for seed in range(arguments.seeds)
        ]
        for graph in ("known", "discover"):
            for subsites in ("", "links"):
                runs = [RunSpec(site, "sharc-selective", "oracle", graph, subsites=subsites) for site in sites]
                yield name, f"oracle, {graph}", subsites, runs
    if arguments.folder is None:
        return
    for data in DATA:
        divisions = {"emacswiki-2012": ("", "links"), "trackawesome-2023": ("", "path", "links")}.get(data.name, ())
        for rates in ("oracle", "history"):
            for graph in ("known", "discover"):
                for subsites in divisions:
                    spec = RunSpec(data.spec(arguments.folder), "sharc-selective", rates, graph, subsites=subsites)
                    yield data.name, f"{rates}, {graph}", subsites, [spec]


def as_a_whole(done: ScoredCrawl, division: str) -> dict[str, int]:
    """The parts of a capture that came out coherent, of those that a division would have found afterwards."""
    site = build(done.spec.site)
    found = verdicts(site, done.schedule, np.zeros(len(site.urls), np.bool_))
    pages = np.flatnonzero(found != PageFate.ABSENT)
    coherent = found[pages] == PageFate.COHERENT
    labels = make_division(division).partition.labels(_known(site, pages))
    parts = divide(labels, site.name, fewest_pages(len(pages)), lambda places: coherent[places].mean() >= SHARE)
    together = [len(part.places) for part in parts if coherent[part.places].mean() >= SHARE]
    return {
        "coherent": int(coherent.sum()),
        "pages": len(pages),
        "parts": len(parts),
        "in_coherent_parts": sum(together),
        "largest_coherent_part": max(together, default=0),
    }


def _known(site: Site, pages: np.ndarray) -> KnownPages:
    place = {int(page): number for number, page in enumerate(pages)}
    links = [
        (place[page], place[target])
        for page in place
        for target in site.graph.links(page, site.start)
        if target in place
    ]
    ends = np.array(links, np.int64).reshape(-1, 2).T
    return KnownPages([site.urls[page] for page in pages], [()] * len(pages), *ends)


def cells(found: list[dict[str, int]]) -> list[str]:
    """Means, with their spread where there are several runs."""
    columns: dict[str, list[float]] = defaultdict(list)
    for one in found:
        for name, value in one.items():
            columns[name].append(value)

    def number(name: str) -> str:
        values = columns[name]
        return f"{fmean(values):,.0f}" + (f" ± {pstdev(values):,.0f}" if len(values) > 1 else "")

    total = f"{number('coherent')} of {fmean(columns['pages']):,.0f}"
    return [total, *(number(name) for name in ("parts", "in_coherent_parts", "largest_coherent_part"))]


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--only", default="", help="part of a site's name")
    parser.add_argument("--size", type=int, default=5_000, help="pages of the synthetic sites")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for name, known, subsites, runs in specs(arguments):
        if arguments.only not in name:
            continue
        began = time.perf_counter()
        done = [run(spec) for spec in runs]
        divisions = [subsites] if subsites else ["path", "links"] if "trackawesome" in name else ["links"]
        for division in divisions:
            found = [one.facts if subsites else as_a_whole(one, division) for one in done]
            kept = [{k: one[k] for k in KEYS} for one in found]
            how = subsites or f"as a whole, by {division} afterwards"
            print(f"| {' | '.join((name, known, how, *cells(kept)))} |", flush=True)
        print(f"{name} {known} {subsites}: {time.perf_counter() - began:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
