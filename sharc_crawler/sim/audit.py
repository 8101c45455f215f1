"""An audit by bytes of pages whose lastmod was trusted: what it finds, and what remains wrongly claimed.

A lying page is one whose lastmod never moves. The audit downloads a share of the attested pages once more, at the end
of the capture, half of it the hottest pages, half of it drawn in proportion to the rates: a lie shows only where a page
really changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import beta

from sharc_crawler.quality.coherence import unchanged
from sharc_crawler.sim.score import stayed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.sim.belief import Belief
    from sharc_crawler.sim.schedule import Schedule
    from sharc_crawler.sim.site import Site

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Audit:
    """Numbers of pages."""

    lying: int  #: captured pages whose lastmod lies
    wrongly_claimed: int  #: called coherent on the word of a lie, and not
    audited: int
    changed: int  #: of the audited: changed since their visit, by bytes
    lies_found: int
    by_chance: float  #: lies that as many pages drawn at random would have found, on average
    remaining: int  #: wrongly claimed, and not found by the audit
    bound: float  #: with 95 % confidence no more than these remain


def audit(site: Site, schedule: Schedule, belief: Belief, lying: NDArray[np.bool_], share: float, seed: int) -> Audit:
    """Audit a share of the attested pages that were captured.

    The bound: of the attested pages that really changed, the share that lies is at most p (Clopper and Pearson, from
    the audited ones that changed); so to m changes that were admitted come at most m p/(1−p) that were not, less those
    that the audit found.
    """
    captured = belief.attested & site.lives.alive_at(schedule.visits)
    same = stayed(site, schedule, belief.attested)
    wrong = captured & lying & ~same
    sample = _sample(captured, belief.rates, share, np.random.default_rng([seed, 2]))
    end = np.full(len(site.urls), schedule.interval[1])
    visible = captured & ~unchanged(site.changes.rows, schedule.visits, end)
    seen = sample & visible
    corrected = int((wrong & seen).sum())
    changed, found = int(seen.sum()), int((seen & lying).sum())
    admitted = int((captured & ~lying & ~same).sum())
    p = float(beta.ppf(CONFIDENCE, found + 1, changed - found)) if changed > found else 1.0
    most = float(captured.sum()) - admitted
    return Audit(
        lying=int((captured & lying).sum()),
        wrongly_claimed=int(wrong.sum()),
        audited=int(sample.sum()),
        changed=changed,
        lies_found=found,
        by_chance=float((visible & lying).sum()) * float(sample.sum()) / max(1.0, float(captured.sum())),
        remaining=int(wrong.sum()) - corrected,
        bound=max(0.0, (min(most, admitted * p / (1 - p)) if p < 1 else most) - corrected),
    )


def _sample(
    pages: NDArray[np.bool_], rates: NDArray[np.float64], share: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """A share of the pages: the hottest, then in proportion to the rates, then any."""
    numbers = np.flatnonzero(pages)
    size = min(len(numbers), round(share * len(numbers)))
    hottest_first = numbers[np.argsort(-rates[numbers], kind="stable")]
    hot, rest = np.split(hottest_first, [size // 2])
    odds = rates[rest] + 1e-12 + 1e-6 * rates.max()
    drawn = rng.choice(rest, size - len(hot), replace=False, p=odds / odds.sum()) if len(rest) else rest
    sample = np.zeros(len(pages), np.bool_)
    sample[hot] = sample[drawn] = True
    return sample
