"""θ by expected F1 beside last year's best θ: micro F1 of HACS, its plain form and Frequency.

Every fourth week of 2022 (which the other θ is chosen on) and of 2023 (scored); each method learns up to each week.

    python benchmarks/bench_hacs_threshold.py ota-contrib-2012-2023.jsonl.gz --regime dense --level homepage
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.link_additions import REGIMES, read_records, sampled
from sharc_crawler.seeds.base import WEEK, RankingTask, SeedRanker
from sharc_crawler.seeds.hacs.baselines import Frequency
from sharc_crawler.seeds.hacs.evaluation import Period, Truth
from sharc_crawler.seeds.hacs.measures import THETAS, likely_best
from sharc_crawler.seeds.hacs.rankers import Hacs, HacsPlain

if TYPE_CHECKING:
    from sharc_crawler.seeds.hacs.sites import SeedHistories

FORMS: dict[str, type[SeedRanker]] = {"hacs": Hacs, "plain": HacsPlain, "frequency": Frequency}
EVERY = 4  #: weeks
Point = tuple[np.ndarray, np.ndarray]  #: p, updated


def points(seeds: SeedHistories, truth: Truth, form: type[SeedRanker], year: int, weeks: int) -> list[Point]:
    period = Period(*(datetime(one, 1, 1, tzinfo=UTC).timestamp() for one in (year, year + 1)))
    found = []
    for now in period.points()[::EVERY].tolist():
        task = RankingTask(now, WEEK, weeks * WEEK, missed=False)
        window = seeds.window(now - task.back, now)
        here = window.captures() > 0
        ranker = form().fit(seeds, now)
        value = ranker.score(window.select(here), task).value
        p = value if ranker.probabilities else -np.expm1(-value * WEEK)
        found.append((p, truth.following(now)[here] <= now + WEEK))
    return found


def f1(found: list[Point], thetas: list[float]) -> float:
    chosen = sum(int((p >= theta).sum()) for (p, _), theta in zip(found, thetas, strict=True))
    hits = sum(int(updated[p >= theta].sum()) for (p, updated), theta in zip(found, thetas, strict=True))
    updates = sum(int(updated.sum()) for _, updated in found)
    return 2 * hits / max(1, chosen + updates)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path)
    parser.add_argument("--regime", choices=REGIMES, default="dense")
    parser.add_argument("--level", choices=("homepage", "website"), default="homepage")
    parser.add_argument("--weeks", type=int, nargs="+", default=[1, 4, 12])
    given = parser.parse_args()
    seeds, truth = sampled(read_records(given.records), given.regime, website=given.level == "website")
    print("| w | " + " | ".join(f"{name}, expected F1 | {name}, θ of 2022" for name in FORMS) + " |")
    print("|---" * (2 * len(FORMS) + 1) + "|")
    for weeks in given.weeks:
        cells = []
        for form in FORMS.values():
            before, scored = (points(seeds, truth, form, year, weeks) for year in (2022, 2023))
            best = max(THETAS.tolist(), key=lambda theta, found=before: f1(found, [theta] * len(found)))
            cells += [f1(scored, [likely_best(p) for p, _ in scored]), f1(scored, [best] * len(scored))]
        print(f"| {weeks} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
