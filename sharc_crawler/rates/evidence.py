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
from sharc_crawler.rates.trust import classes, dated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.model import Instant, Seconds
    from sharc_crawler.rates.history import Histories, SiteHistory
    from sharc_crawler.rates.surroundings import Surroundings


def combined_rates(
    history: SiteHistory,
    now: Instant,
    horizon: Seconds,
    surroundings: Surroundings,
    stated: NDArray[np.float64] | None = None,
) -> Estimates:
    """Posterior rates of every URL of the history, changes per second; NaN where nothing at all is known.

    Where the captures saw enough changes, what each kind of evidence is worth is learned from them. Else the ages of
    last changes give each page a Gamma distribution, which the intervals before those changes sharpen; without
    lastmods the Gamma-Poisson posterior of each class of URLs stands. Lastmods that lied are not listened to.

    Parameters
    ----------
    stated: rates by the sitemap's ``changefreq`` (NaN: none), a prior whose weight is learned; captures that can be
        learned from know better

    """
    history = dated(history)
    if learnable(history, now, horizon):
        return learned_rates(history, now, horizon, surroundings)
    intervals = history.histories()
    lastmods, read = history.latest_words()
    if np.isnan(lastmods).all():
        return _counted(history, intervals, stated)
    return sharpened(age_rates(lastmods, read, surroundings, stated), intervals, lastmods, read)


def _counted(history: SiteHistory, intervals: Histories, stated: NDArray[np.float64] | None) -> Estimates:
    """By what was seen of each page, under a prior for each class of URLs that states the same frequency."""
    if not intervals.observations().any():
        return Estimates.nothing(len(history))
    labels = classes(history.urls)[0]
    if stated is not None:
        labels = np.unique(np.column_stack([labels, np.nan_to_num(stated)]), axis=0, return_inverse=True)[1].ravel()
    return GammaPoisson().fit(intervals, labels).estimate(intervals, labels)


def sharpened(
    prior: Estimates, intervals: Histories, lastmods: NDArray[np.float64], read: NDArray[np.float64]
) -> Estimates:
    """Gamma priors times the likelihood of the intervals that end by the page's last change, or after it was told of.

    Those between, from ``lastmods`` until they were ``read``, are the age that the prior was learned from: they do not
    count twice. Pages without a lastmod (NaN): all count.
    """
    page = intervals.pages()
    counted = (intervals.ends > lastmods[page]) & (intervals.ends <= read[page])
    others = intervals.recoded(np.where(counted, UNKNOWN, intervals.changed).astype(np.int8)).known()
    found = moments(Likelihood.of(others).bounded(), prior.shape, prior.shape / prior.rate)
    observations = prior.observations + others.observations()
    return Estimates(found.mean, found.spread, (found.mean / found.spread) ** 2, observations)
