"""An audit by bytes of pages that are claimed on the server's word: which to download again, and what it supports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincinv, nbdtr

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONFIDENCE = 0.95
LEAST = 10  #: pages audited, where there are as many: of one or two that kept still nobody learns anything


def sample(rates: NDArray[np.float64], share: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Numbers of the pages to audit, of ``len(rates)``: half of them the hottest, half in proportion to the rates.

    A lie shows only where a page really changes, so a uniform sample would be wasted. For any ``share`` above 0 at
    least :data:`LEAST` pages, or all.

    >>> sample(np.array([0.1, 9.0, 0.2, 0.1]), 0.5, np.random.default_rng(0)).tolist()
    [1, 2, 3, 0]
    """
    size = min(len(rates), max(round(share * len(rates)), LEAST if share > 0 else 0))
    if not size:
        return np.zeros(0, np.int64)
    hottest_first = np.argsort(-rates, kind="stable")
    hot, rest = np.split(hottest_first, [(size + 1) // 2])
    odds = rates[rest] + 1e-12 + 1e-6 * rates.max()
    drawn = rng.choice(rest, size - len(hot), replace=False, p=odds / odds.sum()) if len(rest) else rest
    return np.concatenate([hot, drawn])


def bound(changed: int, lies: int, admitted: int, claimed: int) -> int:
    """With 95 % confidence no more than so many pages are wrongly claimed.

    Of the attested pages that really changed, the share that lies is at most p (Clopper and Pearson, from the audited
    ones that changed); before one more change than was admitted, so many were not: negative binomial. Half of the
    5 % goes to either.

    Parameters
    ----------
    changed: audited pages that had changed, by bytes
    lies: of these, those whose lastmod did not say so
    admitted: attested pages whose lastmod said that they changed
    claimed: pages claimed on the server's word: never more are wrong

    >>> bound(changed=20, lies=0, admitted=100, claimed=500), bound(0, 0, 100, 500)
    (31, 500)

    """
    if changed <= lies:
        return claimed
    certain = (1 + CONFIDENCE) / 2
    p = betaincinv(lies + 1, changed - lies, certain)
    at_most = nbdtr(np.arange(claimed), admitted + 1, 1 - p)
    return int(np.searchsorted(at_most, certain))
