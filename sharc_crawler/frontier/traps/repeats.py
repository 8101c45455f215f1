"""How many pages and how many different contents there are of what addresses have in common."""

from __future__ import annotations

from array import array

from sharc_crawler.known_urls import UNSEEN, SeenUrls

MOST = 20_000  #: templates or places that are watched
LEAST = 20  #: pages of one before it is judged
HONEST = 1_000  #: different contents after which one is never a trap
REPEATS = 4  #: pages for each different content, from which on it is a trap
MEANING = 3  #: where one in so many shows something else with something else in a place, that means something


class Repeats:
    """Counts in rows, one for each name; names and contents are known by their hashes: many a row has one page."""

    def __init__(self) -> None:
        self.rows = SeenUrls()  #: by name
        self.pages = array("i")
        self.contents = array("i")  #: different ones
        self.last = array("i")  #: pages when the last of them was new
        self.seen = SeenUrls()  #: contents, and whatever else is to be known again

    def row(self, name: str) -> int:
        """Its row; ``UNSEEN``: too many are watched already."""
        row = self.rows.get(name)
        if row == UNSEEN and len(self.pages) < MOST:
            row = len(self.pages)
            self.rows.add(name, row)
            for column in (self.pages, self.contents, self.last):
                column.append(0)
        return row

    def brought(self, row: int) -> None:
        """A content was new."""
        self.contents[row] += 1
        self.last[row] = self.pages[row]

    def is_new(self, key: str) -> bool:
        """Is it seen for the first time?"""
        return self.seen.add(key, 0) == UNSEEN


def as_trap(why: str) -> str:
    """Why something is left, and what takes it."""
    return f"looks like a trap: {why} (traps=0 takes them)"
