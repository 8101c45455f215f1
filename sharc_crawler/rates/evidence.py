"""All that is known of a site's pages, combined: captures, lastmods, and the company that pages keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.rates.age import age_rates
from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.estimators.gamma_poisson import GammaPoisson
from sharc_crawler.rates.estimators.likelihood import Likelihood
from sharc_crawler.rates.estimators.posterior import moments
from sharc_crawler.rates.history import UNKNOWN
from sharc_crawler.rates.learned import learnable, learned_rates
from sharc_crawler.rates.trust import believed, classes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.model import Instant, Seconds
    from sharc_crawler.rates.history import Histories, SiteHistory
    from sharc_crawler.rates.surroundings import Surroundings


def combined_rates(history: SiteHistory, now: Instant, horizon: Seconds, surroundings: Surroundings) -> Estimates:
    """Posterior rates of every URL of the history, changes per second; NaN where nothing at all is known.

    Where the captures saw enough changes, what each kind of evidence is worth is learned from them. Else the ages of
    last changes give each page a Gamma distribution, which the intervals before those changes sharpen; without
    lastmods the Gamma-Poisson posterior of each class of URLs stands. Lastmods that lied are not listened to.
    """
    history = history.without_lastmods(~believed(history))
    if learnable(history, now, horizon):
        return learned_rates(history, now, horizon, surroundings)
    intervals = history.histories()
    lastmods = history.latest(history.lastmods)
    if np.isnan(lastmods).all():
        if not intervals.observations().any():
            return Estimates.nothing(len(history))
        labels = classes(history.urls)[0]
        return GammaPoisson().fit(intervals, labels).estimate(intervals, labels)
    return sharpened(age_rates(lastmods, now, surroundings), intervals, lastmods)


def sharpened(prior: Estimates, intervals: Histories, lastmods: NDArray[np.float64]) -> Estimates:
    """Gamma priors times the likelihood of the intervals that end by the page's last change (NaN: of all of them).

    Later intervals are part of the age that the prior was learned from: they do not count twice.
    """
    late = intervals.ends > np.where(np.isnan(lastmods), np.inf, lastmods)[intervals.pages()]
    early = intervals.recoded(np.where(late, UNKNOWN, intervals.changed).astype(np.int8)).known()
    found = moments(Likelihood.of(early).bounded(), prior.shape, prior.shape / prior.rate)
    observations = prior.observations + early.observations()
    return Estimates(found.mean, found.spread, (found.mean / found.spread) ** 2, observations)
