"""Seeds at the scale of the paper's data: 19,977 sites, 581,603 pages, about 20 captures each.

    python benchmarks/bench_hacs.py [--share 1.0] [--gzip] [--index FILE]

Writes a CDX file with gaps of captures and intervals of updates from the published log-normal distributions, reads it,
finds λ and τ of every page in one solve, ranks the sites, and solves a sample with scipy.optimize.brentq as the peer.
Seconds are of CPU time (one thread); memory is the peak of the process while it reads, solves and ranks.
"""

from __future__ import annotations

import argparse
import gzip
import multiprocessing
import resource
import tempfile
import time
from itertools import count
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

from sharc_crawler.archive.histories.pages import pages_among
from sharc_crawler.archive.histories.reading import read_history
from sharc_crawler.rates.history import CHANGED
from sharc_crawler.seeds.base import RankingTask
from sharc_crawler.seeds.hacs.histories import UpdateHistories
from sharc_crawler.seeds.hacs.rank import make_ranker, rank
from sharc_crawler.seeds.hacs.rankers import f
from sharc_crawler.seeds.hacs.sites import websites
from sharc_crawler.seeds.hacs.updates import digest_change

SITES, PAGES, CAPTURES = 19_977, 581_603, 20
DAY = 86_400.0
NOW = 1_527_811_200.0  # 2018-06-01, the end of the paper's period
FIRST = 8.2e8  #: 1995: no capture is older
SAMPLE = 2_000
BLOCK = 2_000  #: pages written at once
ALPHABET = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", np.uint8)


def write_cdx(path: Path, sites: int, pages: int, *, zipped: bool) -> int:
    """The index, sorted as an archive's; returns the number of lines."""
    rng = np.random.default_rng(1)
    extra = np.sort(rng.integers(0, sites, pages - sites))
    of_site = np.sort(np.concatenate([np.arange(sites), extra]))
    roots = np.diff(of_site, prepend=-1) != 0
    lines = 0
    with gzip.open(path, "wb", compresslevel=1) if zipped else path.open("wb") as file:
        for start in range(0, pages, BLOCK):
            block = slice(start, start + BLOCK)
            rows = index_rows(rng, [address(*one) for one in zip(of_site[block], roots[block], count(start))])
            lines += len(rows)
            file.write(b"".join(rows))
    return lines


def address(site: int, root: bool, page: int) -> tuple[bytes, bytes]:
    """A page's sort key and its URL."""
    path = b"" if root else b"/p%d" % page
    return b"edu,u%d)/~a%05d" % (site % 997, site) + path, b"http://www.u%d.edu/~a%05d" % (site % 997, site) + path


def index_rows(rng: np.random.Generator, pages: list[tuple[bytes, bytes]]) -> list[bytes]:
    """Lines of pages: median gap 50 days (80 % of pages between 20 and 127), updates at a median of 110 days."""
    counts = np.maximum(rng.poisson(CAPTURES, len(pages)), 1)
    owners = np.repeat(np.arange(len(pages)), counts)
    median = np.log(50.4 * DAY) + 0.72 * rng.standard_normal(len(pages))
    gaps = rng.lognormal(median[owners], 1.0)
    ends = np.repeat(np.cumsum(gaps)[np.cumsum(counts) - 1], counts)
    times = np.maximum(NOW - (ends - np.cumsum(gaps)), FIRST + np.arange(len(gaps)))
    rates = np.exp(-rng.normal(np.log(110.0 * DAY), 1.0, len(pages)))
    changed = rng.random(len(gaps)) < -np.expm1(-rates[owners] * gaps)
    versions = np.cumsum(changed | (np.diff(owners, prepend=-1) > 0)) - 1
    digests = ALPHABET[rng.integers(0, 32, (int(versions[-1]) + 1, 32))].tobytes()
    stamps = np.datetime_as_string(times.astype("M8[s]")).astype("S19").tolist()
    return [
        b"%s %s %s text/html 200 %s 4231\n"
        % (pages[owner][0], stamp.translate(None, b"-T:"), pages[owner][1], digests[32 * version : 32 * version + 32])
        for owner, stamp, version in zip(owners.tolist(), stamps, versions.tolist(), strict=True)
    ]


def peer(pages: UpdateHistories) -> tuple[float, float]:
    """CPU seconds of brentq for all pages, from a sample of them, and the greatest relative difference of roots."""
    chosen = np.random.default_rng(2).choice(len(pages), min(SAMPLE, len(pages)), replace=False)
    sample = pages.select(np.sort(chosen))
    intervals, ours = sample.intervals(interpolated=True), f(sample).rate
    worst, start = 0.0, time.process_time()
    for page in range(len(sample)):
        own = slice(intervals.offsets[page], intervals.offsets[page + 1])
        lengths, seen = intervals.lengths[own], intervals.changed[own] == CHANGED
        if seen.any() and not seen.all():
            hit, calm = lengths[seen], lengths[~seen].sum()
            upper = len(hit) / calm
            root = brentq(
                lambda x, hit=hit, calm=calm: (hit / np.expm1(np.minimum(x * hit, 700.0))).sum() - calm,
                1e-9 * upper,
                upper,
                xtol=1e-20,
                rtol=1e-12,
            )
            worst = max(worst, abs(root - ours[page]) / root)
    return (time.process_time() - start) / len(sample) * len(pages), worst


def measure(path: Path, lines: int, sites: int) -> None:
    """Read, solve, rank; in a process of its own, so that its peak is its own."""
    start = time.process_time()
    history = read_history([path])
    captures = history.captures
    seconds = time.process_time() - start
    print(f"read   {lines:,} lines in {seconds:.1f} s: {lines / seconds:,.0f} lines/s")
    pages = UpdateHistories(captures.urls, captures.offsets, captures.times, digest_change(captures))
    start = time.process_time()
    f(pages)
    print(f"f      {len(pages):,} pages in {time.process_time() - start:.2f} s")
    keys = [key for key in captures.keys if key.count("/") == 1]
    start = time.process_time()
    seeds = websites(keys, keys, captures, pages.changed, pages_among(captures, history.kinds)[0])
    print(f"seeds  {len(seeds):,} websites of {len(seeds.pages):,} pages in {time.process_time() - start:.1f} s")
    for name in ("hacs", "hacs-plain"):
        start = time.process_time()
        chosen = sum(one.chosen for one in rank(seeds, make_ranker(name), RankingTask(NOW), theta=0.7))
        print(f"rank   {name}: {chosen:,} of {sites:,} chosen in {time.process_time() - start:.2f} s", flush=True)
    print(f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB at the peak")
    seconds, worst = peer(pages)
    print(f"peer   brentq in a loop: {seconds:,.2f} s for all pages; roots differ by {worst:.1e} at most")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0, help="of the sites and pages")
    parser.add_argument("--gzip", action="store_true", help="read a gzipped index")
    parser.add_argument("--index", type=Path, help="of a former run: used again; written where there is none")
    given = parser.parse_args()
    sites, pages = round(SITES * given.share), round(PAGES * given.share)
    with tempfile.TemporaryDirectory() as folder:
        path = given.index or Path(folder) / "index.cdx"
        if path.exists():
            with gzip.open(path) if given.gzip else path.open("rb") as stream:
                lines = sum(1 for _ in stream)
        else:
            lines = write_cdx(path, sites, pages, zipped=given.gzip)
        process = multiprocessing.get_context("spawn").Process(target=measure, args=(path, lines, sites))
        process.start()
        process.join()


if __name__ == "__main__":
    main()
