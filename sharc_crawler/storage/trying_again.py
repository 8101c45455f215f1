"""Reopen captures that brought nothing because no server answered: the same command tries again."""

from __future__ import annotations

import re
from dataclasses import replace

from sharc_crawler.errors import DataError
from sharc_crawler.model import Kind, Phase, Result
from sharc_crawler.state.rows import Batch, VisitRow
from sharc_crawler.state.store import FrontierStore
from sharc_crawler.storage.sqlite import WAY_OUT

_ASKED_AGAIN = re.compile(r": nothing on it is fetched$|^sitemap \S+: ")


def require_whole(state: Batch) -> None:
    """Raise :class:`~sharc_crawler.errors.DataError` if visited pages are missing."""
    last = max((visit.page for visit in state.visits), default=-1)
    if last >= len(state.pages) or (state.pages and state.pages[-1].page >= len(state.pages)):
        raise DataError(f"the state is damaged: it lacks pages that were visited; {WAY_OUT}")


def unreached(state: Batch) -> list[int]:
    """Complete captures without any page whose servers did not answer; raises as :func:`require_whole`."""
    require_whole(state)
    if all(row.phase is not Phase.DONE for row in state.captures.values()):  # there may be a million visits
        return []
    brought: set[int] = set()
    failed: set[int] = set()
    for visit in state.visits:
        row = state.pages[visit.page]
        if visit.outcome.result is Result.FAILED:
            failed.add(row.capture)
        elif visit.outcome.result is Result.OK and row.kind in (Kind.PAGE, Kind.HUB):
            brought.add(row.capture)
    return [number for number, row in state.captures.items() if row.phase is Phase.DONE and number in failed - brought]


def is_unreached(store: FrontierStore, capture: int) -> bool:
    """The same for one capture, without loading its state: most have a page among the first URLs."""
    failed = False
    for url in store.urls(capture):
        results = {visit.outcome.result for visit in url.visits}
        if Result.OK in results and url.page.kind in (Kind.PAGE, Kind.HUB):
            return False
        failed = failed or Result.FAILED in results
    return failed


def reopened(state: Batch, capture: int) -> Batch:
    """The state with such a capture reopened; its attempts stay on record.

    URLs that failed, or were refused for that, are open again. Missing robots.txt are read again. Phases and budget
    begin anew.
    """
    read = {visit.page for visit in state.visits if visit.outcome.result not in (Result.FAILED, Result.REFUSED)}
    unread = {
        state.pages[visit.page].host
        for visit in state.visits
        if visit.page not in read and state.pages[visit.page].kind is Kind.ROBOTS and _failed(state, visit, capture)
    }
    row = state.captures[capture]
    notes = tuple(note for note in row.notes if not _ASKED_AGAIN.search(note))  # made again if still true
    begun = max(visit.outcome.ended for visit in state.visits)  # earlier requests do not count for the budget
    row = row._replace(phase=Phase.VISIT, started=begun, reference=None, ended=None, notes=notes)
    return replace(
        state,
        visits=[
            visit._replace(finished=visit.finished and not _open_again(state, visit, capture)) for visit in state.visits
        ],
        hosts={name: host for name, host in state.hosts.items() if name not in unread},
        members=[(page, part) for page, part in state.members if state.pages[page].capture != capture],
        subsites={key: part for key, part in state.subsites.items() if part.capture != capture},
        captures={**state.captures, capture: row},
    )


def _failed(state: Batch, visit: VisitRow, capture: int) -> bool:
    return state.pages[visit.page].capture == capture and visit.outcome.result is Result.FAILED


def _open_again(state: Batch, visit: VisitRow, capture: int) -> bool:
    """Did a visit fail, or was it refused without a request?"""
    refused = state.pages[visit.page].capture == capture and not visit.attempt
    return refused or _failed(state, visit, capture)
