"""Made sites whose rates are Gamma, for `bench_expected.py --worlds`: what looks saw, and what a capture then meets.

`steady`: pages change by chance alone. `bursts`: each day all rates are times a Gamma variable of mean 1. `groups`:
half of all changes are edits of a whole section of 25 pages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sharc_crawler.model import Url
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory

DAY = 86_400.0
WEEK = 7 * DAY
PAST = 400 * DAY
KINDS = ("steady", "bursts", "groups")
SECTION = 25  #: pages
BURST = 1.5  #: shape of a day's factor: its deviation is 0.8
OFTEN = 1 / (60 * DAY)  #: mean rate, changes per second


@dataclass(frozen=True)
class World:
    """Sites of so many ``pages``; rates are Gamma of this ``shape``; ``looks`` a week apart came before the capture."""

    kind: str
    shape: float
    looks: int
    pages: int = 500

    def draw(self, days: int, rng: np.random.Generator) -> tuple[SiteHistory, np.ndarray, np.ndarray, np.ndarray]:
        """History, true rates, intervals of the capture (seconds), and which pages changed in theirs."""
        rates = rng.gamma(self.shape, OFTEN / self.shape, self.pages)
        end = self.looks * WEEK
        length = days * DAY
        reach = length * (rng.permutation(self.pages) + 0.5) / self.pages
        edges = np.concatenate([np.arange(self.looks + 1) * WEEK, [end + length / 2]])
        begins = np.concatenate([np.tile(edges[:-2], (self.pages, 1)), (edges[-1] - reach / 2)[:, None]], axis=1)
        ends = np.concatenate([np.tile(edges[1:-1], (self.pages, 1)), (edges[-1] + reach / 2)[:, None]], axis=1)
        changed = self._changed(rates, begins, ends, end + length, rng)
        return history(changed[:, :-1]), rates, reach, changed[:, -1]

    def dated(self, days: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lastmods at 0, intervals of the capture that begins then, and which pages changed in theirs."""
        rates = rng.gamma(self.shape, OFTEN / self.shape, self.pages)
        begin, end = -PAST, days * DAY
        alone = 0.5 if self.kind == "groups" else 1.0
        worth = np.full(int((end - begin) / DAY), alone * DAY)
        if self.kind == "bursts":
            worth *= rng.gamma(BURST, 1 / BURST, len(worth))
        page, day = np.nonzero(counts := rng.poisson(np.multiply.outer(rates, worth)))
        pages = np.repeat(page, counts[page, day])
        times = begin + DAY * (np.repeat(day, counts[page, day]) + rng.random(len(pages)))
        for start in range(0, self.pages, SECTION) if self.kind == "groups" else ():
            some = np.arange(start, start + SECTION)
            edits = rng.uniform(begin, end, rng.poisson(0.5 * rates[some].mean() * (end - begin)))
            pages, times = np.append(pages, np.tile(some, len(edits))), np.append(times, np.repeat(edits, SECTION))
        lastmods = np.full(self.pages, float(begin))
        np.maximum.at(lastmods, pages[times < 0.0], times[times < 0.0])
        reach = end * (rng.permutation(self.pages) + 0.5) / self.pages
        changed = np.zeros(self.pages, np.bool_)
        changed[pages[np.abs(times - end / 2) <= reach[pages] / 2]] = True
        return lastmods, reach, changed

    def _changed(
        self, rates: np.ndarray, begins: np.ndarray, ends: np.ndarray, until: float, rng: np.random.Generator
    ) -> np.ndarray:
        """By page and interval: did it change?"""
        alone = 0.5 if self.kind == "groups" else 1.0
        worth = alone * rates[:, None] * self._worth(begins, ends, until, rng)
        changed = rng.random(worth.shape) < -np.expm1(-worth)
        if self.kind == "groups":
            for start in range(0, self.pages, SECTION):
                some = slice(start, start + SECTION)
                edits = rng.uniform(0.0, until, rng.poisson(0.5 * rates[some].mean() * until))
                for edit in edits:
                    changed[some] |= (begins[some] < edit) & (edit <= ends[some])
        return changed

    def _worth(self, begins: np.ndarray, ends: np.ndarray, until: float, rng: np.random.Generator) -> np.ndarray:
        """Lengths of the intervals, a busy day counting more."""
        if self.kind != "bursts":
            return ends - begins
        factors = rng.gamma(BURST, 1 / BURST, int(np.ceil(until / DAY)) + 1)
        edges = np.arange(len(factors) + 1) * DAY
        passed = np.concatenate([[0.0], np.cumsum(factors * DAY)])
        return np.interp(ends, edges, passed) - np.interp(begins, edges, passed)

    def true_rates(self, rates: np.ndarray) -> np.ndarray:
        """Of all changes of each page, those of its section among them."""
        if self.kind != "groups":
            return rates
        means = rates.reshape(-1, SECTION).mean(axis=1)
        return 0.5 * (rates + np.repeat(means, SECTION))


def history(changed: np.ndarray) -> SiteHistory:
    """Looks a week apart at all pages, of which nothing but the bytes is known."""
    pages, looks = changed.shape
    bits = np.where(changed, CHANGED, UNCHANGED)
    bits = np.concatenate([np.full((pages, 1), UNKNOWN), bits], axis=1).astype(np.int8).ravel()
    nothing = np.full(len(bits), np.nan)
    return SiteHistory(
        "made",
        [Url(f"http://h/{page}") for page in range(pages)],
        np.arange(pages + 1) * (looks + 1),
        np.tile(np.arange(looks + 1) * WEEK, pages),
        bits,
        nothing,
        nothing,
        nothing,
    )
