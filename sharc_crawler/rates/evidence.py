"""All that is known of a site's pages, combined: captures, lastmods, and the company that pages keep."""

from __future__ import annotations

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

#: squared coefficient of variation of the site's rate from round to round: beyond it, changes come in groups
GROUPED = 1.0


def grouped(history: SiteHistory) -> bool:
    """Does the site's rate vary so much that a few rounds of captures hold most of its changes?"""
    return grouping(history.histories().known()) > GROUPED


def grouping(known: Histories) -> float:
    """The squared coefficient of variation of the rate at which all pages together change, from round to round.

    A round is as long as the median interval. With the share p of the changes and q of the observed time that fall
    into each of R rounds, Σ p²/q is 1 + its square, and (R − 1)/n more than that by chance, for n changes.

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
LONG = 10 * MONTH  #: watched for so long, captures know the level of the site's rates
ROUNDS = 3  #: of finding a level


def combined_rates(
    history: SiteHistory,
    now: Instant,
    horizon: Seconds,
    links: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
    stated: NDArray[np.float64] | None = None,
) -> Estimates:
    """Posterior rates of every URL of the history, changes per second; NaN where nothing at all is known.

    Where the captures of a week or more saw enough changes, what each kind of evidence is worth is learned from them;
    where these came in groups, nothing can be learned, and each page's own changes are all that counts. With fewer
    changes the ages of the last ones give each page a Gamma distribution, which the intervals before them sharpen; the
    rate is the geometric mean of its mean and the counted one. What there is not is left out; lastmods that lied are
    not listened to.

    How many pages change at all, a few captures tell badly, since they met a busy day or a quiet one. So the level of
    the pages with lastmods is a geometric mean of theirs, worth a month, and the captures', worth the time watched.

    Parameters
    ----------
    links: source and target page of every link between the pages, where known
    stated: rates by the sitemap's ``changefreq`` (NaN: none), a prior whose weight is learned; captures that can be
        learned from know better

    """
    looks = history.times[history.times < now]  # of captures: the sitemap is read now
    history = own_changes(dated(history))
    lastmods, read = history.latest_lastmods()
    told = ~np.isnan(lastmods)
    watched = float(np.ptp(looks)) if len(looks) else 0.0
    learning = watched >= WEEK and learnable(history, now, horizon)
    around = Surroundings(history.urls, links)
    learned = learned_rates(history, now, horizon, around) if learning and not grouped(history) else None
    if not told.any() or (learning and watched >= LONG):
        return learned or _by_captures(history, stated, learning)
    single = age_rates(lastmods, read, around, stated)
    del around  # the words of all pages take much memory
    intervals = history.histories()
    by_words = sharpened(_by_age(single, lastmods, read, horizon <= DAY), intervals, lastmods, read)
    if not (intervals.changed == CHANGED).any():
        return by_words
    found = learned or _by_captures(history, stated, learning)
    if not learning:
        found = by_words.scaled(np.sqrt(found.rate / by_words.rate))
    if watched >= LONG:
        return found
    level = _level(found, by_words, told, horizon) ** (MONTH / (MONTH + watched))
    return found.scaled(np.where(told, level, 1.0))


def _by_age(single: Estimates, lastmods: NDArray[np.float64], read: NDArray[np.float64], short: bool) -> Estimates:
    """Posterior rates by the ages of last changes: of one kind of pages, or of two; in short captures of hot ones, too.

    A burst outlasts a capture of hours, not one of weeks. So pages that were edited minutes ago are hot in a short one.
    """
    varied, told = single, ~np.isnan(lastmods)
    if told.sum() >= ENOUGH:
        if (of_two_kinds := AnyForm(single, lastmods, read, HOTTEST if short else FACTORS)).far_better:
            return of_two_kinds.rates()
        varied = AnyForm(single, lastmods, read, FACTORS, at_once=True).rates()
        varied = _either(single, varied.scaled(np.where(told, _level(varied, single, told, MONTH), 1.0)))
    return with_hot_pages(single, lastmods, read, varied) if short else varied


def _either(one: Estimates, other: Estimates) -> Estimates:
    """Posteriors where either prior may hold, as likely as the other: Gamma distributions of their mean and spread."""
    mean = (one.rate + other.rate) / 2.0
    spread = np.sqrt((one.rate**2 + one.spread**2 + other.rate**2 + other.spread**2) / 2.0 - mean**2)
    return Estimates(mean, spread, (mean / spread) ** 2, one.observations)


def _by_captures(history: SiteHistory, stated: NDArray[np.float64] | None, learning: bool) -> Estimates:
    """Counted; NaN where there are none."""
    watched = learning or history.histories().observations().any()
    return counted_rates(history, stated) if watched else Estimates.nothing(len(history))


def _level(found: Estimates, other: Estimates, of: NDArray[np.bool_], horizon: Seconds) -> float:
    """How many times as high rates must be for as many of these pages to change within the horizon as by the other."""
    level, aim = 1.0, _changing(other, of, horizon, 1.0)
    for _ in range(ROUNDS):
        level *= aim / _changing(found, of, horizon, level)
    return level


def _changing(rates: Estimates, of: NDArray[np.bool_], horizon: Seconds, level: float) -> float:
    """How many of these pages are expected to change within the horizon, at rates so many times as high."""
    changes, shapes = level * rates.rate[of] * horizon, rates.shape[of]
    return float(-np.expm1(-shapes * np.log1p(changes / shapes)).sum())


def sharpened(
    prior: Estimates, intervals: Histories, lastmods: NDArray[np.float64], read: NDArray[np.float64]
) -> Estimates:
    """Gamma priors times the likelihood of the intervals that end by the page's last change, or after it was told of.

    Those between, from ``lastmods`` until they were ``read``, are the age that the prior was learned from: they do not
    count twice. Pages without a lastmod (NaN): all count.
    """
    if not len(intervals.ends):
        return prior
    page = intervals.pages()
    counted = (intervals.ends > lastmods[page]) & (intervals.ends <= read[page])
    others = intervals.recoded(np.where(counted, UNKNOWN, intervals.changed).astype(np.int8)).known()
    found = moments(Likelihood.of(others).bounded(), prior.shape, prior.shape / prior.rate)
    observations = prior.observations + others.observations()
    return Estimates(found.mean, found.spread, (found.mean / found.spread) ** 2, observations)
