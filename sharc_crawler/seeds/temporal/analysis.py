"""From daily views to a ranking: the three steps in one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np

from sharc_crawler.seeds.temporal.classify import Threshold, best_threshold, confusion
from sharc_crawler.seeds.temporal.fit import fit
from sharc_crawler.seeds.temporal.rank import Ranked, Worth, rank, worth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.seeds.temporal.classify import Flags
    from sharc_crawler.seeds.temporal.curve import Curves
    from sharc_crawler.seeds.temporal.views import PageViews

# -- the group that a page is ranked in: its site, its folder, or the pages with the same URL template -----------------


class By(StrEnum):
    """Level of a ranking."""

    SITE = "site"
    FOLDER = "folder"
    TEMPLATE = "template"


_VARYING = re.compile(r"\d|(?:[^-_]+[-_]){3}")  #: segments with a digit, or with four words (a title)


def group_of(page: str, site: str, by: By) -> str:
    """The group of a page (a URL) of a site.

    A folder consists of the path's leading folders without digits, since dates and numbers distinguish pages, not
    sections. A template keeps the names in a URL, and replaces segments that vary and query values by a star.

    >>> page = "https://a.org/news/uk/2024/05/a-dog-bites-back.html?id=7"
    >>> group_of(page, "a.org", By.FOLDER)
    'https://a.org/news/uk/'
    >>> group_of(page, "a.org", By.TEMPLATE)
    'https://a.org/news/uk/*/*/*?id=*'
    >>> group_of(page, "a.org", By.SITE)
    'a.org'
    """
    if by is By.SITE:
        return site
    parts = urlsplit(page)
    root = f"{parts.scheme}://{parts.netloc}"
    segments = parts.path.split("/")[1:]
    if by is By.FOLDER:
        return root + "/" + "".join(segment + "/" for segment in _section(segments[:-1]))
    names = [query.partition("=")[0] for query in parts.query.split("&") if query]
    query = "?" + "&".join(f"{name}=*" for name in sorted(names)) if names else ""
    return root + "/" + "/".join("*" if _VARYING.search(segment) else segment for segment in segments) + query


def groups_of(pages: Sequence[str], sites: Sequence[str], by: By) -> list[str]:
    """The group of each page."""
    return [group_of(page, site, by) for page, site in zip(pages, sites, strict=True)]


def seed_of(group: str) -> str:
    """The page where an instant crawler finds a group's new pages: the entry page of the site or folder.

    >>> seed_of("a.org"), seed_of("https://a.org/b/a.asp?p=*")
    ('https://a.org/', 'https://a.org/b/')
    """
    if "://" not in group:
        return f"https://{group}/"
    fixed = group.partition("?")[0].partition("*")[0]
    return fixed[: fixed.rindex("/") + 1]


def _section(folders: list[str]) -> list[str]:
    for i, folder in enumerate(folders):
        if _VARYING.search(folder):
            return folders[:i]
    return folders


@dataclass(frozen=True, slots=True)
class Analysis:
    """The results for a log's pages and their groups; all arrays and lists of pages have the same order."""

    log: PageViews
    curves: Curves
    threshold: Threshold
    temporal: NDArray[np.bool_]
    groups: list[str]
    ranked: list[Ranked]

    def by_site(self, own: Mapping[str, Threshold]) -> Analysis:
        """The same curves, classified by each site's own threshold if it has one, and ranked again."""
        temporal = classify(self.curves, self.log.sites, own, self.threshold)
        ranked = rank(self.groups, self.log.views.sum(axis=1), temporal, self.curves.known)
        return replace(self, temporal=temporal, ranked=ranked)

    def worth(self, chosen: Sequence[Ranked]) -> Worth:
        """The quality of a choice of groups, according to the classification."""
        return worth(chosen, self.groups, self.temporal)


def analyse(
    log: PageViews,
    threshold: Threshold | None = None,
    by: By = By.SITE,
    progress: Callable[[int], None] = lambda _: None,
) -> Analysis:
    """Fit, classify and rank. ``progress`` is called with the number of pages of each fitted batch."""
    threshold = threshold or Threshold()
    curves = fit(log.views, threshold, progress=progress)
    temporal = threshold.temporal(curves)
    groups = groups_of(log.pages, log.sites, by)
    ranked = rank(groups, log.views.sum(axis=1), temporal, curves.known)
    return Analysis(log, curves, threshold, temporal, groups, ranked)


# -- a threshold for each site: news lives longer in a weekly than at a wire service -----------------------------------

# It is chosen from the site's own labelled pages. Its gain is measured on pages that were held out, since a threshold
# always does well on the pages it was chosen from.


LEAST = 20  #: labelled pages, of both classes, that a site needs for its own threshold
FOLDS = 5


def site_thresholds(labels: Flags, curves: Curves, sites: Sequence[str]) -> dict[str, Threshold]:
    """The threshold of highest reward for each site with enough labelled pages; arrays hold the labelled pages."""
    chosen = {}
    for site, at in _pages_of(sites).items():
        if len(at) >= LEAST and 0 < labels[at].sum() < len(at):
            chosen[site] = best_threshold(labels[at], curves.take(at))[0]
    return chosen


def classify(curves: Curves, sites: Sequence[str], own: Mapping[str, Threshold], otherwise: Threshold) -> Flags:
    """Which pages are temporal, by their site's own threshold or else by ``otherwise``."""
    called = otherwise.temporal(curves)
    for site, at in _pages_of(sites).items():
        if site in own:
            called[at] = own[site].temporal(curves.take(at))
    return called


def held_out(labels: Flags, curves: Curves, sites: Sequence[str]) -> tuple[int, int]:
    """Cross-validated rewards (five folds) of one threshold for all sites, and of one per site."""
    one = np.zeros(len(labels), np.bool_)
    own = np.zeros(len(labels), np.bool_)
    for fold in range(min(FOLDS, len(labels))):
        tested = list(range(fold, len(labels), FOLDS))
        chosen = np.array([i for i in range(len(labels)) if i % FOLDS != fold], np.int64)
        if not len(chosen):
            continue
        names = [sites[i] for i in chosen.tolist()]
        best, _ = best_threshold(labels[chosen], curves.take(chosen))
        each = site_thresholds(labels[chosen], curves.take(chosen), names)
        rest = curves.take(np.array(tested))
        one[tested] = best.temporal(rest)
        own[tested] = classify(rest, [sites[i] for i in tested], each, best)
    return confusion(labels, curves.known, one).reward, confusion(labels, curves.known, own).reward


def _pages_of(sites: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    pages: dict[str, list[int]] = defaultdict(list)
    for page, site in enumerate(sites):
        pages[site].append(page)
    return {site: np.array(at, np.int64) for site, at in pages.items()}
