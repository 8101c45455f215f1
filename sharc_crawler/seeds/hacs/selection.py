"""The seeds of one crawl: chosen, left out, left out and crawled all the same; and how many had changed."""

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

_COVERAGE = 0.95  #: of the interval for recall


@dataclass(frozen=True, slots=True)
class SeedChoice:
    """How seeds are chosen: a ranker by name, and where it cuts."""

    ranker: str
    theta: Threshold | None = None  #: p of at least this
    budget: int | None = None  #: so many at most
    updates: str = "digest"  #: what an update is
    explore: float = 0.0  #: share of those left out that is crawled too
    timemaps: tuple[str, ...] = ()  #: files and folders of archives' history
    history: str | None = None  #: the archive's own


@dataclass(frozen=True, slots=True)
class SelectedSeed:
    """What was decided of a seed, and what came of it."""

    url: str
    place: int  #: from 1
    value: float
    p: float | None
    last_seen: Instant | None
    captures: int
    known: bool
    chosen: bool
    explored: bool  #: left out, and crawled for a sample
    reason: str
    changed: bool | None = None  #: since it was last captured; None: not crawled, or not to be told
    why_not: str = ""  #: it is not to be told


@dataclass(frozen=True, slots=True)
class Recall:
    """The share of all seeds that had changed which was chosen: an estimate with its 95 % interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SelectionOutcome:
    """Counts of seeds; judged are those of which it could be told whether they had changed."""

    chosen: int
    chosen_judged: int
    chosen_changed: int
    left_out: int
    explored: int
    explored_judged: int
    explored_changed: int

    @property
    def precision(self) -> float | None:
        """The share of the chosen seeds that had changed, of those that were judged."""
        return self.chosen_changed / self.chosen_judged if self.chosen_judged else None

    @property
    def recall(self) -> Recall | None:
        """From the sample, of the seeds that can be judged; ``None`` where nobody was asked, or none could be judged.

        The interval is that of the share of changed seeds in the sample (Clopper and Pearson).

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
        from scipy.special import betaincinv  # a tenth of a second

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
    malformed: int = 0  #: lines of the history that could not be read
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def of(cls, ranked: Sequence[RankedSeed], choice: SeedChoice, now: Instant, malformed: int = 0) -> Self:
        """The ranking, and a random sample of those that it leaves out, the same for one instant."""
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
        """With what came of the crawled seeds, by URL: changed or not, or why that is not to be told."""
        return replace(self, seeds=tuple(_judged(one, changes) for one in self.seeds))

    def outcome(self) -> SelectionOutcome:
        """The counts."""
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
        """Keep it in a crawl's folder, whole or as it was."""
        draft = folder / f".{SELECTION}"
        draft.write_text(self.to_json(), encoding="utf-8")
        draft.replace(folder / SELECTION)

    @classmethod
    def read(cls, path: Path, way_out: str) -> Self:
        """As it was kept; :class:`~sharc_crawler.errors.DataError` with a ``way_out`` for any other file."""
        try:
            return cls.of_json(path.read_bytes())
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path} is no selection of seeds: {error!r}; {way_out}") from error

    @classmethod
    def of_json(cls, text: str | bytes) -> Self:
        """From that text; :class:`ValueError`, :class:`KeyError` or :class:`TypeError` for any other."""
        held: dict[str, Any] = json.loads(text)
        choice = SeedChoice(**{**held["choice"], "timemaps": tuple(held["choice"]["timemaps"])})
        seeds = tuple(SelectedSeed(**one) for one in held["seeds"])
        return cls(choice, held["now"], seeds, held["malformed"], tuple(held["notes"]))


def _judged(one: SelectedSeed, changes: Mapping[str, bool | str]) -> SelectedSeed:
    found = changes.get(one.url)
    if found is None:
        return one
    return replace(one, changed=None, why_not=found) if isinstance(found, str) else replace(one, changed=found)
