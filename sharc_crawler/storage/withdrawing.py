"""Withdraw visits whose records are lost, and all conclusions from them; they are made again.

T stays. A page whose visit before T is lost is downloaded again, so that it is in the archive, but its state at T is
unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace

from sharc_crawler.evidence.audit import CONDITIONALS
from sharc_crawler.evidence.facts import LOST
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.evidence.worded import code
from sharc_crawler.model import EMBEDDED, Kind, PageId, Phase, Result, Slot
from sharc_crawler.state.rows import Batch, CaptureRow, JudgementRow, VisitRow

RECORDS = "record", "were not in its WARC files"
VISITS = "visit", "were not in its state"
REVISITS = "revisit", "came after a T that was not in its state"


def founded(state: Batch, when: str) -> Batch:
    """The state without conclusions from visits, or a T, that its store has lost; the same object if there are none."""
    visited = {visit.page for visit in state.visits if visit.finished and visit.slot is not Slot.SECOND}
    revisited = {
        visit.page
        for visit in state.visits
        if visit.finished and visit.slot is Slot.SECOND and state.pages[visit.page].kind in (Kind.PAGE, *EMBEDDED)
    }
    without_t = {page for page in revisited if _lacks_t(state.captures[state.pages[page].capture])}
    if without_t:
        state = _without(state, frozenset(), without_t, when, REVISITS)
    unseen = ((revisited - without_t) | {row.page for row in state.judgements}) - visited
    return _without(state, frozenset(), unseen, when, VISITS) if unseen else state


def _lacks_t(row: CaptureRow) -> bool:
    """Is T missing, though it must have been set before a revisit? Parts have their own T, other modes have none."""
    return row.reference is None and row.spec.mode == "capture" and not row.spec.subsites


def withdrawn(state: Batch, lost: Collection[int], when: str) -> Batch:
    """The state without these visits, numbered from 0; ``when``: the present instant, for a note."""
    lost = frozenset(lost)
    firsts = {
        state.visits[n].page for n in lost if state.visits[n].finished and state.visits[n].slot is not Slot.SECOND
    }
    return _without(state, lost, firsts, when, RECORDS)


def _without(state: Batch, lost: frozenset[int], firsts: Collection[PageId], when: str, what: tuple[str, str]) -> Batch:
    """Withdraw visits; ``firsts``: pages whose visit before T is lost, in ``lost`` or not in the state at all."""
    open_ = _with_revisits(state, lost, firsts)
    pages = {*firsts, *(state.visits[number].page for number in open_)}
    missing = [state.visits[number].page for number in lost] or firsts
    count = Counter(state.pages[page].capture for page in missing)
    visits = [_opened(visit, number in lost, number in open_) for number, visit in enumerate(state.visits)]
    bare = count.keys() - _with_content(state, visits)
    rejudged = {number for number in count if state.captures[number].audit is not None}
    read = {(state.pages[visit.page].capture, visit.outcome.started) for visit in _of(state, open_, Kind.SITEMAP)}
    hosts = {state.pages[visit.page].host for visit in _of(state, open_, Kind.ROBOTS)}
    return replace(
        state,
        visits=[visit._replace(finished=visit.finished and _owner(state, visit) not in bare) for visit in visits],
        judgements=[
            row
            for row in state.judgements
            if row.page not in pages
            and (owner := state.pages[row.page].capture) not in bare
            and (owner not in rejudged or _stands(state, row))
        ],
        hosts={name: host for name, host in state.hosts.items() if name not in hosts},
        lastmods=[row for row in state.lastmods if (state.pages[row.page].capture, row.read) not in read],
        members=[(page, part) for page, part in state.members if state.pages[page].capture not in bare],
        subsites={key: part for key, part in state.subsites.items() if part.capture not in bare},
        captures={
            number: _going_on(row, _note(count[number], what, when), number in bare) if count[number] else row
            for number, row in state.captures.items()
        },
    )


def _stands(state: Batch, row: JudgementRow) -> bool:
    """Does a judgement stay? Those on the server's word are made again at the capture's end."""
    page = state.pages[row.page]
    audit = state.captures[page.capture].audit
    by_lastmods = audit is not None and audit.get("of") != CONDITIONALS
    stated = row.evidence.stated or code(row.reason) == Reason.NOT_MODIFIED_DOUBTED
    return not by_lastmods and (page.kind is not Kind.PAGE or not stated)


def _with_revisits(state: Batch, lost: Collection[int], firsts: Collection[PageId]) -> frozenset[int]:
    """The visits to make again: the lost ones, and revisits without their visit; but no polls of hubs."""
    return frozenset(
        number
        for number, visit in enumerate(state.visits)
        if state.pages[visit.page].kind is not Kind.HUB
        and (number in lost or (visit.slot is Slot.SECOND and visit.page in firsts))
    )


def _of(state: Batch, numbers: Collection[int], kind: Kind) -> list[VisitRow]:
    visits = (state.visits[number] for number in numbers)
    return [visit for visit in visits if state.pages[visit.page].kind is kind]


def _owner(state: Batch, visit: VisitRow) -> int:
    """The number of a visit's capture."""
    return state.pages[visit.page].capture


def _with_content(state: Batch, visits: Iterable[VisitRow]) -> set[int]:
    """Captures that still have a page."""
    finished = (visit for visit in visits if visit.finished and visit.outcome.result is Result.OK)
    return {_owner(state, visit) for visit in finished if state.pages[visit.page].kind in (Kind.PAGE, Kind.HUB)}


def _opened(visit: VisitRow, lost: bool, open_: bool) -> VisitRow:
    outcome = visit.outcome._replace(capture=None, error=LOST) if lost else visit.outcome
    return visit._replace(outcome=outcome, finished=visit.finished and not open_)


def _note(count: int, what: tuple[str, str], when: str) -> str:
    name, where = what
    return (
        f"{count:,} {name}{'s' * (count != 1)} of this capture {where} any more at {when}: what they"
        " held is fetched again, and what had been concluded from it is withdrawn"
    )


def _going_on(row: CaptureRow, note: str, bare: bool) -> CaptureRow:
    """The reopened capture's row with a note; if no page is left (``bare``), it begins anew without T."""
    reference = None if bare else row.reference
    after = reference is not None or (row.spec.subsites and not bare)
    phase = row.phase if row.phase is not Phase.DONE else Phase.REVISIT if after else Phase.VISIT
    phase = Phase.VISIT if bare else phase
    return row._replace(notes=(*row.notes, note), phase=phase, reference=reference, ended=None, audit=None)
