"""Histories of pages' changes, in columns: one flat array per fact, with offsets by page.

A page accessed at instants t_0 < t_1 < … < t_k has k *intervals*; each shows a change or none. Estimators read only
these (:class:`Histories`). A :class:`SiteHistory` has all accesses of one site, with lastmods and Last-Modified
headers.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sharc_crawler.addresses.known_urls import Texts
from sharc_crawler.errors import UsageError
from sharc_crawler.model import Instant, Seconds, Url
from sharc_crawler.rates.base import NO_CHANGE

UNKNOWN = -1  #: it is unknown whether the page changed in the interval
UNCHANGED = 0
CHANGED = 1  #: at least once
DATED = 2  #: the instant of the last change is known: the interval begins there, not at the access before


def _offsets(counts: NDArray[np.generic] | Sequence[int]) -> NDArray[np.int64]:
    """Return where pages with so many rows begin, and the last one's end."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _rows(offsets: NDArray[np.int64], pages: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the offsets of some pages' rows on their own, and these rows."""
    counts = np.diff(offsets)[pages]
    own = _offsets(counts)
    return own, np.arange(own[-1]) + np.repeat(offsets[:-1][pages] - own[:-1], counts)


@dataclass(frozen=True, slots=True)
class Histories:
    """Intervals of many pages; page i has the intervals ``offsets[i]:offsets[i + 1]``.

    >>> h = Histories.of([[7.0, 7.0], [1.0], []], [[0, 1], [1], []])
    >>> len(h), h.total(h.lengths).tolist(), h.observations().tolist()
    (3, [14.0, 1.0, 0.0], [2, 1, 0])
    """

    offsets: NDArray[np.int64]  #: shape (pages + 1,)
    lengths: NDArray[np.float64]  #: seconds (or any one unit of time), each > 0
    changed: NDArray[np.int8]  #: UNKNOWN, UNCHANGED, CHANGED, DATED
    ends: NDArray[np.float64]  #: instants at which the intervals end
    weights: NDArray[np.float64] | None = None  #: of each interval in a likelihood; None: 1

    def __post_init__(self) -> None:
        m = len(self.lengths)
        if len(self.changed) != m or len(self.ends) != m or self.offsets[0] != 0 or self.offsets[-1] != m:
            raise UsageError(f"histories: {m} lengths need as many changed bits and ends, and offsets from 0 to {m}")
        if not np.all(self.lengths > 0):
            raise UsageError("histories: every interval has a length > 0; drop repeated accesses first")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def of(cls, lengths: Sequence[ArrayLike], changed: Sequence[ArrayLike]) -> Histories:
        """Make histories from a sequence of lengths and one of outcomes per page; last intervals end at 0."""
        rows = [np.asarray(row, np.float64) for row in lengths]
        bits = [np.zeros(0, np.int8), *(np.asarray(row, np.int8) for row in changed)]
        ends = [np.zeros(0), *(np.cumsum(row) - row.sum() for row in rows)]
        joined = np.concatenate([np.zeros(0), *rows]), np.concatenate(bits), np.concatenate(ends)
        return cls(_offsets([len(row) for row in rows]), *joined)

    def total(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of a value over each page's intervals; 0 for a page without any."""
        sums = np.zeros(len(self))
        starts = self.offsets[:-1]
        filled = self.offsets[1:] > starts
        if len(starts) and filled.all():
            return np.add.reduceat(values, starts, dtype=np.float64)
        if filled.any():
            sums[filled] = np.add.reduceat(values, starts[filled])
        return sums

    def observations(self) -> NDArray[np.int64]:
        """Return the number of intervals with a known outcome, by page."""
        known = self.changed != UNKNOWN
        return np.diff(self.offsets) if known.all() else self.total(known.astype(np.float64)).astype(np.int64)

    def known(self) -> Histories:
        """Return the histories without intervals of unknown outcome."""
        keep = self.changed != UNKNOWN
        return self if keep.all() else self._cut(_offsets(keep)[self.offsets], keep)

    def select(self, pages: NDArray[np.int64]) -> Histories:
        """Return the histories of some pages, in the order given."""
        return self._cut(*_rows(self.offsets, pages))

    def _cut(self, offsets: NDArray[np.int64], keep: NDArray[np.generic] | slice) -> Histories:
        """Return some intervals, as pages with these offsets."""
        weights = None if self.weights is None else self.weights[keep]
        return Histories(offsets, self.lengths[keep], self.changed[keep], self.ends[keep], weights)

    def weighted(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a value per interval times the interval's weight."""
        return values if self.weights is None else values * self.weights

    def discounted(self, now: Instant, half_life: Seconds) -> Histories:
        """Return the histories with weights that halve every ``half_life`` between an interval's end and ``now``."""
        weights = self.ends - now
        np.minimum(weights, 0.0, out=weights)
        weights /= half_life
        return replace(self, weights=np.exp2(weights, out=weights))  # in place: there may be millions

    def fading(self, half_life: Seconds) -> Histories:
        """Return the histories with weights that halve every ``half_life`` from an interval's end to the page's last.

        >>> Histories.of([[1.0, 5.0]], [[1, 0]]).fading(5.0).weights.tolist()
        [0.5, 1.0]
        """
        last = np.zeros(len(self))
        some = self.offsets[1:] > self.offsets[:-1]
        last[some] = self.ends[self.offsets[1:][some] - 1]
        weights = self.ends - np.repeat(last, np.diff(self.offsets))
        weights /= half_life
        return replace(self, weights=np.exp2(weights, out=weights))

    def weighing(self, least: float) -> Histories:
        """Return the histories without intervals of less than this weight.

        >>> Histories.of([[1.0, 50.0, 5.0]], [[1, 0, 0]]).fading(5.0).weighing(1e-3).lengths.tolist()
        [50.0, 5.0]
        """
        if self.weights is None:
            return self
        use = np.flatnonzero(self.weights >= least)
        return self._cut(np.searchsorted(use, self.offsets), use)

    def blocks(self, size: int) -> Iterator[tuple[slice, Histories]]:
        """Yield the pages in blocks, to bound memory: each block's slice of the pages, and its histories."""
        for start in range(0, len(self), size):
            pages = slice(start, min(start + size, len(self)))
            a, b = self.offsets[pages.start], self.offsets[pages.stop]
            yield pages, self._cut(self.offsets[pages.start : pages.stop + 1] - a, slice(a, b))

    def pages(self) -> NDArray[np.int64]:
        """Return the page of every interval."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


class Links(Sequence[tuple[Url, Url]]):
    """Links between known URLs, in columns; pairs of URLs are made on access.

    >>> links = Links(["http://h/a", "http://h/b"], np.array([0, 1]), np.array([1, 0]))
    >>> list(links)[0], [column.tolist() for column in links.among({"http://h/b": 0, "http://h/a": 1})]
    (('http://h/a', 'http://h/b'), [[1, 0], [0, 1]])
    """

    def __init__(self, urls: Sequence[Url], sources: NDArray[np.int64], targets: NDArray[np.int64]) -> None:
        self.urls, self.sources, self.targets = urls, sources, targets

    def __len__(self) -> int:
        return len(self.sources)

    @overload
    def __getitem__(self, at: int) -> tuple[Url, Url]: ...
    @overload
    def __getitem__(self, at: slice) -> list[tuple[Url, Url]]: ...
    def __getitem__(self, at: int | slice) -> tuple[Url, Url] | list[tuple[Url, Url]]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        return self.urls[self.sources[at]], self.urls[self.targets[at]]

    def among(self, numbers: Mapping[str, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the links between two different numbered URLs, as numbers."""
        of = np.array([numbers.get(url, -1) for url in self.urls], np.int64)
        sources, targets = of[self.sources], of[self.targets]
        known = (sources >= 0) & (targets >= 0) & (sources != targets)
        return sources[known], targets[known]


@dataclass(frozen=True, slots=True)
class SiteHistory:
    """Every access to every known URL of a site, page by page, in the order of time; NaN for missing values.

    The first access of a page has nothing to compare with: its outcome is UNKNOWN.
    """

    site: str
    urls: list[Url]
    offsets: NDArray[np.int64]  #: shape (urls + 1,), into the columns below
    times: NDArray[np.float64]  #: instants of the accesses
    changed: NDArray[np.int8]  #: against the access before: UNKNOWN, UNCHANGED, CHANGED
    lastmods: NDArray[np.float64]  #: in the sitemap at that time
    precisions: NDArray[np.float64]  #: of the lastmods, seconds
    modified: NDArray[np.float64]  #: the server's ``Last-Modified``

    def __len__(self) -> int:
        return len(self.urls)

    def histories(self) -> Histories:
        """Return the intervals between the accesses of each page."""
        follows = np.ones(len(self.times), np.bool_)
        follows[self.offsets[:-1][self.offsets[1:] > self.offsets[:-1]]] = False
        lengths = np.diff(self.times, prepend=0.0)[follows]
        return Histories(_offsets(follows)[self.offsets], lengths, self.changed[follows], self.times[follows])

    def latest(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the last value of each page in a column that is not NaN; NaN if there is none."""
        out = np.full(len(self), np.nan)
        known = ~np.isnan(values)
        out[self.pages()[known]] = values[known]  # in the order of time: the last assignment stays
        return out

    def latest_lastmods(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the last lastmod of each page, and when it was read; NaN if there is none."""
        return self.latest(self.lastmods), self.latest(np.where(np.isnan(self.lastmods), np.nan, self.times))

    def select(self, pages: NDArray[np.int64]) -> SiteHistory:
        """Return the history of some URLs, in the order given."""
        if len(pages) == len(self) and np.array_equal(pages, np.arange(len(self))):
            return self  # its URLs stay in caches
        return self._cut([self.urls[page] for page in pages.tolist()], *_rows(self.offsets, pages))

    def before(self, instant: Instant) -> SiteHistory:
        """Return the history as it was at an instant: without later accesses, but with all URLs."""
        keep = self.times <= instant
        return self._cut(self.urls, _offsets(keep)[self.offsets], keep)

    def _cut(self, urls: list[Url], offsets: NDArray[np.int64], keep: NDArray[np.generic]) -> SiteHistory:
        """Return some accesses, as those of URLs with these offsets."""
        columns = (self.times, self.changed, self.lastmods, self.precisions, self.modified)
        return SiteHistory(self.site, urls, offsets, *(column[keep] for column in columns))

    def without_lastmods(self, pages: NDArray[np.bool_]) -> SiteHistory:
        """Return the history without the lastmods of some pages."""
        return replace(self, lastmods=np.where(pages[self.pages()], np.nan, self.lastmods))

    def sitemap_read(self, now: Instant, entries: Iterable[tuple[str, Instant, Seconds]]) -> SiteHistory:
        """Return the history with one more access by the sitemap ``now``: URLs, lastmods and their precisions.

        A lastmod later than the access before shows a change, an earlier one none; one whose precision leaves that open
        is UNKNOWN. New URLs follow the known ones.
        """
        rows: dict[str, int] = {url: row for row, url in enumerate(self.urls)}
        urls = Texts()
        urls.extend(self.urls)
        lastmods, precisions = (array("d", [np.nan]) * len(self) for _ in range(2))
        for url, lastmod, precision in entries:
            if (row := rows.get(url)) is not None:
                lastmods[row], precisions[row] = lastmod, precision
            else:
                urls.append(url)
                lastmods.append(lastmod)
                precisions.append(precision)
        return self.looked_at(now, cast("Sequence[str]", urls), np.array(lastmods), np.array(precisions))

    def looked_at(
        self, now: Instant, urls: Sequence[str], lastmods: NDArray[np.float64], precisions: NDArray[np.float64]
    ) -> SiteHistory:
        """Do the same from columns, with NaN for URLs without lastmod; the history's URLs come first."""
        counts = np.zeros(len(urls), np.int64)
        counts[: len(self)] = np.diff(self.offsets)
        listed = np.flatnonzero(~np.isnan(lastmods))
        ends = np.cumsum(counts)
        last = np.full(len(urls), np.nan)
        last[counts > 0] = self.times[ends[counts > 0] - 1]
        listed = listed[~(last[listed] >= now)]
        lower, upper = lastmods[listed], lastmods[listed] + precisions[listed]
        bits = np.where(lower > last[listed], CHANGED, np.where(upper <= last[listed], UNCHANGED, UNKNOWN))
        counts[listed] += 1
        at = ends[listed]
        return SiteHistory(
            self.site,
            cast("list[Url]", urls),
            _offsets(counts),
            np.insert(self.times, at, now),
            np.insert(self.changed, at, bits).astype(np.int8),
            np.insert(self.lastmods, at, lower),
            np.insert(self.precisions, at, precisions[listed]),
            np.insert(self.modified, at, np.nan),
        )

    @classmethod
    def empty(cls, site: str = "") -> SiteHistory:
        """Make the history of a site never captured."""
        nothing = np.zeros(0)
        return cls(site, [], np.zeros(1, np.int64), nothing, nothing.astype(np.int8), nothing, nothing, nothing)

    def first(self) -> NDArray[np.float64]:
        """Return the instant of each URL's first access; NaN without one."""
        out = np.full(len(self), np.nan)
        accessed = self.offsets[1:] > self.offsets[:-1]
        out[accessed] = self.times[self.offsets[:-1][accessed]]
        return out

    def last_change(self) -> NDArray[np.float64]:
        """Return the end of each page's last interval with a change; NaN if there is none."""
        return self.latest(np.where(self.changed == CHANGED, self.times, np.nan))

    def sources(self, lastmods: Sequence[float]) -> list[str]:
        """Return what each page's rate rests on: observed changes, or lastmods (former ones, or ``lastmods``)."""
        seen, now = ~np.isnan(self.last_change()), np.asarray(lastmods)[: len(self)]
        dated = ~np.isnan(self.latest(self.lastmods)) | ~np.isnan(now)
        return [
            "history" if change else "lastmod" if date else NO_CHANGE
            for change, date in zip(seen.tolist(), dated.tolist(), strict=True)
        ]

    def earliest_lastmod(self) -> NDArray[np.float64]:
        """Return the oldest lastmod of each page; NaN if there is none."""
        out = np.full(len(self), np.inf)
        known = ~np.isnan(self.lastmods)
        np.minimum.at(out, self.pages()[known], self.lastmods[known])
        return np.where(np.isinf(out), np.nan, out)

    def pages(self) -> NDArray[np.int64]:
        """Return the page of every access."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))
