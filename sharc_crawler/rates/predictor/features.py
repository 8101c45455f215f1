"""Features of pages known before the download (online), and after it (offline).

Any of them may be missing: a classifier then uses the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from mimetypes import MimeTypes
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

DAY = 86_400.0
WORD = re.compile(r"[^\W_]+")
SPECIAL = {
    "tilde": "~",
    "underscore": "_",
    "question mark": "?",
    "semicolon": ";",
    "colon": ":",
    "comma": ",",
    "percent": "%",
}
_TYPES = MimeTypes()  # the library's own table, not this machine's files


@dataclass(frozen=True, slots=True)
class PageTraits:
    """Traits of one page; None: unknown."""

    url: str
    media_type: str | None = None  #: as stated by the server; else it is guessed from the URL
    idle: float | None = None  #: seconds since the last known change
    images: int | None = None
    tables: int | None = None
    outlinks: int | None = None
    inlinks: int | None = None  #: known pages that link here

    @property
    def offline(self) -> bool:
        """Is anything known besides the URL?"""
        return any(value is not None for value in (self.idle, self.images, self.tables, self.outlinks, self.inlinks))


@dataclass(frozen=True, slots=True)
class Table:
    """Features of many pages, in columns."""

    words: dict[str, list[str | None]] = field(default_factory=dict)  #: categories; None: missing
    numbers: dict[str, NDArray[np.float64]] = field(default_factory=dict)  #: NaN: missing

    def __len__(self) -> int:
        sizes = [*map(len, self.words.values()), *map(len, self.numbers.values())]
        return sizes[0] if sizes else 0

    def select(self, rows: NDArray[np.int64]) -> Table:
        """Return some pages, in the order given."""
        picked = rows.tolist()
        return Table(
            {name: [column[row] for row in picked] for name, column in self.words.items()},
            {name: column[rows] for name, column in self.numbers.items()},
        )


def online_features(pages: Sequence[PageTraits]) -> Table:
    """Return the features known before a download: the URL and its kind of file.

    >>> table = online_features([PageTraits("http://h/blog/2011-05/a~b.png?x=1")])
    >>> table.words["word 1"], table.words["word 3"], table.words["media type"], table.numbers["depth"].tolist()
    (['blog'], ['05'], ['image/png'], [3.0])
    """
    parts = [urlsplit(page.url) for page in pages]
    paths = [WORD.findall(part.path.lower()) for part in parts]
    words: dict[str, list[str | None]] = {
        "domain": [part.hostname for part in parts],
        "media type": [
            page.media_type or _TYPES.guess_type(part.path)[0] for page, part in zip(pages, parts, strict=True)
        ],
    }
    for place in range(3):
        words[f"word {place + 1}"] = [path[place] if len(path) > place else "" for path in paths]
    return Table(words, _url_numbers([page.url for page in pages], [part.path for part in parts]))


def _url_numbers(urls: list[str], paths: list[str]) -> dict[str, NDArray[np.float64]]:
    columns: dict[str, list[int]] = {
        "depth": [path.count("/") for path in paths],
        "URL length": [len(url) for url in urls],
    }
    behind = [url.partition("//")[2] for url in urls]  # the scheme has a colon
    columns |= {name: [sign in text for text in behind] for name, sign in SPECIAL.items()}
    return {name: np.array(values, np.float64) for name, values in columns.items()}


def offline_features(pages: Sequence[PageTraits]) -> Table:
    """Return the online features, and days since the last change and counts, from captures or the sitemap."""
    online = online_features(pages)
    idle = _column([page.idle for page in pages])
    counts = {name: _column([getattr(page, name) for page in pages]) for name in COUNTS}
    return Table(online.words, online.numbers | {"days since change": idle / DAY} | counts)


COUNTS = ("images", "tables", "outlinks", "inlinks")
#: the paper's two sets of features, by name
FEATURES: dict[str, Callable[[Sequence[PageTraits]], Table]] = {"online": online_features, "offline": offline_features}


def _column(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], np.float64)
