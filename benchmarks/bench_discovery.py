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

from sharc_crawler.lab.experiment import RunSpec, run
from sharc_crawler.lab.history import HistorySpec

DAY = 86_400.0
#: entry page, window, links when it begins, starts of months
SITES = {
    "emacswiki-2012": ("SiteMap", "2012-01-01", "2013-01-01", "emacswiki-2012.start", (2, 5, 8, 11)),
    "emacswiki-2013": ("SiteMap", "2013-01-01", "2014-01-01", "emacswiki-2012", (2, 5, 8, 11)),
    "trackawesome-2023": ("/", "2023-01-15", "2023-04-25", "trackawesome-2023.start", (2, 3)),
    "trackawesome-2024b": ("/", "2024-09-17", "2024-12-27", "trackawesome-2024b.start", (10, 11)),
}
CRAWLS = (
    ("sharc-selective", "known"),
    ("sharc-selective", "recapture"),
    ("sharc-selective", "discover"),
    ("hottest-last", "discover"),
    ("bfs:revisits=fifo", "discover"),
)


def instant(text: str) -> float:
    return dt.datetime.fromisoformat(f"{text}T00:00+00:00").timestamp()


def windows(name: str, whole: bool) -> list[tuple[str, float, float]]:
    """The whole, and 30 days from the first of some months on."""
    _, start, end, _, months = SITES[name]
    found = [("whole", instant(start), instant(end))]
    starts = [] if whole else [f"{start[:4]}-{month:02}-01" for month in months]
    return found + [(text, instant(text), instant(text) + 30 * DAY) for text in starts]


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default=",".join(SITES))
    parser.add_argument("--rates", default="oracle,history")
    parser.add_argument("--whole", action="store_true", help="no months")
    options = parser.parse_args()
    heads = [f"{strategy}, {graph}" for strategy, graph in CRAWLS]
    print("| history, window | rates |", " | ".join(heads), "| regret, discover | hopeless |")
    print("|---|---|" + "--:|" * (len(CRAWLS) + 2))
    for name in options.only.split(","):
        root, _, _, links, _ = SITES[name]
        path = {kind: str(options.folder / f"{kind}.jsonl.gz") for kind in (f"{links}.links", f"{name}.linkevents")}
        for label, start, end in windows(name, options.whole):
            history = str(options.folder / f"{name}.csv.gz")
            site = HistorySpec(history, root, start, end, *path.values())
            least = run(RunSpec(site, "sharc-selective", "oracle", "known")).facts["incoherent"]
            for rates in options.rates.split(","):
                done = [run(RunSpec(site, strategy, rates, graph)).facts for strategy, graph in CRAWLS]
                lost = [facts["incoherent"] for facts in done]
                regret = (lost[2] - least) / max(1, lost[-1] - least)
                cells = [name, label, rates, *(f"{pages:,}" for pages in lost), f"{regret:.2f}", done[2]["hopeless"]]
                print(f"| {cells[0]}, {cells[1]} | {' | '.join(map(str, cells[2:]))} |", flush=True)


if __name__ == "__main__":
    main()
