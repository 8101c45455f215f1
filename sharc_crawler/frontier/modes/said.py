"""What sitemaps and hubs that are read again say of pages: which changed since their visit, how wrong the rates are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sharc_crawler.addresses.urls import url_class
from sharc_crawler.rates.corrected import corrected

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.modes.base import Untested
    from sharc_crawler.frontier.pages import PageTable
    from sharc_crawler.model import Instant, PageId

    Column = NDArray[np.float64]
    Mask = NDArray[np.bool_]

SLACK = 2.0  #: seconds that the server's clock may differ from ours, for a plan


class SaidOfPages(NamedTuple):
    """Pages that have been visited, one entry each."""

    pages: list[PageId]
    rates: Column  #: as they are held for now
    planned: Column  #: rates as they were when the pages were planned
    weights: Column
    shapes: Column
    visited: Column  #: start of the visit
    stale: Mask  #: it is said to have changed since
    still: Mask  #: it is said not to have changed since
    spent: Mask  #: a second look by that word brought nothing
    by_hub: Mask  #: a hub alone says that it has changed


class SaidOfChanges:
    """The last word on each page, of sitemaps and hubs read since the capture began to visit."""

    def __init__(self, capture: SiteCapture, pages: PageTable, tests: Untested) -> None:
        self._capture = capture
        self._pages = pages
        self._tests = tests
        self._last: dict[PageId, tuple[Instant, Instant]] = {}  # of sitemaps
        self._by_hubs: dict[PageId, Instant] = {}
        self._early: set[PageId] = set()  # changed before the first reading
        self._spent: dict[PageId, Instant] = {}  # words that led to nothing
        self._first_read: Instant | None = None
        self._last_read: Instant = 0.0

    def __bool__(self) -> bool:
        return bool(self._last or self._by_hubs)

    def __contains__(self, page: PageId) -> bool:
        return page in self._last

    def ingest(self, page: PageId, read: Instant, earliest: Instant, latest: Instant) -> None:
        """A sitemap that was asked for at ``read`` says when a page last changed."""
        if self._first_read is None:
            self._first_read = read
        if page not in self._last and self._capture.started < earliest <= self._first_read:
            self._early.add(page)
        self._last[page] = earliest, latest
        self._last_read = read

    def changed(self, page: PageId, when: Instant) -> None:
        """A hub says that a page has changed."""
        self._by_hubs[page] = max(when, self._by_hubs.get(page, when))

    def _changed(self, page: PageId) -> Instant:
        """When it is said to have changed last; -inf: nothing is said of it."""
        told = self._last[page][0] if page in self._last else -math.inf
        return max(told, self._by_hubs.get(page, -math.inf))

    def spent(self, page: PageId) -> None:
        """A second look by the last word on a page brought nothing, as where it is gone."""
        self._spent[page] = self._changed(page)

    def standing(self, pages: Sequence[PageId]) -> SaidOfPages:
        """All that is known of these."""
        table = self._pages
        rates, weights, shapes, visited = (
            np.array([column[page] for page in pages], np.float64)
            for column in (table.rates, table.weights, table.shapes, table.started)
        )
        said = np.array([self._last.get(page, (math.nan, math.nan)) for page in pages]).reshape(-1, 2)
        planned = rates
        rates = self._tests.learned(pages, rates)
        rates, shapes = self._corrected(pages, rates, shapes, said[:, 0])
        told = np.array([self._changed(page) for page in pages])
        by_sitemap, stale = said[:, 0] > visited + SLACK, told > visited + SLACK
        still = ~stale & (said[:, 1] < visited - SLACK)
        spent = np.array([self._spent.get(page, -math.inf) for page in pages]) >= told
        by_hub = stale & ~by_sitemap
        return SaidOfPages(list(pages), rates, planned, weights, shapes, visited, stale, still, spent, by_hub)

    def _corrected(self, pages: Sequence[PageId], rates: Column, shapes: Column, said: Column) -> tuple[Column, Column]:
        """Rates by two periods: until the first reading, and from then until the last one."""
        if self._first_read is None or self._last_read <= self._first_read + SLACK:
            return rates, shapes
        early = np.array([page in self._early for page in pages], bool)
        late = said > self._first_read
        told = ~np.isnan(said)
        periods = self._first_read - self._capture.started, self._last_read - self._first_read
        new = rates.copy(), shapes.copy()
        urls, numbers = self._pages.urls, dict[str, int]()
        classes = np.array([numbers.setdefault(url_class(urls[page]), len(numbers)) for page in pages])
        new[0][told], new[1][told] = corrected(
            rates[told], shapes[told], early[told], late[told], periods, classes[told], said[told], self._last_read
        )
        return new
