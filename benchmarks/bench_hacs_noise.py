"""How far apart HACS and what it is measured against really are: many draws of captures, and weeks drawn again.

One draw of captures, and the updates of one year, leave differences of 0.01 in micro F1 to chance. Here a study of
`hacs_evaluation.py` is made with many draws together. θ is that of greatest expected F1 at each
week; Frequency is given the best of the year before, too (θ̂). Brute force: all seeds.
Each difference is given ± its standard error over the draws (pairs: the same captures), and with the 95 % interval of
the bootstrap over the weeks of the scored year, which holds the chance of its updates, too. --score: an earlier year.
--together: so many weeks in a row are drawn at once, since one week's updates and estimates go on in the next.

    python benchmarks/bench_hacs_noise.py ota-contrib-2012-2023.jsonl.gz --draws 20 --technical
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.link_additions import REGIMES, read_records, sampled
from sharc_crawler.seeds.hacs.evaluation import Period, evaluate
from sharc_crawler.seeds.hacs.study import Study

AGAIN = 1000  #: draws of weeks
AGAINST = ("Frequency, θ̂", "Frequency", "Brute force")
RANKED = ("hacs", "frequency")  #: by P@K


def counts(study: Study, weeks: int) -> np.ndarray:
    """Per method and reference point: hits, chosen, updated seeds; of HACS first, then of what it is held against."""
    outcome, place = study.scoring[weeks], study.best(weeks, "frequency", "micro")
    tops = [[(one.hits, one.chosen, one.updated) for one in outcome.likely[name]] for name in RANKED]
    fixed = [[(s.hits[at], s.chosen[at], s.updated) for s in outcome.selections["frequency"]] for at in (place, 0)]
    return np.array([tops[0], fixed[0], tops[1], fixed[1]], float)


def f1(totals: np.ndarray) -> np.ndarray:
    return 2 * totals[..., 0] / np.maximum(totals[..., 1] + totals[..., 2], 1)


def drawn(weeks: int, together: int, rng: np.random.Generator) -> np.ndarray:
    """Weeks of the year, drawn again, so many in a row; the last is followed by the first."""
    firsts = rng.integers(0, weeks, (AGAIN, -(-weeks // together)))
    rows = (firsts[:, :, None] + np.arange(together)) % weeks
    return rows.reshape(AGAIN, -1)[:, :weeks]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path)
    parser.add_argument("--regime", choices=REGIMES, default="sparse")
    parser.add_argument("--level", choices=("homepage", "website"), default="homepage")
    parser.add_argument("--technical", action="store_true", help="count technical re-extractions (T)")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--score", type=int, default=2023, help="the year; θ̂ is chosen on the one before")
    parser.add_argument("--weeks", type=int, nargs="+", default=list(range(1, 13)))
    parser.add_argument("--together", type=int, nargs="+", default=[1])
    given = parser.parse_args()
    records = read_records(given.records, technical=given.technical)
    starts = [datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in range(given.score - 1, given.score + 2)]
    runs = []
    for draw in range(given.draws):
        histories = sampled(records, given.regime, website=given.level == "website", draw=draw)
        runs.append(tuple(evaluate(*histories, Period(*starts[i : i + 2]), given.weeks) for i in (0, 1)))
    study = Study.pooled("", runs)
    print("| w | drawn together | HACS | " + " | ".join(f"{name} | HACS − {name}" for name in AGAINST), end=" | ")
    print("P@K: HACS | Frequency | HACS − Frequency |\n" + "|---" * (6 + 2 * len(AGAINST)) + "|")
    for weeks, together in product(given.weeks, given.together):
        rng = np.random.default_rng(0)
        parts = counts(study, weeks).reshape(1 + len(AGAINST), given.draws, -1, 3)
        found, each = f1(parts.sum(axis=(1, 2))), f1(parts.sum(axis=2))
        weekly = parts.sum(axis=1)
        again = drawn(weekly.shape[1], together, rng)
        others = f1(weekly[:, again].sum(axis=2))
        low, high = np.quantile(others[0] - others[1:], (0.025, 0.975), axis=1)
        cells = [
            f"{f:.3f} | {found[0] - f:+.3f} ±{error(each[0] - of_draws):.3f} ({lo:+.3f} to {hi:+.3f})"
            for f, of_draws, lo, hi in zip(found[1:], each[1:], low, high, strict=True)
        ]
        ranks = [np.nanmean(np.reshape(study.scoring[weeks].precisions[one], (given.draws, -1)), 1) for one in RANKED]
        cells += [f"{ranks[1].mean():.3f} | {(ranks[0] - ranks[1]).mean():+.3f} ±{error(ranks[0] - ranks[1]):.3f}"]
        row = [weeks, together, f"{found[0]:.3f}", *cells[:-1], f"{ranks[0].mean():.3f}", cells[-1]]
        print(f"| {' | '.join(map(str, row))} |", flush=True)


def error(differences: np.ndarray) -> float:
    """The standard error of the mean of paired differences, one per draw of captures."""
    return float(differences.std(ddof=1) / np.sqrt(len(differences))) if len(differences) > 1 else float("nan")


if __name__ == "__main__":
    main()
