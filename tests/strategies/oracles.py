"""What is computed directly, page by page, to compare with."""

from __future__ import annotations

import itertools
import math
from decimal import Context, Decimal, localcontext
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linear_sum_assignment

from sharc_crawler.evidence.survival import log_survival
from sharc_crawler.strategies.base import Candidates

if TYPE_CHECKING:
    from collections.abc import Sequence


def direct_split(rates: Sequence[float], width: float, weights: Sequence[float] | None = None) -> list[bool]:
    """Which pages are hopeless, hottest first, by the direct test of Definition 6: O(n) for each page.

    Keep and drop are compared by differences, scaled by the largest term: as two sums they tie where rates are high.
    """
    n = len(rates)
    theta = np.asarray(rates, float) * width
    logs = np.zeros(n) if weights is None else np.log(np.asarray(weights, float))
    shortest, hopeless = 1, [False]
    for page in range(1, n):
        equal = int(np.sum((theta[page + 1 :] == theta[page]) & (logs[page + 1 :] == logs[page])))
        rest = np.arange(page + 1 + equal, n)
        longest = shortest + n - page - 1
        keep = logs[page] - theta[page] * (shortest + equal)  # equal pages lose nothing by each other's places
        drop = logs[page] - theta[page] * longest
        at = shortest + equal + 1 + np.arange(len(rest))  # the rest's intervals if the page is kept
        later, earlier = logs[rest] - theta[rest] * at, logs[rest] - theta[rest] * (at - 1)
        top = max([keep, *earlier])
        lost = math.exp(keep - top) - math.exp(drop - top)
        gained = np.exp(earlier - top) * -np.expm1(later - earlier)
        scale = math.exp(keep - top) + gained.sum()
        hopeless.append(lost - gained.sum() < -1e-11 * scale)
        shortest += not hopeless[-1]
    return hopeless[:n]


def literal_split(rates: Sequence[float], width: float) -> list[bool]:
    """Which pages are hopeless, hottest first, by Definition 6 to the letter: two sums, with 450 digits."""
    with localcontext(Context(prec=450, Emin=-(10**9))):
        steps = [(-Decimal(rate) * Decimal(width)).exp() for rate in rates]  # survival of one interval more
        free = [*range(1, len(rates))]
        hopeless = [False]
        for page in range(1, len(rates)):
            later = range(page + 1, len(rates))
            rest = [*zip(later, free[1:], free[:-1], strict=True)]
            keep = steps[page] ** free[0] + sum(steps[other] ** kept for other, kept, _ in rest)
            drop = steps[page] ** free[-1] + sum(steps[other] ** dropped for other, _, dropped in rest)
            hopeless.append(keep < drop)
            free.pop(-1 if hopeless[-1] else 0)
    return hopeless[: len(rates)]


def intervals_of(hopeless: Sequence[bool], width: float) -> np.ndarray:
    """The intervals that such a split gives to pages, hottest first."""
    hopeful = [page for page, lost in enumerate(hopeless) if not lost]
    given_up = [page for page, lost in enumerate(hopeless) if lost]
    intervals = np.empty(len(hopeless))
    intervals[[*hopeful, *given_up[::-1]]] = width * np.arange(len(hopeless))
    return intervals


def best_of_all_schedules(rates: Sequence[float], apex: bool) -> float:
    """Expected coherence, largest over all orders of visits and all orders of revisits (Δ = 1).

    With an apex, the last visit is the first revisit, of the same page.
    """
    n = len(rates)
    best = 0.0
    for visits in itertools.permutations(range(n)):
        v = {page: at for at, page in enumerate(visits)}
        for revisits in itertools.permutations(range(n)):
            if apex and revisits[0] != visits[-1]:
                continue
            first = n - 1 if apex else n
            total = sum(math.exp(-rates[page] * (first + at - v[page])) for at, page in enumerate(revisits))
            best = max(best, total)
    return best


def pages_of(rates: np.ndarray, weights: np.ndarray | None = None, shapes: np.ndarray | None = None) -> Candidates:
    return Candidates.of(np.arange(len(rates)), rates, weights, shapes)


def by_assignment(pages: Candidates, width: float = 2.0) -> float:
    intervals = width * np.arange(len(pages))
    values = pages.weights[:, None] * np.exp(
        log_survival(pages.rates[:, None], intervals[None, :], pages.shapes[:, None])
    )
    return float(values[linear_sum_assignment(values, maximize=True)].sum())


def mixture(rng: np.random.Generator, n: int) -> np.ndarray:
    groups = int(rng.integers(1, 5))
    member = rng.integers(0, groups, n)
    centres, spreads = rng.uniform(-9, 0, groups), rng.uniform(0.01, 2, groups)
    return np.exp(rng.normal(centres[member], spreads[member]))
