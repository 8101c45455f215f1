"""Rows of observations to columns of a :class:`~sharc_crawler.rates.history.SiteHistory`."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from sharc_crawler.model import Change, Result, Url
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

BATCH = 10_000  #: rows whose texts are held at a time
#: results that say what state a page was in; after the others it is as if nobody had looked
_ACCESSES = frozenset({Result.OK.value, Result.NOT_MODIFIED.value, Result.GONE.value, Result.REDIRECTED.value})
_BITS = {Change.CHANGED.value: CHANGED, Change.UNCHANGED.value: UNCHANGED, Change.UNKNOWN.value: UNKNOWN}

Row = tuple[Any, ...]


def site_history(site: str, rows: Iterable[Row]) -> SiteHistory:
    """A site's history from rows ``url, time, result, change, digest, fingerprint, lastmod, precision, last_modified``.

    The rows are in the order of URLs, then of time. A change left UNKNOWN is decided by equal or different digests
    where both accesses have one, and by a 304 answer. A change is one of content: where only bytes changed that do not
    count (equal fingerprints), there was none.
    """
    urls: list[Url] = []
    starts, bits = [np.zeros(0, np.int64)], [np.zeros(0, np.int8)]
    columns = [np.zeros((4, 0))]
    seen = 0
    for batch in _batches(rows):
        names, times, results, changes, digests, fingerprints, *said = zip(*batch, strict=True)
        first = _first(names)
        urls += (Url(names[at]) for at in first.tolist())
        starts.append(first + seen)
        bits.append(_bits(first, np.array(results, object), changes, digests, fingerprints))
        columns.append(np.array([times, *said], np.float64))  # None becomes NaN
        seen += len(batch)
    offsets = np.concatenate([*starts, [seen]])
    times_, lastmods, precisions, modified = np.concatenate(columns, axis=1)
    return SiteHistory(site, urls, offsets, times_, np.concatenate(bits), lastmods, precisions, modified)


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The accesses, many at a time, all of a URL together."""
    source = (row for row in rows if row[2] in _ACCESSES)
    held: list[Row] = []
    while more := list(islice(source, BATCH)):
        held += more
        cut = int(_first([row[0] for row in held])[-1])  # the last URL may go on
        if cut:
            yield held[:cut]
            held = held[cut:]
    if held:
        yield held


def _first(names: Iterable[str]) -> NDArray[np.int64]:
    """The places of each URL's first row."""
    named = np.array(names, object)
    return np.flatnonzero(np.append(True, named[1:] != named[:-1]))


def _bits(
    first: NDArray[np.int64],
    results: NDArray[np.object_],
    changes: Iterable[str],
    digests: Row,
    fingerprints: Row,
) -> NDArray[np.int8]:
    """What is known of the interval between each access and the URL's one before; UNKNOWN of the first."""
    bits = np.array([_BITS[change] for change in changes], np.int8)
    bits[(results == Result.NOT_MODIFIED.value) & (bits == UNKNOWN)] = UNCHANGED
    bits[first] = UNKNOWN
    before = _before(first, results)
    for at in np.flatnonzero((bits != UNCHANGED) & (before >= 0)).tolist():
        last = before[at]
        if bits[at] == UNKNOWN and digests[last] is not None and digests[at] is not None:
            bits[at] = UNCHANGED if digests[last] == digests[at] else CHANGED
        shown = results[last] == results[at] == Result.OK.value and fingerprints[at] is not None
        if bits[at] == CHANGED and shown and fingerprints[last] == fingerprints[at]:
            bits[at] = UNCHANGED
    return bits


def _before(first: NDArray[np.int64], results: NDArray[np.object_]) -> NDArray[np.int64]:
    """Where the URL told of its content before, of accesses that do so themselves; -1 where nowhere."""
    page = np.zeros(len(results), np.int64)
    page[first] = 1
    page = np.cumsum(page)
    telling = np.flatnonzero(results != Result.NOT_MODIFIED.value)  # a 304 has no digest of its own
    before = np.full(len(results), -1)
    same = page[telling[1:]] == page[telling[:-1]]
    before[telling[1:][same]] = telling[:-1][same]
    return before
