"""Calls of plug-ins (rankers, notions of an update): their exceptions and invalid answers become DataErrors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sharc_crawler import plugins
from sharc_crawler.errors import UsageError
from sharc_crawler.plugin_faults import fault, tried
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN
from sharc_crawler.seeds.base import RankingTask, Scores, SeedRanker

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.seeds.hacs.captures import Captures
    from sharc_crawler.seeds.hacs.sites import SeedHistories


_NUMBERS = "biuf"  #: NumPy's kinds of numeric arrays
_DATES = -62_135_596_800, 253_402_300_800  #: the years 1 to 9999, in Unix seconds


def made(name: str, make: Callable[[], Any]) -> Any:
    """Make a ranker; raises :class:`~sharc_crawler.errors.DataError` if its constructor fails."""
    try:
        return tried(f"the ranker {name}", make, passing=(TypeError,))
    except TypeError as error:
        raise UsageError(f"ranker={name!r} does not make a ranker: {error}") from error


def scored(ranker: SeedRanker, seeds: SeedHistories, window: SeedHistories, task: RankingTask) -> Scores:
    """Score the seeds; raises :class:`~sharc_crawler.errors.DataError` if the ranker fails or answers badly."""
    who, count = f"the ranker {type(ranker).__qualname__}", len(seeds.urls)  # before the ranker may change the list
    scores = tried(who, lambda: ranker.fit(seeds, task.now).score(window, task))
    if wrong := tried(who, lambda: _wrong(scores, count, probabilities=ranker.probabilities)):
        raise fault(who, wrong)
    return scores


def updated(updates: str, captures: Captures) -> NDArray[np.int8]:
    """Which captures show an update; raises DataError if the notion of an update fails or answers badly."""
    notion, who = plugins.load("updates", updates), f"the notion of an update {updates}"
    bits = tried(who, lambda: notion(captures))
    if wrong := tried(who, lambda: _no_bits(bits, captures)):
        raise fault(who, wrong)
    return np.asarray(bits, np.int8)


def _no_bits(bits: Any, captures: Captures) -> str:
    """What is wrong with a notion's answer; empty: nothing."""
    if not isinstance(bits, np.ndarray):
        return f"answered with {type(bits).__name__}, not an array"
    if bits.shape != captures.times.shape:
        return f"gave no array of {len(captures.times):,}, one for each capture"
    if not np.isin(bits, (UNKNOWN, UNCHANGED, CHANGED)).all():
        return f"gave other values than {UNKNOWN} (unknown), {UNCHANGED} (unchanged) and {CHANGED} (changed)"
    if (bits[captures.firsts()] != UNKNOWN).any():
        return "says of a page's first capture, which has none before it, whether it changed"
    return ""


def _wrong(scores: Any, count: int, *, probabilities: bool) -> str:
    """What is wrong with a ranker's answer; empty: nothing."""
    if not isinstance(scores, Scores):
        return f"answered with {type(scores).__name__}, not Scores"
    for name in Scores.__slots__:
        column = getattr(scores, name)
        if column is None and name != "value":
            continue
        if not isinstance(column, np.ndarray) or column.shape != (count,):
            return f"gave a {name} that is no array of {count:,}, one for each seed"
        if column.dtype.kind not in _NUMBERS:
            return f"gave a {name} of {column.dtype}, not of numbers"
    if np.isnan(scores.value).any():
        return "gave a value that is no number"
    if probabilities and ((scores.value < 0) | (scores.value > 1)).any():
        return "gave a probability that is not between 0 and 1"
    if scores.rate is not None and (scores.rate < 0).any():
        return "gave a rate below 0"
    dates = np.zeros(0) if scores.last_update is None else scores.last_update[~np.isnan(scores.last_update)]
    if ((dates < _DATES[0]) | (dates >= _DATES[1])).any():
        return f"gave a last_update, in seconds since 1970, that is no date: {dates[np.abs(dates).argmax()]:g}"
    return ""
