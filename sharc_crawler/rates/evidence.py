"""Rates from all evidence combined: captures, lastmods and pages' surroundings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Instant, Seconds
from sharc_crawler.rates.age import DAY, WEEK, age_rates
from sharc_crawler.rates.counted import counted_rates
from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.estimators.likelihood import Likelihood
from sharc_crawler.rates.estimators.posterior import moments
from sharc_crawler.rates.history import CHANGED, UNKNOWN, Histories, SiteHistory
from sharc_crawler.rates.hot import with_hot_pages
from sharc_crawler.rates.learned import learnable, learned_rates
from sharc_crawler.rates.mixture import ENOUGH, FACTORS, HOTTEST, AnyForm
from sharc_crawler.rates.rebuilds import own_changes
from sharc_crawler.rates.surroundings import Surroundings
from sharc_crawler.rates.trust import dated

#: squared coefficient of variation of the site's rate between rounds above which changes come in groups
GROUPED = 1.0


def grouped(history: SiteHistory) -> bool:
    """Are most of the site's changes in a few rounds of captures?"""
    return grouping(history.histories().known()) > GROUPED


def grouping(known: Histories) -> float:
    """Return the squared coefficient of variation, between rounds, of the rate at which all pages together change.

    A round is as long as the median interval. With shares p of the changes and q of the observed time in each of R
    rounds, Σ p²/q is 1 plus that square, plus (R − 1)/n by chance, for n changes.

    >>> weekly = Histories.of([[1.0] * 8] * 4, [[0, 1, 0, 1, 0, 1, 0, 1]] * 2 + [[1, 0, 1, 0, 1, 0, 1, 0]] * 2)
    >>> rebuilt = Histories.of([[1.0] * 8] * 4, [[0, 0, 0, 0, 1, 0, 0, 0]] * 4)
    >>> round(grouping(weekly), 2), round(grouping(rebuilt), 2)
    (-0.44, 5.25)
    """
    changed = known.changed >= CHANGED
    count = int(changed.sum())
    if not count:
        return 0.0
    place = np.unique(np.floor(known.ends / np.median(known.lengths)), return_inverse=True)[1]
    share = np.bincount(place, changed) / count
    time = np.bincount(place, known.lengths) / known.lengths.sum()
    return float((share**2 / time).sum() - 1.0 - (len(time) - 1) / count)


MONTH = 30 * DAY
LONG = 10 * MONTH  #: time watched after which captures know the level of the site's rates
ROUNDS = 3  #: iterations to find a level


def combined_rates(
    history: SiteHistory,
    now: Instant,
    horizon: Seconds,
    links: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
    stated: NDArray[np.float64] | None = None,
) -> Estimates:
    """Return posterior rates of every URL of the history, changes per second; NaN if nothing is known.

    If captures over a week or more saw enough changes, the weight of each kind of evidence is learned from them. If
    changes came in groups, nothing can be learned, and only each page's own changes count. With fewer changes, the ages
    of last changes give each page a Gamma distribution, which earlier intervals sharpen; the rate is the geometric mean
    of its mean and the counted one. Lastmods that lied are ignored.

    A few captures show the number of changing pages badly, since they met a busy or a quiet day, and what is learned
    follows the last of them. So up to :data:`LONG` as many pages change as by the counted rates. The level of pages
    with lastmods is a geometric mean of the lastmods' level, with the weight of a month, and the captures', with that
    of the time watched.

    Parameters
    ----------
    links: source and target page of every link between the pages, if known
    stated: rates by ``changefreq`` (NaN: none), a prior whose weight is learned; not used if captures suffice

    """
    looks = history.times[history.times < now]  # by captures: the sitemap is read now
    history = own_changes(dated(history))
    lastmods, read = history.latest_lastmods()
    known = ~np.isnan(lastmods)
    watched = float(np.ptp(looks)) if len(looks) else 0.0
    learning = watched >= WEEK and learnable(history, now, horizon)
    around = Surroundings(history.urls, links)
    learned = learned_rates(history, now, horizon, around) if learning and not grouped(history) else None
    if learned and watched < LONG:
        everything = np.ones(len(history), np.bool_)
        learned = _scaled(learned, _level(learned, counted_rates(history, stated), everything, horizon))
    if not known.any() or (learning and watched >= LONG):
        return learned or _by_captures(history, stated, learning)
    single = age_rates(lastmods, read, around, stated)
    del around  # it takes much memory
    intervals = history.histories()
    by_lastmods = sharpened(_by_age(single, lastmods, read, horizon <= DAY), intervals, lastmods, read)
    if not (intervals.changed == CHANGED).any():
        return by_lastmods
    found = learned or _by_captures(history, stated, learning)
    if not learning:
        found = by_lastmods.scaled(np.sqrt(found.rate / by_lastmods.rate))
    if watched >= LONG:
        return found
    level = _level(found, by_lastmods, known, horizon) ** (MONTH / (MONTH + watched))
    return _scaled(found, level, known)


def _scaled(found: Estimates, level: float, of: NDArray[np.bool_] | bool = True) -> Estimates:
    """Multiply the rates of these pages."""
    return found.scaled(np.where(of, level, np.ones(len(found))))


def _by_age(single: Estimates, lastmods: NDArray[np.float64], read: NDArray[np.float64], short: bool) -> Estimates:
    """Return posterior rates by ages of last changes, for one or two kinds of pages; in short captures with hot ones.

    A burst lasts longer than a capture of hours, not of weeks: pages edited minutes ago are hot in a short capture.
    """
    varied, known = single, ~np.isnan(lastmods)
    if known.sum() >= ENOUGH:
        if (of_two_kinds := AnyForm(single, lastmods, read, HOTTEST if short else FACTORS)).far_better:
            return of_two_kinds.rates()
        varied = AnyForm(single, lastmods, read, FACTORS, at_once=True).rates()
        varied = _either(single, _scaled(varied, _level(varied, single, known, MONTH), known))
    return with_hot_pages(single, lastmods, read, varied) if short else varied


def _either(first: Estimates, second: Estimates) -> Estimates:
    """Mix two posteriors in equal parts: return Gamma distributions with the mixture's mean and spread."""
    mean = (first.rate + second.rate) / 2.0
    spread = np.sqrt((first.rate**2 + first.spread**2 + second.rate**2 + second.spread**2) / 2.0 - mean**2)
    return Estimates(mean, spread, (mean / spread) ** 2, first.observations)


def _by_captures(history: SiteHistory, stated: NDArray[np.float64] | None, learning: bool) -> Estimates:
    """Return rates by counted changes; NaN without captures."""
    watched = learning or history.histories().observations().any()
    return counted_rates(history, stated) if watched else Estimates.nothing(len(history))


def _level(found: Estimates, other: Estimates, of: NDArray[np.bool_], horizon: Seconds) -> float:
    """Return the factor of the rates with which as many of these pages change within the horizon as by ``other``."""
    level, aim = 1.0, _changing(other, of, horizon, 1.0)
    for _ in range(ROUNDS):
        level *= aim / _changing(found, of, horizon, level)
    return level


def _changing(rates: Estimates, of: NDArray[np.bool_], horizon: Seconds, level: float) -> float:
    """Return how many of these pages are expected to change within the horizon, at rates times ``level``."""
    changes, shapes = level * rates.rate[of] * horizon, rates.shape[of]
    return float(-np.expm1(-shapes * np.log1p(changes / shapes)).sum())


def sharpened(
    prior: Estimates, intervals: Histories, lastmods: NDArray[np.float64], read: NDArray[np.float64]
) -> Estimates:
    """Update Gamma priors by the intervals that end before the page's last change, or after its lastmod was read.

    Intervals between ``lastmods`` and ``read`` are part of the age that the prior was learned from, and must not count
    twice. For pages without a lastmod (NaN) all intervals count.
    """
    if not len(intervals.ends):
        return prior
    page = intervals.pages()
    counted = (intervals.ends > lastmods[page]) & (intervals.ends <= read[page])
    others = replace(intervals, changed=np.where(counted, UNKNOWN, intervals.changed).astype(np.int8)).known()
    found = moments(Likelihood.of(others).bounded(), prior.shape, prior.shape / prior.rate)
    observations = prior.observations + others.observations()
    return Estimates(found.mean, found.spread, (found.mean / found.spread) ** 2, observations)
