"""The best layout of pages that are all known, and a bound that no layout exceeds, from prices of the intervals.

For any prices p of the intervals, a page gains at most u = max over intervals of w s(I) - p(I); so Σ p + Σ u bounds
every assignment (linear programming duality), and tightly so for prices that go with a nearly optimal one. Prices are
interpolated between knots: a survival function is convex in the interval, so its distance to them is largest at a
knot; and u is convex in the rate, so it is interpolated between the rates of a grid. Both keep the bound a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.evidence.survival import expected_coherence, log_survival
from sharc_crawler.strategies.climb import Pieces
from sharc_crawler.strategies.layout import Layout, classify, combinations, lay_out
from sharc_crawler.strategies.optimal import Effort, optimal, resting_gains

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sharc_crawler.model import Seconds
    from sharc_crawler.strategies.base import Candidates
    from sharc_crawler.strategies.classes import Classes

    Classified = tuple[Classes, NDArray[np.uint16]]

KNOTS = 1024  #: one by one from the first, as many evenly spread, and as many by equal ratios
SHARES = (0.0, 1e-5, 1e-4, 1e-3)  #: of all pages: smaller pieces are left out when prices are sought
PIECES = 4096  #: at most
OFFLINE = Effort(exact=1024, blocks=1024, moves=10_000)
GRID = 2048  #: rates, shared among the combinations of weight and shape


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best layout found of pages that are all known, and what no layout can exceed."""

    layout: Layout
    coherence: float  #: expected, weighted
    bound: float

    @property
    def gap(self) -> float:
        """How much of the bound is not reached, at most; relative."""
        return 1 - self.coherence / self.bound if self.bound else 0.0


def optimum(pages: Candidates, step: Seconds) -> Optimum:
    """The best layout of pages on intervals 0, 2Δ, 4Δ, ... and a bound proven by the dual (exact up to 1,024 pages).

    >>> from sharc_crawler.strategies.base import Candidates
    >>> best = optimum(Candidates.of([0, 1, 2, 3, 4], [0.20, 0.25, 0.30, 0.35, 0.40]), 1.0)
    >>> round(best.coherence, 3)
    2.282
    """
    few = len(pages) <= OFFLINE.exact  # their assignment is exact
    classified = None if few else classify(pages)
    layout = lay_out(pages, step, lambda classes, width: optimal(classes, width, OFFLINE), classified)
    coherence = expected_coherence(pages.rates, layout.intervals, pages.shapes, pages.weights)
    bound = coherence if classified is None else upper_bound(pages, classified, layout.intervals, 2 * step)
    return Optimum(layout, coherence, bound)


def upper_bound(pages: Candidates, classified: Classified, intervals: NDArray[np.float64], width: Seconds) -> float:
    """What the expected coherence of pages, of these classes, on intervals 0, width, 2 width, ... cannot exceed.

    ``intervals`` are those of a good layout: the better it is, the tighter the bound.
    """
    classes, row = classified
    by_slot = np.empty(len(row), np.int64)
    by_slot[np.rint(intervals / width).astype(np.int64)] = row
    pieces = Pieces(by_slot, np.ones(len(pages), np.int64)).merged()
    knots = _knots(len(pages))
    at = np.asarray(width * knots, np.float64)
    values = _values(classes, at)

    def by_classes(prices: NDArray[np.float64]) -> float:
        return _sum(prices, knots) + float((values - prices).max(axis=1) @ classes.counts)

    prices = min(_prices(classes, width, pieces, values), key=by_classes)
    return _sum(prices, knots) + _gains(pages, at, prices)


def _knots(slots: int) -> NDArray[np.int64]:
    """The first slots, where most is at stake, and some everywhere."""
    evenly, ratios = np.linspace(0, slots - 1, KNOTS), np.geomspace(1, slots, KNOTS) - 1
    return np.unique(np.concatenate((np.arange(min(slots, KNOTS)), np.rint(evenly), np.rint(ratios))).astype(np.int64))


def _sum(prices: NDArray[np.float64], knots: NDArray[np.int64]) -> float:
    """Over all slots, the prices interpolated between the knots."""
    between = np.diff(knots) * (prices[1:] + prices[:-1])
    return float(between.sum() + prices[0] + prices[-1]) / 2


def _values(classes: Classes, intervals: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a page of each class (row) is worth on each interval."""
    return np.exp(classes.log_values(np.broadcast_to(intervals, (len(classes), len(intervals)))))


def _prices(
    classes: Classes, width: Seconds, pieces: Pieces, values: NDArray[np.float64]
) -> Iterator[NDArray[np.float64]]:
    """Prices of the knots at which, nearly, no class would rather have a slot of another's.

    Where a layout is not quite optimal there are no such prices, and trying makes them grow without end: often it is
    but a few pages that stand in the wrong place, so some of the prices are found without the small pieces.
    """
    by_share = (np.flatnonzero(pieces.counts >= share * classes.counts.sum()) for share in SHARES)
    for large in {len(some): some for some in by_share if len(some)}.values():
        owners, rather = _rather(classes, width, pieces, large[np.argsort(-pieces.counts[large])[:PIECES]])
        gains = resting_gains(rather)
        yield (values[owners] - gains[:, None]).max(axis=0)


def _rather(
    classes: Classes, width: Seconds, pieces: Pieces, chosen: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Classes that own some of the chosen pieces; and what each (row) would gain by an end of another's (column)."""
    ends = np.cumsum(pieces.counts)[chosen]
    slots = np.concatenate((ends - pieces.counts[chosen], ends - 1))
    rows = np.tile(pieces.rows[chosen], 2)
    by_owner = np.argsort(rows, kind="stable")
    owners, starts = np.unique(rows[by_owner], return_index=True)
    values = _values(classes, width * slots[by_owner])
    more = values[owners] - values[rows[by_owner], np.arange(len(rows))]
    return owners, np.maximum.reduceat(more, starts, axis=1)


def _gains(pages: Candidates, at: NDArray[np.float64], prices: NDArray[np.float64]) -> float:
    """The sum over pages of the most that one can gain over the prices of the knots, which are at these intervals."""
    group = combinations((pages.weights, pages.shapes))
    total, groups = 0.0, int(group.max()) + 1
    for number in range(groups):
        own = group == number
        rates, shapes, weights = pages.rates[own], pages.shapes[own], pages.weights[own]
        grid = _grid(rates, GRID // groups + 64)
        values = log_survival(grid[:, None], at[None, :], shapes[:1])
        np.exp(values, out=values)  # six million: to make them is less than to be given memory for them
        values *= weights[:1]
        values -= prices
        total += float(np.interp(rates, grid, values.max(axis=1)).sum())
    return total


def _grid(rates: NDArray[np.float64], points: int) -> NDArray[np.float64]:
    """Rates that span all of them; all of them where they are few."""
    distinct = np.unique(rates)
    if len(distinct) <= points:
        return distinct
    least = distinct[distinct > 0][0]
    between = np.clip(np.geomspace(least, distinct[-1], points), least, distinct[-1])
    return np.unique(np.concatenate((distinct[:1], between)))
