"""Add many waiting pages class by class, as from a long sitemap or a resumed crawl; widen bins of classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.strategies.base import Candidates
from sharc_crawler.strategies.waiting import ByPage, WaitingClass, WaitingPages

FINEST = 0.01  #: relative width of the narrowest bins
PORTION = 1 << 15  #: pages processed together


def put_all(waiting: WaitingPages, found: Candidates, attested: NDArray[np.bool_]) -> None:
    """Do the same as :meth:`WaitingPages.put` for each page in turn."""
    at = 0
    while at < len(found):
        some = slice(at, at + PORTION)
        columns = found.rates[some], found.weights[some], found.shapes[some], attested[some]
        firsts, own = _alike(columns, waiting.width)
        sources, taken = [], len(own)
        for first in firsts.tolist():
            key = tuple(column[first].item() for column in columns)
            if len(waiting.by_key) >= waiting.limit and waiting.binned(key) not in waiting.by_key:
                taken = first
                break
            sources.append(waiting.of(key))
        _join(waiting, sources, found.pages[some][:taken], own[:taken])
        at += taken
        if taken < len(own):
            waiting.make_room()


def _alike(columns: Iterable[NDArray[np.generic]], width: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the index of the first page of each class, ascending, and each page's class, as an index into these."""
    own = np.zeros(1, np.int64)
    for column in columns:
        with np.errstate(divide="ignore"):
            bins = np.rint(np.log(column) / width) if width and column.dtype != np.bool_ else column
        values, place = np.unique(bins, return_inverse=True)
        own = own * len(values) + place
    _, firsts, place = np.unique(own, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return firsts[order], rank[place]


def _join(
    waiting: WaitingPages, sources: Sequence[WaitingClass], pages: NDArray[np.int64], own: NDArray[np.int64]
) -> None:
    """Add pages, each to the class ``sources[own]``."""
    _give(waiting.number_of, pages, np.array([source.number for source in sources], np.int64)[own])
    ends = np.bincount(own, minlength=len(sources)).cumsum()
    for source, part in zip(sources, np.split(pages[own.argsort(kind="stable")], ends[:-1]), strict=False):
        source.line.extend(part.tolist())
        source.known += len(part)
        waiting.count(source, len(part))


def _give(known: ByPage, pages: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
    """Set the number of each page."""
    last = known.pages[-1] if known.pages else -1
    if (np.diff(pages, prepend=last) > 0).all():
        known.pages.extend(pages.tolist())
        known.numbers.extend(numbers.tolist())
        return
    for page, number in zip(pages.tolist(), numbers.tolist(), strict=True):
        known[page] = number


def coarsen(waiting: WaitingPages) -> None:
    """Double the bins' width, and move pages class by class."""
    waiting.width = max(FINEST, 2 * waiting.width)
    former, waiting.by_key = waiting.by_key, {}
    waiting.stale = True
    moved = np.zeros(len(waiting.numbered) + 1, np.int64)
    pages, numbers = waiting.number_of.columns()
    for key, old in former.items():
        key = waiting.binned(key)
        new = waiting.by_key.get(key) or waiting.new(key)
        line = old.line.column()
        new.line.extend(line[numbers[np.searchsorted(pages, line)] == old.number].tolist())
        moved[old.number] = new.number
        new.known += old.known
        new.waiting += old.waiting
    numbers = np.frombuffer(waiting.number_of.numbers, waiting.number_of.numbers.typecode)
    numbers[:] = moved[numbers]
