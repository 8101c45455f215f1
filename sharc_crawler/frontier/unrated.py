"""Pages whose rates will be asked for all at once, with what sitemaps say of them: in columns, 16 bytes each."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import overload

from sharc_crawler.addresses.known_urls import Texts
from sharc_crawler.model import Hints, Kind, PageId, Sighting
from sharc_crawler.rates.base import Said

# via, and what few pages have of their own in hints: precision (None: there are no hints), changefreq, priority
_Words = tuple[str, float | None, str | None, float | None]
_COLUMNS = Hints._fields.index("priority") + 1  # what follows is of unusual sightings
_NOTHING_MORE = Hints()[_COLUMNS:]


class Unrated:
    """The last sighting of each page; pages come in the order of their numbers.

    >>> waiting = Unrated()
    >>> waiting.put_all([7], [("http://h/a", Sighting("http://h/a", hints=Hints(lastmod=5.0)))])
    >>> 7 in waiting, list(waiting.pages), waiting.at(0, "http://h/a").hints.lastmod
    (True, [7], 5.0)
    """

    def __init__(self) -> None:
        self.pages = array("i")
        self._lastmods = array("d")
        self._codes = array("i")  # of all else, the same for many pages
        self._words: list[_Words] = []
        self._code_of: dict[_Words, int] = {}
        self._unusual: dict[PageId, Sighting] = {}  # what has more to it than a URL and a sitemap's words

    def __len__(self) -> int:
        return len(self.pages)

    def __contains__(self, page: PageId) -> bool:
        row = bisect_left(self.pages, page)
        return row < len(self.pages) and self.pages[row] == page

    def put(self, page: PageId, sighting: Sighting, found: str) -> None:
        """A page that waits is seen again; ``found``: the URL by which it is known."""
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
        """New pages wait, by their canonical URLs; their numbers rise."""
        dates = array("d")
        for page, (key, one) in zip(pages, named, strict=True):
            hints = one.hints
            if _is_unusual(one, key):
                self._unusual[page] = one._replace(url=key)
            dates.append(math.nan if hints is None or hints.lastmod is None else hints.lastmod)
        self.pages.extend(pages)
        self._lastmods.extend(dates)
        self._codes.extend([self._code(one) for _, one in named])

    def said(self, rows: range, urls: Texts) -> Said:
        """What sitemaps say in some rows, in columns."""
        some = slice(rows.start, rows.stop)
        pages, words = self.pages[some], [self._words[code] for code in self._codes[some]]
        named = list(map(urls.__getitem__, pages))
        if self._unusual:
            told = zip(pages, named, strict=True)
            named = [self._unusual[page].url if page in self._unusual else url for page, url in told]
        return Said(named, self._lastmods[some], [one[1] or 0.0 for one in words], [one[2] for one in words])

    def at(self, row: int, url: str) -> Sighting:
        """The sighting in a row, made again; ``url``: the one by which its page is known."""
        unusual = self._unusual.get(self.pages[row]) if self._unusual else None
        return unusual or self._usual(row, url)

    def _usual(self, row: int, url: str) -> Sighting:
        via, precision, frequency, priority = self._words[self._codes[row]]
        if precision is None:
            return Sighting(url, Kind.PAGE, via)
        lastmod = self._lastmods[row]
        hints = Hints(None if lastmod != lastmod else lastmod, precision, frequency, priority)
        return Sighting(url, Kind.PAGE, via, hints)

    def _code(self, sighting: Sighting) -> int:
        hints = sighting.hints
        words: _Words = sighting.via, None, None, None
        if hints is not None:
            words = sighting.via, hints.lastmod_precision, hints.changefreq, hints.priority
        code = self._code_of.setdefault(words, len(self._words))
        if code == len(self._words):
            self._words.append(words)
        return code


def _is_unusual(one: Sighting, url: str) -> bool:
    said = one.hints is not None and one.hints[_COLUMNS:] != _NOTHING_MORE
    return said or one.url != url or bool(one.key or one.host)


class Sightings(Sequence[Sighting]):
    """What waits in an :class:`Unrated`, to be read one after the other; ``urls``: of all pages, by number."""

    def __init__(self, unrated: Unrated, urls: Texts) -> None:
        self._unrated, self._urls = unrated, urls

    def __len__(self) -> int:
        return len(self._unrated)

    def __iter__(self) -> Iterator[Sighting]:
        return (self._unrated.at(row, self._urls[page]) for row, page in enumerate(self._unrated.pages))

    def said(self, rows: range) -> Said:
        """What sitemaps say in some rows, in columns."""
        return self._unrated.said(rows, self._urls)

    @overload
    def __getitem__(self, row: int) -> Sighting: ...
    @overload
    def __getitem__(self, row: slice) -> list[Sighting]: ...
    def __getitem__(self, row: int | slice) -> Sighting | list[Sighting]:
        if isinstance(row, slice):
            return [self[at] for at in range(*row.indices(len(self)))]
        return self._unrated.at(row, self._urls[self._unrated.pages[row]])
