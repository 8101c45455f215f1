"""Turn rows of observations into the columns of a :class:`~sharc_crawler.rates.history.SiteHistory`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.changes.masks import same_content
from sharc_crawler.model import Url
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory

BATCH = 10_000  #: rows whose texts are in memory at a time
_OK, _NOT_MODIFIED, _OTHER = range(3)
_BITS = {True: UNCHANGED, False: CHANGED, None: UNKNOWN}  #: is the content the same?
#: results that show a page's state; others are ignored
ACCESSED = "result IN ('ok', 'not-modified', 'gone', 'redirected')"
#: columns after the number of a URL, with results and changes as numbers
SELECTED = f"""time, lastmod, lastmod_precision, last_modified,
    CASE result WHEN 'ok' THEN {_OK} WHEN 'not-modified' THEN {_NOT_MODIFIED} ELSE {_OTHER} END,
    CASE change WHEN 'changed' THEN {CHANGED} WHEN 'unchanged' THEN {UNCHANGED} ELSE {UNKNOWN} END,
    coalesce(decoded, digest), fingerprint"""

Row = tuple[Any, ...]


def site_history(site: str, names: Mapping[int, Url], rows: Iterable[Row]) -> SiteHistory:
    """A site's history from rows with the number of a URL and :data:`SELECTED`, where :data:`ACCESSED`.

    The rows must be sorted by URL, then time. An UNKNOWN change is decided by a 304, or by comparing digests if both
    accesses have one. Only changes of content count: equal fingerprints mean no change. Different fingerprints made
    under different masks leave it UNKNOWN.
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
    """The rows in batches; those of a URL stay together."""
    source = iter(rows)
    held: list[Row] = []
    while more := list(islice(source, BATCH)):
        held += more
        last, cut = held[-1][0], len(held) - 1  # the last URL may have more rows
        while cut and held[cut - 1][0] == last:
            cut -= 1
        if cut:
            yield held[:cut]
            held = held[cut:]
    if held:
        yield held


def _first(numbers: Sequence[int]) -> NDArray[np.int64]:
    """The position of each URL's first row."""
    return np.flatnonzero(np.diff(np.array(numbers, np.int64), prepend=-1))


def _bits(
    first: NDArray[np.int64],
    results: NDArray[np.int8],
    bits: NDArray[np.int8],
    digests: Row,
    fingerprints: Row,
) -> NDArray[np.int8]:
    """Whether the content changed since the URL's previous access; UNKNOWN for the first."""
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
    """For each access that is not a 304, the position of the URL's previous such access; else -1."""
    page = np.searchsorted(first, np.arange(len(results)), "right")
    telling = np.flatnonzero(results != _NOT_MODIFIED)  # a 304 has no digest of its own
    before = np.full(len(results), -1)
    same = page[telling[1:]] == page[telling[:-1]]
    before[telling[1:][same]] = telling[:-1][same]
    return before
