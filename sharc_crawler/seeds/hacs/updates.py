"""Notions of an update: they decide which captures show that a page was updated since the capture before.

A notion is a function of :class:`Captures` that returns UNKNOWN, UNCHANGED or CHANGED for each capture
(:mod:`sharc_crawler.rates.history`). The first capture of a page is UNKNOWN, as there is none before it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.errors import UsageError
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN
from sharc_crawler.seeds.hacs.captures import NO_DIGEST, Captures

#: built-in notions that need archived documents
READS_LINKS = frozenset({"link-addition", "pdf-link"})


def digest_change(captures: Captures) -> NDArray[np.int8]:
    """The payload's digest differs: any change of bytes. This needs only an index, no documents.

    >>> from sharc_crawler.seeds.hacs.captures import Captures
    >>> digest_change(Captures.of(["org,a)/"], [[1, 2, 3]], [[7, 7, 8]])).tolist()
    [-1, 0, 1]
    """
    return _compared(captures, captures.digests)


def fingerprint_change(captures: Captures) -> NDArray[np.int8]:
    """The content's fingerprint differs: a change of what counts as content."""
    if captures.fingerprints is None:
        raise UsageError("updates='fingerprint' needs our own captures with fingerprints; without, use updates=digest")
    return _compared(captures, captures.fingerprints)


def link_addition(captures: Captures) -> NDArray[np.int8]:
    """There is a link that no earlier capture has: l*(m_i) = l(m_i) − ∪_{k<i} l(m_k) is not empty (section II-B)."""
    return _added(captures, "link-addition", lambda url: True)  # noqa: ARG005 - every link counts


def pdf_link(captures: Captures) -> NDArray[np.int8]:
    """There is a link to a PDF file that no earlier capture has: a publication was added."""
    return _added(captures, "pdf-link", lambda url: url.partition("?")[0].lower().endswith(".pdf"))


def _compared(captures: Captures, digests: NDArray[np.int64]) -> NDArray[np.int8]:
    before = np.concatenate([[NO_DIGEST], digests[:-1]])[: len(digests)]
    changed = np.where(digests == before, UNCHANGED, CHANGED).astype(np.int8)
    changed[captures.firsts() | (digests == NO_DIGEST) | (before == NO_DIGEST)] = UNKNOWN
    return changed


def _added(captures: Captures, name: str, counts: Callable[[str], bool]) -> NDArray[np.int8]:
    if captures.links is None:
        raise UsageError(f"updates={name!r} needs archived documents (WARC, WACZ); for indexes use updates=digest")
    changed = np.full(len(captures.times), UNKNOWN, np.int8)
    for first, last in zip(captures.offsets[:-1], captures.offsets[1:], strict=True):
        seen: set[str] | None = None
        for capture in range(first, last):
            if captures.links[capture] is None:
                continue
            links = {url for url in captures.links[capture] if counts(url)}
            if seen is not None:
                changed[capture] = UNCHANGED if links <= seen else CHANGED
            seen = links | (seen or set())
    return changed
