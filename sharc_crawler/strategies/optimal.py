"""The best schedule of all: pages assigned to the pyramid's intervals so that expected coherence is largest.

With all visits before all revisits, any schedule's intervals are majorized by the pyramid's, and a sum of convex
survival functions is largest at a permutation of these: a linear assignment problem. It is solved as such for small
sites; for large ones pages and intervals are assigned in blocks, and what is left is gained by :mod:`.climb`.
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
    """How much may be spent on one plan."""

    exact: int  #: pages up to which the assignment is exact
    blocks: int  #: of pages and of intervals, where there are more
    moves: int  #: tried to improve it where it is not


SAMPLED = 8  #: every so many-th row and column of an assignment tells beforehand what columns are worth
ROUNDS = 100  #: in which the gains of classes come to rest
ONLINE = Effort(exact=512, blocks=256, moves=200)  #: for a plan that is soon made anew


def assign(classes: Classes, width: Seconds, effort: Effort) -> Pieces:
    """The best assignment of pages to intervals, of blocks of them where there are too many.

    A block has pages as alike as can be; its value is the mean of its pages' at the middle interval. Within a block,
    colder pages take the longer intervals, or the shorter ones where more than one change is expected.
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
    """The best assignment: the column of each row.

    What is taken off a column changes no assignment's rank. Nearly the price of each, as by the assignment of a sample,
    and most rows take their column at once: it is found in a fifth to a half of the time.
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
    """What each owner must gain, so that none would rather (by so much, row) have what is another's (column)."""
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
    """Pages, laid out class by class and cut into blocks: class, block and number of pages of each segment.

    >>> [column.tolist() for column in _segments(np.array([3, 1]), np.array([0, 2, 4]))]
    [[0, 0, 1], [0, 1, 1], [2, 1, 1]]
    """
    ends = np.cumsum(counts)
    cuts = np.union1d(edges, ends)
    starts = cuts[:-1]
    return np.searchsorted(ends, starts, "right"), np.searchsorted(edges, starts, "right") - 1, np.diff(cuts)


def optimal(classes: Classes, width: Seconds, effort: Effort = ONLINE) -> list[Run]:
    """The best layout found, never worse than the greedy one (a Planner)."""
    pieces = assign(classes, width, effort)
    if classes.counts.sum() <= effort.exact:
        return pieces.runs()
    starts = [pieces]
    if classes.simple and not climbable(pieces):  # too fine: in larger blocks classes keep together
        starts.append(assign(classes, width, replace(effort, blocks=effort.blocks // 4)))

    def value(one: Pieces) -> float:
        return one.value(classes, width)

    best = max(Pieces.of(selective(classes, width)), *starts, key=value)
    improved = [climb(classes, width, one, effort.moves) for one in (best, *starts[1:])]
    return max(improved, key=value).runs()


class SharcOptimal(PyramidStrategy):
    """The pyramid with the best assignment of pages to its intervals; offline and online."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, optimal)
