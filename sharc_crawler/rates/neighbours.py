"""Pages that are edited together, as a section is, or all that a template makes: one seen changed tells of the others.

How often that was so before, a site's own history says. A capture that has seen some pages of a folder as the archive
holds them, and those visited after them changed, knows then that the first ones are others by now, too.
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

SHARES = (0.5, 0.7, 0.9, 0.98)  #: of a folder's pages that an edit of the folder touches
OWN = (0.02, 0.1, 0.3, 1.0)  #: of a page's rate: changes of its own
EDITED = np.array([0.001, 0.003, 0.01, 0.03, 0.1, 0.3])  #: shares of the rounds in which a folder is edited
SURE = 5.0  #: by so much its logarithm of probability must be above that of pages that change by themselves
LEAST = 3  #: pages of a folder seen in a round, at least
MOST = 200  #: pages of a folder that are looked at
MOST_FOLDERS = 100
RARE = 1e-9  #: probabilities are no smaller


class Together(NamedTuple):
    """How the pages of a site's folders are edited together."""

    share: float  #: of a folder's pages that are touched at once
    rate: float  #: edits of a folder, per second
    own: float  #: share of a page's rate that is its own


def folders(urls: Sequence[str]) -> NDArray[np.int64]:
    """The number of each URL's folder.

    >>> folders(["http://h/a/1", "http://h/b/1/", "http://h/a/2/?x=/"]).tolist()
    [0, 1, 0]
    """
    names = [url.partition("?")[0].rstrip("/").rpartition("/")[0] for url in urls]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], np.int64)


def edited_together(history: SiteHistory) -> Together | None:
    """How often pages of one folder changed in the same round of captures; None: not more than each by itself.

    In a round a folder was edited, or was not. If so, each page of it changed with the probability ``share``, beside
    what its own rate brings. The likeliest share and frequency are told, if they explain the past much better.

    >>> from sharc_crawler.rates.history import SiteHistory
    >>> edited_together(SiteHistory.empty())
    """
    some = _sampled(history)
    known = some.histories().known()
    if not len(known.lengths):
        return None
    from sharc_crawler.rates.counted import counted_rates  # only where something is known

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
            told = np.logaddexp(np.log1p(-EDITED) + by_itself[:, None], np.log(EDITED) + together[:, None]).sum(axis=0)
            if told.max() > best:
                best = float(told.max())
                often = -np.log1p(-EDITED[told.argmax()]) / np.median(known.lengths)
                found = Together(share, float(often), own)
    return found if best - alone >= SURE else None


def stale(
    together: Together, begins: Column, visits: Column, changed: Mask, rates: Column, shapes: Column, now: Instant
) -> Column:
    """How likely each page of a folder, in the order of their visits, has been edited since, with the others.

    The first edit of the folder since the archive's look came before the first visit, between two of them, after the
    last, or not at all so far.

    Parameters
    ----------
    begins: instants since when each page is compared, with what the archive saw
    visits: instants of the visits, rising
    changed: was it another page by then?
    rates, shapes: as held, changes per second

    >>> times, shapes, rates = np.arange(6.0) + 10.0, np.full(6, np.inf), np.full(6, 0.01)
    >>> often, seen = Together(0.9, 0.01, 0.1), np.arange(6) > 2
    >>> stale(often, np.zeros(6), times, seen, rates, shapes, 15.0).round(1).tolist()
    [0.9, 0.9, 0.8, 0.0, 0.0, 0.0]
    >>> stale(often, np.zeros(6), times, seen & False, rates, shapes, 35.0).round(1).tolist()
    [0.2, 0.2, 0.2, 0.2, 0.2, 0.2]

    """
    still = calm(together.own, rates, shapes, visits - begins)
    before, after = _chances(still, changed), _chances(still * (1.0 - together.share), changed)
    # the edit comes before visit k: those from k on show it; k = n: none does
    likely = np.concatenate([[0.0], np.cumsum(before)]) + np.concatenate([np.cumsum(after[::-1])[::-1], [0.0]])
    instants = np.concatenate([[begins.min()], visits, [max(now, visits[-1])]])
    passed = np.exp(-together.rate * np.maximum(instants - begins.min(), 0.0))
    weights = np.exp(likely - likely.max())
    by_now, never = weights * (passed[:-1] - passed[1:]), weights[-1] * passed[-1]
    since = np.cumsum(by_now[::-1])[::-1] / (by_now.sum() + never)  # before visit k, or later
    return np.asarray(together.share * since[1:])


def calm(own: float, rates: Column, shapes: Column, periods: Column) -> Column:
    """Probabilities that pages do not change by themselves; shapes of Gamma posteriors, inf: the rates are known."""
    expected, finite = own * rates * periods, np.where(np.isinf(shapes), 1.0, shapes)
    return np.asarray(np.where(np.isinf(shapes), np.exp(-expected), (1.0 + expected / finite) ** -finite))


def _chances(still: Column, changed: Mask) -> Column:
    """Logarithms of the probabilities of what was seen."""
    return np.asarray(np.log(np.maximum(np.where(changed, 1.0 - still, still), RARE)))


def _rounds(known: Histories, owners: NDArray[np.int64]) -> tuple[NDArray[np.int64], Mask]:
    """The folder's round that each interval is of, numbered; which of these hold enough pages."""
    ends = np.floor(known.ends / np.median(known.lengths)).astype(np.int64)
    place = np.unique(np.column_stack([owners, ends]), axis=0, return_inverse=True)[1].ravel()
    return place, np.bincount(place) >= LEAST


def _sampled(history: SiteHistory) -> SiteHistory:
    """Some pages of some folders, evenly drawn, of those accessed at least twice."""
    pages = np.flatnonzero(np.diff(history.offsets) > 1)
    owners = folders([history.urls[page] for page in pages.tolist()])
    members = [pages[owners == one] for one in np.flatnonzero(np.bincount(owners, minlength=1) >= LEAST)]
    some = [one[:: -(-len(one) // MOST)] for one in members[:: -(-len(members) // MOST_FOLDERS) or 1]]
    return history.select(np.sort(np.concatenate([np.zeros(0, np.int64), *some])).astype(np.int64))
