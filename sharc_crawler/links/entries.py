"""Collect the entries of a sitemap: checked, without duplicates, and with counts of what was left out and why."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from sharc_crawler.links.dates import Interval, w3c_date
from sharc_crawler.links.found import Resolver
from sharc_crawler.model import Hints

CHANGE_FREQUENCIES = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})

_ADDRESS = re.compile(r"(?:https?:/)?/", re.IGNORECASE)


def is_address(text: str) -> bool:
    """Does it begin like a web URL?"""
    return _ADDRESS.match(text) is not None


class SitemapKind(StrEnum):
    """The format of a sitemap."""

    URLSET = "urlset"
    INDEX = "index"
    TEXT = "text"
    RSS = "rss"
    ATOM = "atom"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Entry:
    """A URL in a sitemap with its hints."""

    loc: str  #: absolute
    hints: Hints


class Entries:
    """Collects entries up to a limit. A repeated URL keeps its first position and the hints with the later lastmod."""

    def __init__(self, url: str, limit: int) -> None:
        self._resolver = Resolver(url)
        self._limit = limit
        self._entries: dict[str, Entry] = {}
        self._alternates: dict[str, Entry] = {}
        self._left_out: Counter[str] = Counter()

    def add(
        self,
        loc: str,
        lastmod: Interval | None,
        changefreq: str = "",
        priority: str = "",
        published: Interval | None = None,
    ) -> bool:
        """Add an entry; ``False``: the limit is reached."""
        address = loc.strip()
        absolute = self._resolver.one(address) if is_address(address) else None
        if absolute is None:
            self.left_out("address", "not a full http(s) address" if address else "empty")
            return True
        hints = self._hints(lastmod, changefreq.strip().lower(), priority.strip(), published)
        before = self._entries.get(absolute)
        if before is not None:
            self.left_out("address", "given more than once")
            if (hints.lastmod or 0.0) <= (before.hints.lastmod or 0.0):
                return True
        elif len(self._entries) >= self._limit:
            self.left_out("address", f"above the limit of {self._limit:,}, and all after it")
            return False
        self._entries[absolute] = Entry(absolute, hints)
        return True

    def add_alternate(self, address: str) -> None:
        """Add a page in another language, which usually has an entry of its own."""
        absolute = self._resolver.one(address)
        if absolute is not None and len(self._alternates) < self._limit:
            self._alternates.setdefault(absolute, Entry(absolute, Hints()))

    def date(self, text: str) -> Interval | None:
        """Parse a lastmod in the sitemap protocol's format; malformed ones are counted."""
        interval = w3c_date(text)
        if interval is None and text.strip():
            self.left_out("lastmod", "not a date")
        return interval

    def left_out(self, what: str, why: str) -> None:
        """Count something that was left out."""
        self._left_out[f"{what} {why}"] += 1

    def all(self) -> tuple[Entry, ...]:
        """The entries in the order of their first appearance, then pages named only as alternates."""
        alone = (entry for loc, entry in self._alternates.items() if loc not in self._entries)
        return (*self._entries.values(), *alone)

    def problems(self) -> list[str]:
        """What was left out: number, what and why."""
        return [f"{count:,} × {problem}" for problem, count in self._left_out.items()]

    def _hints(self, lastmod: Interval | None, changefreq: str, priority: str, published: Interval | None) -> Hints:
        if changefreq and changefreq not in CHANGE_FREQUENCIES:
            self.left_out("changefreq", "not one of the protocol's")
            changefreq = ""
        start, length = lastmod or (None, 0.0)
        number = self._priority(priority) if priority else None
        born, within = published or (None, 0.0)
        return Hints(start, length, changefreq or None, number, born, within)

    def _priority(self, text: str) -> float | None:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if 0.0 <= value <= 1.0:
            return value
        self.left_out("priority", "not a number from 0 to 1")
        return None
