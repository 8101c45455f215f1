"""From the tree of a site's parts to those that stand for themselves: as large as may be, and not too many."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from sharc_crawler.subsites.base import Labels

    Whole = Callable[[NDArray[np.int64]], bool]

FEWEST = 10  #: pages of a part, where the part above has more
MOST = 50  #: a part has at least one page in so many of the site


class Branch(NamedTuple):
    """A part of the tree, but for some parts directly within it."""

    root: Labels
    without: frozenset[str] = frozenset()

    def holds(self, labels: Labels) -> bool:
        """Does a page with these labels lie in it?"""
        depth = len(self.root)
        return labels[:depth] == self.root and (len(labels) == depth or labels[depth] not in self.without)


class Part(NamedTuple):
    """Pages that stand together."""

    name: str
    branches: tuple[Branch, ...]
    places: NDArray[np.int64]  #: of its pages, in the order of discovery


def fewest_pages(size: int) -> int:
    """How few pages a part of a site of this size may have."""
    return max(FEWEST, size // MOST)


def divide(labels: Sequence[Labels], name: str, fewest: int, whole: Whole) -> list[Part]:
    """Divide pages into parts.

    From the top down: what is ``whole`` stays together, anything else falls into the parts within it. Of these, the
    ones with fewer than ``fewest`` pages stay together as the others of the part above, and neighbours are joined as
    long as they are whole together.

    Parameters
    ----------
    labels: of each page
    name: of all pages together, where no part but the site holds them
    whole: whether the pages at these places are to stand together

    >>> pages = [("a", "a/x"), ("a", "a/x"), ("a", "a/y"), ("b",)]
    >>> [part.name for part in divide(pages, "all", 1, lambda places: len(places) < 3)]
    ['a/x', 'a/y … b']

    """
    everything = Part(name, (Branch(()),), np.arange(len(labels), dtype=np.int64))
    node = _common(labels)
    part = Part(node[-1], (Branch(node),), everything.places) if node else everything
    return _parts(labels, part, node, fewest, whole) if len(labels) else []


def _common(labels: Sequence[Labels]) -> Labels:
    """The smallest part that holds all pages."""
    first = min(labels, default=())
    last = max(labels, default=())
    depth = 0
    while depth < min(len(first), len(last)) and first[depth] == last[depth]:
        depth += 1
    node = first[:depth]
    return node[:-1] if node[-1:] == tuple(f"{name}*" for name in node[-2:-1]) else node


def _parts(labels: Sequence[Labels], part: Part, node: Labels, fewest: int, whole: Whole) -> list[Part]:
    if whole(part.places):
        return [part]
    depth = len(node)
    within: dict[str, list[int]] = defaultdict(list)
    for place in part.places.tolist():
        if len(labels[place]) == depth:  # it cannot be divided further
            return [part]
        within[labels[place][depth]].append(place)
    if len(within) == 1:
        (child,) = within
        if child == f"{part.name}*":
            return [part]
        return _parts(labels, _part((*node, child), within[child]), (*node, child), fewest, whole)
    large = sorted(child for child, places in within.items() if len(places) >= fewest)
    found = [
        one
        for child in large
        for one in _parts(labels, _part((*node, child), within[child]), (*node, child), fewest, whole)
    ]
    joined = _join(found, whole)
    others = sorted(place for child in within.keys() - set(large) for place in within[child])
    return _with_others(joined, _others(part, node, large, others), fewest, whole) if others else joined


def _part(node: Labels, places: Iterable[int]) -> Part:
    return Part(node[-1], (Branch(node),), np.array(list(places), np.int64))


def _others(part: Part, node: Labels, large: Sequence[str], places: list[int]) -> Part:
    """The small parts of a part, together."""
    if not large:
        return part
    name = f"{part.name}, others"
    return Part(name, (Branch(node, frozenset(large)),), np.array(places, np.int64))


def _with_others(joined: list[Part], others: Part, fewest: int, whole: Whole) -> list[Part]:
    """The others stand for themselves, unless they are few and a part stays whole with them."""
    if joined and len(others.places) < fewest:
        for number, part in enumerate(joined):
            both = _together(part, others, part.name)
            if whole(both.places):
                return [*joined[:number], both, *joined[number + 1 :]]
    return [*joined, others]


def _join(parts: list[Part], whole: Whole) -> list[Part]:
    joined: list[Part] = []
    for part in parts:
        if joined:
            first = joined[-1].name.partition(" … ")[0]
            both = _together(joined[-1], part, f"{first} … {part.name}")
            if whole(both.places):
                joined[-1] = both
                continue
        joined.append(part)
    return joined


def _together(one: Part, other: Part, name: str) -> Part:
    return Part(name, one.branches + other.branches, np.sort(np.concatenate((one.places, other.places))))
