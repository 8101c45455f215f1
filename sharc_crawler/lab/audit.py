"""An audit by bytes of pages whose lastmod was trusted: what it finds, and what remains wrongly claimed.

A lying page is one whose lastmod never moves. The audit (:mod:`sharc_crawler.evidence.audit`) downloads a share of the
attested pages once more, at the end of the capture.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.evidence.audit import bound, sample
from sharc_crawler.evidence.coherence import unchanged
from sharc_crawler.lab.score import stayed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.lab.belief import Belief
    from sharc_crawler.lab.schedule import Schedule
    from sharc_crawler.lab.site import Site


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
    bound: int  #: with 95 % confidence no more than these remain


def audit(site: Site, schedule: Schedule, belief: Belief, lying: NDArray[np.bool_], share: float, seed: int) -> Audit:
    """Audit a share of the attested pages that were captured."""
    captured = belief.attested & site.lives.alive_at(schedule.visits)
    same = stayed(site, schedule, belief.attested)
    wrong = captured & lying & ~same
    numbers = np.flatnonzero(captured)
    chosen = np.zeros(len(captured), np.bool_)
    chosen[numbers[sample(belief.rates[numbers], share, np.random.default_rng([seed, 2]))]] = True
    end = np.full(len(site.urls), schedule.interval[1])
    visible = captured & ~unchanged(site.changes.rows, schedule.visits, end)
    seen = chosen & visible
    corrected = int((wrong & seen).sum())
    changed, found = int(seen.sum()), int((seen & lying).sum())
    first = stayed(site, replace(schedule, revisits=np.full(len(site.urls), np.nan)), belief.attested)
    admitted = int((captured & ~lying & ~first).sum())
    return Audit(
        lying=int((captured & lying).sum()),
        wrongly_claimed=int(wrong.sum()),
        audited=int(chosen.sum()),
        changed=changed,
        lies_found=found,
        by_chance=float((visible & lying).sum()) * float(chosen.sum()) / max(1.0, float(captured.sum())),
        remaining=int(wrong.sum()) - corrected,
        bound=max(0, bound(changed, found, admitted, int(captured.sum()) - admitted) - corrected),
    )
