"""Rates of many pages in columns; loaded only if a site has lastmods or a history."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from sharc_crawler.rates.base import PRIOR
from sharc_crawler.state.pages import PageTable
from sharc_crawler.state.rows import RatedRow


class Rated:
    """Rates of pages in columns: sitemaps may name a million pages before the first visit.

    >>> rated = Rated()
    >>> rated.append((7, 0.5, "lastmod", 2.0))
    >>> list(rated), bool(Rated()), Rated() == []
    ([(7, 0.5, 'lastmod', 2.0)], False, True)
    """

    def __init__(self, rows: Iterable[RatedRow] = ()) -> None:
        self._pages, self._rates, self._sources, self._shapes = array("i"), array("d"), list[str](), array("d")
        for row in rows:
            self.append(row)

    def append(self, row: RatedRow) -> None:
        """Append a page's rate."""
        page, rate, source, shape = row
        self._pages.append(page)
        self._rates.append(rate)
        self._sources.append(source)
        self._shapes.append(shape)

    def put_all(self, pages: array[int], found: Any, table: PageTable) -> None:
        """Append the rates found for ``pages``, in columns, and set them in the table of all pages."""
        rates, shapes, sources = found.columns()
        rows = np.frombuffer(pages, np.int32)
        np.frombuffer(table.rates)[rows], np.frombuffer(table.shapes)[rows] = rates, shapes
        np.frombuffer(table.guessed, np.uint8)[rows] = [source == PRIOR for source in sources]
        self._pages.extend(pages)
        self._rates.frombytes(rates.tobytes())
        self._sources.extend(sources)
        self._shapes.frombytes(shapes.tobytes())

    def __len__(self) -> int:
        return len(self._pages)

    def __iter__(self) -> Iterator[RatedRow]:
        return zip(self._pages, self._rates, self._sources, self._shapes, strict=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (Rated, list)) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]
