"""From pages to seeds: a seed's own page (homepage level), or every page of depth ≤ 2 under it (website level)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.seeds.hacs.histories import UpdateHistories

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.model import Instant
    from sharc_crawler.seeds.hacs.captures import Answered, Captures

DEPTH = 2  #: segments of a path below a website's seed


@dataclass(frozen=True, slots=True)
class SeedHistories:
    """Seeds and the histories of their pages. A change of any page counts as a change of the seed.

    The sum of independent Poisson processes is a Poisson process, so a seed's rate is the sum of its pages' rates.
    """

    urls: list[str]  #: the seeds' URLs
    pages: UpdateHistories
    owners: NDArray[np.int64]  #: shape (pages,), the number of each page's seed
    answered: Mapping[int, Answered] = field(default_factory=dict)  #: seeds with responses but no content

    def __len__(self) -> int:
        return len(self.urls)

    @classmethod
    def of_pages(cls, pages: UpdateHistories) -> SeedHistories:
        """Histories in which every page is a seed."""
        return cls(pages.urls, pages, np.arange(len(pages)))

    def window(self, start: Instant, end: Instant) -> SeedHistories:
        """The same seeds with their captures in [start, end]."""
        answered = {seed: one for seed, one in self.answered.items() if start <= one.last <= end}
        return SeedHistories(self.urls, self.pages.window(start, end), self.owners, answered)

    def select(self, chosen: NDArray[np.bool_]) -> SeedHistories:
        """The chosen seeds with all their pages."""
        pages = np.flatnonzero(chosen[self.owners])
        owners = (np.cumsum(chosen) - 1)[self.owners[pages]]
        urls, place = [self.urls[seed] for seed in np.flatnonzero(chosen)], np.cumsum(chosen) - 1
        answered = {int(place[seed]): one for seed, one in self.answered.items() if chosen[seed]}
        return SeedHistories(urls, self.pages.select(pages), owners, answered)

    def last_seen(self) -> NDArray[np.float64]:
        """The instant of each page's last capture, or else of the last response without content; NaN if none."""
        seen = self.pages.last_seen()
        if self.answered:
            last = np.full(len(self), np.nan)
            last[list(self.answered)] = [one.last for one in self.answered.values()]
            seen = np.where(np.isnan(seen), last[self.owners], seen)
        return seen

    def sum(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Per seed, the sum of its pages' values; NaN counts as 0."""
        return np.bincount(self.owners, np.nan_to_num(values), len(self)).astype(np.float64)

    def latest(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Per seed, the greatest of its pages' values; NaN if all are NaN."""
        out = np.full(len(self), np.nan)
        np.fmax.at(out, self.owners, values)
        return out

    def captures(self) -> NDArray[np.int64]:
        """Captures per seed."""
        return self.sum(self.pages.counts().astype(np.float64)).astype(np.int64)


def homepages(
    seeds: Sequence[str],
    keys: Sequence[str],
    captures: Captures,
    changed: NDArray[np.int8],
    answered: Mapping[str, Answered] | None = None,
) -> SeedHistories:
    """Seeds with the histories of their own pages; a seed without captures has an empty history.

    ``keys``: the seeds' sort keys. ``answered``: by sort key, URLs with responses but no content.
    """
    number = {key: page for page, key in enumerate(captures.keys)}
    pages = np.array([number.get(key, -1) for key in keys], np.int64)
    selected = _selected(captures, changed, pages, seeds)
    return SeedHistories(list(seeds), selected, np.arange(len(seeds)), _by_seed(keys, answered))


def websites(
    seeds: Sequence[str],
    keys: Sequence[str],
    captures: Captures,
    changed: NDArray[np.int8],
    pages: Sequence[int],
    answered: Mapping[str, Answered] | None = None,
) -> SeedHistories:
    """Seeds with the histories of all pages under them, at most two path segments deep; the seed has depth 0.

    ``pages``: numbers of the captured URLs that are pages. Other URLs, such as images, count only if they are seeds.
    """
    counts = np.isin(np.arange(len(captures)), pages)
    pairs = [
        (seed, page)
        for seed, page in pages_under(keys, captures.keys)
        if counts[page] or captures.keys[page] == keys[seed]
    ]
    pairs += [(seed, -1) for seed in set(range(len(keys))) - {seed for seed, _ in pairs}]
    owners, own = np.array(sorted(pairs), np.int64).reshape(-1, 2).T
    selected = _selected(captures, changed, own, [seeds[owner] for owner in owners])
    return SeedHistories(list(seeds), selected, owners, _by_seed(keys, answered))


def pages_under(seeds: Sequence[str], pages: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs (number of a seed, number of a page under it), by their sort keys.

    >>> pages_under(["org,a)/x"], ["org,a)/", "org,a)/x", "org,a)/x/y/z", "org,a)/x/y/z/deep"])
    [(0, 1), (0, 2)]
    """
    roots: dict[str, list[int]] = {}
    for seed, key in enumerate(seeds):
        roots.setdefault(_folder(key), []).append(seed)
    return [
        (seed, page)
        for page, key in enumerate(pages)
        for root in _above(key)
        for seed in roots.get(root, ())
        if root != key or seeds[seed] == key
    ]


def _by_seed(keys: Sequence[str], answered: Mapping[str, Answered] | None) -> dict[int, Answered]:
    return {seed: answered[key] for seed, key in enumerate(keys) if key in answered} if answered else {}


def _folder(key: str) -> str:
    """The prefix of the sort keys of a seed's pages: a file such as ``index.html`` stands for its folder.

    >>> _folder("edu,foo)/~bar/index.html"), _folder("edu,foo)/~bar"), _folder("edu,foo)/")
    ('edu,foo)/~bar', 'edu,foo)/~bar', 'edu,foo)')
    """
    path = key.partition("?")[0].rstrip("/")
    folder, _, name = path.rpartition("/")
    return folder if folder and "." in name else path


def _above(key: str) -> list[str]:
    """The key's own path and those it lies under, nearest first, up to :data:`DEPTH` segments above.

    >>> _above("org,a)/x/y?q"), _above("org,a)/")
    (['org,a)/x/y', 'org,a)/x', 'org,a)'], ['org,a)'])
    """
    path = key.partition("?")[0].rstrip("/")
    steps = [path]
    while len(steps) <= DEPTH and "/" in path:
        path = path.rpartition("/")[0]
        steps.append(path)
    return steps


def _selected(
    captures: Captures, changed: NDArray[np.int8], pages: NDArray[np.int64], urls: Sequence[str]
) -> UpdateHistories:
    """The histories of some pages in a given order; -1 stands for a page without captures."""
    known = UpdateHistories(
        [*captures.urls, ""], np.append(captures.offsets, captures.offsets[-1]), captures.times, changed
    )
    named = [captures.urls[page] if page >= 0 else url for page, url in zip(pages.tolist(), urls, strict=True)]
    return replace(known.select(pages), urls=named)  # the last page, -1, is the empty one
