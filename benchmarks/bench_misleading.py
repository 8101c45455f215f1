"""When the past misleads: sites made up so that what a year of captures tells is wrong in the window.

    python benchmarks/bench_misleading.py [--seeds 5] [--pages 400] [--kinds swapped --row 0.3 1 90]

Per world: incoherent pages of `bfs` and of `sharc-selective` on learned rates (`captures`), the mean over seeds, ± the
standard error of their difference, and the oracle's. Worlds differ in how many pages are hot, how hot they are in
the window, and what happens to them: `stay` is the world in which the past holds.
``--row``: others than the usual five.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

from sharc_crawler.lab.experiment import RunSpec, run
from sharc_crawler.lab.history import HistorySpec

DAY = 86_400.0
YEAR = 365 * DAY
START = 1_400_000_000.0
COLD = 1 / (400 * DAY)  #: changes per second of a page that is not hot
KINDS = ("stay", "moved", "swapped", "dying", "template", "sections", "turned", "busier")
ROWS = ((0.1, 2.0, 30.0), (0.1, 10.0, 30.0), (0.25, 2.0, 30.0), (0.25, 10.0, 30.0), (0.1, 5.0, 2.0))
SECTIONS = 20


@dataclass(frozen=True)
class World:
    """``share`` of ``pages`` is hot, and changes ``heat`` times in a window of so many ``days``."""

    kind: str
    share: float
    heat: float
    days: float = 30.0
    pages: int = 400

    def write(self, folder: Path, seed: int) -> HistorySpec:
        """As a change history."""
        rng = np.random.default_rng([seed, KINDS.index(self.kind), int(100 * self.share), int(self.heat)])
        end = START + self.days * DAY
        hot = rng.random(self.pages) < self.share
        fast = self.heat / (self.days * DAY)
        now = hot
        if self.kind == "moved":
            now = np.roll(hot, 7)
        elif self.kind == "swapped":
            now = ~hot
        elif self.kind == "turned":  # the pages found first were hot, those found last are: bfs is right by chance
            hot = np.arange(self.pages) < self.share * self.pages
            now = hot[::-1]
        created = np.full(self.pages, START - 2 * YEAR)
        before, after = np.where(hot, fast, COLD), np.where(now, fast, COLD)
        if self.kind == "busier":  # than in the year before, all pages alike
            before = after / 3
        if self.kind == "dying":  # each page is hot for its first four weeks
            created = START - rng.uniform(0, 1.2 * YEAR, self.pages) * (rng.random(self.pages) < 0.8)
            created[0] = START - 2 * YEAR
        rows = []
        for page in range(self.pages):
            times = poisson(rng, before[page], START - YEAR, START), poisson(rng, after[page], START, end)
            if self.kind == "dying":
                young = created[page], created[page] + 28 * DAY
                both = np.sort(np.concatenate([poisson(rng, fast, *young), poisson(rng, COLD, created[page], end)]))
                times = both[(both < START) & (both >= START - YEAR)], both[(both >= START) & (both < end)]
            rows.append([created[page], *times])
        if self.kind in ("template", "sections"):
            self._together(rng, rows, end)
        return self._written(folder, seed, rows, end)

    def _together(self, rng: np.random.Generator, rows: list[list], end: float) -> None:
        """Edits of all pages, or of all of a section, every few weeks."""
        groups = [range(self.pages)] if self.kind == "template" else np.array_split(np.arange(self.pages), SECTIONS)
        for group in groups:
            every = 1 / (45 * DAY)
            past, future = poisson(rng, every, START - YEAR, START), poisson(rng, every, START, end)
            for page in group:
                rows[page][1] = np.sort(np.concatenate([rows[page][1], past]))
                rows[page][2] = np.sort(np.concatenate([rows[page][2], future]))

    def _written(self, folder: Path, seed: int, rows: list[list], end: float) -> HistorySpec:
        file = folder / f"{self.kind}-{self.share}-{self.heat}-{self.days}-{self.pages}-{seed}.csv"
        with file.open("w", newline="") as out:
            lines = csv.writer(out)
            lines.writerow(["page", "created", "alive_at_start", "deleted", "hist", "changes"])
            for page, (created, past, future) in enumerate(rows):
                part = f"s{page * SECTIONS // self.pages}"
                lines.writerow([f"/{part}/p{page}", created, 1, "", joined(past), joined(future)])
        return HistorySpec(str(file), "/s0/p0", START, end)


def poisson(rng: np.random.Generator, rate: float, start: float, end: float) -> np.ndarray:
    """Instants of a Poisson process."""
    return np.sort(rng.uniform(start, end, rng.poisson(rate * max(0.0, end - start))))


def joined(times: np.ndarray) -> str:
    return ";".join(f"{time:.0f}" for time in times)


def lost(spec: HistorySpec, strategy: str, rates: str) -> int:
    return int(run(RunSpec(spec, strategy, rates, "known")).facts["incoherent"])


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--row", nargs=3, type=float, action="append", help="share of hot pages, changes, days")
    given = parser.parse_args()
    print("| world | hot pages | changes in the window | days | bfs | learned | ± | ratio | oracle |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for kind in given.kinds:
        for share, heat, days in given.row or ROWS:
            world = World(kind, share, heat, days, given.pages)
            with tempfile.TemporaryDirectory() as folder:
                specs = [world.write(Path(folder), seed) for seed in range(given.seeds)]
                bfs, learned, best = (
                    [lost(spec, strategy, rates) for spec in specs]
                    for strategy, rates in (
                        ("bfs", "oracle"),
                        ("sharc-selective", "captures"),
                        ("sharc-selective", "oracle"),
                    )
                )
            error = stdev(a - b for a, b in zip(learned, bfs, strict=True)) / len(specs) ** 0.5
            cells = [kind, f"{share:.0%}", f"{heat:g}", f"{days:g}", f"{fmean(bfs):.1f}", f"{fmean(learned):.1f}"]
            cells += [f"{error:.1f}", f"{fmean(learned) / fmean(bfs):.2f}", f"{fmean(best):.1f}"]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
