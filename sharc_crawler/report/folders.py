"""Choose the folders by which a report divides a site that was captured as a whole."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sharc_crawler.subsites.base import Labels
from sharc_crawler.subsites.path import ByPath

MOST = 20  #: most folders that are listed
FEWEST = 10  #: least pages of a folder that is divided further
OTHERS = "other folders"


class _FolderPages(NamedTuple):
    name: str
    depth: int
    labels: tuple[Labels, ...]
    pages: int


def told_apart(urls: Sequence[str], pages: Mapping[int, int], site: str) -> tuple[list[str], list[int]]:
    """The names of the parts, and the part of each folder.

    ``urls``: a URL of each folder; ``pages``: number of pages directly in it.
    """
    labels = [tuple(map(sys.intern, ByPath().label(url, (), ()))) for url in urls]
    numbers = Counter[tuple[str, ...]]()
    for folder, one in enumerate(labels):
        numbers[one] += pages[folder]
    named = folders(numbers, site)
    names = sorted(set(named.values()), key=lambda name: (name == OTHERS, name))
    return names, [names.index(named[one]) for one in labels]


def folders(pages: Mapping[Labels, int], site: str) -> dict[Labels, str]:
    """The listed folder of pages with these labels (:class:`~sharc_crawler.subsites.path.ByPath`) → number of pages.

    The largest folder is replaced by those in it, as long as they are few. ``site``: the name if only one is left.

    >>> numbers = {("h", "h/*"): 2, ("h", "h/a/", "h/a/*"): 9, ("h", "h/a/", "h/a/b/", "h/a/b/*"): 9, ("i", "i/*"): 1}
    >>> sorted(set(folders(numbers, "h").values()))
    ['h/*', 'h/a/*', 'h/a/b/', 'i']
    """
    waiting = _first(_FolderPages(site, 0, tuple(pages), sum(pages.values())), pages)
    found: list[_FolderPages] = []
    while waiting:
        largest = max(waiting, key=lambda one: one.pages)
        waiting.remove(largest)
        inner = _within(largest, pages) if largest.pages >= FEWEST and largest.name != OTHERS else []
        if len(inner) > 1 and len(found) + len(waiting) + len(inner) <= MOST:
            waiting += inner
        else:
            found.append(largest)
    if len(found) == 1:
        found = [found[0]._replace(name=site)]
    return {labels: one.name for one in found for labels in one.labels}


def _first(whole: _FolderPages, pages: Mapping[Labels, int]) -> list[_FolderPages]:
    """The folders directly below the common one; if they are too many, the largest, and the others together."""
    inner = [whole]
    while len(inner) == 1 and (deeper := _within(inner[0], pages)):
        inner = deeper
    if len(inner) <= MOST:
        return inner
    inner.sort(key=lambda one: -one.pages)
    small = inner[MOST - 1 :]
    labels = tuple(one for folder in small for one in folder.labels)
    return [*inner[: MOST - 1], _FolderPages(OTHERS, 0, labels, sum(folder.pages for folder in small))]


def _within(folder: _FolderPages, pages: Mapping[Labels, int]) -> list[_FolderPages]:
    """The folders in a folder, and the pages directly in it."""
    inner: dict[str, list[Labels]] = defaultdict(list)
    for labels in folder.labels:
        if len(labels) > folder.depth:
            inner[labels[folder.depth]].append(labels)
    return [
        _FolderPages(name, folder.depth + 1, tuple(some), sum(pages[labels] for labels in some))
        for name, some in inner.items()
    ]
