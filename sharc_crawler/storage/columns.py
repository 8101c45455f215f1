"""Rows of observations to columns of a :class:`~sharc_crawler.rates.history.SiteHistory`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.changes.masks import same_content
from sharc_crawler.model import Url
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory

BATCH = 10_000  #: rows whose texts are held at a time
_OK, _NOT_MODIFIED, _OTHER = range(3)
_BITS = {True: UNCHANGED, False: CHANGED, None: UNKNOWN}  #: by whether the content is the same
#: results that say what state a page was in; after the others it is as if nobody had looked
ACCESSED = "result IN ('ok', 'not-modified', 'gone', 'redirected')"
#: after the number of a URL; results and changes as numbers
SELECTED = f"""time, lastmod, lastmod_precision, last_modified,
    CASE result WHEN 'ok' THEN {_OK} WHEN 'not-modified' THEN {_NOT_MODIFIED} ELSE {_OTHER} END,
    CASE change WHEN 'changed' THEN {CHANGED} WHEN 'unchanged' THEN {UNCHANGED} ELSE {UNKNOWN} END,
    coalesce(decoded, digest), fingerprint"""

Row = tuple[Any, ...]


def site_history(site: str, names: Mapping[int, Url], rows: Iterable[Row]) -> SiteHistory:
    """A site's history from rows of :data:`ACCESSED`: the number of a URL, then what is :data:`SELECTED`.

    The rows are in the order of URLs, then of time. A change left UNKNOWN is decided by equal or different digests
    where both accesses have one, and by a 304 answer. A change is one of content: where only bytes changed that do not
    count (equal fingerprints), there was none. Of different ones under different masks nothing is known.
    """
    urls: list[Url] = []
    starts, bits = [np.zeros(0, np.int64)], [np.zeros(0, np.int8)]
    columns = [np.zeros((4, 0))]
    seen = 0
    for batch in _batches(rows):
        numbers, *said, results, changes, digests, fingerprints = zip(*batch, strict=True)
        first = _first(numbers)
        urls += (names[numbers[at]] for at in first.tolist())
        starts.append(first + seen)
        bits.append(_bits(first, np.array(results, np.int8), np.array(changes, np.int8), digests, fingerprints))
        columns.append(np.array(said, np.float64))  # None becomes NaN
        seen += len(batch)
    offsets = np.concatenate([*starts, [seen]])
    times_, lastmods, precisions, modified = np.concatenate(columns, axis=1)
    return SiteHistory(site, urls, offsets, times_, np.concatenate(bits), lastmods, precisions, modified)


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows, many at a time, all of a URL together."""
    source = iter(rows)
    held: list[Row] = []
    while more := list(islice(source, BATCH)):
        held += more
        last, cut = held[-1][0], len(held) - 1  # the last URL may go on
        while cut and held[cut - 1][0] == last:
            cut -= 1
        if cut:
            yield held[:cut]
            held = held[cut:]
    if held:
        yield held


def _first(numbers: Sequence[int]) -> NDArray[np.int64]:
    """The places of each URL's first row."""
    return np.flatnonzero(np.diff(np.array(numbers, np.int64), prepend=-1))


def _bits(
    first: NDArray[np.int64],
    results: NDArray[np.int8],
    bits: NDArray[np.int8],
    digests: Row,
    fingerprints: Row,
) -> NDArray[np.int8]:
    """What is known of the interval between each access and the URL's one before; UNKNOWN of the first."""
    bits[(results == _NOT_MODIFIED) & (bits == UNKNOWN)] = UNCHANGED
    bits[first] = UNKNOWN
    before = _before(first, results)
    for at in np.flatnonzero((bits != UNCHANGED) & (before >= 0)).tolist():
        last = before[at]
        if bits[at] == UNKNOWN and digests[last] is not None and digests[at] is not None:
            bits[at] = UNCHANGED if digests[last] == digests[at] else CHANGED
        if bits[at] == CHANGED and results[last] == results[at] == _OK and fingerprints[last] and fingerprints[at]:
            bits[at] = _BITS[same_content(fingerprints[last], fingerprints[at])]
    return bits


def _before(first: NDArray[np.int64], results: NDArray[np.int8]) -> NDArray[np.int64]:
    """Where the URL told of its content before, of accesses that do so themselves; -1 where nowhere."""
    page = np.searchsorted(first, np.arange(len(results)), "right")
    telling = np.flatnonzero(results != _NOT_MODIFIED)  # a 304 has no digest of its own
    before = np.full(len(results), -1)
    same = page[telling[1:]] == page[telling[:-1]]
    before[telling[1:][same]] = telling[:-1][same]
    return before
