"""Pages to be rated together, with their sitemap hints: in columns, 16 bytes each."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import overload

from sharc_crawler.addresses.known_urls import Texts
from sharc_crawler.model import Hints, Kind, PageId, Sighting
from sharc_crawler.rates.base import Stated

# via and the hints that many pages share: precision (None: there are no hints), changefreq, priority
_Shared = tuple[str, float | None, str | None, float | None]
_COLUMNS = Hints._fields.index("priority") + 1  # only unusual sightings have later fields
_NOTHING_MORE = Hints()[_COLUMNS:]


class Unrated:
    """The last sighting of each page, in the order of page numbers.

    >>> waiting = Unrated()
    >>> waiting.put_all([7], [("http://h/a", Sighting("http://h/a", hints=Hints(lastmod=5.0)))])
    >>> 7 in waiting, list(waiting.pages), waiting.at(0, "http://h/a").hints.lastmod
    (True, [7], 5.0)
    """

    def __init__(self) -> None:
        self.pages = array("i")
        self._lastmods = array("d")
        self._codes = array("i")  # index into the next list
        self._shared: list[_Shared] = []
        self._code_of: dict[_Shared, int] = {}
        self._unusual: dict[PageId, Sighting] = {}  # sightings that the columns cannot hold

    def __len__(self) -> int:
        return len(self.pages)

    def __contains__(self, page: PageId) -> bool:
        row = bisect_left(self.pages, page)
        return row < len(self.pages) and self.pages[row] == page

    def put(self, page: PageId, sighting: Sighting, found: str) -> None:
        """Replace a waiting page's sighting; ``found``: the page's URL."""
        hints = sighting.hints
        if _is_unusual(sighting, found):
            self._unusual[page] = sighting
        elif self._unusual:
            self._unusual.pop(page, None)
        lastmod = math.nan if hints is None or hints.lastmod is None else hints.lastmod
        code = self._code(sighting)
        row = bisect_left(self.pages, page)
        self._lastmods[row], self._codes[row] = lastmod, code

    def put_all(self, pages: Sequence[PageId], named: Sequence[tuple[str, Sighting]]) -> None:
        """Add new pages, each with its canonical URL; their numbers rise."""
        dates = array("d")
        for page, (key, one) in zip(pages, named, strict=True):
            hints = one.hints
            if _is_unusual(one, key):
                self._unusual[page] = one._replace(url=key)
            dates.append(math.nan if hints is None or hints.lastmod is None else hints.lastmod)
        self.pages.extend(pages)
        self._lastmods.extend(dates)
        self._codes.extend([self._code(one) for _, one in named])

    def stated(self, rows: range, urls: Texts) -> Stated:
        """Return the lastmods and changefreqs of some rows, in columns."""
        some = slice(rows.start, rows.stop)
        pages, shared = self.pages[some], [self._shared[code] for code in self._codes[some]]
        named = list(map(urls.__getitem__, pages))
        if self._unusual:
            both = zip(pages, named, strict=True)
            named = [self._unusual[page].url if page in self._unusual else url for page, url in both]
        return Stated(named, self._lastmods[some], [row[1] or 0.0 for row in shared], [row[2] for row in shared])

    def at(self, row: int, url: str) -> Sighting:
        """Make the sighting of a row again; ``url``: its page's URL."""
        unusual = self._unusual.get(self.pages[row]) if self._unusual else None
        return unusual or self._usual(row, url)

    def _usual(self, row: int, url: str) -> Sighting:
        via, precision, frequency, priority = self._shared[self._codes[row]]
        if precision is None:
            return Sighting(url, Kind.PAGE, via)
        lastmod = self._lastmods[row]
        hints = Hints(None if lastmod != lastmod else lastmod, precision, frequency, priority)
        return Sighting(url, Kind.PAGE, via, hints)

    def _code(self, sighting: Sighting) -> int:
        hints = sighting.hints
        shared: _Shared = sighting.via, None, None, None
        if hints is not None:
            shared = sighting.via, hints.lastmod_precision, hints.changefreq, hints.priority
        code = self._code_of.setdefault(shared, len(self._shared))
        if code == len(self._shared):
            self._shared.append(shared)
        return code


def _is_unusual(sighting: Sighting, url: str) -> bool:
    more = sighting.hints is not None and sighting.hints[_COLUMNS:] != _NOTHING_MORE
    return more or sighting.url != url or bool(sighting.key or sighting.host)


class Sightings(Sequence[Sighting]):
    """The sightings in an :class:`Unrated`, as a sequence; ``urls``: of all pages, by number."""

    def __init__(self, unrated: Unrated, urls: Texts) -> None:
        self._unrated, self._urls = unrated, urls

    def __len__(self) -> int:
        return len(self._unrated)

    def __iter__(self) -> Iterator[Sighting]:
        return (self._unrated.at(row, self._urls[page]) for row, page in enumerate(self._unrated.pages))

    def stated(self, rows: range) -> Stated:
        """Return the lastmods and changefreqs of some rows, in columns."""
        return self._unrated.stated(rows, self._urls)

    @overload
    def __getitem__(self, row: int) -> Sighting: ...
    @overload
    def __getitem__(self, row: slice) -> list[Sighting]: ...
    def __getitem__(self, row: int | slice) -> Sighting | list[Sighting]:
        if isinstance(row, slice):
            return [self[at] for at in range(*row.indices(len(self)))]
        return self._unrated.at(row, self._urls[self._unrated.pages[row]])
