"""Subsites by links: communities of pages that link to each other more than by chance (Louvain's method).

V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre: Fast unfolding of communities in large networks, 2008.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np

from sharc_crawler import extras

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    from sharc_crawler.subsites.base import KnownPages, Labels

LEVELS = 3  #: depth of communities within communities
SMALLEST = 20  #: communities with more pages are divided further
UNLINKED = "linked to nothing known"


class ByLinks:
    """Communities of the link graph, and communities within each, named after their most linked page.

    Pages found later join the community of the page naming them. Needs scikit-network.
    """

    by_links = True

    def __init__(self) -> None:
        extras.check("subsites=links", "sknetwork", ", or divide by path or sitemap")

    def labels(self, known: KnownPages) -> list[Labels]:
        """Return the labels of each page; deterministic."""
        size = len(known.urls)
        labels: list[Labels] = [(UNLINKED,)] * size
        if len(known.sources):
            graph = _graph(known.sources, known.targets, size)
            linked = np.flatnonzero(np.asarray(graph.sum(axis=0)).ravel() + np.asarray(graph.sum(axis=1)).ravel())
            for place in linked.tolist():
                labels[place] = ()
            _divide(graph, linked, known, labels, LEVELS)
        return labels

    def label(self, url: str, sitemaps: Labels, found_on: Labels) -> Labels:  # noqa: ARG002 - the port's signature
        """Return the labels of a page."""
        return found_on or (UNLINKED,)


def _graph(sources: NDArray[np.int64], targets: NDArray[np.int64], size: int) -> csr_matrix:
    from scipy import sparse

    apart = sources != targets
    ends = sources[apart], targets[apart]
    graph = sparse.csr_matrix((np.ones(len(ends[0])), ends), shape=(size, size))
    graph.data[:] = 1.0  # repeated links mean little
    return graph


def _divide(graph: csr_matrix, places: NDArray[np.int64], known: KnownPages, labels: list[Labels], levels: int) -> None:
    """Add communities, and those within them, to the labels of these pages."""
    own = graph[places][:, places]
    found = _communities(own)
    if found.max() == 0:
        return
    popular = np.asarray(own.sum(axis=0)).ravel()
    for community in range(int(found.max()) + 1):
        members = np.flatnonzero(found == community)
        name = f"around {_short(known.urls[places[members[np.argmax(popular[members])]]])}"
        pages = places[members]
        for place in pages.tolist():
            labels[place] = (*labels[place], name)
        if levels > 1 and len(pages) > SMALLEST:
            _divide(graph, pages, known, labels, levels - 1)


def _communities(graph: csr_matrix) -> NDArray[np.int64]:
    """Return the number of each node's community, from 0."""
    from sknetwork.clustering import Louvain

    if not graph.nnz:
        return np.zeros(graph.shape[0], np.int64)
    found: NDArray[np.int64] = Louvain(shuffle_nodes=False, random_state=0).fit_predict(graph).astype(np.int64)
    return found


def _short(url: str) -> str:
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.netloc}{parts.path}{query}" or url
