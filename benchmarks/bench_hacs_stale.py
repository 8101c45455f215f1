"""Seeds as a live crawl ranks them: have they been updated since their last capture, days to years ago?

    python benchmarks/bench_hacs_stale.py ota-contrib-2012-2023.jsonl.gz [--draws 2]

Captures end so many days before now (a stale archive), at instants of 2021 to 2023; what was learned ends there, too. A
seed is updated if links were added to it after its last capture. By regime of captures, with w months before that end:
AUC, weighted P@K (by when the seeds were updated), F1 at the threshold of greatest expected F1, and calibration: the
greatest difference between p and the share updated over the five fifths of seeds by p, and over all seeds.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from sharc_crawler.seeds.base import RankingTask, SeedRanker
from sharc_crawler.seeds.hacs.baselines import Frequency, LastObserved
from sharc_crawler.seeds.hacs.link_additions import REGIMES, read_records, sampled
from sharc_crawler.seeds.hacs.measures import area_under_curve, likely_best, weighted_precision
from sharc_crawler.seeds.hacs.rank import ordered
from sharc_crawler.seeds.hacs.rankers import Hacs, HacsPlain

DAY, MONTH = 86_400.0, 30 * 86_400.0
AGES = (60, 180, 365, 1095)  #: days
WINDOWS = (12,)  #: months
FORMS: dict[str, type[SeedRanker]] = {
    "hacs": Hacs,
    "plain": HacsPlain,
    "frequency": Frequency,
    "last-obs": LastObserved,
}


def fifths(p: np.ndarray, updated: np.ndarray) -> float:
    parts = np.array_split(np.argsort(p), 5)
    return float(max(abs(p[part].mean() - updated[part].mean()) for part in parts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path)
    parser.add_argument("--draws", type=int, default=1)
    given = parser.parse_args()
    records = read_records(given.records)
    for regime in REGIMES:
        for website in (False, True):
            print(f"\n{regime}, {'websites' if website else 'homepages'}\n")
            print("| age | w | " + " | ".join(f"{name}: AUC, P@K, F1" for name in FORMS) + " | p: fifths | all |")
            print("|---" * (len(FORMS) + 4) + "|")
            draws = [sampled(records, regime, website=website, draw=draw) for draw in range(given.draws)]
            for age in AGES:
                for window in WINDOWS:
                    row(draws, age, window)


def row(draws: list, age: int, window: int) -> None:
    cells: dict[str, list] = {name: [] for name in FORMS}
    off = []
    nows = [datetime(year, month, 1, tzinfo=UTC).timestamp() for year in (2021, 2022, 2023) for month in (3, 9)]
    for seeds, truth in draws:
        for now in nows:
            end = now - age * DAY
            there = seeds.window(-np.inf, end)
            known = there.latest(there.last_seen())
            here = ~np.isnan(known)
            following = np.full(len(seeds), np.inf)
            for instant in np.unique(known[here]):
                mine = known == instant
                following[mine] = truth.following(instant)[mine]
            following = np.where(following <= now, following, np.inf)[here]
            updated = np.isfinite(following)
            task = RankingTask(now, 0.0, age * DAY + window * MONTH)
            cut = there.window(now - task.back, end).select(here)
            for name, form in FORMS.items():
                ranker = form().fit(there, end)
                value = ranker.score(cut, task).value
                p = value if ranker.probabilities else -np.expm1(-value * (now - known[here]))
                order = ordered(value, known[here])
                chosen = p >= likely_best(p)
                f1 = 2 * (chosen & updated).sum() / max(1, chosen.sum() + updated.sum())
                cells[name].append((area_under_curve(value, updated), weighted_precision(order, following), f1))
                if name == "hacs":
                    off.append((fifths(p, updated), p.mean() - updated.mean()))
    text = " | ".join(", ".join(f"{one:.3f}" for one in np.nanmean(cells[name], axis=0)) for name in FORMS)
    print(f"| {age} | {window} | {text} | {np.mean(off, axis=0)[0]:.2f} | {np.mean(off, axis=0)[1]:+.2f} |", flush=True)


if __name__ == "__main__":
    main()
