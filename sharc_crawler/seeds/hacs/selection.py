"""The selection of one crawl's seeds: chosen, left out, or crawled as a sample; and how many had changed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sharc_crawler.errors import DataError
from sharc_crawler.seeds import SELECTION

if TYPE_CHECKING:
    from sharc_crawler.model import Instant
    from sharc_crawler.seeds.base import Threshold
    from sharc_crawler.seeds.hacs.rank import RankedSeed

_COVERAGE = 0.95  #: confidence level of the interval for recall


@dataclass(frozen=True, slots=True)
class SeedChoice:
    """How seeds are chosen: by which ranker, and with which limits."""

    ranker: str
    theta: Threshold | None = None  #: least p
    budget: int | None = None  #: greatest number of seeds
    updates: str = "digest"  #: name of the notion of an update
    explore: float = 0.0  #: share of the seeds left out that is crawled as a sample
    timemaps: tuple[str, ...] = ()  #: files and folders with captures of other archives
    history: str | None = None  #: file with the observations of earlier crawls


@dataclass(frozen=True, slots=True)
class SelectedSeed:
    """What was decided for a seed, and whether it had changed."""

    url: str
    place: int  #: from 1
    value: float
    p: float | None
    last_seen: Instant | None
    captures: int
    known: bool
    chosen: bool
    explored: bool  #: left out, but crawled as part of the sample
    reason: str
    changed: bool | None = None  #: since its last capture; None: not crawled, or unknown
    why_not: str = ""  #: the reason why it is unknown


@dataclass(frozen=True, slots=True)
class Recall:
    """The chosen share of the seeds that had changed: an estimate with its 95 % interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SelectionOutcome:
    """Numbers of seeds; *judged* are those for which it is known whether they had changed."""

    chosen: int
    chosen_judged: int
    chosen_changed: int
    left_out: int
    explored: int
    explored_judged: int
    explored_changed: int

    @property
    def precision(self) -> float | None:
        """The share of seeds that had changed, among the chosen seeds that were judged."""
        return self.chosen_changed / self.chosen_judged if self.chosen_judged else None

    @property
    def recall(self) -> Recall | None:
        """Estimated from the sample, for seeds that can be judged; ``None`` without judged seeds in the sample.

        The interval follows from that of the share of changed seeds in the sample (Clopper and Pearson).

        >>> found = SelectionOutcome(10, 10, 8, 40, 4, 4, 1).recall
        >>> round(found.estimate, 3), round(found.low, 3), round(found.high, 3)
        (0.444, 0.199, 0.969)
        """
        n, k = self.explored_judged, self.explored_changed
        found = self.chosen_changed
        if not n or not self.chosen_judged or not (found or k):
            return None
        left = self.left_out * n / self.explored
        tail = (1.0 - _COVERAGE) / 2.0
        from scipy.special import betaincinv  # takes 0.1 s, so it is imported here

        low = float(betaincinv(k, n - k + 1, tail)) if k else 0.0
        high = float(betaincinv(k + 1, n - k, 1.0 - tail)) if k < n else 1.0
        shares = [found / (found + share * left) for share in (k / n, high, low)]
        return Recall(*shares)


@dataclass(frozen=True, slots=True)
class Selection:
    """All seeds in the order of their rank."""

    choice: SeedChoice
    now: Instant
    seeds: tuple[SelectedSeed, ...]
    malformed: int = 0  #: unreadable lines of the history
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def of(cls, ranked: Sequence[RankedSeed], choice: SeedChoice, now: Instant, malformed: int = 0) -> Self:
        """The ranking, with a random sample of the seeds that it leaves out. Equal instants give equal samples."""
        left = [place for place, one in enumerate(ranked) if not one.chosen]
        size = math.ceil(choice.explore * len(left))
        explored = set(np.random.default_rng(int(now)).choice(left, size, replace=False).tolist()) if size else set()
        names = ("url", "place", "value", "p", "last_seen", "captures", "known", "chosen", "reason")
        seeds = tuple(
            SelectedSeed(**{name: getattr(one, name) for name in names}, explored=place in explored)
            for place, one in enumerate(ranked)
        )
        return cls(choice, now, seeds, malformed)

    def crawled(self) -> list[str]:
        """The chosen seeds by decreasing value, then the sample of the others."""
        return [one.url for one in self.seeds if one.chosen] + [one.url for one in self.seeds if one.explored]

    def judged(self, changes: Mapping[str, bool | str]) -> Self:
        """A copy with the results of the crawled seeds, by URL: changed or not, or why that is unknown."""
        return replace(self, seeds=tuple(_judged(one, changes) for one in self.seeds))

    def outcome(self) -> SelectionOutcome:
        """Count the seeds."""
        chosen = [one for one in self.seeds if one.chosen]
        explored = [one for one in self.seeds if one.explored]
        judged, sample = ([one for one in some if one.changed is not None] for some in (chosen, explored))
        return SelectionOutcome(
            len(chosen),
            len(judged),
            sum(bool(one.changed) for one in judged),
            len(self.seeds) - len(chosen),
            len(explored),
            len(sample),
            sum(bool(one.changed) for one in sample),
        )

    def to_json(self) -> str:
        """The text of ``seeds.json``."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"

    def save(self, folder: Path) -> None:
        """Write it into a crawl's folder, atomically."""
        draft = folder / f".{SELECTION}"
        draft.write_text(self.to_json(), encoding="utf-8")
        draft.replace(folder / SELECTION)

    @classmethod
    def read(cls, path: Path, way_out: str) -> Self:
        """Read a saved selection; raises :class:`~sharc_crawler.errors.DataError` with ``way_out`` for other files."""
        try:
            return cls.of_json(path.read_bytes())
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path} is no selection of seeds: {error!r}; {way_out}") from error

    @classmethod
    def of_json(cls, text: str | bytes) -> Self:
        """Parse it; raises :class:`ValueError`, :class:`KeyError` or :class:`TypeError` for other text."""
        held: dict[str, Any] = json.loads(text)
        choice = SeedChoice(**{**held["choice"], "timemaps": tuple(held["choice"]["timemaps"])})
        seeds = tuple(SelectedSeed(**one) for one in held["seeds"])
        return cls(choice, held["now"], seeds, held["malformed"], tuple(held["notes"]))


def _judged(one: SelectedSeed, changes: Mapping[str, bool | str]) -> SelectedSeed:
    found = changes.get(one.url)
    if found is None:
        return one
    return replace(one, changed=None, why_not=found) if isinstance(found, str) else replace(one, changed=found)
