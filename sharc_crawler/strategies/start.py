"""When to start: what a capture may be expected to lose, by the hour at which it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.evidence.survival import log_survival
from sharc_crawler.strategies.base import Candidates
from sharc_crawler.strategies.layout import lay_out
from sharc_crawler.strategies.selective import selective

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from sharc_crawler.model import Instant, Seconds
    from sharc_crawler.rates.cycles import Rhythm

SAMPLE = 3_000  #: pages that are planned with, at most


def expected_losses(
    rates: NDArray[np.float64],
    shapes: NDArray[np.float64],
    labels: NDArray[np.int64],
    rhythms: Mapping[int, Rhythm],
    starts: NDArray[np.float64],
    length: Seconds,
    tell: Callable[[float], None] = lambda _: None,
) -> NDArray[np.float64]:
    """Expected number of pages that SHARC-selective finds changed, one per start.

    Parameters
    ----------
    rates, shapes:
        mean rates of the pages, changes per second, and the shapes of their Gamma posteriors (inf: known)
    labels, rhythms:
        the class of each page, and when the pages of each class change
    starts, length:
        instants at which the capture may begin; seconds from the first visit to the last revisit
    tell:
        hears how many starts are reckoned

    """
    pages = np.linspace(0, len(rates) - 1, min(len(rates), SAMPLE)).astype(np.int64)
    scale = len(rates) / max(1, len(pages))
    columns = rates[pages], shapes[pages], labels[pages]
    losses = np.empty(len(starts))
    for place, start in enumerate(starts.tolist()):
        losses[place] = scale * _loss(*columns, rhythms, start, length)
        tell(place + 1)
    return losses


def _loss(
    rates: NDArray[np.float64],
    shapes: NDArray[np.float64],
    labels: NDArray[np.int64],
    rhythms: Mapping[int, Rhythm],
    start: Instant,
    length: Seconds,
) -> float:
    own = {label: labels == label for label in np.unique(labels).tolist()}
    now = np.ones(len(rates))
    for label, pages in own.items():
        now[pages] = rhythms[label].mean(start, start + length)
    candidates = Candidates.of(np.arange(len(rates)), rates * now, shapes=shapes)
    half = lay_out(candidates, length / (2 * max(1, len(rates))), selective).intervals / 2
    middle, spent = start + length / 2, np.empty(len(rates))
    for label, pages in own.items():
        times, elapsed = rhythms[label].elapsed(start, start + length)
        spent[pages] = np.interp(middle + half[pages], times, elapsed) - np.interp(middle - half[pages], times, elapsed)
    return float(-np.expm1(log_survival(rates, spent, shapes)).sum())
