"""Seeds as a live crawl ranks them: have they been updated since their last capture, days to years ago?

    python benchmarks/bench_hacs_stale.py ota-contrib-2012-2023.jsonl.gz [--ages 60] [--months 1] [--draws 2]
        [--samples 100]

Captures end so many days before now (a stale archive); what was learned ends there, too. They begin in July 2020: the
records name hardly a link before, so captures until then would show pages unchanged that nobody looked at. They end at
quarters from March 2021 on. Now is in 2023 at the latest. A page is updated if links were added after its own last
capture, a website if any captured page is.

By regime of captures, with w months before that end: AUC, weighted P@K, F1 at the threshold of greatest expected F1.
P@K twice: *hit*, the share of updated seeds among the first K; *order*, the paper's, among the K updated first (which
favours the longest not seen: their updates come first). Frequency is given 1 − exp(−frequency · time), Last-Obs the
time itself. Calibration of HACS: p less the share updated over all seeds, and its mean and greatest difference over
fifths of the seeds by p, all ends and draws together; at last the greatest that 95 % of true forecasts have (every
seed updated by chance, with its p). ``--samples``: HACS less the best of the others, 95 % of so many
bootstrap samples of the seeds, those of all ends together.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.link_additions import REGIMES, read_records, sampled
from sharc_crawler.seeds.base import RankingTask, SeedRanker
from sharc_crawler.seeds.hacs.baselines import Frequency, LastObserved
from sharc_crawler.seeds.hacs.measures import likely_best, weighted_precision
from sharc_crawler.seeds.hacs.rank import ordered
from sharc_crawler.seeds.hacs.rankers import Hacs, HacsPlain
from sharc_crawler.seeds.hacs.sites import SeedHistories

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sharc_crawler.seeds.hacs.evaluation import Truth

DAY, MONTH = 86_400.0, 30 * 86_400.0
ENDS = [datetime(year, month, 1, tzinfo=UTC).timestamp() for year in (2021, 2022, 2023) for month in (3, 6, 9, 12)]
BEGIN = datetime(2020, 7, 1, tzinfo=UTC).timestamp()  #: the records name links
LAST = datetime(2023, 12, 20, tzinfo=UTC).timestamp()  #: the records end
TRUE = 1_000  #: forecasts that are drawn to be true
FORMS: dict[str, type[SeedRanker]] = {
    "hacs": Hacs,
    "plain": HacsPlain,
    "frequency": Frequency,
    "last-obs": LastObserved,
}


def area_under_curve(values: NDArray[np.float64], updated: NDArray[np.bool_]) -> float:
    """The probability that a seed that was updated has a greater value than one that was not; NaN without both.

    >>> area_under_curve(np.array([0.9, 0.2, 0.5, 0.5]), np.array([True, False, True, False]))
    0.875
    """
    hits = int(updated.sum())
    pairs = hits * (len(updated) - hits)
    _, row, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[row]  # equal values share the mean of theirs
    return float((ranks[updated].sum() - hits * (hits + 1) / 2) / pairs) if pairs else float("nan")


def captured(seeds: SeedHistories, end: float) -> SeedHistories:
    """The captures up to ``end``, of the pages that have any: an archive names no others."""
    there = seeds.window(BEGIN, end)
    pages = np.flatnonzero(there.pages.counts())
    some = np.unique(there.owners[pages])
    owners = np.searchsorted(some, there.owners[pages])
    return SeedHistories([there.urls[seed] for seed in some], there.pages.select(pages), owners)


def updates(there: SeedHistories, numbers: dict[str, int], truth: Truth, now: float) -> np.ndarray:
    """When each seed was first updated after the last captures of its pages; inf: not by ``now``."""
    first = np.full(len(there), np.inf)
    for owner, url, last in zip(there.owners, there.pages.urls, there.pages.last_seen(), strict=True):
        times = truth.times[truth.offsets[numbers[url]] : truth.offsets[numbers[url] + 1]]
        first[owner] = min([first[owner], *times[times > last][:1]])
    return np.where(first <= now, first, np.inf)


def hits(order: np.ndarray, updated: np.ndarray) -> float:
    """The share of updated seeds among the first K, weighted as the paper's P@K."""
    ks = np.arange(1, updated.sum() + 1)
    return float(np.average(np.cumsum(updated[order])[: len(ks)] / ks, weights=1.0 / np.log2(ks + 1)))


def worlds(records: list, regime: str, website: bool, draws: int, age: int) -> Iterator[tuple]:
    for draw in range(draws):
        seeds = sampled(records, regime, website=website, draw=draw)[0]
        pages, truth = sampled(records, regime, draw=draw)
        numbers = {url: page for page, url in enumerate(pages.urls)}
        for end in ENDS:
            if (now := end + age * DAY) <= LAST:
                there = captured(seeds, end)
                yield there, end, now, updates(there, numbers, truth, now)


def figures(there: SeedHistories, end: float, now: float, first: np.ndarray, window: int) -> Iterator[tuple]:
    """Of each form: AUC, P@K by hits and by order, F1; and what it gives as p."""
    task = RankingTask(now, 0.0, now - end + window * MONTH)
    known, updated = there.latest(there.last_seen()), np.isfinite(first)
    for form in FORMS.values():
        ranker = form().fit(there, end)
        value = ranker.score(there.window(now - task.back, end), task).value
        p = value if ranker.probabilities else -np.expm1(-value * (now - known))
        order, chosen = ordered(value, known), p >= likely_best(p)
        f1 = 2 * (chosen & updated).sum() / max(1, chosen.sum() + updated.sum())
        yield area_under_curve(value, updated), hits(order, updated), weighted_precision(order, first), f1, p


def differences(records: list, regime: str, website: bool, draws: int, age: int, window: int, samples: int) -> str:
    """AUC, P@K by hits and F1 of HACS less those of whichever other form is best: 95 % of the bootstrap over seeds."""
    ends = []
    for there, end, now, first in worlds(records, regime, website, draws, age):
        columns = [np.array(there.urls), there.latest(there.last_seen()), np.isfinite(first)]
        task = RankingTask(now, 0.0, now - end + window * MONTH)
        for form in FORMS.values():
            ranker = form().fit(there, end)
            value = ranker.score(there.window(now - task.back, end), task).value
            p = value if ranker.probabilities else -np.expm1(-value * (now - columns[1]))
            columns += [value, p >= likely_best(p)]
        ends.append(columns)
    urls = np.unique(np.concatenate([columns[0] for columns in ends]))

    def measured(times: np.ndarray) -> np.ndarray:
        found = []
        for columns in ends:
            again = np.repeat(np.arange(len(columns[0])), times[np.searchsorted(urls, columns[0])])
            known, updated, *forms = (column[again] for column in columns[1:])
            for value, chosen in zip(forms[::2], forms[1::2], strict=True):
                f1 = 2 * (chosen & updated).sum() / max(1, chosen.sum() + updated.sum())
                found.append((area_under_curve(value, updated), hits(ordered(value, known), updated), f1))
        return np.nanmean(np.reshape(found, (len(ends), len(FORMS), 3)), axis=0)

    best = 1 + measured(np.ones(len(urls), np.int64))[1:].argmax(axis=0)
    rng, off = np.random.default_rng(0), []
    for _ in range(samples):
        found = measured(np.bincount(rng.integers(len(urls), size=len(urls)), minlength=len(urls)))
        off.append(found[0] - found[best, np.arange(3)])
    low, high = np.quantile(off, [0.025, 0.975], axis=0)
    return ", ".join(f"{a:+.3f} to {b:+.3f}" for a, b in zip(low, high, strict=True))


def fifths_off(p: np.ndarray, updated: np.ndarray) -> list[float]:
    """By how much p is off in each fifth of the seeds by p.

    >>> fifths_off(np.array([0.1, 0.2, 0.3, 0.4, 0.5]), np.array([0, 0, 0, 0, 1]))
    [0.1, 0.2, 0.3, 0.4, 0.5]
    """
    return [abs(float(p[part].mean() - updated[part].mean())) for part in np.array_split(np.argsort(p), 5)]


def row(records: list, regime: str, website: bool, draws: int, age: int, window: int) -> str:
    cells: dict[str, list] = {name: [] for name in FORMS}
    p, updated = [], []
    for there, end, now, first in worlds(records, regime, website, draws, age):
        found = list(figures(there, end, now, first, window))
        for name, (*measures, _) in zip(FORMS, found, strict=True):
            cells[name].append(measures)
        p.append(found[0][-1])
        updated.append(np.isfinite(first))
    ps, truths = np.concatenate(p), np.concatenate(updated)
    off, chance = fifths_off(ps, truths), np.random.default_rng(0)
    true = np.quantile([max(fifths_off(ps, chance.random(len(ps)) < ps)) for _ in range(TRUE)], 0.95)
    text = " | ".join(", ".join(f"{one:.3f}" for one in np.nanmean(cells[name], axis=0)) for name in FORMS)
    return f"{len(p)} | {text} | {ps.mean() - truths.mean():+.2f}, {np.mean(off):.2f}, {max(off):.2f}, {true:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--ages", type=int, nargs="+", default=[60, 180, 365, 700, 1000], help="days")
    parser.add_argument("--months", type=int, nargs="+", default=[12], help="w")
    parser.add_argument("--samples", type=int, default=0)
    given = parser.parse_args()
    records = read_records(given.records)
    for regime in REGIMES:
        for website in (False, True):
            print(f"\n{regime}, {'websites' if website else 'homepages'}\n")
            heads = ["age", "w", "ends", *FORMS, "p off: all, mean, most, most of 95 % true ones"]
            print("| " + " | ".join(heads) + " |")
            print("|---" * (len(FORMS) + 4) + "|")
            for age in given.ages:
                for window in given.months:
                    found = row(records, regime, website, given.draws, age, window)
                    print(f"| {age} | {window} | {found}", flush=True)
                    if given.samples:
                        print(differences(records, regime, website, given.draws, age, window, given.samples))


if __name__ == "__main__":
    main()
