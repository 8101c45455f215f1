"""From daily views to a ranking: the three steps in one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sharc_crawler.seeds.temporal.classify import Threshold
from sharc_crawler.seeds.temporal.fit import fit
from sharc_crawler.seeds.temporal.groups import By, groups_of
from sharc_crawler.seeds.temporal.persite import classify
from sharc_crawler.seeds.temporal.rank import Ranked, rank, worth

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from sharc_crawler.seeds.temporal.curve import Curves
    from sharc_crawler.seeds.temporal.rank import Worth
    from sharc_crawler.seeds.temporal.views import PageViews


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a log says about its pages and their groups; arrays and lists of pages are in one order."""

    log: PageViews
    curves: Curves
    threshold: Threshold
    temporal: NDArray[np.bool_]
    groups: list[str]
    ranked: list[Ranked]

    def by_site(self, own: Mapping[str, Threshold]) -> Analysis:
        """The same curves, classified by thresholds of single sites, and ranked anew."""
        temporal = classify(self.curves, self.log.sites, own, self.threshold)
        ranked = rank(self.groups, self.log.views.sum(axis=1), temporal, self.curves.known)
        return replace(self, temporal=temporal, ranked=ranked)

    def worth(self, chosen: Sequence[Ranked]) -> Worth:
        """What a choice of groups is worth, by the classification."""
        return worth(chosen, self.groups, self.temporal)


def analyse(
    log: PageViews,
    threshold: Threshold | None = None,
    by: By = By.SITE,
    progress: Callable[[int], None] = lambda _: None,
) -> Analysis:
    """Fit, classify and rank. ``progress`` is told the number of pages of each batch fitted."""
    threshold = threshold or Threshold()
    curves = fit(log.views, threshold, progress=progress)
    temporal = threshold.temporal(curves)
    groups = groups_of(log.pages, log.sites, by)
    ranked = rank(groups, log.views.sum(axis=1), temporal, curves.known)
    return Analysis(log, curves, threshold, temporal, groups, ranked)
