"""The port of partitions: each page's place in the tree of a site's parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

#: the parts that contain a page, from coarsest to finest, each with its full name; pages directly in a part that has
#: parts of its own are named as that part with a star
Labels = tuple[str, ...]


def _none() -> NDArray[np.int64]:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class KnownPages:
    """A capture's known pages, in the order of discovery."""

    urls: Sequence[str]
    sitemaps: Sequence[Labels]  #: the sitemaps that name each page, from index to file; (): none
    sources: NDArray[np.int64] = field(default_factory=_none)  #: sources of links, as indices into ``urls``
    targets: NDArray[np.int64] = field(default_factory=_none)


class Partition(Protocol):
    """A way to divide a site."""

    by_links: bool  #: does it use links?

    def labels(self, known: KnownPages) -> list[Labels]:
        """Return the labels of each page; deterministic."""

    def label(self, url: str, sitemaps: Labels, found_on: Labels) -> Labels:
        """Return the labels of a page found later, on a page with the labels ``found_on``."""


class Branch(NamedTuple):
    """A part of the tree, or a range of the parts directly within it, except some."""

    root: Labels
    without: frozenset[str] = frozenset()
    span: tuple[str, str] | None = None  #: first and last name of the range; None: all

    def holds(self, labels: Labels) -> bool:
        """Does it contain a page with these labels?"""
        depth = len(self.root)
        if labels[:depth] != self.root or len(labels) == depth:
            return labels == self.root and self.span is None
        name = labels[depth]
        return name not in self.without and (self.span is None or self.span[0] <= name <= self.span[1])
