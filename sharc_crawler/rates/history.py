"""What is known of how pages changed, in columns: one flat array per fact, cut into pages by offsets.

A page that was seen at instants t_0 < t_1 < … < t_k has k *intervals*; each either showed a change or did not. That is
all an estimator reads (:class:`Histories`). A :class:`SiteHistory` is one site's word for word: accesses, and what
server and sitemap said about the last modification.
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

UNKNOWN = -1  #: nobody can tell whether the page changed in the interval
UNCHANGED = 0
CHANGED = 1  #: at least once
DATED = 2  #: the last change is known to the instant: the interval runs from it, not from the access before


@dataclass(frozen=True, slots=True)
class Histories:
    """Intervals of many pages; page i owns the intervals ``offsets[i]:offsets[i + 1]``.

    >>> h = Histories.of([[7.0, 7.0], [1.0], []], [[0, 1], [1], []])
    >>> len(h), h.total(h.lengths).tolist(), h.observations().tolist()
    (3, [14.0, 1.0, 0.0], [2, 1, 0])
    """

    offsets: NDArray[np.int64]  #: shape (pages + 1,)
    lengths: NDArray[np.float64]  #: seconds (or any one unit of time), each > 0
    changed: NDArray[np.int8]  #: UNKNOWN, UNCHANGED, CHANGED, DATED
    ends: NDArray[np.float64]  #: instants at which the intervals end
    weights: NDArray[np.float64] | None = None  #: what each counts in a likelihood; None: 1

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
        """Histories from one sequence of lengths and one of bits per page; the last interval of each ends at 0."""
        rows = [np.asarray(row, np.float64) for row in lengths]
        ends = [np.cumsum(row) - row.sum() for row in rows]
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        bits = [np.asarray(row, np.int8) for row in changed]
        empty = np.zeros(0)
        return cls(
            offsets,
            np.concatenate([empty, *rows]),
            np.concatenate([empty.astype(np.int8), *bits]),
            np.concatenate([empty, *ends]),
        )

    def total(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of a value per interval over each page's intervals; 0 for a page without any."""
        sums = np.zeros(len(self))
        starts = self.offsets[:-1]
        filled = self.offsets[1:] > starts
        if len(starts) and filled.all():
            return np.add.reduceat(values, starts, dtype=np.float64)
        if filled.any():
            sums[filled] = np.add.reduceat(values, starts[filled])
        return sums

    def observations(self) -> NDArray[np.int64]:
        """The number of intervals per page whose outcome is known."""
        known = self.changed != UNKNOWN
        return np.diff(self.offsets) if known.all() else self.total(known.astype(np.float64)).astype(np.int64)

    def known(self) -> Histories:
        """The histories without the intervals whose outcome is unknown."""
        keep = self.changed != UNKNOWN
        if keep.all():
            return self
        offsets = np.concatenate([[0], np.cumsum(keep)])[self.offsets].astype(np.int64)
        weights = None if self.weights is None else self.weights[keep]
        return Histories(offsets, self.lengths[keep], self.changed[keep], self.ends[keep], weights)

    def select(self, pages: NDArray[np.int64]) -> Histories:
        """The histories of some pages, in the order given."""
        counts = np.diff(self.offsets)[pages]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        take = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][pages] - offsets[:-1], counts)
        weights = None if self.weights is None else self.weights[take]
        return Histories(offsets, self.lengths[take], self.changed[take], self.ends[take], weights)

    def recoded(self, changed: NDArray[np.int8]) -> Histories:
        """The same intervals with other outcomes."""
        return replace(self, changed=changed)

    def weighted(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """A value per interval, times the interval's weight."""
        return values if self.weights is None else values * self.weights

    def discounted(self, now: Instant, half_life: Seconds) -> Histories:
        """The histories with weights that halve with every ``half_life`` between an interval's end and ``now``."""
        weights = self.ends - now
        np.minimum(weights, 0.0, out=weights)
        weights /= half_life
        return replace(self, weights=np.exp2(weights, out=weights))  # in place: there may be millions

    def fading(self, half_life: Seconds) -> Histories:
        """The histories with weights that halve every ``half_life`` between an interval's end and its page's last one.

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
        """The histories without the intervals that count less than so much.

        >>> Histories.of([[1.0, 50.0, 5.0]], [[1, 0, 0]]).fading(5.0).weighing(1e-3).lengths.tolist()
        [50.0, 5.0]
        """
        if self.weights is None:
            return self
        use = np.flatnonzero(self.weights >= least)
        offsets, weights = np.searchsorted(use, self.offsets), self.weights.take(use)
        return Histories(offsets, self.lengths.take(use), self.changed.take(use), self.ends.take(use), weights)

    def blocks(self, size: int) -> Iterator[tuple[slice, Histories]]:
        """The pages in blocks, for work in a bounded memory: each block's slice of the pages, and its histories."""
        for start in range(0, len(self), size):
            pages = slice(start, min(start + size, len(self)))
            a, b = self.offsets[pages.start], self.offsets[pages.stop]
            weights = None if self.weights is None else self.weights[a:b]
            offsets = self.offsets[pages.start : pages.stop + 1] - a
            yield pages, Histories(offsets, self.lengths[a:b], self.changed[a:b], self.ends[a:b], weights)

    def pages(self) -> NDArray[np.int64]:
        """The page of every interval."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


class Links(Sequence[tuple[Url, Url]]):
    """Source and target of links between known URLs, in columns: pairs are made when they are asked for.

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
            return [self[one] for one in range(*at.indices(len(self)))]
        return self.urls[self.sources[at]], self.urls[self.targets[at]]

    def among(self, numbers: Mapping[str, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Those between two different URLs that have a number, as numbers."""
        of = np.array([numbers.get(url, -1) for url in self.urls], np.int64)
        sources, targets = of[self.sources], of[self.targets]
        known = (sources >= 0) & (targets >= 0) & (sources != targets)
        return sources[known], targets[known]


@dataclass(frozen=True, slots=True)
class SiteHistory:
    """Every access to every known URL of a site, page by page, in the order of time; NaN where nothing was said.

    The first access of a page has nothing to be compared with: its bit is UNKNOWN.
    """

    site: str
    urls: list[Url]
    offsets: NDArray[np.int64]  #: shape (urls + 1,), into the columns below
    times: NDArray[np.float64]  #: instants of the accesses
    changed: NDArray[np.int8]  #: against the access before: UNKNOWN, UNCHANGED, CHANGED
    lastmods: NDArray[np.float64]  #: the sitemap's word at that time
    precisions: NDArray[np.float64]  #: of the lastmods, seconds
    modified: NDArray[np.float64]  #: the server's ``Last-Modified``

    def __len__(self) -> int:
        return len(self.urls)

    def histories(self) -> Histories:
        """The intervals between the accesses of each page."""
        follows = np.ones(len(self.times), np.bool_)
        follows[self.offsets[:-1][self.offsets[1:] > self.offsets[:-1]]] = False
        lengths = np.diff(self.times, prepend=0.0)[follows]
        offsets = np.concatenate([[0], np.cumsum(follows)])[self.offsets].astype(np.int64)
        return Histories(offsets, lengths, self.changed[follows], self.times[follows])

    def latest(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The last value of each page in a column that is not NaN; NaN where a page has none."""
        out = np.full(len(self), np.nan)
        said = ~np.isnan(values)
        out[self.pages()[said]] = values[said]  # in the order of time: the last assignment stays
        return out

    def latest_lastmods(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The last lastmod that each page was given, and when it was read; NaN where it has none."""
        return self.latest(self.lastmods), self.latest(np.where(np.isnan(self.lastmods), np.nan, self.times))

    def select(self, pages: NDArray[np.int64]) -> SiteHistory:
        """The history of some URLs, in the order given."""
        if len(pages) == len(self) and np.array_equal(pages, np.arange(len(self))):
            return self  # its URLs are known again, and their classes
        counts = np.diff(self.offsets)[pages]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        take = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][pages] - offsets[:-1], counts)
        return replace(
            self,
            urls=[self.urls[page] for page in pages.tolist()],
            offsets=offsets,
            times=self.times[take],
            changed=self.changed[take],
            lastmods=self.lastmods[take],
            precisions=self.precisions[take],
            modified=self.modified[take],
        )

    def before(self, instant: Instant) -> SiteHistory:
        """The history as it stood at an instant: later accesses are left out, URLs stay, some without an access."""
        keep = self.times <= instant
        return replace(
            self,
            offsets=np.concatenate([[0], np.cumsum(keep)])[self.offsets].astype(np.int64),
            times=self.times[keep],
            changed=self.changed[keep],
            lastmods=self.lastmods[keep],
            precisions=self.precisions[keep],
            modified=self.modified[keep],
        )

    def without_lastmods(self, pages: NDArray[np.bool_]) -> SiteHistory:
        """The history as if nothing had been said of the last modification of some pages."""
        return replace(self, lastmods=np.where(pages[self.pages()], np.nan, self.lastmods))

    def sitemap_read(self, now: Instant, said: Iterable[tuple[str, Instant, Seconds]]) -> SiteHistory:
        """The history with one more look at the pages: lastmods, and their precisions, as the sitemap has them ``now``.

        It counts as an access: a lastmod later than the access before tells of a change, an earlier one of none. Where
        its precision leaves it open, so does the bit. URLs that are new follow the known ones.
        """
        rows: dict[str, int] = {url: row for row, url in enumerate(self.urls)}
        urls = Texts()
        urls.extend(self.urls)
        lastmods, precisions = (array("d", [np.nan]) * len(self) for _ in range(2))
        for url, lastmod, precision in said:
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
        """The same from columns, NaN where a URL has no lastmod; the first of the URLs are those of the history."""
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
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.insert(self.times, at, now),
            np.insert(self.changed, at, bits).astype(np.int8),
            np.insert(self.lastmods, at, lower),
            np.insert(self.precisions, at, precisions[listed]),
            np.insert(self.modified, at, np.nan),
        )

    @classmethod
    def empty(cls, site: str = "") -> SiteHistory:
        """Of a site that was never captured."""
        nothing = np.zeros(0)
        return cls(site, [], np.zeros(1, np.int64), nothing, nothing.astype(np.int8), nothing, nothing, nothing)

    def first(self) -> NDArray[np.float64]:
        """The instant each URL was first accessed; NaN where it was not."""
        out = np.full(len(self), np.nan)
        accessed = self.offsets[1:] > self.offsets[:-1]
        out[accessed] = self.times[self.offsets[:-1][accessed]]
        return out

    def last_change(self) -> NDArray[np.float64]:
        """The end of each page's last interval that showed a change; NaN where there is none."""
        return self.latest(np.where(self.changed == CHANGED, self.times, np.nan))

    def sources(self, lastmods: Sequence[float]) -> list[str]:
        """What the rate of each page rests on: changes that were seen, or dates, before or now in ``lastmods``."""
        seen, now = ~np.isnan(self.last_change()), np.asarray(lastmods)[: len(self)]
        dated = ~np.isnan(self.latest(self.lastmods)) | ~np.isnan(now)
        return [
            "history" if change else "lastmod" if date else NO_CHANGE
            for change, date in zip(seen.tolist(), dated.tolist(), strict=True)
        ]

    def earliest_lastmod(self) -> NDArray[np.float64]:
        """The oldest lastmod that each page was ever given; NaN where it has none."""
        out = np.full(len(self), np.inf)
        said = ~np.isnan(self.lastmods)
        np.minimum.at(out, self.pages()[said], self.lastmods[said])
        return np.where(np.isinf(out), np.nan, out)

    def pages(self) -> NDArray[np.int64]:
        """The page of every access."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))
