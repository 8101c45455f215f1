"""The port of partitions: where each page lies in the tree of a site's parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

#: the parts that a page lies in, from the coarsest to the finest; each is named in full, and what lies directly in a
#: part that has parts of its own is named as that part with a star
Labels = tuple[str, ...]


def _none() -> NDArray[np.int64]:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class KnownPages:
    """What is known of a capture's pages, in the order of discovery."""

    urls: Sequence[str]
    sitemaps: Sequence[Labels]  #: that name each page, from the index down to the file; (): none does
    sources: NDArray[np.int64] = field(default_factory=_none)  #: of links, as places in ``urls``
    targets: NDArray[np.int64] = field(default_factory=_none)


class Partition(Protocol):
    """A way to divide a site."""

    by_links: bool  #: whether it looks at links

    def labels(self, known: KnownPages) -> list[Labels]:
        """The labels of each page; the same for the same pages, whatever else happens."""

    def label(self, url: str, sitemaps: Labels, found_on: Labels) -> Labels:
        """The labels of a page that was found since, on a page with the labels ``found_on``."""


class Branch(NamedTuple):
    """A part of the tree, or those directly within it from one name to another, but for some."""

    root: Labels
    without: frozenset[str] = frozenset()
    span: tuple[str, str] | None = None  #: first and last name; None: all

    def holds(self, labels: Labels) -> bool:
        """Does a page with these labels lie in it?"""
        depth = len(self.root)
        if labels[:depth] != self.root or len(labels) == depth:
            return labels == self.root and self.span is None
        name = labels[depth]
        return name not in self.without and (self.span is None or self.span[0] <= name <= self.span[1])
