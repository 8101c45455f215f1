"""Link graphs, as of an instant."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

from sharc_crawler.model import Instant


class Graph(Protocol):
    """The links between pages."""

    def links(self, page: int, now: Instant) -> Sequence[int]:
        """The targets of a page's links at an instant, in the page's order."""


class Tree:
    """Pages numbered level by level; each has the next ``outdegree`` pages as children, in random order.

    >>> tree = Tree(6, 2)
    >>> sorted(tree.links(1, 0.0)), sorted(tree.links(2, 0.0)), sorted(tree.links(3, 0.0))
    ([3, 4], [5], [])
    """

    def __init__(self, size: int, outdegree: int, seed: int = 0) -> None:
        self.size = size
        self.outdegree = outdegree
        self.seed = seed

    def links(self, page: int, now: Instant) -> Sequence[int]:  # noqa: ARG002 - never changes
        """The children; always in the same order."""
        first = page * self.outdegree + 1
        children = range(first, min(first + self.outdegree, self.size))
        if len(children) < 2:
            return children
        rng = np.random.default_rng([self.seed, page])
        return rng.permutation(children).tolist()  # type: ignore[no-any-return] # integers


class EventGraph:
    """Links at the start, with those that each later edit added and removed.

    >>> graph = EventGraph({0: [1]}, [(5.0, 0, [2], [1])])
    >>> graph.links(0, 4.9), graph.links(0, 5.0), graph.links(1, 5.0)
    ((1,), (2,), ())
    """

    def __init__(
        self, start: dict[int, list[int]], events: Iterable[tuple[Instant, int, Sequence[int], Sequence[int]]] = ()
    ) -> None:
        self._times: dict[int, list[Instant]] = {}
        self._versions = {page: [tuple(out)] for page, out in start.items()}
        for time, page, added, removed in events:
            self._edit(time, page, added, removed)

    def _edit(self, time: Instant, page: int, added: Sequence[int], removed: Sequence[int]) -> None:
        versions = self._versions.setdefault(page, [()])
        if not added and not removed:
            return
        out = dict.fromkeys(versions[-1])
        for target in removed:
            out.pop(target, None)
        out.update(dict.fromkeys(added))
        versions.append(tuple(out))
        self._times.setdefault(page, []).append(time)

    def links(self, page: int, now: Instant) -> Sequence[int]:
        """The links of the page's version at ``now``."""
        versions = self._versions.get(page)
        if versions is None:
            return ()
        times = self._times.get(page)
        return versions[bisect_right(times, now) if times else 0]


def breadth_first(graph: Graph, root: int, now: Instant, alive: Callable[[int, Instant], bool]) -> list[int]:
    """The pages reachable at an instant, in breadth-first order."""
    seen, queue, order = {root}, deque([root]), []
    while queue:
        page = queue.popleft()
        order.append(page)
        for target in graph.links(page, now):
            if target not in seen and alive(target, now):
                seen.add(target)
                queue.append(target)
    return order
