"""Observations per second into and out of the history store: `python benchmarks/bench_observations.py`."""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Change, Result, Url
from sharc_crawler.observation import Observation
from sharc_crawler.storage.observations import ObservationStore


def capture(pages: int, number: int) -> list[Observation]:
    """One capture's observations: the first in the order of discovery, the later ones shuffled (the worst case)."""
    order = list(range(pages))
    if number:
        random.Random(number).shuffle(order)
    return [
        Observation(
            "www.example.org",
            Url(f"http://www.example.org/some/path/of/a/page/{i}.html"),
            1e9 + 604800.0 * number + i,
            Result.OK,
            Change.UNCHANGED,
            Evidence.BYTES,
            digest=f"sha1:ABCDEFGHIJKLMNOPQRSTUVWX{i:08d}",
            etag=f'"{i:x}"',
            last_modified=1e9,
        )
        for i in order
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=200_000)
    parser.add_argument("--captures", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "history.sqlite"
        with ObservationStore(path) as store:
            for number in range(args.captures):
                rows = capture(args.pages, number)
                wall, cpu = time.perf_counter(), time.process_time()
                store.append(rows)
                wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
                print(f"append, capture {number}: {len(rows) / wall:,.0f} rows/s (by CPU time {len(rows) / cpu:,.0f})")
            wall = time.perf_counter()
            intervals = len(store.histories("www.example.org").histories().lengths)
            rate = args.pages * args.captures / (time.perf_counter() - wall)
            print(f"histories: {rate:,.0f} rows/s ({intervals:,} intervals)")
        print(f"file: {path.stat().st_size / args.pages / args.captures:.0f} bytes per observation")


if __name__ == "__main__":
    main()
