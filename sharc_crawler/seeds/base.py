"""The port of seed rankers: they order seeds for the next crawl by their capture histories."""

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
#: seeds with p ≥ this are chosen; ``"auto"``: the threshold with the greatest expected F1
Threshold = float | Literal["auto"]


@dataclass(frozen=True, slots=True)
class RankingTask:
    """When a ranking is made, and which updates it predicts."""

    now: Instant  #: t: later captures are ignored
    ahead: Seconds = WEEK  #: e: updates until t + e count
    back: Seconds = math.inf  #: w: rates ignore captures before t − w
    missed: bool = True  #: whether updates between the last capture and t count too (a crawl needs them)


@dataclass(frozen=True, slots=True)
class Scores:
    """A ranker's answer: arrays with one entry per seed."""

    value: NDArray[np.float64]  #: greater comes first; a probability if the ranker has ``probabilities``
    rate: NDArray[np.float64] | None = None  #: λ, updates per second
    last_update: NDArray[np.float64] | None = None  #: τ, an instant; NaN: no update was seen
    known: NDArray[np.bool_] | None = None  #: whether the seed's own history was enough; None: does not apply


class SeedRanker(ABC):
    """Orders seeds. It is made without arguments; names of attributes learned from all seeds end with ``_``."""

    #: whether values are probabilities of an update, which a threshold θ can cut
    probabilities: ClassVar[bool] = False
    #: the instant from which these probabilities count updates, as text
    since: ClassVar[str] = "it was last seen"

    def fit(self, seeds: SeedHistories, now: Instant) -> Self:  # noqa: ARG002
        """Learn what all seeds have in common, from the captures up to ``now``. Most rankers learn nothing."""
        return self

    @abstractmethod
    def score(self, seeds: SeedHistories, task: RankingTask) -> Scores:
        """Score every seed; ``seeds`` holds only the captures in the task's window, up to ``task.now``."""
