"""Sites that change as no generator here does otherwise: what strategies lose on them, and what ranges are worth.

    python benchmarks/odd_worlds.py [--seeds 4]    # captures of a month: pages lost by bfs, learned rates, the oracle
    python benchmarks/odd_worlds.py --ranges          # captures within what is said of four in five

600 pages in twenty folders, two years of a past that is the same process:

* `weekly`: a fifth of the pages changes once in five days, on workdays from nine to five alone;
* `nightly`: in every third night one folder is worked through by a program, 60 % of its pages within ten minutes;
* `decay`: pages are put up one by one, and change the less the older they are, as 1 / (1 + age / 3 days);
* `wave`: three times a year a new template takes the site folder by folder, in three days; once amid the window;
* `restless`: 5 % of the pages change every hour, so that no two downloads are alike.

Besides, each page changes once in 300 days. Columns: *told*: second looks, by a sitemap that tells an hour late;
*attested*: what `sharc-attested` loses, and how many of its claims are wrong.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
from bench_expected import Table, captures
from bench_misleading import joined, poisson

from sharc_crawler.lab.experiment import RunSpec, run
from sharc_crawler.lab.history import HistorySpec

DAY, HOUR = 86_400.0, 3_600.0
START = 1_400_457_600.0  #: a Monday
BEFORE, AFTER, WINDOW = 730 * DAY, 360 * DAY, 30 * DAY
COLD = 1 / (300 * DAY)
PAGES, FOLDERS = 600, 20
KINDS = ("weekly", "nightly", "decay", "wave", "restless")
Times = list[list[float]]  #: by page


def weekly(rng: np.random.Generator, begin: float, end: float) -> Times:
    """Changes in office hours, of a fifth of the pages."""
    busy = 5 * 8 / (7 * 24)
    found = []
    for hot in (rng.random(PAGES) < 0.2).tolist():
        times = poisson(rng, hot / (5 * DAY) / busy, begin, end)
        day, hour = (times - START) // DAY % 7, times % DAY / HOUR
        found.append(times[(day < 5) & (hour >= 9) & (hour < 17)].tolist())
    return found


def nightly(rng: np.random.Generator, begin: float, end: float) -> Times:
    """A program works through a folder."""
    found: Times = [[] for _ in range(PAGES)]
    for night in np.arange(begin // DAY, end // DAY):
        if rng.random() < 1 / 3:
            some = np.array_split(np.arange(PAGES), FOLDERS)[rng.integers(FOLDERS)]
            for page in some[rng.random(len(some)) < 0.6].tolist():
                found[page].append(night * DAY + 2 * HOUR + rng.uniform(0, 600))
    return found


def decay(rng: np.random.Generator, begin: float, end: float) -> Times:
    """The first time is the page's birth; five changes are to be expected in its first three days."""
    found = []
    for born in rng.uniform(begin, end, PAGES).tolist():
        reach = 5 / np.log(2) * np.log1p((end - born) / (3 * DAY))  # of the number of changes, by the end
        at = born + 3 * DAY * np.expm1(np.sort(rng.uniform(0, reach, rng.poisson(reach))) * np.log(2) / 5)
        found.append([born, *at.tolist()])
    return found


def wave(rng: np.random.Generator, begin: float, end: float) -> Times:
    """The template reaches a folder after the other."""
    first = [*poisson(rng, 3 / (365 * DAY), begin, end).tolist(), START + rng.uniform(10, 17) * DAY]
    return [sorted(at + 3 * DAY * page / PAGES for at in first) for page in range(PAGES)]


def restless(rng: np.random.Generator, begin: float, end: float) -> Times:
    """In the past, which is looked at once a week, six hours apart."""
    every = np.concatenate([np.arange(begin, START, 6 * HOUR), np.arange(START, end, HOUR)])
    return [(every + rng.uniform(0, HOUR)).tolist() if rng.random() < 0.05 else [] for _ in range(PAGES)]


def write(kind: str, folder: Path, seed: int, after: float = AFTER) -> HistorySpec:
    """A change history; the window is its first month."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    begin, end = START - BEFORE, START + after
    made = {"weekly": weekly, "nightly": nightly, "decay": decay, "wave": wave, "restless": restless}[kind]
    file = folder / f"{kind}-{seed}.csv"
    with file.open("w", newline="") as out:
        lines = csv.writer(out)
        lines.writerow(["page", "created", "alive_at_start", "deleted", "hist", "changes"])
        for page, own in enumerate(made(rng, begin, end)):
            born = own.pop(0) if kind == "decay" and page else begin - DAY
            times = np.sort(np.concatenate([own, poisson(rng, COLD, max(born, begin), end)]))
            past, future = times[times < START], times[times >= START]
            name = f"/s{page * FOLDERS // PAGES}/p{page}"
            lines.writerow([name, born, int(born < START), "", joined(past), joined(future)])
    return HistorySpec(str(file), "/s0/p0", START, START + WINDOW)


def crawls(spec: HistorySpec) -> list[RunSpec]:
    """By bfs, the oracle, learned rates; with second looks; on the server's word."""
    selective = RunSpec(spec, "sharc-selective", "captures", "known")
    return [
        replace(selective, strategy="bfs", rates="oracle"),
        replace(selective, rates="oracle"),
        selective,
        replace(selective, sitemap=True, late=HOUR),
        replace(selective, strategy="sharc-attested", attested=1.0),
    ]


def lost(kinds: list[str], seeds: int) -> None:
    """Print a Markdown table of pages lost."""
    print("| world | bfs | oracle | learned | ± | learned / bfs | told | attested | wrong |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder:
            specs = [write(kind, Path(folder), seed, WINDOW + DAY) for seed in range(seeds)]
            found = [[run(each).facts for each in crawls(spec)] for spec in specs]
        bfs, oracle, learned, told, attested = zip(*([one["incoherent"] for one in row] for row in found), strict=True)
        error = stdev(a - b for a, b in zip(learned, bfs, strict=True)) / seeds**0.5
        wrong = sum(row[-1]["wrongly_coherent"] for row in found)
        cells = [kind, *(f"{fmean(one):.1f}" for one in (bfs, oracle, learned)), f"{error:.1f}"]
        cells += [f"{fmean(learned) / fmean(bfs):.2f}", f"{fmean(told):.1f}", f"{fmean(attested):.1f}", str(wrong)]
        print("| " + " | ".join(cells) + " |", flush=True)


def ranges(kinds: list[str], starts: int, table: Table) -> None:
    """Print what captures of a year of each were worth, beside what is said of them."""
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            spec = write(kind, Path(folder), 0)
            captures([Path(spec.history)], starts, ["a year", "one look", "first", "second"], table)


def main() -> None:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--starts", type=int, default=12)
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--ranges", action="store_true")
    given = parser.parse_args()
    if given.ranges:
        ranges(given.kinds, given.starts, Table(as_json=False))
    else:
        lost(given.kinds, given.seeds)


if __name__ == "__main__":
    main()
