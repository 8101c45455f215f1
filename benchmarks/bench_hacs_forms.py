"""Why the plain form of HACS ranks no better than counting updates: the ranking with and without each of its parts.

Mean weighted P@K over the weeks of a year, on captures drawn from records of link additions, as in
`hacs_evaluation.py`. All is learned up to each week.

    python benchmarks/bench_hacs_forms.py ota-contrib-2012-2023.jsonl.gz --regime dense --level homepage
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.link_additions import REGIMES, read_records, sampled
from sharc_crawler.seeds.base import WEEK, RankingTask, Scores, SeedRanker
from sharc_crawler.seeds.hacs.baselines import Frequency
from sharc_crawler.seeds.hacs.evaluation import Period
from sharc_crawler.seeds.hacs.measures import weighted_precision
from sharc_crawler.seeds.hacs.rank import ordered
from sharc_crawler.seeds.hacs.rankers import Hacs, HacsPlain, f, g


class RateAlone(HacsPlain):
    """The plain form's λ̃, whenever the last update was."""

    def score(self, seeds, task):
        return Scores(super().score(seeds, task).rate)


class NotInterpolated(HacsPlain):
    """The plain form with updates placed at their captures."""

    def score(self, seeds, task):
        whole, fit = super().score(seeds, task), f(seeds.pages, interpolated=False)
        value = g(seeds.sum(fit.rate), seeds.latest(fit.last_update), task.now + task.ahead)
        return Scores(np.where(whole.known, value, whole.value))


FORMS: dict[str, type[SeedRanker]] = {
    "hacs": Hacs,
    "plain": HacsPlain,
    "plain, rate alone": RateAlone,
    "plain, not interpolated": NotInterpolated,
    "frequency": Frequency,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path)
    parser.add_argument("--regime", choices=REGIMES, default="dense")
    parser.add_argument("--level", choices=("homepage", "website"), default="homepage")
    parser.add_argument("--year", type=int, default=2023)
    parser.add_argument("--weeks", type=int, nargs="+", default=[1, 2, 4, 8, 12])
    given = parser.parse_args()
    seeds, truth = sampled(read_records(given.records), given.regime, website=given.level == "website")
    period = Period(*(datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in (given.year, given.year + 1)))
    found: dict[str, dict[int, list[float]]] = {name: {weeks: [] for weeks in given.weeks} for name in FORMS}
    for now in period.points().tolist():
        rankers = {name: make().fit(seeds, now) for name, make in FORMS.items()}
        for weeks in given.weeks:
            task = RankingTask(now, WEEK, weeks * WEEK, missed=False)
            window = seeds.window(now - task.back, now)
            here = window.captures() > 0
            window, following = window.select(here), truth.following(now)[here]
            seen = window.latest(window.pages.last_seen())
            for name, ranker in rankers.items():
                order = ordered(ranker.score(window, task).value, seen)
                found[name][weeks].append(weighted_precision(order, following))
    print("| w | " + " | ".join(FORMS) + " |\n" + "|---" * (len(FORMS) + 1) + "|")
    for weeks in given.weeks:
        print(f"| {weeks} | " + " | ".join(f"{np.nanmean(rows[weeks]):.3f}" for rows in found.values()) + " |")


if __name__ == "__main__":
    main()
