"""Pages that wait until nothing else is left, and samples of those that would be left: true pages only come late."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from sharc_crawler.links.dated import has_day

if TYPE_CHECKING:
    from collections.abc import Container

    from sharc_crawler.addresses.known_urls import Texts
    from sharc_crawler.model import PageId, Visit
    from sharc_crawler.state.pages import PageTable
    from sharc_crawler.traps.rules import Traps

LAST = 2  #: what looks like a trap by itself waits longer than what copies alone named (1)
HELD = 4  #: what is left unless samples of it show something new
MAX_HELD = 1_000  #: pages that are put off once more, per decision; as many are looked at for a sample
SAMPLES = 20  #: of what is held, that show nothing new in a row, at most: then it is left
SHARE, FEW = 6, 4  #: or one for so many contents of the site, but the first few
SHOWN = 2  #: by the words of its address, what a page shows was seen


class Doubted:
    """Visits that wait until nothing else is left: by distance from the seeds, then in any order, always the same."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, int, PageId, Visit]] = []
        self._ahead: Container[PageId] | None = None

    def __len__(self) -> int:
        return len(self._heap)

    def put(self, visit: Visit, pages: PageTable, doubts: int = LAST) -> None:
        """A visit waits. A month's days tell whether it is empty: they come first."""
        drawn = visit.page * 2_654_435_761 % 2**32  # what stands beside each other in a document comes apart
        depth = 0 if has_day(pages.urls[visit.page]) else pages.depths[visit.page]
        depth -= 2 * (self._ahead is not None and pages.parents[visit.page] in self._ahead)
        if doubts > LAST:
            depth = -depth
        heappush(self._heap, (doubts, depth, drawn, visit.page, visit))

    def follow(self, echoes: Container[PageId], pages: PageTable) -> None:
        """From now on the pages come first that these lead to."""
        if self._ahead is None:  # once: also where there are none yet
            self._ahead, waiting, self._heap = echoes, self._heap, []
            for doubts, *_, visit in waiting:
                self.put(visit, pages, doubts)

    def take(self) -> tuple[Visit, int]:
        """The next one, where there is one, and how much it is doubted."""
        doubts, *_, visit = heappop(self._heap)
        return visit, doubts

    def sample(self, traps: Traps, visit: Visit, pages: PageTable) -> Visit:
        """One of the held pages as a sample, ``visit`` or another; after too many samples it is ``visit``."""
        if traps.tries >= worth(traps):
            return visit
        ranks = [shown(traps, one, pages) for one in (visit, *(one[-1] for one in self._heap[:MAX_HELD]))]
        if at := ranks.index(min(ranks)):
            other = self._heap[at - 1][-1]
            self._heap[at - 1] = (HELD, 0, 0, visit.page, visit)
            heapify(self._heap)
            visit = other
        traps.tries += 1
        traps.samples.add(visit.page)
        return visit


def worth(traps: Traps) -> int:
    """How many samples in a row may show nothing new."""
    return max(0, min(SAMPLES, (len(traps.firsts) - FEW) // SHARE))


def shown(traps: Traps, visit: Visit, pages: PageTable) -> int:
    """How likely it is that what a page shows was seen: 0, 1 or 2."""
    return traps.suspicion.shown(pages.urls[visit.page]) if traps.suspicion else 1


def doubts(traps: Traps, page: PageId, urls: Texts) -> int:
    """Is a page to wait until nothing else is left, and how long? 0: it is not."""
    if traps.calendars and traps.calendars.has(url := urls[page]):
        return LAST * traps.calendars.doubts(page, url)
    if traps.renamed and (traps.renamed.doubts(page) or traps.renamed.is_fresh(urls[page], page)):
        return HELD * traps.renamed.doubts(page)
    last = traps.bottomless.waits(page, urls[page]) if traps.bottomless else 0
    last = max(last, traps.renamed is not None and traps.renamed.series.waits(page))
    last = max(last, traps.recombined.waits(page) if traps.recombined else 0)
    return max(last, traps.suspicion.doubts(page) if traps.suspicion else 0)


def waits(traps: Traps, page: PageId, pages: PageTable) -> int:
    """The same; what would be left waits longest."""
    return doubts(traps, page, pages.urls) or HELD * holds(traps, page, pages)


def holds(traps: Traps, page: PageId, pages: PageTable) -> bool:
    """Would it be left but for samples? None are taken of dates, renamed pages, grown addresses, bottomless folders."""
    url, parent = pages.urls[page], pages.parents[page]
    if traps.calendars and traps.calendars.has(url):
        return False
    if renamed_away(traps, page, pages) or (traps.recombined and traps.recombined.why_not(url, parent, page)):
        return False
    return not (traps.bottomless and traps.bottomless.why_not(parent, url, page)) and bool(traps.left(page, pages))


def renamed_away(traps: Traps, page: PageId, pages: PageTable) -> bool:
    """Is it left as one page that has many addresses?"""
    return traps.renamed is not None and bool(traps.renamed.why_not(pages.urls[page], pages.parents[page], page))
