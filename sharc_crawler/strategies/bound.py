"""A bound that no assignment of pages to the pyramid's intervals exceeds, from prices of the intervals.

For any prices p of the intervals, a page gains at most u = max over intervals of w s(I) - p(I); so Σ p + Σ u bounds
every assignment (linear programming duality), and tightly so for prices that go with a nearly optimal one. Prices are
interpolated between knots: a survival function is convex in the interval, so its distance to them is largest at a
knot; and u is convex in the rate, so it is interpolated between the rates of a grid. Both keep the bound a bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.quality.survival import log_survival
from sharc_crawler.strategies.classes import combinations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.model import Seconds
    from sharc_crawler.strategies.base import Candidates

KNOTS = 1024
ROUNDS = 8  #: in which prices settle
GRID = 2048  #: rates, shared among the combinations of weight and shape


def upper_bound(pages: Candidates, intervals: NDArray[np.float64], width: Seconds) -> float:
    """What the expected coherence of pages on intervals 0, width, 2 width, ... cannot exceed.

    ``intervals`` are those of a good layout: the better it is, the tighter the bound.
    """
    order = np.argsort(intervals, kind="stable")
    on_slots = tuple(column[order] for column in (pages.rates, pages.shapes, pages.weights))
    slots = width * np.arange(len(pages), dtype=np.float64)
    prices = _prices(on_slots, slots)
    knots = _knots(prices)
    at = slots[knots]
    first = prices[knots]
    settled = _settled(tuple(column[knots] for column in on_slots), at, first)
    group = combinations((pages.weights, pages.shapes))
    return min(float(np.interp(slots, at, price).sum()) + _gains(pages, group, at, price) for price in (first, settled))


Columns = tuple["NDArray[np.float64]", ...]  # rates, shapes, weights of the page on each slot


def _value(columns: Columns, intervals: NDArray[np.float64]) -> NDArray[np.float64]:
    rates, shapes, weights = columns
    value: NDArray[np.float64] = weights * np.exp(log_survival(rates, intervals, shapes))
    return value


def _prices(columns: Columns, slots: NDArray[np.float64]) -> NDArray[np.float64]:
    """From slot to slot, the mean of what the page before and the page after it would lose by the step."""
    before, after = tuple(column[:-1] for column in columns), tuple(column[1:] for column in columns)
    losses = (_value(one, slots[1:]) - _value(one, slots[:-1]) for one in (before, after))
    return np.concatenate(([0.0], np.cumsum(sum(losses) / 2)))


def _knots(prices: NDArray[np.float64]) -> NDArray[np.int64]:
    """Slots, the first ones, more where prices bend, and a few everywhere."""
    bends = np.sqrt(np.abs(np.diff(prices, 2, prepend=prices[0], append=prices[-1])))
    share = np.cumsum(bends / max(bends.sum(), 1e-300) + 0.2 / len(prices))
    knots = np.searchsorted(share, np.linspace(share[0], share[-1], KNOTS))
    return np.unique(np.minimum(np.concatenate((np.arange(32), knots, [len(prices)])), len(prices) - 1))


def _settled(columns: Columns, at: NDArray[np.float64], prices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Prices raised until no page on a knot would rather have another knot (Bellman-Ford, a few rounds)."""
    rows = tuple(column[:, None] for column in columns)
    rather = _value(rows, at[None, :]) - _value(columns, at)[:, None]
    for _ in range(ROUNDS):
        prices = (prices[:, None] + rather).max(axis=0)
    return prices


def _gains(pages: Candidates, group: NDArray[np.int64], at: NDArray[np.float64], prices: NDArray[np.float64]) -> float:
    """The sum over pages of the most that one can gain over the prices of the knots."""
    total, groups = 0.0, int(group.max()) + 1
    for number in range(groups):
        own = np.flatnonzero(group == number) if groups > 1 else slice(None)
        rates = pages.rates[own]
        grid = _grid(rates, GRID // groups + 64)
        same = (grid[:, None], pages.shapes[own][:1], pages.weights[own][:1])
        total += float(np.interp(rates, grid, (_value(same, at[None, :]) - prices).max(axis=1)).sum())
    return total


def _grid(rates: NDArray[np.float64], points: int) -> NDArray[np.float64]:
    """Rates that span all of them; all of them where they are few."""
    if len(rates) <= points:
        return np.unique(rates)
    low, high = rates.min(where=rates > 0, initial=rates.max()), rates.max()
    between = np.geomspace(low, high, points) if low < high else np.array([high])
    return np.unique(np.concatenate(([rates.min()], np.clip(between, low, high), [high])))
