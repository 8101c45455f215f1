"""Which groups of pages an instant crawler should poll: scores, a ranking, a choice, and the choice's quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ALPHA, BETA = 0.6, 0.4  #: weights of the two scores, 3 : 2

LEAST_PAGES = 10  #: fewest pages of a group that is ranked


@dataclass(frozen=True, slots=True)
class Ranked:
    """A group (site, folder or template) and how temporal it is."""

    group: str
    pages: int
    temporal: int  #: temporal pages
    unknown: int  #: pages without a known curve; they count as untemporal
    views: int
    temporal_views: int  #: views of temporal pages

    @property
    def score(self) -> float:
        """α·Score1 + β·Score2, between 0 and 1.

        >>> Ranked("a.org", pages=4, temporal=2, unknown=0, views=100, temporal_views=100).score
        0.7
        """
        return ALPHA * self.temporal / self.pages + BETA * self.temporal_views / max(self.views, 1)


def rank(
    groups: Sequence[str],
    views: NDArray[np.integer],
    temporal: NDArray[np.bool_],
    known: NDArray[np.bool_],
    least_pages: int = LEAST_PAGES,
) -> list[Ranked]:
    """Groups by decreasing score; arrays have one entry per page (``views``: each page's total).

    Groups of fewer than ``least_pages`` pages are left out, as one temporal page alone would score 1. Of groups with
    equal scores, the one with more temporal pages comes first.
    """
    names = sorted(set(groups))
    number = {name: i for i, name in enumerate(names)}
    index = np.fromiter((number[group] for group in groups), np.int64, len(groups))

    def total(weights: NDArray[np.generic]) -> list[int]:
        return [int(x) for x in np.bincount(index, weights.astype(np.float64), len(names))]

    ones = np.ones(len(groups))
    columns = (total(ones), total(temporal), total(~known), total(views), total(views * temporal))
    ranked = [Ranked(name, *row) for name, *row in zip(names, *columns, strict=True)]
    return sorted((r for r in ranked if r.pages >= least_pages), key=lambda r: (-r.score, -r.temporal, r.group))


def within_budget(ranked: Sequence[Ranked], pages_a_day: float, days: int) -> list[Ranked]:
    """The first groups of a ranking, as many as have at most ``pages_a_day`` pages a day of the window."""
    spent = np.cumsum([r.pages / days for r in ranked])
    return list(ranked[: int(np.searchsorted(spent, pages_a_day, side="right"))])


@dataclass(frozen=True, slots=True)
class Worth:
    """The quality of a choice of groups (the paper's Table 1)."""

    temporal: int  #: temporal pages of the chosen groups
    pages: int  #: all pages of the chosen groups
    all_temporal: int  #: temporal pages of all groups

    @property
    def precision(self) -> float:
        """Share of the chosen groups' pages that are temporal."""
        return self.temporal / self.pages if self.pages else 0.0

    @property
    def recall(self) -> float:
        """Share of all temporal pages that the chosen groups have."""
        return self.temporal / self.all_temporal if self.all_temporal else 0.0

    @property
    def f(self) -> float:
        """The F-measure.

        >>> round(Worth(temporal=70_110, pages=91_996, all_temporal=135_939).f, 3)
        0.615
        """
        return 2 * self.temporal / (self.pages + self.all_temporal) if self.temporal else 0.0


def worth(chosen: Sequence[Ranked], groups: Sequence[str], temporal: NDArray[np.bool_]) -> Worth:
    """Compare a choice with the pages that are temporal, by classification or in truth."""
    names = {r.group for r in chosen}
    inside = np.fromiter((group in names for group in groups), np.bool_, len(groups))
    return Worth(int((inside & temporal).sum()), int(inside.sum()), int(temporal.sum()))
