"""Rates from one look at the sitemap: the age of each page's last change, and the company that the page keeps."""

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
FEW = 10  #: pages that may share a lastmod on any site, however small
SHARED = 0.05  #: share of all pages on one lastmod from which on it dates an import or a rebuild, no page's change
SPIKE = 5.0  #: so many times as many pages as any date within a week has one that dates an import
LEAST = 30 * DAY  #: younger ages are as if of this length: changes come in bursts, and a burst ends
YEAR = 365.25 * DAY
MOST = 100_000  #: ages that are learned from: three coefficients and a shape


def age_histories(lastmods: NDArray[np.float64], read: ArrayLike) -> Histories:
    """One interval per page with a lastmod: from its last change until the word was ``read`` (one instant, or each's).

    A lastmod that many pages share, or the oldest one of all (the site's birth, as far as the sitemap goes back), dates
    no change of the page: since then it did not change, and more is not known.
    """
    said = ~np.isnan(lastmods)
    ends = np.broadcast_to(np.asarray(read, np.float64), said.shape)[said]
    lengths = np.maximum(ends - lastmods[said], 1.0)
    values, place, counts = np.unique(lastmods[said], return_inverse=True, return_counts=True)
    dateless = imported(values, counts, int(counts.sum())) | ((values == values[:1]) & (counts > 1))
    changed = np.where(dateless[place], UNCHANGED, DATED).astype(np.int8)
    offsets = np.concatenate([[0], np.cumsum(said)]).astype(np.int64)
    return Histories(offsets, lengths, changed, ends)


def imported(values: NDArray[np.float64], counts: NDArray[np.int64], pages: int) -> NDArray[np.bool_]:
    """Which lastmods (sorted) so many of all pages share that they date no change of these.

    A bare date is shared by all that changed on that day, on a busy site by many: it must stand out from those around.
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
    """Posterior rates given each page's lastmod (NaN: none), changes per second.

    λ of a page ~ Gamma(k, mean m_i): the density of an age a is then λ e^{−λ a} mixed over the prior, a Lomax
    distribution. m_i is log-linear in how recently the page's relatives changed, and in what the sitemap states; k is
    what makes the ages of all pages most likely. The posterior is Gamma(k + 1, k/m_i + a), or Gamma(k, k/m_i + a) where
    a dates no change. Pages without lastmod keep the prior.

    Parameters
    ----------
    read: instant at which the lastmods were read, or one per page
    stated: rates by ``changefreq``, changes per second (NaN: none); what they are worth is learned like the rest

    """
    histories = age_histories(lastmods, read)
    said = np.flatnonzero(~np.isnan(lastmods))
    if not len(said):
        return Estimates.nothing(len(lastmods))
    dated = (histories.changed == DATED).astype(np.float64)
    if not dated.any():  # half a change in all the time that the pages stood still
        total = np.full(len(lastmods), histories.lengths.sum())
        return Estimates(0.5 / total, np.sqrt(0.5) / total, np.full(len(total), 0.5), histories.observations())
    activity = np.zeros(len(lastmods))
    activity[said] = np.log1p(dated * YEAR / (histories.lengths + LEAST))
    features = np.column_stack([surroundings.columns(activity), *_stated(stated)])
    some = _some(said)
    ages = histories.select(some)  # one each
    mean = LogLinear().fit(features[some], ages.changed, ages.lengths + LEAST).rate(features)
    # In units of 1/m_i every page has the same prior, so that one shape is learned from all.
    scaled = replace(ages, lengths=ages.lengths * mean[some])
    shape, level = learn(Likelihood.of(scaled), Prior(0.5, 1.0), 1.0)
    a, b = np.full(len(mean), shape), shape / (level * mean)
    a[said] += dated
    b[said] += histories.lengths
    return Estimates(a / b, np.sqrt(a) / b, a, histories.observations())


def _some(pages: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those that are learned from: of more than can tell anything new a sample."""
    return pages if len(pages) <= MOST else np.sort(np.random.default_rng(0).choice(pages, MOST, replace=False))


def _stated(rates: NDArray[np.float64] | None) -> list[NDArray[np.float64]]:
    """Logarithms of the rates, and of their mean where there is none; nothing where all are silent or of one voice."""
    if rates is None or len(np.unique(rates[~np.isnan(rates)])) < 2:
        return []
    logs = np.log(rates)
    return [np.where(np.isnan(logs), np.nanmean(logs), logs)]
