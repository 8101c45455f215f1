"""First visits that brought content, put back many at once: nearly all of what a capture that goes on has done.

Whatever is told of them is told of all in their order, one after the other: none of these asks another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice

from sharc_crawler.frontier.capture import SiteCapture
from sharc_crawler.frontier.hosts import Task
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.modes.two_visits import TwoVisits
from sharc_crawler.frontier.rows import PageRow, VisitRow
from sharc_crawler.frontier.traps.common import content_of
from sharc_crawler.frontier.traps.many import tell
from sharc_crawler.frontier.traps.rules import Traps
from sharc_crawler.model import EMBEDDED, Kind, PageId, Result, Slot, Visit

_OK, _SECOND, _PAGE = Result.OK, Slot.SECOND, Kind.PAGE  # looked up once, as in the strategies' door
_QUEUED, _VISITED = int(State.QUEUED), int(State.VISITED)
_KINDS = EMBEDDED | {_PAGE}
AT_ONCE = 5_000  #: pages that are told to the rules against traps together


class FirstVisits:
    """Those that follow each other, until something else comes."""

    def __init__(self, ledger: Ledger, known: Sequence[PageRow], feeds: Callable[[PageId], bool]) -> None:
        """``known``: all pages; ``feeds``: did one name new pages of its like?"""
        self._pages = ledger.pages
        self._known = known
        self._feeds = feeds
        self._rows: dict[PageId, VisitRow] = {}

    def take(self, visits: Sequence[VisitRow], at: int) -> int:
        """Those from ``at`` on are put back together next; where something else comes."""
        states, kinds, rows = self._pages.states, self._pages.kinds, self._rows
        for row in islice(visits, at, None):
            page, slot, _, _, finished, _, _, outcome = row
            first = finished and outcome.result is _OK and slot is not _SECOND and states[page] == _QUEUED
            if not first or page in rows or kinds[page] not in _KINDS:  # visited again before T, by a hint
                return at + len(rows)
            rows[page] = row
        return at + len(rows)

    def put_back(self, capture: SiteCapture) -> list[Visit]:
        """All that were taken; those of pages are returned."""
        if not self._rows:
            return []
        rows, known, mode = list(self._rows.values()), self._known, capture.mode
        self._rows = {}
        self._remember(rows, compared=mode.compares)
        seen = capture.revisited.visited
        for row in rows:
            seen(known[row.page].url, row.outcome)
        made = [row for row in rows if known[row.page].kind is _PAGE]
        if isinstance(mode, TwoVisits) and mode.tells_nobody:
            mode.captured([(row.page, row.slot, row.outcome) for row in made])
        else:
            for row in rows:
                mode.visited(Task(row.page, row.slot, row.plan, row.attempt), known[row.page].kind, row.outcome)
        capture.counts.visited(captured=True, pages=len(made))
        if capture.traps is not None:
            self._tell(capture.traps, made)
        return [tuple.__new__(Visit, row[:3]) for row in made]  # there may be a million

    def _remember(self, rows: Sequence[VisitRow], *, compared: bool) -> None:
        states, remember = self._pages.states, self._pages.remember
        for row in rows:
            states[row.page] = _VISITED
            remember(row.page, row.outcome, compared)

    def _tell(self, traps: Traps, made: Sequence[VisitRow]) -> None:
        known, pages = self._known, self._pages
        found = [(row.page, content) for row in made if (content := content_of(row.outcome)) is not None]
        for start in range(0, len(found), AT_ONCE):
            shown, contents = zip(*found[start : start + AT_ONCE], strict=True)
            urls = [known[page].url for page in shown]
            if tell(traps, shown, urls, contents):
                continue
            for page, url, content in zip(shown, urls, contents, strict=True):
                traps.showed(page, url, content, pages, partial(self._feeds, page))
