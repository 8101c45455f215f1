"""`every: auto` on replayed histories: the share of pages that the archive has as they are, over time, by intervals.

    python benchmarks/collection_intervals.py FOLDER [--only year] [--seeds 3] [--days 8] [--each 6]

FOLDER holds the change histories, as for ``bench_real_histories.py``. Sites are split into ten members each, blocks of
neighbouring names of sizes that the seed draws; the small one is a member whole. `year`: both years of the wiki and the
documentation, 21 members over 365 days. `mixed`: these and both published sites, 41 members over 100 days, of the
longer histories those that the seed draws. Of all pages each sixth is taken, for the sake of time (--each).

A capture sees all pages of its member at one instant, and costs the requests that `sharc keep` reckons with. What it
saw (changed since the last one or not; no lastmod) is all that rates are learned from, by what `sharc keep` calls:
`planning.site_load`, then `allocation.intervals`, for a budget of one capture of each member in so many --days. It is
planned anew each week, as captures have taught; `sharc keep` does so after each capture. Every crawl begins with two
captures a day apart, of all members. `proportional` makes a site's captures as frequent as its pages' learned mean rate
says, within the same bounds; `even` takes equal intervals; `told` is `auto` that knows each page's true mean rate. All
have budgets that make as many requests as `auto` made.
Fresh: of the time that pages exist or are gone, that in which the last capture saw them as they are. A deletion is a
change; a page that no capture has seen is not fresh.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from statistics import fmean

from benchmarks.replayed_collection import compare, members, read
from sharc_crawler.collection.allocation import DAY

COLLECTIONS = {
    "year": (360, ("emacswiki-2012", "emacswiki-2013", "scrapydocs-2019")),
    "mixed": (100, ("emacswiki-2012", "emacswiki-2013", "scrapydocs-2019", "trackawesome-2023", "trackawesome-2024b")),
}


def spread(values: list[float]) -> str:
    return f"{100 * fmean(values):.2f} ({100 * min(values):.2f}–{100 * max(values):.2f})"


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=COLLECTIONS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--days", type=float, default=8.0)
    parser.add_argument("--each", type=int, default=6, help="of the pages each so manieth, of sites that are split")
    given = parser.parse_args()
    print("| collection | auto | even | proportional | told | auto − even | their requests beside auto |")
    print("|" + "---|" * 7)
    for collection in [given.only] if given.only else COLLECTIONS:
        length, which = COLLECTIONS[collection]
        times = {name: read(given.folder / f"{name}.csv.gz") for name in which}
        made = []
        for seed in range(given.seeds):
            make = partial(members, times, length, given.each, seed)
            made.append(list(compare(make, length * DAY, given.days)))
            print(collection, seed, made[-1], file=sys.stderr, flush=True)
        by_way = [spread([one[way][1] for one in made]) for way in range(4)]
        gain = spread([one[0][1] - one[1][1] for one in made])
        asked = ", ".join(f"{fmean(one[way][2] for one in made):.2f}" for way in (1, 2, 3))
        print(f"| {' | '.join([collection, *by_way, gain, asked])} |", flush=True)


if __name__ == "__main__":
    main()
