"""The port of all seed rankers: which seeds to crawl next, by what is known of their history."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sharc_crawler.model import Instant, Seconds
    from sharc_crawler.seeds.hacs.sites import SeedHistories

WEEK: Seconds = 604_800.0
#: seeds with p of at least so much are chosen; ``"auto"``: where precision and recall are together likely best
Threshold = float | Literal["auto"]


@dataclass(frozen=True, slots=True)
class RankingTask:
    """When a ranking is made, and of what."""

    now: Instant  #: t: later captures are not known yet
    ahead: Seconds = WEEK  #: e: an update counts when it comes by t + e
    back: Seconds = math.inf  #: w: captures before t − w are left out of rates
    missed: bool = True  #: updates since the last capture count too, as they do for a crawl; else those after t alone


@dataclass(frozen=True, slots=True)
class Scores:
    """What a ranker says of each seed; arrays of one length."""

    value: NDArray[np.float64]  #: greater comes first; a probability where the ranker says so
    rate: NDArray[np.float64] | None = None  #: λ, updates per second
    last_update: NDArray[np.float64] | None = None  #: τ; NaN: none was seen
    known: NDArray[np.bool_] | None = None  #: the seed's own history was enough; None: of no matter


class SeedRanker(ABC):
    """Orders seeds. Made without arguments by its name; what is learned from all seeds ends with ``_``."""

    #: whether values are probabilities of an update, so that a threshold θ can choose
    probabilities: ClassVar[bool] = False
    #: from when on an update counts in them
    since: ClassVar[str] = "it was last seen"

    def fit(self, seeds: SeedHistories, now: Instant) -> Self:  # noqa: ARG002
        """Learn, from all captures up to ``now``, what is common to all seeds; most rankers need not."""
        return self

    @abstractmethod
    def score(self, seeds: SeedHistories, task: RankingTask) -> Scores:
        """Score every seed; captures after ``task.now`` or before its window are not there any more."""
