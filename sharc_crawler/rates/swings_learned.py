"""The swings of a site (:mod:`~sharc_crawler.rates.swings`), learned from its history.

The history is cut into times as long as a capture may take. The changes in each are compared with those expected by the
rates over the whole history: 80 % of the errors, beyond chance, should be within 1.28 deviations. If sitemaps dated the
changes, times may be shorter than the intervals between captures.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Seconds
from sharc_crawler.rates.counted import counted_rates
from sharc_crawler.rates.history import CHANGED, UNKNOWN, SiteHistory
from sharc_crawler.rates.level import level
from sharc_crawler.rates.rebuilds import own_changes
from sharc_crawler.rates.swings import DAY, GROUP, KNOTS, Swings
from sharc_crawler.rates.trust import dated

Column = NDArray[np.float64]

SURE, SHARE = 1.2816, 0.8  #: deviations, and the share of errors within them
HELD = 3.0  #: weight of the usual value, in numbers of times
FEW = 3  #: minimum of non-overlapping times
SHIFTS = 4  #: shifted divisions into times of one length
MOST = 10_000  #: maximum of pages examined, drawn at random
UNDATED = 2.0  #: minimum length in gaps between accesses, without dated changes
DATED = 0.8  #: minimum share of changes with a lastmod for these to count
PRESENT = 0.3  #: minimum share of pages watched in a time


class _Past(NamedTuple):
    """The changes that are divided into times."""

    pages: NDArray[np.int64]  #: of the changes
    instants: Column  #: of the changes
    begins: Column  #: first access of each page
    end: float
    rates: Column  #: of the pages
    shapes: Column


def learned_swings(history: SiteHistory) -> Swings:
    """Return how far past changes deviated from those expected; the usual values if the history is short.

    Lengths of time that the history does not cover take the ratio of the nearest one that it does.
    """
    looked_at = own_changes(dated(_sampled(history)))
    past, finest = _past(looked_at)
    watched = past.end - float(np.min(past.begins, initial=past.end))
    held = Swings.usual(level(looked_at.histories()).variance)
    lengths = [length for length in KNOTS if length >= finest]
    found = [(length, one) for length in lengths if (one := _deviation(past, length, watched, held.at(length)))]
    if not found:
        return held
    ratios = np.log([one / held.at(length) for length, one in found])
    wider = np.exp(np.interp(np.log(KNOTS), np.log([length for length, _ in found]), ratios))
    return Swings(tuple((wider * held.deviations).tolist()))


def _sampled(history: SiteHistory) -> SiteHistory:
    """Sample pages accessed at least twice."""
    pages = np.flatnonzero(np.diff(history.offsets) > 1)
    if len(pages) > MOST:
        pages = np.sort(np.random.default_rng(0).choice(pages, MOST, replace=False))
    return history.select(pages)


def _past(history: SiteHistory) -> tuple[_Past, Seconds]:
    """Return the changes with their instants, and the shortest usable length of time."""
    found = counted_rates(history)
    first = np.zeros(len(history.times), np.bool_)
    first[history.offsets[:-1]] = True
    before = np.roll(history.times, 1)
    hit = (history.changed == CHANGED) & ~first
    dated = hit & (history.lastmods > before) & (history.lastmods <= history.times)
    known = ~first & (history.changed != UNKNOWN)
    gaps = history.times - before
    finest = UNDATED * float(np.median(gaps[known])) if known.any() else math.inf
    if dated.sum() >= DATED * max(1, hit.sum()):
        finest = min(finest, float(np.max(history.precisions[dated], initial=DAY)))
        instants = np.where(dated, history.lastmods, history.times)
    else:  # at random between two accesses
        instants = history.times - gaps * np.random.default_rng(0).random(len(gaps))
    end = float(np.max(history.times, initial=0.0))
    return _Past(history.pages()[hit], instants[hit], history.first(), end, found.rate, found.shape), finest


def _deviation(past: _Past, length: Seconds, watched: Seconds, usual: float) -> float | None:
    """Return the relative deviation for a length of time, drawn to the usual one; None if there are too few times."""
    errors, chances, count = [], [], 0.0
    for shift in np.linspace(0.0, 1.0, SHIFTS, endpoint=False):
        error, chance = _errors(past, length, float(shift), watched)
        errors.append(error)
        chances.append(chance)
        count += len(error) / SHIFTS
    if count < FEW:
        return None
    share = min(1.0, SHARE * (1.0 + 1.0 / count))
    within = float(np.quantile(np.abs(np.concatenate(errors)), share)) / SURE
    by_chance = float(np.mean(np.concatenate(chances) ** 2))
    beyond = max(0.0, within**2 - by_chance)
    held = usual**2 + (GROUP - 1.0) * by_chance
    return math.sqrt((count * beyond + HELD * held) / (count + HELD))


def _errors(past: _Past, length: Seconds, shift: float, watched: Seconds) -> tuple[Column, Column]:
    """Return, by time, the excess of changed pages relative to the effect of a change of all rates, and chance."""
    times = int(watched / length - shift)
    place = np.floor((past.end - past.instants) / length - shift).astype(np.int64)
    inside = (place >= 0) & (place < times)
    changed = np.unique(place[inside] * len(past.rates) + past.pages[inside]) // max(1, len(past.rates))
    expected = past.rates * length
    stay = (1.0 + expected / past.shapes) ** -past.shapes
    terms = np.stack([1.0 - stay, expected * stay / (1.0 + expected / past.shapes), stay * (1.0 - stay)], axis=1)
    order = np.argsort(past.begins)
    sums = np.concatenate([np.zeros((1, 3)), np.cumsum(terms[order], axis=0)])
    begins = past.end - (np.arange(times) + 1 + shift) * length
    there = np.searchsorted(past.begins[order], begins, side="right")
    use = there > PRESENT * len(order)
    mean, moved, variance = sums[there[use]].T
    moved = np.maximum(moved, 1e-300)
    return (np.bincount(changed, minlength=times)[use] - mean) / moved, np.sqrt(variance) / moved
