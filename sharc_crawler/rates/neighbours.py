"""Pages edited together, such as a section or all pages of a template: one change implies others.

How often that happens is learned from the site's history. If a capture saw the first pages of a folder unchanged and
the later ones changed, the first ones have probably changed since.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Instant
from sharc_crawler.rates.history import CHANGED, Histories, SiteHistory

Column = NDArray[np.float64]
Mask = NDArray[np.bool_]

SHARES = (0.5, 0.7, 0.9, 0.98)  #: shares of a folder's pages that its edit touches
OWN = (0.02, 0.1, 0.3, 1.0)  #: shares of a page's rate that are changes of its own
EDITED = np.array([0.001, 0.003, 0.01, 0.03, 0.1, 0.3])  #: shares of the rounds in which a folder is edited
SURE = 5.0  #: minimum gain in log-likelihood over pages that change independently
LEAST = 3  #: minimum of a folder's pages seen in a round
MOST = 200  #: maximum of a folder's pages examined
MOST_FOLDERS = 100
RARE = 1e-9  #: lower bound of probabilities


class Together(NamedTuple):
    """How the pages of a site's folders are edited together."""

    share: float  #: share of a folder's pages touched at once
    rate: float  #: edits of a folder, per second
    own: float  #: share of a page's rate that is its own


def folders(urls: Sequence[str]) -> NDArray[np.int64]:
    """Return the number of each URL's folder.

    >>> folders(["http://h/a/1", "http://h/b/1/", "http://h/a/2/?x=/"]).tolist()
    [0, 1, 0]
    """
    names = [url.partition("?")[0].rstrip("/").rpartition("/")[0] for url in urls]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], np.int64)


def edited_together(history: SiteHistory) -> Together | None:
    """Learn how often pages of one folder change together; None if they change independently.

    In each round of captures a folder was edited or not. If it was, each page changed with probability ``share``,
    besides changes by its own rate. Return the likeliest share and frequency if they explain the past much better.

    >>> from sharc_crawler.rates.history import SiteHistory
    >>> edited_together(SiteHistory.empty())
    """
    some = _sampled(history)
    known = some.histories().known()
    if not len(known.lengths):
        return None
    from sharc_crawler.rates.counted import counted_rates  # only with observations

    counted = counted_rates(some)
    pages = known.pages()
    changed = known.changed >= CHANGED
    place, use = _rounds(known, folders(some.urls)[pages])

    def summed(still: Column) -> Column:
        return np.asarray(np.bincount(place, _chances(still, changed))[use], np.float64)

    alone, best, found = -np.inf, -np.inf, None
    for own in OWN:
        still = calm(own, counted.rate[pages], counted.shape[pages], known.lengths)
        by_itself = summed(still)
        alone = max(alone, float(by_itself.sum()))
        for share in SHARES:
            together = summed(still * (1.0 - share))
            logs = np.logaddexp(np.log1p(-EDITED) + by_itself[:, None], np.log(EDITED) + together[:, None]).sum(axis=0)
            if logs.max() > best:
                best = float(logs.max())
                often = -np.log1p(-EDITED[logs.argmax()]) / np.median(known.lengths)
                found = Together(share, float(often), own)
    return found if best - alone >= SURE else None


def stale(
    together: Together, begins: Column, visits: Column, changed: Mask, rates: Column, shapes: Column, now: Instant
) -> Column:
    """Return the probability that each page of a folder was edited since its visit, together with the others.

    The folder's first edit since the archive last saw it was before the first visit, between two visits, after the last
    one, or has not happened yet.

    Parameters
    ----------
    begins: when the archive last saw each page
    visits: instants of the visits, rising
    changed: had the page changed by its visit?
    rates, shapes: of the pages, changes per second

    >>> times, shapes, rates = np.arange(6.0) + 10.0, np.full(6, np.inf), np.full(6, 0.01)
    >>> often, seen = Together(0.9, 0.01, 0.1), np.arange(6) > 2
    >>> stale(often, np.zeros(6), times, seen, rates, shapes, 15.0).round(1).tolist()
    [0.9, 0.9, 0.8, 0.0, 0.0, 0.0]
    >>> stale(often, np.zeros(6), times, seen & False, rates, shapes, 35.0).round(1).tolist()
    [0.2, 0.2, 0.2, 0.2, 0.2, 0.2]

    """
    still = calm(together.own, rates, shapes, visits - begins)
    before, after = _chances(still, changed), _chances(still * (1.0 - together.share), changed)
    # if the edit is before visit k, visits from k on show it; k = n: none does
    likely = np.concatenate([[0.0], np.cumsum(before)]) + np.concatenate([np.cumsum(after[::-1])[::-1], [0.0]])
    instants = np.concatenate([[begins.min()], visits, [max(now, visits[-1])]])
    passed = np.exp(-together.rate * np.maximum(instants - begins.min(), 0.0))
    weights = np.exp(likely - likely.max())
    by_now, never = weights * (passed[:-1] - passed[1:]), weights[-1] * passed[-1]
    since = np.cumsum(by_now[::-1])[::-1] / (by_now.sum() + never)  # before visit k, or later
    return np.asarray(together.share * since[1:])


def calm(own: float, rates: Column, shapes: Column, periods: Column) -> Column:
    """Return the probabilities that pages do not change by themselves; shapes: inf for known rates."""
    expected, finite = own * rates * periods, np.where(np.isinf(shapes), 1.0, shapes)
    return np.asarray(np.where(np.isinf(shapes), np.exp(-expected), (1.0 + expected / finite) ** -finite))


def _chances(still: Column, changed: Mask) -> Column:
    """Return the log probabilities of the outcomes."""
    return np.asarray(np.log(np.maximum(np.where(changed, 1.0 - still, still), RARE)))


def _rounds(known: Histories, owners: NDArray[np.int64]) -> tuple[NDArray[np.int64], Mask]:
    """Return the number of each interval's round and folder, and which of these have enough pages."""
    ends = np.floor(known.ends / np.median(known.lengths)).astype(np.int64)
    place = np.unique(np.column_stack([owners, ends]), axis=0, return_inverse=True)[1].ravel()
    return place, np.bincount(place) >= LEAST


def _sampled(history: SiteHistory) -> SiteHistory:
    """Sample pages of some folders evenly, of those accessed at least twice."""
    pages = np.flatnonzero(np.diff(history.offsets) > 1)
    owners = folders([history.urls[page] for page in pages.tolist()])
    members = [pages[owners == folder] for folder in np.flatnonzero(np.bincount(owners, minlength=1) >= LEAST)]
    some = [own[:: -(-len(own) // MOST)] for own in members[:: -(-len(members) // MOST_FOLDERS) or 1]]
    return history.select(np.sort(np.concatenate([np.zeros(0, np.int64), *some])).astype(np.int64))
