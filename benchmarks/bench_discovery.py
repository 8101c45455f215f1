"""What discovering a site costs, and what an archive that knows it saves: real histories, replayed.

    python benchmarks/bench_discovery.py FOLDER [--only emacswiki-2013,...] [--rates oracle,history] [--whole]

FOLDER holds the histories (docs/simulate.md). Per history and window: incoherent pages of `sharc-selective` where all
is known, where an archive of 30 days ago is (recapture), where all is to be discovered, and of the walks beside it.
*Delayed*: the plan of the known graph, each page visited in its turn or, where that is past, as soon as it is found.
Regret: what is lost beyond the oracle on a known graph, as a share of what bfs loses beyond it. *Hopeless*: pages that
the discovering crawl gave up, and how many of these were lost.
"""

from __future__ import annotations

import argparse
import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from real_histories import NAMED

from sharc_crawler.lab.driver import begins, crawl
from sharc_crawler.lab.experiment import RunSpec, build, run
from sharc_crawler.lab.rates import believe
from sharc_crawler.lab.score import score

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


def delayed(spec: HistorySpec, rates: str) -> int:
    """Pages lost by the order of the known graph's plan, where pages are to be discovered.

    It is the walk to the page that is coldest, if the place in the plan is taken for its heat. Pages that the plan does
    not know have the place of the one that is nearest in rate.
    """
    site = build(spec)
    belief = believe(site, rates, begins(site, "sharc-selective", np.zeros(len(site.urls), np.bool_)))
    visits = run(RunSpec(spec, "sharc-selective", rates, "known")).schedule.visits
    planned = np.flatnonzero(~np.isnan(visits))
    places = np.zeros(len(visits))
    places[planned[np.argsort(visits[planned])]] = np.arange(1, len(planned) + 1)
    by_rate = planned[np.argsort(belief.rates[planned], kind="stable")]
    for page in np.flatnonzero(np.isnan(visits)):
        near = np.searchsorted(belief.rates[by_rate], belief.rates[page])
        places[page] = places[by_rate[min(near, len(by_rate) - 1)]]
    done = crawl(site, replace(belief, rates=places, shapes=np.full(len(places), np.inf)), "hottest-last")
    return score(site, done.schedule, belief).incoherent


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default=",".join(NAMED))
    parser.add_argument("--rates", default="oracle,history")
    parser.add_argument("--whole", action="store_true", help="no months")
    options = parser.parse_args()
    heads = [f"{strategy}, {graph}" for strategy, graph in CRAWLS]
    print("| history, window | rates |", " | ".join(heads), "| delayed | regret, discover | hopeless |")
    print("|---|---|" + "--:|" * (len(CRAWLS) + 3))
    for name in options.only.split(","):
        for site in windows(NAMED[name], options.folder, options.whole):
            days = (site.end - site.start) / 86_400
            label = f"{dt.datetime.fromtimestamp(site.start, dt.UTC):%Y-%m-%d}, {days:.0f} days"
            least = run(RunSpec(site, "sharc-selective", "oracle", "known")).facts["incoherent"]
            for rates in options.rates.split(","):
                done = [run(RunSpec(site, strategy, rates, graph)).facts for strategy, graph in CRAWLS]
                lost = [facts["incoherent"] for facts in done]
                regret = (lost[2] - least) / max(1, lost[4] - least)
                hopeless = f"{done[2]['hopeless']:,}, {done[2]['hopeless_incoherent']:,}"
                lost.append(delayed(site, rates))
                cells = [name, label, rates, *(f"{pages:,}" for pages in lost), f"{regret:.2f}", hopeless]
                print(f"| {cells[0]}, {cells[1]} | {' | '.join(map(str, cells[2:]))} |", flush=True)


if __name__ == "__main__":
    main()
