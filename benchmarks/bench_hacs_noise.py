"""How far apart HACS and what it is measured against really are: many draws of captures, and weeks drawn again.

One draw of captures, and the updates of one year, leave differences of 0.01 in micro F1 to chance. Here a study of
`hacs_evaluation.py` is made with many draws together. HACS is at each week's θ of greatest expected
F1; the plain form and Frequency at that, and at the best of the year before (θ̂). Each difference is given with the
95 % interval over weeks drawn again, four in a row, for both methods the same: in it is the chance of the year's
updates, too. P@K: ± the standard error over the draws (pairs: the same captures). --score: an earlier year.

    python benchmarks/bench_hacs_noise.py ota-contrib-2012-2023.jsonl.gz --draws 20 --technical
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.link_additions import REGIMES, read_records, sampled
from sharc_crawler.seeds.hacs.evaluation import Period, evaluate
from sharc_crawler.seeds.hacs.study import Study

RANKED = ("hacs", "hacs-plain", "frequency", "last-obs")  #: by P@K


def row(study: Study, weeks: int, draws: int) -> str:
    likely, leads = study.likely(weeks), study.leads(weeks)
    fixed = {f"{name}, θ̂": study.row(weeks, name, "micro").own[2] for name in likely}
    f1 = {name: (likely | fixed)[name] for name in leads}
    cells = [f"{f1[name]:.3f} ({low:+.3f} to {high:+.3f})" for name, (low, high) in leads.items()]
    ranks = [np.nanmean(np.reshape(study.scoring[weeks].precisions[one], (draws, -1)), axis=1) for one in RANKED]
    cells += [f"{ranks[0].mean():.3f}"]
    cells += [f"{one.mean():.3f} ({(ranks[0] - one).mean():+.3f} ±{error(ranks[0] - one):.3f})" for one in ranks[1:]]
    return f"| {weeks} | {likely['hacs']:.3f} | " + " | ".join(cells) + " |"


def error(differences: np.ndarray) -> float:
    """The standard error of the mean of paired differences, one per draw of captures."""
    return float(differences.std(ddof=1) / np.sqrt(len(differences))) if len(differences) > 1 else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path)
    parser.add_argument("--regime", choices=REGIMES, default="sparse")
    parser.add_argument("--level", choices=("homepage", "website"), default="homepage")
    parser.add_argument("--technical", action="store_true", help="count technical re-extractions (T)")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--score", type=int, default=2023, help="the year; θ̂ is chosen on the one before")
    parser.add_argument("--weeks", type=int, nargs="+", default=list(range(1, 13)))
    given = parser.parse_args()
    records = read_records(given.records, technical=given.technical)
    starts = [datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in range(given.score - 1, given.score + 2)]
    runs = []
    for draw in range(given.draws):
        histories = sampled(records, given.regime, website=given.level == "website", draw=draw)
        runs.append(tuple(evaluate(*histories, Period(*starts[i : i + 2]), given.weeks) for i in (0, 1)))
    study = Study.pooled("", runs)
    names = list(study.leads(given.weeks[0]))
    print("| w | F1: HACS | " + " | ".join(names) + " | P@K: HACS | " + " | ".join(RANKED[1:]) + " |")
    print("|---" * (2 + len(names) + len(RANKED)) + "|")
    for weeks in given.weeks:
        print(row(study, weeks, given.draws), flush=True)


if __name__ == "__main__":
    main()
