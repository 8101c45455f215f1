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
    from numpy.typing import NDArray

    from sharc_crawler.frontier.admission import Admitter
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.model import Instant


def take_in(ledger: Ledger, admitter: Admitter, now: Instant) -> None:
    """Admit before T what was left for ``hops``, where it is no further than that by all links known now."""
    capture, pages = ledger.capture, ledger.pages
    if capture.turned:
        return
    left, capture.far = capture.far, {}
    depths = shortest(ledger)
    for url, parent in left.items():
        if (depth := int(depths[parent]) + 1) <= capture.spec.hops:
            admitter.admit(capture, [Sighting(url, Kind.PAGE, pages.urls[parent])], now, parent, depth)


def shortest(ledger: Ledger) -> NDArray[np.int64]:
    """By page, the links from a seed or sitemap to it, by the shortest way known."""
    depths = np.array(ledger.pages.depths, np.int64)
    named, by = array("i"), array("i")  # a large site has many millions of links
    for row in ledger.links():
        named.extend(row.targets)
        by.extend(repeat(row.page, len(row.targets)))
    targets, sources = np.asarray(named), np.asarray(by)
    moved = np.ones(len(depths), np.bool_)
    while moved.any():
        followed = moved[sources]
        nearer = depths.copy()
        np.minimum.at(nearer, targets[followed], depths[sources[followed]] + 1)
        moved, depths = nearer < depths, nearer
    return depths
