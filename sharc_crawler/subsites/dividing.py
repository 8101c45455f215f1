"""Divide the tree of a site's parts into parts to capture: as large as possible, and not too many."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sharc_crawler.subsites.base import Branch, Labels

Whole = Callable[[NDArray[np.int64]], bool]

FEWEST = 10  #: minimum of pages per part, if the part above has more
MOST = 50  #: a part has at least this fraction (1/MOST) of the site's pages


class Part(NamedTuple):
    """Pages captured together."""

    name: str
    branches: tuple[Branch, ...]
    places: NDArray[np.int64]  #: indices of its pages, ascending


def fewest_pages(size: int) -> int:
    """Return the minimum of pages per part, for a site of this size."""
    return max(FEWEST, size // MOST)


def divide(labels: Sequence[Labels], name: str, fewest: int, whole: Whole) -> list[Part]:
    """Divide pages into parts.

    From the top down, a part that is ``whole`` stays together; else it falls into the parts within it. Parts with fewer
    than ``fewest`` pages stay together as "others". If these are not whole, they are grouped in the order of their
    names into groups of at least so many pages. Neighbours are joined as long as they are whole.

    Parameters
    ----------
    labels: of each page
    name: of all pages together, if only the site contains them
    whole: should the pages with these indices stay together?

    >>> pages = [("a", "a/x"), ("a", "a/x"), ("a", "a/y"), ("b",)]
    >>> [part.name for part in divide(pages, "all", 1, lambda places: len(places) < 3)]
    ['a/x', 'a/y … b']

    """
    everything = Part(name, (Branch(()),), np.arange(len(labels), dtype=np.int64))
    node = _common(labels)
    part = everything._replace(name=node[-1], branches=(Branch(node),)) if node else everything
    return _distinct(_Divider(labels, fewest, whole).parts(part, node)) if len(labels) else []


def _distinct(parts: list[Part]) -> list[Part]:
    """Make the names of parts unique: a site may have the name of one of its hosts."""
    names = Counter(part.name for part in parts)
    seen: Counter[str] = Counter()
    for number, part in enumerate(parts):
        seen[part.name] += 1
        if names[part.name] > 1:
            parts[number] = part._replace(name=f"{part.name} ({seen[part.name]})")
    return parts


def _common(labels: Sequence[Labels]) -> Labels:
    """Return the smallest part that contains all pages."""
    first = min(labels, default=())
    last = max(labels, default=())
    depth = 0
    while depth < min(len(first), len(last)) and first[depth] == last[depth]:
        depth += 1
    node = first[:depth]
    return node[:-1] if node[-1:] == tuple(f"{name}*" for name in node[-2:-1]) else node


class _Divider(NamedTuple):
    """The arguments of :func:`divide`."""

    labels: Sequence[Labels]
    fewest: int
    whole: Whole

    def parts(self, part: Part, node: Labels) -> list[Part]:
        """Return a part whole or divided; ``node``: its place in the tree."""
        if self.whole(part.places):
            return [part]
        within = self._within(part, len(node))
        if len(within) == 1 and f"{part.name}*" not in within:
            (child,) = within
            return self.parts(_part(node, child, within[child]), (*node, child))
        if len(within) < 2:
            return [part]
        large = sorted(child for child, places in within.items() if len(places) >= self.fewest)
        found = [part for child in large for part in self.parts(_part(node, child, within[child]), (*node, child))]
        small = {child: within[child] for child in sorted(within.keys() - set(large))}
        if not small:
            return self._join(found)
        name = f"{part.name}, others" if large else part.name
        others = Part(name, (Branch(node, frozenset(large)),), _sorted(*small.values()))
        return self._with_others(self._join(found), others, small)

    def _within(self, part: Part, depth: int) -> dict[str, list[int]]:
        """Return indices by the parts within; nothing if a page is in no smaller part."""
        within: dict[str, list[int]] = defaultdict(list)
        for place in part.places.tolist():
            if len(self.labels[place]) == depth:
                return {}
            within[self.labels[place][depth]].append(place)
        return within

    def _with_others(self, joined: list[Part], others: Part, small: Mapping[str, list[int]]) -> list[Part]:
        """Group the small parts together or by names, or join few pages to a large part that stays whole."""
        if len(others.places) < self.fewest:
            for number, part in enumerate(joined):
                both = _together(part, others, part.name)
                if self.whole(both.places):
                    return [*joined[:number], both, *joined[number + 1 :]]
        if len(others.places) < 2 * self.fewest or self.whole(others.places):
            return [*joined, others]
        return [*joined, *self._join(self._by_name(others.branches[0], small))]

    def _by_name(self, branch: Branch, small: Mapping[str, list[int]]) -> list[Part]:
        """Group small parts in the order of their names, until each group has ``fewest`` pages."""
        spans: list[list[str]] = [[]]
        left, pages = sum(map(len, small.values())), 0
        for child, own in small.items():
            if pages >= self.fewest and left >= self.fewest:
                spans.append([])
                pages = 0
            spans[-1].append(child)
            pages, left = pages + len(own), left - len(own)
        return [
            Part(
                f"{span[0]} … {span[-1]}",
                (branch._replace(span=(span[0], span[-1])),),
                _sorted(*(small[child] for child in span)),
            )
            for span in spans
        ]

    def _join(self, parts: list[Part]) -> list[Part]:
        """Join neighbours as long as they are whole."""
        joined: list[Part] = []
        for part in parts:
            if joined:
                first, last = joined[-1].name.partition(" … ")[0], part.name.rpartition(" … ")[2]
                both = _together(joined[-1], part, f"{first} … {last}")
                if self.whole(both.places):
                    joined[-1] = both
                    continue
            joined.append(part)
        return joined


def _part(node: Labels, child: str, places: list[int]) -> Part:
    return Part(child, (Branch((*node, child)),), np.array(places, np.int64))


def _together(first: Part, second: Part, name: str) -> Part:
    return Part(name, first.branches + second.branches, _sorted(first.places, second.places))


def _sorted(*places: ArrayLike) -> NDArray[np.int64]:
    """Return all indices, ascending."""
    every: NDArray[np.int64] = np.sort(np.concatenate([np.asarray(some, np.int64) for some in places]))
    return every
