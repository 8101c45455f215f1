"""Which pages are temporal: those that gather more than a share q of their interest in their first n days.

The share is taken from the fitted curve, so most of the page's views must lie under it. A curve that fits only one
peak, above a constant level or in noise, does not represent its page.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.errors import DataError, UsageError

if TYPE_CHECKING:
    from sharc_crawler.seeds.temporal.curve import Curves

    Flags = NDArray[np.bool_]


COVERED = 0.5  #: least share of a temporal page's views that lies under its curve
_LABELS = {"temporal": True, "untemporal": False, "1": True, "0": False}


@dataclass(frozen=True, slots=True)
class Threshold:
    """A page is temporal if Φ(days) > share (the paper's n and q)."""

    days: float = 3.0
    share: float = 0.7

    def __post_init__(self) -> None:
        if not self.days > 0:
            raise UsageError(f"days={self.days:g}: a page's first days are counted from 0; give a positive number")
        if not 0 < self.share < 1:
            raise UsageError(f"share={self.share:g} is no share of all interest; give a number between 0 and 1")

    def temporal(self, curves: Curves) -> Flags:
        """Which pages are temporal; pages without a known curve are not."""
        return curves.known & (curves.covered > COVERED) & (curves.gathered(self.days) > self.share)


@dataclass(frozen=True, slots=True)
class Confusion:
    """Numbers of pages by label and classification."""

    hit: int  #: classified as labelled
    miss: int  #: temporal, classified as untemporal
    false_alarm: int  #: untemporal, classified as temporal
    unknown: int  #: without a known curve; they count neither as hits nor as misses

    @property
    def reward(self) -> int:
        """The paper's linear reward: a hit counts +1, a miss or a false alarm −1.

        >>> Confusion(hit=2829, miss=141, false_alarm=70, unknown=0).reward
        2618
        """
        return self.hit - self.miss - self.false_alarm


def confusion(labels: Flags, known: Flags, called: Flags) -> Confusion:
    """Compare labels (true: temporal) with a classification."""
    return Confusion(
        hit=int((known & (labels == called)).sum()),
        miss=int((known & labels & ~called).sum()),
        false_alarm=int((known & ~labels & called).sum()),
        unknown=int((~known).sum()),
    )


_DAYS = np.array([0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 10, 14])
_SHARES = np.arange(1, 100) / 100


def best_threshold(labels: Flags, curves: Curves) -> tuple[Threshold, Confusion]:
    """The threshold of highest reward on labelled pages; of equal ones, the nearest to the paper's (3, 0.7).

    The search covers days from 0.5 to 14 and shares from 0.01 to 0.99.
    """
    tried = []
    for days in _DAYS:
        gathered = np.where(curves.covered > COVERED, curves.gathered(float(days)), 0.0)
        for share in _SHARES:
            found = confusion(labels, curves.known, curves.known & (gathered > share))
            far = abs(days - 3) / 3 + abs(share - 0.7)
            tried.append((-found.reward, far, float(days), float(share), found))
    _, _, days, share, found = min(tried, key=lambda entry: entry[:2])
    return Threshold(days, share), found


def read_labels(file: Path, pages: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Positions in ``pages`` of the labelled ones, and whether they are temporal.

    ``file`` is a CSV file with the columns ``page`` and ``label`` (``temporal``, ``untemporal``). Pages that are not in
    the log are left out. Raises :class:`~sharc_crawler.errors.DataError` for other labels, or if no page is in the log.
    """
    csv.field_size_limit(1 << 30)  # pages' URLs may be long
    position = {page: i for i, page in enumerate(pages)}
    found: dict[int, bool] = {}
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.DictReader(lines)
            if not {"page", "label"} <= set(rows.fieldnames or ()):
                raise DataError(f"{file}: its columns are {rows.fieldnames}; needed are page and label")
            for row in rows:
                if row["label"] not in _LABELS:
                    raise DataError(f"{file}:{rows.line_num}: label={row['label']!r}; it is temporal or untemporal")
                if row["page"] in position:
                    found[position[row["page"]]] = _LABELS[row["label"]]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file}: cannot be read: {error}") from error
    if not found:
        raise DataError(
            f"{file}: it labels no page of the log that has enough views; name pages as --curves does: https://host/path"
        )
    return np.fromiter(found.keys(), np.int64), np.fromiter(found.values(), np.bool_)
