"""The optimal schedule: pages are assigned to the pyramid's intervals so that expected coherence is largest.

If all visits precede all revisits, any schedule's intervals are majorized by the pyramid's, and a sum of convex
survival functions is largest at a permutation of these: a linear assignment problem. It is solved exactly for small
sites. For large ones, pages and intervals are assigned in blocks, and :mod:`.climb` improves the result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from sharc_crawler.model import Seconds
from sharc_crawler.strategies.base import Setting
from sharc_crawler.strategies.classes import Classes, Run
from sharc_crawler.strategies.climb import Pieces, climb, climbable
from sharc_crawler.strategies.pyramid import PyramidStrategy
from sharc_crawler.strategies.selective import selective


@dataclass(frozen=True, slots=True)
class Effort:
    """Limits of the effort for one plan."""

    exact: int  #: pages up to which the assignment is exact
    blocks: int  #: blocks of pages and of intervals, if there are more
    moves: int  #: moves tried to improve an inexact assignment


SAMPLED = 8  #: distance of the rows and columns sampled to estimate the columns' prices
ROUNDS = 100  #: maximum of iterations until gains converge
ONLINE = Effort(exact=512, blocks=256, moves=200)  #: for a plan that is soon replaced


def assign(classes: Classes, width: Seconds, effort: Effort) -> Pieces:
    """Return the best assignment of pages to intervals, or of blocks if there are too many pages.

    A block has similar pages; its value is the mean of theirs at the middle interval. Within a block, colder pages take
    the longer intervals, or the shorter ones if more than one change is expected.
    """
    pages = int(classes.counts.sum())
    blocks = pages if pages <= effort.exact else effort.blocks
    edges = np.arange(blocks + 1) * pages // max(blocks, 1)
    middles = width * (edges[:-1] + edges[1:] - 1) / 2
    alike = np.lexsort((-classes.rates, _shapes(classes), classes.weights))
    rows, block, counts = _segments(classes.counts[alike], edges)
    rows = alike[rows]
    firsts = np.searchsorted(block, np.arange(blocks))
    survival = np.exp(classes.log_values(np.broadcast_to(middles, (len(classes), blocks))))
    values = np.add.reduceat(survival[rows] * counts[:, None], firsts) / np.diff(edges)[:, None]
    place = _assigned(values)
    changes = np.add.reduceat(classes.rates[rows] * counts, firsts) / np.diff(edges) * middles[place]
    within = np.arange(len(rows)) * np.where(changes > 1, -1, 1)[block]
    order = np.lexsort((within, place[block]))
    return Pieces(rows[order], counts[order]).merged()


def _assigned(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the best assignment: the column of each row.

    Subtracting a price from a whole column does not change the best assignment. With prices estimated from a sample's
    assignment most rows find their column at once: it takes a fifth to a half of the time.
    """
    if len(values) > SAMPLED**2:
        some = np.arange(SAMPLED // 2, len(values), SAMPLED)
        few = values[np.ix_(some, some)]
        place = linear_sum_assignment(few, maximize=True)[1]
        own = few[np.arange(len(some)), place]
        prices = np.empty(len(some))
        prices[place] = own - resting_gains(few[:, place] - own)
        values = values - np.interp(np.arange(len(values)), some, prices)
    return linear_sum_assignment(values, maximize=True)[1]


def resting_gains(rather: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the gains that leave no owner (row) envious, given how much each prefers another's place (column)."""
    gains = np.zeros(len(rather))
    for _ in range(ROUNDS):  # Bellman-Ford
        former, gains = gains, (rather + gains).max(axis=1)
        if np.array_equal(gains, former):
            break
    return gains


def _shapes(classes: Classes) -> NDArray[np.float64]:
    return np.full(len(classes), np.inf) if classes.shapes is None else classes.shapes


def _segments(
    counts: NDArray[np.int64], edges: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Lay out pages class by class and cut them into blocks: return class, block and pages of each segment.

    >>> [column.tolist() for column in _segments(np.array([3, 1]), np.array([0, 2, 4]))]
    [[0, 0, 1], [0, 1, 1], [2, 1, 1]]
    """
    ends = np.cumsum(counts)
    cuts = np.union1d(edges, ends)
    starts = cuts[:-1]
    return np.searchsorted(ends, starts, "right"), np.searchsorted(edges, starts, "right") - 1, np.diff(cuts)


def optimal(classes: Classes, width: Seconds, effort: Effort = ONLINE) -> list[Run]:
    """Return the best layout found, never worse than the greedy one (a Planner)."""
    pieces = assign(classes, width, effort)
    if classes.counts.sum() <= effort.exact:
        return pieces.runs()
    starts = [pieces]
    if classes.simple and not climbable(pieces):  # larger blocks keep classes together
        starts.append(assign(classes, width, replace(effort, blocks=effort.blocks // 4)))

    def value(layout: Pieces) -> float:
        return layout.value(classes, width)

    best = max(Pieces.of(selective(classes, width)), *starts, key=value)
    improved = [climb(classes, width, layout, effort.moves) for layout in (best, *starts[1:])]
    return max(improved, key=value).runs()


class SharcOptimal(PyramidStrategy):
    """The pyramid with the best assignment of pages to its intervals, offline and online."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, optimal)
