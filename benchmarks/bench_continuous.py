"""A site that is kept up (mode=continuous) beside periodic captures with as many requests, on replayed histories.

    python benchmarks/bench_continuous.py FOLDER [--captures 9] [--days 60] [--windows 3]

FOLDER holds the change histories, as for ``bench_real_histories.py``. Of each history so many windows, evenly laid.
Rates are those of the year before (``history``). The pages known when a window begins are captured at even intervals by
sharc-selective (visits, then revisits), or in as many requests twice as often by sharc-online (single visits); beside
them one continuous capture, by each upkeep, with as many requests in all. The frontier is the live crawl's, in virtual
time. Shown is what the archive tells of 200 random instants: the share of pages whose last download before and first
one after it show the same, and the changes between the instant and the download nearest to it, per page; means over the
windows, and the least and the greatest.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
from real_histories import NAMED

from benchmarks.continuous_runs import ArchiveQuality, periodic, shown, upkept
from sharc_crawler.lab.rates import believe

if TYPE_CHECKING:
    from sharc_crawler.lab.history import HistorySpec

DAY = 86_400.0
INSTANTS = 200
SHARE = 0.1  #: of the time between two captures that one takes
WAYS = ("periodic, sharc-selective", "periodic, sharc-online", "continuous: coherent", "sharp", "even")


def windows(folder: Path, name: str, days: float, number: int) -> list[HistorySpec]:
    spec = NAMED[name].spec(folder)
    room = spec.end - spec.start - days * DAY
    starts = [spec.start + room * (place + 0.5) / number for place in range(number)]
    return [replace(spec, start=start, end=start + days * DAY) for start in starts]


def compare(spec: HistorySpec, captures: int) -> list[ArchiveQuality]:
    site = spec.build()
    belief = believe(site, "history")
    size = len(site.known)
    delay = min(1.0, SHARE * (site.end - site.start) / captures / (2 * size))
    edge = 2 * size * delay
    at = np.sort(np.random.default_rng(0).uniform(site.start + edge, site.end - edge, INSTANTS))
    made = periodic(site, belief, "sharc-selective", delay, captures)
    ways = [made, periodic(site, belief, "sharc-online", delay, 2 * captures)]
    ways += [upkept(site, belief, upkeep, delay, len(made)) for upkeep in ("coherent", "sharp", "even")]
    print(site.name, size, [len(one) for one in ways], file=sys.stderr, flush=True)
    return [shown(site, one, at) for one in ways]


def cell(values: list[float], form: str) -> str:
    return f"{fmean(values):{form}} ({min(values):{form}}–{max(values):{form}})"


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--captures", type=int, default=9)
    parser.add_argument("--days", type=float, default=60.0)
    parser.add_argument("--windows", type=int, default=3)
    parser.add_argument("--only", choices=NAMED)
    given = parser.parse_args()
    print(f"| history | | {' | '.join(WAYS)} |\n|{'---|' * (2 + len(WAYS))}")
    for name in [given.only] if given.only else NAMED:
        found = [compare(spec, given.captures) for spec in windows(given.folder, name, given.days, given.windows)]
        for what, form in (("coherent", ".2%"), ("blur", ".4f")):
            cells = [cell([getattr(one[way], what) for one in found], form) for way in range(len(WAYS))]
            print(f"| {name} | {what} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
