"""What daily and weekly cycles are worth: synthetic sites, and the months of real histories.

    python benchmarks/bench_cycles.py [FOLDER/emacswiki-2012 --root SiteMap --start 2012-01-01 --months 12]

Synthetic: 300 pages, half of them changing by day, half by night (c(t) = 1 ± 0.95 cos), 0.2 to 20 changes a week, known
from 26 weekly captures with lastmods. Pages that sharc-selective finds changed in a capture of six hours, with rates
by their histories alone and with the rhythms of their classes, at any hour and at the advised one. Then, with rates and
rhythms known exactly, what the hours within a capture are worth: pages lost by the exact assignment to the pyramid's
intervals with each class's mean rate over the capture (what sharc-selective goes by), with the rate over every
interval's own hours, the most that any placing could gain, and with the former's places taken for the hours once.

Real: rhythms are learned at the begin of each month from weekly captures and held against the changes of that month:
bits per change that c(t) predicts better than an even rate (below 0: it misleads), and the pages that change within
six hours, begun at the hour that the rhythm advises and, in the mean, at any hour.
"""

from __future__ import annotations

import argparse
import datetime as dt
from itertools import product

import numpy as np
from scipy.optimize import linear_sum_assignment

from sharc_crawler.lab.history import HistorySpec
from sharc_crawler.lab.published import weekly_captures
from sharc_crawler.model import Url
from sharc_crawler.rates.cycles import DatedChanges, Rhythm, rhythm, rhythms
from sharc_crawler.rates.estimators.gamma_poisson import GammaPoisson
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory
from sharc_crawler.strategies.base import Candidates
from sharc_crawler.strategies.layout import lay_out
from sharc_crawler.strategies.selective import selective
from sharc_crawler.strategies.start import expected_losses

HOUR, DAY = 3_600.0, 86_400.0
WEEK = 7 * DAY
NOW = 2_000 * WEEK
PAGES, LENGTH = 300, 6 * HOUR


def world(seed: int) -> tuple[list[np.ndarray], SiteHistory]:
    """Change times of half a year and of the week to come, and what weekly captures saw of the former."""
    rng = np.random.default_rng(seed)
    looks, times = NOW - WEEK * np.arange(26.0, -1.0, -1.0), []
    for page in range(PAGES):
        rate = np.exp(rng.uniform(np.log(0.2), np.log(20.0))) / WEEK
        own = np.sort(rng.uniform(looks[0], NOW + 8 * DAY, rng.poisson(2 * rate * (NOW + 8 * DAY - looks[0]))))
        sign = 1 if page % 2 else -1
        times.append(own[2 * rng.random(len(own)) < 1 + sign * 0.95 * np.cos(2 * np.pi * own / DAY)])
    counts = np.stack([np.searchsorted(own, looks) for own in times])
    lastmods = np.stack(
        [np.append(own, np.nan)[np.where(c > 0, c - 1, -1)] for own, c in zip(times, counts, strict=True)]
    )
    bits = np.where(np.diff(counts, axis=1, prepend=0) > 0, CHANGED, UNCHANGED)
    bits[:, 0] = UNKNOWN
    size = counts.size
    urls = [Url(f"http://h/{'night' if page % 2 else 'day'}/{page}") for page in range(PAGES)]
    offsets = np.arange(PAGES + 1) * len(looks)
    columns = (
        np.tile(looks, PAGES),
        bits.ravel().astype(np.int8),
        lastmods.ravel(),
        np.ones(size),
        np.full(size, np.nan),
    )
    return times, SiteHistory("h", urls, offsets, *columns)


def lost(times: list[np.ndarray], rates: np.ndarray, shapes: np.ndarray, start: float) -> int:
    layout = lay_out(Candidates.of(np.arange(PAGES), rates, shapes=shapes), LENGTH / (2 * PAGES), selective)
    middle, half = start + LENGTH / 2, layout.intervals / 2
    return sum(
        bool(np.searchsorted(own, middle + h, "right") > np.searchsorted(own, middle - h, "right"))
        for own, h in zip(times, half, strict=True)
    )


def synthetic(worlds: int) -> None:
    rows = []
    for seed in range(worlds):
        times, history = world(seed)
        labels = np.arange(PAGES) % 2
        found = rhythms(history, labels)
        intervals = history.histories()
        known = GammaPoisson().fit(intervals).estimate(intervals)
        starts = NOW + HOUR * np.arange(0, 168, 3)
        best = starts[expected_losses(known.rate, known.shape, labels, found, starts, LENGTH).argmin()]

        def at(start: float, known=known, found=found, times=times, labels=labels) -> tuple[int, int]:
            now = np.array([found[label].mean(start, start + LENGTH) for label in (0, 1)])[labels]
            return lost(times, known.rate, known.shape, start), lost(times, known.rate * now, known.shape, start)

        each = np.array([at(start) for start in starts])
        rows.append([*each.mean(0), *at(best)])
    mean, spread = np.mean(rows, 0), np.std(rows, 0)
    print(f"synthetic, {worlds} worlds: pages changed in a capture of 6 hours (± standard deviation over worlds)")
    for place, name in enumerate(("any hour, even", "any hour, rhythm", "advised, even", "advised, rhythm")):
        print(f"  {name:18} {mean[place]:6.2f} ± {spread[place]:.2f}")


def changes_within(half: np.ndarray, middle: np.ndarray, sign: np.ndarray) -> np.ndarray:
    """∫ c(t) dt over [middle − half, middle + half] of each class (rows of ``sign``), hours."""
    turn = 2 * np.pi / 24
    return 2 * half + sign * 0.95 * (np.sin(turn * (middle + half)) - np.sin(turn * (middle - half))) / turn


def placing(worlds: int) -> None:
    """What the hours that each interval covers are worth, rates and rhythms known exactly."""
    size = 200
    sign = np.where(np.arange(size) % 2, 1, -1)[:, None]
    print(
        f"{size} pages, rates and rhythms known: pages lost by the capture's mean rates, by each interval's own, once"
    )
    for hours in (6, 12, 24, 36, 48, 72):
        half, found = (np.arange(size) + 0.5) * hours / (2 * size), []
        for seed, start in product(range(worlds), range(0, 24, 4)):
            rates = np.exp(np.random.default_rng(seed).uniform(np.log(0.2), np.log(20.0), size)) / 168
            own = changes_within(half, start + hours / 2, sign)
            stays = np.exp(-rates[:, None] * own)

            def lost_by(values: np.ndarray, stays: np.ndarray = stays) -> tuple[float, np.ndarray]:
                pages, places = linear_sum_assignment(values, maximize=True)
                return size - stays[pages, places].sum(), places

            mean = rates * own[:, -1] / (2 * half[-1])
            plain, places = lost_by(np.exp(-np.outer(mean, 2 * half)))
            there = rates * (own / (2 * half))[np.arange(size), places]
            once = np.exp(-np.outer(np.sqrt(mean * there), 2 * half))
            found.append((plain, lost_by(stays)[0], lost_by(once)[0]))
        print(f"  {hours:3} hours" + "".join(f"{lost:8.2f}" for lost in np.mean(found, 0)))


def advised(found: Rhythm, begin: float) -> int:
    """The hour of the day at which six hours are calmest."""
    return int(np.argmin([found.mean(begin + hour * HOUR, begin + hour * HOUR + LENGTH) for hour in range(24)]))


def real(path: str, root: str, start: dt.date, months: int) -> None:
    print(f"{path.rsplit('/', 1)[-1]:22}{'day, p':>9}{'week, p':>9}{'bits':>7}{'advised':>9}{'any hour':>9}")
    for month in range(months):
        first, last = (
            dt.datetime(
                start.year + (start.month - 1 + m) // 12, (start.month - 1 + m) % 12 + 1, start.day, tzinfo=dt.UTC
            )
            for m in (month, month + 1)
        )
        links = f"{path}.start.links.jsonl.gz", f"{path}.linkevents.jsonl.gz"
        site = HistorySpec(f"{path}.csv.gz", root, first.timestamp(), last.timestamp(), *links).build()
        found = rhythm(DatedChanges.of(weekly_captures(site)))
        bits = np.log2(found.factor(site.changes.times)).mean()
        days = np.arange(site.start, site.end - DAY, DAY)
        counts = np.array([[changed(site, day + hour * HOUR) for hour in range(24)] for day in days])
        hour = advised(found, site.start)
        p = [cycle.p_value for cycle in found.cycles]
        even = counts.mean()
        here = counts[:, hour].mean() if found.present else even
        print(f"{first:%Y-%m-%d}            {p[0]:9.0e}{p[1]:9.0e}{bits:7.2f}{here:9.2f}{even:9.2f}")


def changed(site, begin: float) -> int:
    inside = (site.changes.times >= begin) & (site.changes.times < begin + LENGTH)
    return len(np.unique(site.changes.pages[inside]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("history", nargs="?", help="FOLDER/NAME of NAME.csv.gz, NAME.start.links.jsonl.gz…")
    parser.add_argument("--root", default="SiteMap")
    parser.add_argument("--start", type=dt.date.fromisoformat, default=dt.date(2012, 1, 1))
    parser.add_argument("--months", type=int, default=12)
    parser.add_argument("--worlds", type=int, default=10)
    args = parser.parse_args()
    if args.history:
        real(args.history, args.root, args.start, args.months)
    else:
        synthetic(args.worlds)
        placing(args.worlds)


if __name__ == "__main__":
    main()
