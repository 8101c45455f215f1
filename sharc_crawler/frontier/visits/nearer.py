"""Pages that lay too far when they were named: links found since may lead there by a shorter way.

An order need not go breadth first: it may come to a page by a long trail before it comes to the list that names it.
"""

from __future__ import annotations

from array import array
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.model import Kind, Sighting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sharc_crawler.frontier.admission import Admitter
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.model import Instant


AT_ONCE = 200_000  #: links that are followed before others are heard: a large site's take seconds


def take_in(ledger: Ledger, admitter: Admitter, now: Instant) -> bool:
    """Admit before T what was left for ``hops``, where it is no further than that by all links known now.

    ``False``: not all links are followed yet; whoever asks goes on with it, by asking again.
    """
    capture, pages = ledger.capture, ledger.pages
    if capture.turned:
        return True
    if capture.ways is None or capture.ways.pages != len(pages):
        capture.ways = ShortestWays(ledger)
    if (depths := capture.ways.after(AT_ONCE)) is None:
        return False
    left, capture.far, capture.ways = capture.far, {}, None
    for url, parent in left.items():
        if (depth := int(depths[parent]) + 1) <= capture.spec.hops:
            admitter.admit(capture, [Sighting(url, Kind.PAGE, pages.urls[parent])], now, parent, depth)
    return True


class ShortestWays:
    """How many links lead from a seed or sitemap to each page, by the shortest way known; found in pieces."""

    def __init__(self, ledger: Ledger) -> None:
        self.pages = len(ledger.pages)  #: that were known when it began
        self._depths = np.array(ledger.pages.depths, np.int64)
        self._left = self._steps(ledger)

    def after(self, links: int) -> NDArray[np.int64] | None:
        """The depth of each page, once about so many ``links`` more are followed; ``None``: that is not enough."""
        for followed in self._left:
            links -= followed
            if links <= 0:
                return None
        return self._depths

    def _steps(self, ledger: Ledger) -> Iterator[int]:
        """How many links each step follows."""
        named, by = array("i"), array("i")  # a large site has many millions of links
        for row in ledger.links():
            named.extend(row.targets)
            by.extend(repeat(row.page, len(row.targets)))
            yield len(row.targets)
        targets, sources, moved = np.asarray(named), np.asarray(by), np.ones(self.pages, np.bool_)
        while moved.any():
            followed = moved[sources]
            nearer = self._depths.copy()
            np.minimum.at(nearer, targets[followed], self._depths[sources[followed]] + 1)
            moved, self._depths = nearer < self._depths, nearer
            yield len(targets)
