"""An audit by bytes of pages whose lastmod was trusted: what it finds, and what remains wrongly claimed.

A lying page is one whose lastmod never moves. The audit (:mod:`sharc_crawler.evidence.audit`) downloads a share of the
attested pages once more, at the end of the capture.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.evidence.audit import Stratum, bound, sample, strata
from sharc_crawler.evidence.coherence import unchanged
from sharc_crawler.lab.score import stayed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.lab.belief import Belief
    from sharc_crawler.lab.schedule import DownloadTimes
    from sharc_crawler.lab.site import Site


@dataclass(frozen=True, slots=True)
class Audit:
    """What a simulated audit found, in numbers of pages."""

    lying: int  #: captured pages whose lastmod lies
    wrongly_claimed: int  #: called coherent on the word of a lie, and not
    audited: int
    changed: int  #: of the audited: changed since their visit, by bytes
    lies_found: int
    remaining: int  #: wrongly claimed, and their stratum was not caught
    bound: int  #: with 95 % confidence no more than these remain


def audit(
    site: Site, schedule: DownloadTimes, belief: Belief, lying: NDArray[np.bool_], share: float, seed: int
) -> Audit:
    """Audit a share of the attested pages that were captured; strata that are caught lying lose their claims."""
    captured = belief.attested & site.lives.alive_at(schedule.visits)
    wrong = captured & lying & ~stayed(site, schedule, belief.attested)
    labels = strata({page: site.urls[page] for page in np.flatnonzero(captured).tolist()})
    drawn = np.zeros(len(captured), np.bool_)
    drawn[list(sample(labels, share, seed))] = True
    end = np.full(len(site.urls), schedule.interval[1])
    visible = captured & ~unchanged(site.changes.rows, schedule.visits, end)
    caught = {labels[page] for page in np.flatnonzero(drawn & visible & lying).tolist()}
    claimed = captured & stayed(site, schedule, belief.attested) | wrong
    claimed &= np.array([labels.get(page) not in caught for page in range(len(captured))])
    confirmed = claimed & drawn & ~visible & (schedule.visits <= schedule.reference)
    left = claimed & ~confirmed
    numbers = Counter(labels[page] for page in np.flatnonzero(left).tolist())
    shown = Counter(labels[page] for page in np.flatnonzero(confirmed).tolist())
    return Audit(
        lying=int((captured & lying).sum()),
        wrongly_claimed=int(wrong.sum()),
        audited=int(drawn.sum()),
        changed=int((drawn & visible).sum()),
        lies_found=int((drawn & visible & lying).sum()),
        remaining=int((left & wrong).sum()),
        bound=bound([Stratum(numbers[label], shown[label]) for label in numbers], len(caught)),
    )
