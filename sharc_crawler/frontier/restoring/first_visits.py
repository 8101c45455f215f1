"""First visits that brought content, put back many at once: nearly all of what a capture that goes on has done.

Whatever is told of them is told of all in their order, one after the other: none of these asks another.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sharc_crawler.frontier.hosts import Task
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.traps.many import tell
from sharc_crawler.frontier.traps.rules import content_of
from sharc_crawler.model import EMBEDDED, Kind, Result, Slot, Visit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.rows import PageRow, VisitRow
    from sharc_crawler.frontier.traps.rules import Traps
    from sharc_crawler.model import PageId

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

    def take(self, row: VisitRow) -> bool:
        """Is it one of them? It is put back with the others then."""
        page = row.page
        if (
            row.outcome.result is not _OK
            or row.slot is _SECOND
            or self._pages.states[page] != _QUEUED
            or page in self._rows  # visited again before T, by a hint
            or self._pages.kinds[page] not in _KINDS
        ):
            return False
        self._rows[page] = row
        return True

    def put_back(self, capture: SiteCapture) -> list[Visit]:
        """All that were taken; those of pages are returned."""
        if not self._rows:
            return []
        rows, pages, known, mode = list(self._rows.values()), self._pages, self._known, capture.mode
        self._rows = {}
        for row in rows:
            pages.states[row.page] = _VISITED
            pages.remember(row.page, row.outcome, mode.compares)
        for row in rows:
            capture.revisited.visited(known[row.page].url, row.outcome)
        for row in rows:
            mode.visited(Task(row.page, row.slot, row.plan, row.attempt), known[row.page].kind, row.outcome)
        made = [row for row in rows if known[row.page].kind is _PAGE]
        capture.counts.visited(captured=True, pages=len(made))
        if capture.traps is not None:
            self._tell(capture.traps, made)
        return [Visit(row.page, row.slot, row.plan) for row in made]

    def _tell(self, traps: Traps, made: Sequence[VisitRow]) -> None:
        known, pages = self._known, self._pages
        found = [(row.page, content) for row in made if (content := content_of(row.outcome)) is not None]
        for start in range(0, len(found), AT_ONCE):
            shown, contents = zip(*found[start : start + AT_ONCE], strict=True)
            urls = [known[page].url for page in shown]
            if tell(traps, shown, urls, contents, pages):
                continue
            for page, url, content in zip(shown, urls, contents, strict=True):
                traps.saw(url, content, pages.parent_url(page), listed=pages.listed(page))
                traps.showed(page, url, content, pages, partial(self._feeds, page))
