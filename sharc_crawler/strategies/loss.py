"""The loss of a strategy by wrong rates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.evidence.survival import expected_coherence
from sharc_crawler.model import Seconds
from sharc_crawler.strategies.base import Candidates
from sharc_crawler.strategies.layout import lay_out
from sharc_crawler.strategies.selective import selective


def coherence_loss(
    truth: tuple[NDArray[np.float64], NDArray[np.float64]],
    believed: tuple[NDArray[np.float64], NDArray[np.float64]],
    length: Seconds,
) -> float:
    """Return the share of pages expected to be coherent only if SHARC-selective knows the true rates.

    Parameters
    ----------
    truth, believed:
        rates (changes per second) and shapes of their Gamma posteriors (inf: known), one per page
    length:
        seconds from the first visit to the last revisit

    >>> rates, known = np.array([0.0, 0.0, 1.0]), np.full(3, np.inf)
    >>> coherence_loss((rates, known), (rates, known), 100.0)
    0.0
    >>> round(coherence_loss((rates, known), (rates[::-1], known), 100.0), 3)
    0.333

    """
    pages = len(truth[0])
    if not pages:
        return 0.0
    best, found = (
        expected_coherence(truth[0], lay_out(_candidates(*rates), length / (2 * pages), selective).intervals, truth[1])
        for rates in (truth, believed)
    )
    return (best - found) / pages


def _candidates(rates: NDArray[np.float64], shapes: NDArray[np.float64]) -> Candidates:
    return Candidates.of(np.arange(len(rates)), rates, shapes=shapes)
