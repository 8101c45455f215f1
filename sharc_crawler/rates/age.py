"""Rates from one reading of the sitemap: by the age of each page's last change, and by its surroundings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.estimators.likelihood import Likelihood
from sharc_crawler.rates.estimators.priors import Prior, learn
from sharc_crawler.rates.history import DATED, UNCHANGED, Histories
from sharc_crawler.rates.regression import LogLinear
from sharc_crawler.rates.surroundings import Surroundings

DAY = 86_400.0
WEEK = 7 * DAY
FEW = 10  #: pages that may share a lastmod on any site
SHARED = 0.05  #: share of pages with one lastmod above which it dates an import or rebuild, not a change
SPIKE = 5.0  #: ratio to any date within a week above which a shared date is an import's
LEAST = 30 * DAY  #: added to ages of activity: changes come in bursts, which end
YEAR = 365.25 * DAY
MOST = 100_000  #: maximum of ages learned from


def age_histories(lastmods: NDArray[np.float64], read: ArrayLike) -> Histories:
    """Return one interval per page with a lastmod: from its last change until it was ``read`` (one instant, or by
    page).

    A lastmod that many pages share, or the oldest of all, if shared (the site's birth), dates no change of the page: it
    only shows that the page did not change since.
    """
    known = ~np.isnan(lastmods)
    ends = np.broadcast_to(np.asarray(read, np.float64), known.shape)[known]
    lengths = np.maximum(ends - lastmods[known], 1.0)
    values, place, counts = np.unique(lastmods[known], return_inverse=True, return_counts=True)
    dateless = imported(values, counts, int(counts.sum())) | ((values == values[:1]) & (counts > 1))
    changed = np.where(dateless[place], UNCHANGED, DATED).astype(np.int8)
    offsets = np.concatenate([[0], np.cumsum(known)]).astype(np.int64)
    return Histories(offsets, lengths, changed, ends)


def imported(values: NDArray[np.float64], counts: NDArray[np.int64], pages: int) -> NDArray[np.bool_]:
    """Return which lastmods (sorted) are shared by so many pages that they date no change of these.

    A bare date is shared by all pages changed that day, on a busy site by many: it must stand out from dates around.
    """
    shared: NDArray[np.bool_] = counts > max(FEW, SHARED * pages)
    bare = values % DAY == 0
    for at in np.flatnonzero(shared & bare).tolist():
        near = bare & (np.abs(values - values[at]) <= WEEK)
        near[at] = False
        shared[at] = counts[at] > SPIKE * counts[near].max(initial=0)
    return shared


def age_rates(
    lastmods: NDArray[np.float64],
    read: ArrayLike,
    surroundings: Surroundings,
    stated: NDArray[np.float64] | None = None,
) -> Estimates:
    """Return posterior rates given each page's lastmod (NaN: none), changes per second.

    λ of a page ~ Gamma(k, mean m_i): the density of an age a is then λ e^{−λ a} mixed over the prior, a Lomax
    distribution. m_i is log-linear in how recently related pages changed, and in the sitemap's changefreq. k maximizes
    the likelihood of all ages. The posterior is Gamma(k + 1, k/m_i + a), or Gamma(k, k/m_i + a) if a dates no change.
    Pages without lastmod keep the prior.

    Parameters
    ----------
    read: instant at which the lastmods were read, or one per page
    stated: rates by ``changefreq``, changes per second (NaN: none); their weight is learned

    """
    histories = age_histories(lastmods, read)
    known = np.flatnonzero(~np.isnan(lastmods))
    if not len(known):
        return Estimates.nothing(len(lastmods))
    dated = (histories.changed == DATED).astype(np.float64)
    if not dated.any():  # half a change in all the time without one
        total = np.full(len(lastmods), histories.lengths.sum())
        return Estimates(0.5 / total, np.sqrt(0.5) / total, np.full(len(total), 0.5), histories.observations())
    activity = np.zeros(len(lastmods))
    activity[known] = np.log1p(dated * YEAR / (histories.lengths + LEAST))
    features = np.column_stack([surroundings.columns(activity), *_stated(stated)])
    some = _some(known)
    ages = histories.select(some)  # one each
    mean = LogLinear().fit(features[some], ages.changed, ages.lengths + LEAST).rate(features)
    # In units of 1/m_i every page has the same prior, so one shape is learned from all.
    scaled = replace(ages, lengths=ages.lengths * mean[some])
    shape, level = learn(Likelihood.of(scaled), Prior(0.5, 1.0), 1.0)
    a, b = np.full(len(mean), shape), shape / (level * mean)
    a[known] += dated
    b[known] += histories.lengths
    return Estimates(a / b, np.sqrt(a) / b, a, histories.observations())


def _some(pages: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the pages to learn from: a sample of many."""
    return pages if len(pages) <= MOST else np.sort(np.random.default_rng(0).choice(pages, MOST, replace=False))


def _stated(rates: NDArray[np.float64] | None) -> list[NDArray[np.float64]]:
    """Return the logarithms of stated rates, their mean where missing; nothing unless at least two differ."""
    if rates is None or len(np.unique(rates[~np.isnan(rates)])) < 2:
        return []
    logs = np.log(rates)
    return [np.where(np.isnan(logs), np.nanmean(logs), logs)]
