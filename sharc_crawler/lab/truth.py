"""The truth about a site: when its pages changed, and when they existed."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Instant

Instants = NDArray[np.float64]
Pages = NDArray[np.int64]


@dataclass(frozen=True)
class Changes:
    """Change times of all pages: an array of pages and one of instants, sorted by page, then by time.

    >>> changes = Changes.of([[3.0, 7.0], [], [5.0]])
    >>> changes.version(0, 3.0), changes.within(4.0, 9.0).counts().tolist()
    (1, [1, 0, 1])
    """

    size: int  #: number of pages
    pages: Pages
    times: Instants
    offsets: Pages  #: page i owns the entries offsets[i] to offsets[i + 1]

    @classmethod
    def of(cls, times: Sequence[Sequence[Instant]]) -> Changes:
        """Changes from one sequence of instants per page."""
        counts = np.array([len(row) for row in times], np.int64)
        flat = np.fromiter((t for row in times for t in row), np.float64, counts.sum())
        return cls.from_counts(counts, flat)

    @classmethod
    def from_counts(cls, counts: Pages, times: Instants) -> Changes:
        """Changes from each page's number of changes, and all times, page after page."""
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return cls(len(counts), np.repeat(np.arange(len(counts)), counts), times, offsets)

    def __len__(self) -> int:
        return len(self.times)

    def within(self, start: Instant, end: Instant) -> Changes:
        """The changes with ``start <= t < end``."""
        kept = (self.times >= start) & (self.times < end)
        counts = np.bincount(self.pages[kept], minlength=self.size)
        return Changes.from_counts(counts, self.times[kept])

    def and_later(self, others: Changes) -> Changes:
        """These changes, and later ones of the same pages."""
        pages, times = np.concatenate([self.pages, others.pages]), np.concatenate([self.times, others.times])
        return Changes.from_counts(self.counts() + others.counts(), times[np.argsort(pages, kind="stable")])

    def counts(self) -> Pages:
        """Number of changes per page."""
        return np.diff(self.offsets)

    def version(self, page: int, now: Instant) -> int:
        """The number of the page's changes until ``now``."""
        first = int(self.offsets[page])
        return bisect_right(self.times, now, first, int(self.offsets[page + 1])) - first

    @cached_property
    def rows(self) -> list[Instants]:
        """The instants of each page; pages without changes share one empty array."""
        rows, ends = [self.times[:0]] * self.size, self.offsets.tolist()
        for page in np.flatnonzero(self.counts()).tolist():
            rows[page] = self.times[ends[page] : ends[page + 1]]
        return rows

    def latest(self, floor: Instants) -> Instants:
        """The last change of each page, or its ``floor`` (such as its creation) if there is none."""
        last = floor.copy()
        np.maximum.at(last, self.pages, self.times)
        return last


@dataclass(frozen=True, slots=True)
class Lives:
    """When pages exist: from their birth on, except for pages that come and go.

    >>> lives = Lives(np.array([-math.inf, 10.0, 0.0]), {2: (0.0, 5.0, 8.0)})
    >>> [lives.alive(page, 6.0) for page in range(3)]
    [True, False, False]
    >>> lives.alive_at(np.array([0.0, 10.0, 8.0])).tolist()
    [True, True, True]
    """

    born: Instants
    turns: dict[int, tuple[Instant, ...]]  #: page → instants at which it appears, vanishes, appears again…

    @classmethod
    def forever(cls, size: int) -> Lives:
        """All pages exist always."""
        return cls(np.full(size, -math.inf), {})

    def alive(self, page: int, now: Instant) -> bool:
        """Whether the page exists at ``now``."""
        turns = self.turns.get(page)
        if turns is None:
            return bool(self.born[page] <= now)
        return bisect_right(turns, now) % 2 == 1

    def alive_at(self, instants: Instants) -> NDArray[np.bool_]:
        """Whether each page exists at its own instant; false for NaN."""
        alive = self.born <= instants
        for page, turns in self.turns.items():
            alive[page] = not math.isnan(instants[page]) and bisect_right(turns, float(instants[page])) % 2 == 1
        return alive
