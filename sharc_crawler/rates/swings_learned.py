"""The swings of a site (:mod:`~sharc_crawler.rates.swings`), learned from its history.

The history is cut into times as long as a capture may take. What changed in each is set against what the rates counted
in the whole history expect of it: 80 % of the errors, beyond chance, are to lie within 1.28 deviations. Where sitemaps
dated the changes, times may be shorter than the captures lay apart.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Seconds
from sharc_crawler.rates.counted import counted_rates
from sharc_crawler.rates.history import CHANGED, UNKNOWN, SiteHistory
from sharc_crawler.rates.rebuilds import own_changes
from sharc_crawler.rates.swings import DAY, GROUP, KNOTS, Swings, usual
from sharc_crawler.rates.trust import dated

Column = NDArray[np.float64]

SURE, SHARE = 1.2816, 0.8  #: deviations, and the share of errors that is to lie within them
HELD = 3.0  #: times' worth that the stated figure counts for
FEW = 3  #: times without an overlap, at least
SHIFTS = 4  #: the times of a length are laid so many ways
MOST = 10_000  #: pages that are looked at, drawn at random where there are more
UNDATED = 2.0  #: times the gap between two accesses, at least, where nothing dates the changes
DATED = 0.8  #: share of the changes that must have a lastmod, if these are to count
PRESENT = 0.3  #: share of the pages that must have been watched in a time


class _Past(NamedTuple):
    """What the times are cut from."""

    pages: NDArray[np.int64]  #: of the changes
    instants: Column  #: of the changes
    begins: Column  #: of the pages: first access
    end: float
    rates: Column  #: of the pages
    shapes: Column


def learned_swings(history: SiteHistory) -> Swings:
    """How far the changes of the site's past were off what its rates expect; the stated figure where it is short.

    Knots beyond what the history can tell lean on the nearest one that it does.
    """
    past, finest = _past(own_changes(dated(_sampled(history))))
    watched = past.end - float(np.min(past.begins, initial=past.end))
    found = {length: one for length in KNOTS if length >= finest and (one := _deviation(past, length, watched))}
    if not found:
        return Swings.usual(watched)
    known = np.array([*found])
    ratios = np.log([found[length] / usual(length, watched) for length in known])
    return Swings(
        tuple(usual(length, watched) * math.exp(np.interp(math.log(length), np.log(known), ratios)) for length in KNOTS)
    )


def _sampled(history: SiteHistory) -> SiteHistory:
    """Some of the pages that were accessed at least twice."""
    pages = np.flatnonzero(np.diff(history.offsets) > 1)
    if len(pages) > MOST:
        pages = np.sort(np.random.default_rng(0).choice(pages, MOST, replace=False))
    return history.select(pages)


def _past(history: SiteHistory) -> tuple[_Past, Seconds]:
    """The changes and when they were, and the shortest time that can be told of."""
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
    else:  # somewhere between two accesses
        instants = history.times - gaps * np.random.default_rng(0).random(len(gaps))
    end = float(np.max(history.times, initial=0.0))
    return _Past(history.pages()[hit], instants[hit], history.first(), end, found.rate, found.shape), finest


def _deviation(past: _Past, length: Seconds, watched: Seconds) -> float | None:
    """The relative deviation in times of this length, drawn to the stated one; None: there are too few of them."""
    errors, chances, count = [], [], 0.0
    for shift in np.linspace(0.0, 1.0, SHIFTS, endpoint=False):
        error, chance = _errors(past, length, float(shift), watched)
        errors.append(error)
        chances.append(chance)
        count += len(error) / SHIFTS
    if count < FEW:
        return None
    level = min(1.0, SHARE * (1.0 + 1.0 / count))
    within = float(np.quantile(np.abs(np.concatenate(errors)), level)) / SURE
    by_chance = float(np.mean(np.concatenate(chances) ** 2))
    beyond = max(0.0, within**2 - by_chance)
    held = usual(length, watched) ** 2 + (GROUP - 1.0) * by_chance
    return math.sqrt((count * beyond + HELD * held) / (count + HELD))


def _errors(past: _Past, length: Seconds, shift: float, watched: Seconds) -> tuple[Column, Column]:
    """By time: pages that changed, less those expected, as a share of what a change of all rates brings; and chance."""
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
