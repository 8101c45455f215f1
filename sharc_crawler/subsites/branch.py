"""A part of a site as a place in the tree of its parts: what a store keeps of it."""

from __future__ import annotations

from typing import NamedTuple

from sharc_crawler.subsites.base import Labels


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
