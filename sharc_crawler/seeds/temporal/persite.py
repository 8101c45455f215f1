"""A threshold for each site: what is news at a weekly is old at a wire service.

Chosen from a site's own labelled pages; measured on pages that were held out, since a threshold always does well on the
pages it was chosen from.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.seeds.temporal.classify import best_threshold, confusion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sharc_crawler.seeds.temporal.classify import Flags, Reward, Threshold
    from sharc_crawler.seeds.temporal.curve import Curves

LEAST = 20  #: labelled pages that a site needs for a threshold of its own, some of them temporal and some not
FOLDS = 5


def site_thresholds(labels: Flags, curves: Curves, sites: Sequence[str], reward: Reward) -> dict[str, Threshold]:
    """The threshold of highest reward of each site with enough labelled pages; arrays are of the labelled pages."""
    chosen = {}
    for site, at in _pages_of(sites).items():
        if len(at) >= LEAST and 0 < labels[at].sum() < len(at):
            chosen[site] = best_threshold(labels[at], curves.take(at), reward)[0]
    return chosen


def classify(curves: Curves, sites: Sequence[str], own: Mapping[str, Threshold], otherwise: Threshold) -> Flags:
    """Temporal pages by the threshold of their site, where it has one of its own."""
    called = otherwise.temporal(curves)
    for site, at in _pages_of(sites).items():
        if site in own:
            called[at] = own[site].temporal(curves.take(at))
    return called


def held_out(labels: Flags, curves: Curves, sites: Sequence[str], reward: Reward) -> tuple[float, float]:
    """Rewards of one best threshold and of one per site, on pages that had no part in choosing them (five folds)."""
    one = np.zeros(len(labels), np.bool_)
    own = np.zeros(len(labels), np.bool_)
    for fold in range(min(FOLDS, len(labels))):
        tested = list(range(fold, len(labels), FOLDS))
        chosen = np.array([i for i in range(len(labels)) if i % FOLDS != fold], np.int64)
        if not len(chosen):
            continue
        names = [sites[i] for i in chosen.tolist()]
        best, _ = best_threshold(labels[chosen], curves.take(chosen), reward)
        each = site_thresholds(labels[chosen], curves.take(chosen), names, reward)
        rest = curves.take(np.array(tested))
        one[tested] = best.temporal(rest)
        own[tested] = classify(rest, [sites[i] for i in tested], each, best)
    return reward.of(confusion(labels, curves.known, one)), reward.of(confusion(labels, curves.known, own))


def _pages_of(sites: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    pages: dict[str, list[int]] = defaultdict(list)
    for page, site in enumerate(sites):
        pages[site].append(page)
    return {site: np.array(at, np.int64) for site, at in pages.items()}
