"""Decide whether a site's lastmods and ``Last-Modified`` are trusted, by class of URL, given what captures saw."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.addresses.urls import url_class
from sharc_crawler.model import Instant
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.rates.history import CHANGED, SiteHistory
from sharc_crawler.rates.sitemap import MOST, NOW

FEW = 5  #: values that may be equal, or "now", by chance
SECOND = 1.0  #: precision of an HTTP date
ALIKE = "nearly all values are equal"
MOST_FOLDERS = 10_000  #: size of the cache of folders' classes


@dataclass(frozen=True, slots=True)
class LastmodTrust:
    """The verdict on the lastmods of one class of URLs."""

    label: str
    values: int  #: lastmods read
    checks: int  #: observed changes with a lastmod to compare
    lies: int  #: of these, lastmods older than the change
    reason: str | None  #: why they are not trusted; None: they are

    @property
    def believed(self) -> bool:
        """Do the lastmods count as observations?"""
        return self.values > 0 and self.reason is None

    @property
    def objection(self) -> str:
        """A note, if they are not trusted."""
        return f"lastmods of {self.label} not believed ({self.values:,}): {self.reason}"

    @property
    def bound(self) -> float:
        """Upper bound (95 %) of the share of changes that lastmods hide, by the checks without a lie; 1 without checks.

        >>> round(LastmodTrust("", 10, 30, 0, None).bound, 3)
        0.095
        """
        return 1.0 if self.lies or not self.checks else 1.0 - 0.05 ** (1.0 / self.checks)


def classes(urls: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
    """Return the number of each URL's class, and the classes' names by number."""
    return _classes(_Same(urls))


class _Same:
    """A list of URLs as a cache's key, by identity and length, since comparing a million URLs is slow."""

    def __init__(self, urls: Sequence[str]) -> None:
        self.urls, self.size = urls, len(urls)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.urls is other.urls and self.size == other.size

    def __hash__(self) -> int:
        return hash((id(self.urls), self.size))


def forget_classes() -> None:
    """Clear the cache of classes: no more estimates follow soon."""
    _classes.cache_clear()


@lru_cache(maxsize=2)  # one estimate needs the classes of a site, and of its captures, repeatedly
def _classes(same: _Same) -> tuple[NDArray[np.int64], list[str]]:
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    alike: dict[tuple[str, str], int] = {}  # by folder and extension: most pages lie in few folders

    def number(url: str) -> int:
        folder, _, name = url.rpartition("/")
        if "?" in name or "#" in name or name[:1] == ".":
            return numbers[url_class(url)]
        key = folder, name[dot:] if (dot := name.rfind(".")) > 0 else ""
        if (known := alike.get(key)) is None:
            if len(alike) >= MOST_FOLDERS:
                alike.clear()
            known = alike[key] = numbers[url_class(url)]
        return known

    own = np.fromiter(map(number, same.urls), np.int64, same.size)
    own.flags.writeable = False
    return own, list(numbers)


def trust(history: SiteHistory) -> list[LastmodTrust]:
    """Return the verdict on each class of URLs, in the order of :func:`classes`.

    Lastmods are not trusted if (nearly) all are equal, (nearly) all are "now", or one is older than a change that two
    captures saw (the end of its interval is before the first of the two). One lie is enough. A change that the lastmod
    of the next access shows was only shown late, which is not a lie (:mod:`..evidence.lag`).
    """
    numbers, names = classes(history.urls)
    upper = history.lastmods + history.precisions
    before = np.concatenate([np.full(min(len(history.times), 1), np.nan), history.times[:-1]])
    checked = (history.changed == CHANGED) & ~np.isnan(upper)
    pages = history.pages()
    later = np.where(np.diff(pages, append=-1) == 0, np.append(history.lastmods[1:], np.nan), np.nan)
    late = (later > before) & (later <= history.times)
    lie = checked & (upper <= before) & ~late
    accesses = _Accesses(pages, history.times, history.lastmods, checked, lie)
    return _judged(numbers[accesses.pages], names, accesses)


class FirstAccess:
    """Trust in lastmods at the first reading of a site's sitemaps, URL by URL; keeps only numbers."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._classes, self._lastmods = array("q"), array("d")

    def add(self, url: str, lastmod: Instant) -> None:
        """Enter a URL's lastmod."""
        self._classes.append(self._numbers.setdefault(url_class(url), len(self._numbers)))
        self._lastmods.append(lastmod)

    def trust(self, now: Instant) -> list[LastmodTrust]:
        """Return the verdict on each class of URLs, in the order of entering."""
        size = len(self._classes)
        nothing = np.zeros(size, np.bool_)
        accesses = _Accesses(np.arange(size), np.full(size, now), np.array(self._lastmods), nothing, nothing)
        return _judged(np.array(self._classes, np.int64), list(self._numbers), accesses)


def _judged(own: NDArray[np.int64], names: Sequence[str], accesses: _Accesses) -> list[LastmodTrust]:
    """Return the verdict on each class; ``own``: the class of each access."""
    if len(names) == 1:
        return [_judge(names[0], accesses)]
    ends = np.cumsum(np.bincount(own, minlength=len(names)))
    parts = np.split(np.argsort(own, kind="stable"), ends[:-1]) if names else []
    return [_judge(name, accesses.select(part)) for name, part in zip(names, parts, strict=True)]


def of_headers(history: SiteHistory) -> SiteHistory:
    """Return the history with ``Last-Modified`` in place of lastmods, to be judged like them."""
    return replace(history, lastmods=history.modified, precisions=np.full(len(history.modified), SECOND))


def dated(history: SiteHistory) -> SiteHistory:
    """Return the history with trusted dates in its lastmods: the sitemap's, else the header's."""
    sitemap = history.without_lastmods(~_usable(history))
    if np.isnan(history.modified).all():
        return sitemap
    headers = of_headers(history)
    headers = headers.without_lastmods(~_usable(headers))
    silent = np.isnan(sitemap.lastmods)
    return replace(
        sitemap,
        lastmods=np.where(silent, headers.lastmods, sitemap.lastmods),
        precisions=np.where(silent, headers.precisions, sitemap.precisions),
    )


def believed(history: SiteHistory) -> NDArray[np.bool_]:
    """Return, by URL, whether its class's lastmods count as observations."""
    good = np.array([verdict.believed for verdict in trust(history)], np.bool_)
    return good[classes(history.urls)[0]] if len(history) else np.zeros(0, np.bool_)


def _usable(history: SiteHistory) -> NDArray[np.bool_]:
    """Return, by URL, whether rates may use its class's lastmods.

    If nearly all are equal, they prove nothing about a page. But if trusted ones of other classes are later, they most
    likely date an import, since which nothing changed: else the site would show it, as for the other classes.
    """
    verdicts = trust(history)
    good = np.array([verdict.believed for verdict in verdicts], np.bool_)
    alike = [number for number, verdict in enumerate(verdicts) if verdict.reason == ALIKE]
    if alike and good.any():
        own = classes(history.urls)[0][history.pages()]
        moved = np.sort(history.lastmods[good[own] & ~np.isnan(history.lastmods)])
        for number in alike if len(moved) > FEW else ():
            good[number] = np.nanmedian(history.lastmods[own == number]) < moved[-FEW - 1]
    return good[classes(history.urls)[0]] if len(history) else np.zeros(0, np.bool_)


class _Accesses(NamedTuple):
    """Accesses, with the lastmods of the pages then."""

    pages: NDArray[np.int64]
    times: NDArray[np.float64]
    lastmods: NDArray[np.float64]
    checked: NDArray[np.bool_]
    lie: NDArray[np.bool_]

    def select(self, part: NDArray[np.int64]) -> _Accesses:
        return _Accesses(self.pages[part], self.times[part], self.lastmods[part], self.checked[part], self.lie[part])


def _judge(name: str, accesses: _Accesses) -> LastmodTrust:
    """Judge a class by the accesses to its pages."""
    known = ~np.isnan(accesses.lastmods)
    values, count = accesses.lastmods[known], int(known.sum())
    checks, lies = int(accesses.checked.sum()), int(accesses.lie.sum())
    _, repeats = np.unique(values, return_counts=True)
    many = len(np.unique(accesses.pages[known])) > FEW
    of_now = (accesses.times[known] - values <= NOW).sum()
    if lies:
        reason: str | None = (
            f"{lies} of {counted(checks, 'change')} {agreeing(lies, 'are')} newer than the lastmod that"
            f" should tell of them"
        )
    elif many and repeats.max() >= MOST * count:
        reason = ALIKE
    elif count > FEW and of_now >= MOST * count:
        reason = "nearly all values are of now"
    else:
        reason = None
    return LastmodTrust(name, count, checks, lies, reason)
