"""Classes of URLs whose validators differ at every download, be the content the same: a cluster's inode ETags."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sharc_crawler.evidence.comparison import compare, contradiction
from sharc_crawler.model import Change, Result
from sharc_crawler.urls import url_class

if TYPE_CHECKING:
    from sharc_crawler.model import Outcome

#: so many pages, downloaded twice within SHORT, did not all change and change back; a rolled-back deploy outlasts BRIEF
PAIRS = 5
SHORT, BRIEF = 60.0, 3.0


class Restless:
    """Which classes are known to be so, by pairs of downloads one soon after the other."""

    def __init__(self) -> None:
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._brief, self._steady = set[tuple[str, str]](), set[tuple[str, str]]()

    def saw(self, url: str, visit: Outcome, revisit: Outcome) -> None:
        """A page was downloaded twice."""
        if revisit.started - visit.started > SHORT or revisit.result is not Result.OK:
            return
        change = compare(visit, revisit, restless=True).change
        if change is Change.UNCHANGED and contradiction(visit, revisit):
            self._pairs[class_of(url)] += 1
            self._brief |= {class_of(url)} if revisit.started - visit.started <= BRIEF else set()
        elif change is not Change.UNKNOWN:
            self._steady.add(class_of(url))

    def known(self, url: str) -> bool:
        """Whether the validators of a URL's class differ at unchanged content."""
        if not self._pairs:  # of hardly any site
            return False
        kind = class_of(url)
        return self._pairs[kind] >= PAIRS and kind in self._brief and kind not in self._steady


def class_of(url: str) -> tuple[str, str]:
    """Host, first folder and extension."""
    return urlsplit(url).netloc.lower(), url_class(url)
