"""Synthetic sites: trees whose pages change as Poisson processes with rates λ_i = 1/(i+1)^skew (section 9.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.errors import UsageError
from sharc_crawler.lab.graph import Tree
from sharc_crawler.lab.site import Site
from sharc_crawler.lab.truth import Changes, Lives
from sharc_crawler.model import Seconds

MAX_SIZE = 10_000_000
MAX_CHANGES = 200_000_000  #: they take 3 GB
LEAVES = ("cold", "hot")


@dataclass(frozen=True, slots=True)
class SyntheticSpec:
    """The parameters of a synthetic site; Δ is ``slow_down`` seconds.

    *Layout*: pages are numbered level by level, and rates fall (cold leaves) or rise (hot leaves) with the number. So
    the pages with children are the hottest of their level, or the coldest. A page links to its children in random
    order. (The paper says only "gradually cooling down" and "heating up toward the leaves".)
    """

    size: int = 10_000
    skew: float = 1.2
    outdegree: int = 400
    leaves: str = "cold"
    slow_down: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.size <= MAX_SIZE:
            raise UsageError(f"size={self.size} is not possible: a site has 1 to {MAX_SIZE} pages")
        if not (math.isfinite(self.skew) and self.skew >= 0):
            raise UsageError(f"skew={self.skew} is not possible: it is a finite number >= 0")
        if self.outdegree < 1:
            raise UsageError(f"outdegree={self.outdegree} is not possible: a page has 1 child or more")
        if self.leaves not in LEAVES:
            raise UsageError(f"leaves={self.leaves!r} is not known: cold or hot")
        if not (math.isfinite(self.slow_down) and self.slow_down > 0):
            raise UsageError(f"slow-down={self.slow_down} is not possible: it is a finite number > 0")
        if self.seed < 0:
            raise UsageError(f"seed={self.seed} is not possible: it is 0 or more")

    @property
    def step(self) -> Seconds:
        """The time between two downloads, Δ."""
        return self.slow_down

    def build(self) -> Site:
        """Make the site; equal specs give equal sites."""
        rng = np.random.default_rng([self.seed, self.size])
        tree = Tree(self.size, self.outdegree, self.seed)
        ranks = np.arange(1.0, self.size + 1)
        rates = (ranks if self.leaves == "cold" else ranks[::-1]) ** -self.skew
        duration = 2 * self.size * self.step
        return Site(
            name=f"synthetic ({self.size} pages, skew {self.skew:g}, {self.leaves} leaves)",
            urls=[str(page) for page in range(self.size)],
            root=0,
            start=0.0,
            end=duration,
            graph=tree,
            lives=Lives.forever(self.size),
            changes=poisson(rates, duration, rng),
            past=Changes.of([()] * self.size),
            created=np.zeros(self.size),
            rates=rates,
            step=self.step,
        )


def poisson(rates: NDArray[np.float64], end: Seconds, rng: np.random.Generator) -> Changes:
    """Change times in [0, end) of independent Poisson processes."""
    expected = float(rates.sum() * end)
    if expected > MAX_CHANGES:
        raise UsageError(f"{expected:.3g} changes are too many: choose a smaller size or slow-down, or a larger skew")
    counts = rng.poisson(rates * end)
    pages = np.repeat(np.arange(len(rates)), counts)
    keys = np.sort(pages + rng.random(len(pages)))  # by page, then by time
    return Changes.from_counts(counts, (keys - pages) * end)
