"""From the tree of a site's parts to those that stand for themselves: as large as may be, and not too many."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sharc_crawler.subsites.base import Branch, Labels

Whole = Callable[[NDArray[np.int64]], bool]

FEWEST = 10  #: pages of a part, where the part above has more
MOST = 50  #: a part has at least one page in so many of the site


class Part(NamedTuple):
    """Pages that are captured together."""

    name: str
    branches: tuple[Branch, ...]
    places: NDArray[np.int64]  #: of its pages, in the order of discovery


def fewest_pages(size: int) -> int:
    """How few pages a part of a site of this size may have."""
    return max(FEWEST, size // MOST)


def divide(labels: Sequence[Labels], name: str, fewest: int, whole: Whole) -> list[Part]:
    """Divide pages into parts.

    From the top down: what is ``whole`` stays together, anything else falls into the parts within it. Of these, the
    ones with fewer than ``fewest`` pages stay together as the others of the part above or, where these are not whole,
    in the order of their names as many as make up so many pages. Neighbours are joined as long as they are whole.

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
    part = everything._replace(name=node[-1], branches=(Branch(node),)) if node else everything
    return _distinct(_Divider(labels, fewest, whole).parts(part, node)) if len(labels) else []


def _distinct(parts: list[Part]) -> list[Part]:
    """A site may bear the name of one of its hosts, and each have others: no two parts have one name."""
    names = Counter(part.name for part in parts)
    met: Counter[str] = Counter()
    for number, part in enumerate(parts):
        met[part.name] += 1
        if names[part.name] > 1:
            parts[number] = part._replace(name=f"{part.name} ({met[part.name]})")
    return parts


def _common(labels: Sequence[Labels]) -> Labels:
    """The smallest part that holds all pages."""
    first = min(labels, default=())
    last = max(labels, default=())
    depth = 0
    while depth < min(len(first), len(last)) and first[depth] == last[depth]:
        depth += 1
    node = first[:depth]
    return node[:-1] if node[-1:] == tuple(f"{name}*" for name in node[-2:-1]) else node


class _Divider(NamedTuple):
    """What :func:`divide` is given."""

    labels: Sequence[Labels]
    fewest: int
    whole: Whole

    def parts(self, part: Part, node: Labels) -> list[Part]:
        """A part, as it is or divided; ``node`` is where it stands in the tree."""
        if self.whole(part.places):
            return [part]
        within = self._within(part, len(node))
        if len(within) == 1 and f"{part.name}*" not in within:
            (child,) = within
            return self.parts(_part(node, child, within[child]), (*node, child))
        if len(within) < 2:
            return [part]
        large = sorted(child for child, places in within.items() if len(places) >= self.fewest)
        found = [one for child in large for one in self.parts(_part(node, child, within[child]), (*node, child))]
        small = {child: within[child] for child in sorted(within.keys() - set(large))}
        if not small:
            return self._join(found)
        name = f"{part.name}, others" if large else part.name
        others = Part(name, (Branch(node, frozenset(large)),), _sorted(*small.values()))
        return self._with_others(self._join(found), others, small)

    def _within(self, part: Part, depth: int) -> dict[str, list[int]]:
        """Places by the parts within; none where a page is in no smaller one."""
        within: dict[str, list[int]] = defaultdict(list)
        for place in part.places.tolist():
            if len(self.labels[place]) == depth:
                return {}
            within[self.labels[place][depth]].append(place)
        return within

    def _with_others(self, joined: list[Part], others: Part, small: Mapping[str, list[int]]) -> list[Part]:
        """The small parts stand together, or by names; few of them go with a large one that stays whole."""
        if len(others.places) < self.fewest:
            for number, one in enumerate(joined):
                both = _together(one, others, one.name)
                if self.whole(both.places):
                    return [*joined[:number], both, *joined[number + 1 :]]
        if len(others.places) < 2 * self.fewest or self.whole(others.places):
            return [*joined, others]
        return [*joined, *self._join(self._by_name(others.branches[0], small))]

    def _by_name(self, branch: Branch, small: Mapping[str, list[int]]) -> list[Part]:
        """Small parts in the order of their names, as many together as make up ``fewest`` pages."""
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
        """Neighbours together, as long as they are whole."""
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


def _together(one: Part, other: Part, name: str) -> Part:
    return Part(name, one.branches + other.branches, _sorted(one.places, other.places))


def _sorted(*places: ArrayLike) -> NDArray[np.int64]:
    """All places, in the order of discovery."""
    every: NDArray[np.int64] = np.sort(np.concatenate([np.asarray(some, np.int64) for some in places]))
    return every
