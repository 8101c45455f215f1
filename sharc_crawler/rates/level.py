"""The level of a site's rates, drawn to that of other sites while captures have seen few changes.

A look in which nothing changed does not show that nothing ever will, however many pages it shows: changes come in
groups, and on some days none does. Changes that were seen are not explained away: a site may have pages that differ at
every download, which are in no history.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sharc_crawler.rates.history import Histories
from sharc_crawler.rates.swings import BURSTS, DAY, GROUP, HOUR

# Of the sites of four histories, pages change once in 57 (two histories), 120, 180 and 740 days (two). The logarithm
# of a further site's level then has a t distribution with three degrees of freedom and this squared scale.
USUAL = 1 / (150 * DAY)
SCALE, FREEDOM = 1.5, 3.0
WIDEST = 2.25  #: variance of the logarithm beyond which captures say less than other sites do
PLACES = np.linspace(-18.0, 18.0, 721)  #: logarithms of levels, relative to the usual one
PRIOR = -(FREEDOM + 1.0) / 2.0 * np.log1p(PLACES**2 / (FREEDOM * SCALE))


class Level(NamedTuple):
    """What intervals tell of the level of a site's rates."""

    factor: float  #: posterior mean, relative to the changes seen and half a change in the time
    variance: float  #: of the level's logarithm, with the bursts in the time watched


def level(intervals: Histories) -> Level:
    """Return the level's posterior, if changes come in groups at chance intervals.

    >>> day = Histories.of([[DAY]] * 6_000, [[0]] * 6_000)
    >>> [round(one, 1) for one in level(day)]
    [6.5, 1.6]
    """
    known = intervals.known()
    if not len(known.ends):
        return Level(1.0, WIDEST)
    seen, time = float((known.changed > 0).sum()), float(known.lengths.sum())
    watched = float(known.ends.max() - (known.ends - known.lengths).min())
    groups = np.exp(PLACES) * USUAL * time / GROUP
    likelihood = PRIOR + seen / GROUP * np.log(groups) - groups
    weights = np.exp(likelihood - likelihood.max())
    weights /= weights.sum()
    mean = max(float(weights @ groups) * GROUP, seen + 0.5 if seen else 0.0)
    variance = float(weights @ (PLACES - weights @ PLACES) ** 2) + BURSTS**2 * DAY / max(watched, HOUR)
    return Level(mean / (seen + 0.5), 1.0 / (1.0 / variance + 1.0 / WIDEST))
