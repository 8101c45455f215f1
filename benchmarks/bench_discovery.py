"""What discovering a site costs, and what an archive that knows it saves: real histories, replayed.

    python benchmarks/bench_discovery.py FOLDER [--only emacswiki-2013,...] [--rates oracle,history] [--whole]

FOLDER holds the histories (docs/simulate.md). Per history and window: incoherent pages of `sharc-selective` where all
is known, where an archive of 30 days ago is (recapture), where all is to be discovered, and of the walks beside it.
Regret: what is lost beyond the oracle on a known graph, as a share of what bfs loses beyond it.
"""

from __future__ import annotations

import argparse
import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

from real_histories import NAMED

from sharc_crawler.lab.experiment import RunSpec, run

if TYPE_CHECKING:
    from real_histories import DataSet

    from sharc_crawler.lab.history import HistorySpec

CRAWLS = (
    ("sharc-selective", "known"),
    ("sharc-selective", "recapture"),
    ("sharc-selective", "discover"),
    ("hottest-last", "discover"),
    ("bfs:revisits=fifo", "discover"),
)


def windows(data: DataSet, folder: Path, whole: bool) -> list[HistorySpec]:
    """The whole, and captures of a month."""
    return [data.spec(folder), *([] if whole else (data.spec(folder, month) for month in data.months()))]


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default=",".join(NAMED))
    parser.add_argument("--rates", default="oracle,history")
    parser.add_argument("--whole", action="store_true", help="no months")
    options = parser.parse_args()
    heads = [f"{strategy}, {graph}" for strategy, graph in CRAWLS]
    print("| history, window | rates |", " | ".join(heads), "| regret, discover | hopeless |")
    print("|---|---|" + "--:|" * (len(CRAWLS) + 2))
    for name in options.only.split(","):
        for site in windows(NAMED[name], options.folder, options.whole):
            days = (site.end - site.start) / 86_400
            label = f"{dt.datetime.fromtimestamp(site.start, dt.UTC):%Y-%m-%d}, {days:.0f} days"
            least = run(RunSpec(site, "sharc-selective", "oracle", "known")).facts["incoherent"]
            for rates in options.rates.split(","):
                done = [run(RunSpec(site, strategy, rates, graph)).facts for strategy, graph in CRAWLS]
                lost = [facts["incoherent"] for facts in done]
                regret = (lost[2] - least) / max(1, lost[-1] - least)
                cells = [name, label, rates, *(f"{pages:,}" for pages in lost), f"{regret:.2f}", done[2]["hopeless"]]
                print(f"| {cells[0]}, {cells[1]} | {' | '.join(map(str, cells[2:]))} |", flush=True)


if __name__ == "__main__":
    main()
