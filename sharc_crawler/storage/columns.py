"""Rows of observations to columns of a :class:`~sharc_crawler.rates.history.SiteHistory`."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from sharc_crawler.model import Change, Result, Url
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

#: results that say what state a page was in; after the others it is as if nobody had looked
_ACCESSES = frozenset({Result.OK, Result.NOT_MODIFIED, Result.GONE, Result.REDIRECTED})
_BITS = {Change.CHANGED.value: CHANGED, Change.UNCHANGED.value: UNCHANGED, Change.UNKNOWN.value: UNKNOWN}


def site_history(site: str, rows: Iterable[tuple[Any, ...]]) -> SiteHistory:
    """A site's history from rows ``url, time, result, change, digest, fingerprint, lastmod, precision, last_modified``.

    The rows are in the order of URLs, then of time. A change left UNKNOWN is decided by equal or different digests
    where both accesses have one, and by a 304 answer. A change is one of content: where only bytes changed that do not
    count (equal fingerprints), there was none.
    """
    urls: list[Url] = []
    starts, bits = array("q"), array("b")
    columns = tuple(array("d") for _ in range(4))
    url = digest = content = None
    for name, time, result, change, found, fingerprint, *said in rows:
        if result not in _ACCESSES:
            continue
        after = fingerprint if result == Result.OK else None
        if name != url:
            url = name
            urls.append(Url(name))
            starts.append(len(bits))
            bits.append(UNKNOWN)
        else:
            bit = _bit(result, change, digest, found)
            bits.append(UNCHANGED if bit == CHANGED and content is not None and content == after else bit)
        if result != Result.NOT_MODIFIED:
            digest, content = found, after
        for column, value in zip(columns, (time, *said), strict=True):
            column.append(np.nan if value is None else value)
    starts.append(len(bits))
    times, lastmods, precisions, modified = (_numbers(column) for column in columns)
    changed = np.frombuffer(bits, np.int8) if bits else np.zeros(0, np.int8)
    return SiteHistory(site, urls, np.array(starts, np.int64), times, changed, lastmods, precisions, modified)


def _bit(result: str, change: str, before: str | None, after: str | None) -> int:
    """What is known of the interval between two accesses."""
    if change != Change.UNKNOWN:
        return _BITS[change]
    if result == Result.NOT_MODIFIED:
        return UNCHANGED
    if before is None or after is None:
        return UNKNOWN
    return UNCHANGED if before == after else CHANGED


def _numbers(column: array[float]) -> NDArray[np.float64]:
    return np.frombuffer(column, np.float64) if column else np.zeros(0)
