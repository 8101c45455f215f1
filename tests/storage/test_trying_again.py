"""Captures that brought nothing because nobody answered: which they are, and what is open in them again."""

from __future__ import annotations

from itertools import product

import pytest

from sharc_crawler.model import Kind, Outcome, Phase, Plan, Result, Slot
from sharc_crawler.state.rows import Batch, CaptureRow, HostRow, PageRow, SubsiteRow, VisitRow
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.storage.trying_again import is_unreached, reopened, unreached

OURS, OTHER = 0, 1


def state(*made: tuple[int, Kind, Result], phase: Phase = Phase.DONE, attempt: int = 1) -> Batch:
    """A page for each of (capture, kind, result), visited once."""
    return Batch(
        pages=[
            PageRow(number, capture, f"k{number}", f"http://h{capture}/{number}", kind, f"h{capture}", 0, -1, "seed", 0,
                    0.0, "none", 1.0, 1.0, None, "")
            for number, (capture, kind, _) in enumerate(made)
        ],
        visits=[
            VisitRow(number, Slot.ONLY, Plan.HOPEFUL, attempt, True, number, 1.0, Outcome(result, 1.0, 2.0))
            for number, (_, _, result) in enumerate(made)
        ],
        captures={
            number: CaptureRow(number, CaptureSpec(f"h{number}", ()), phase, 0.0, 5.0, 9.0, ("a note",))
            for number in (OURS, OTHER)
        },
        hosts={f"h{number}": HostRow(f"h{number}", None, 1.0) for number in (OURS, OTHER)},
        members=[(number, 0) for number in range(len(made))],
        subsites={(number, 0): SubsiteRow(number, 0, "", 1.0, 0.0, 5.0, 9.0, ()) for number in (OURS, OTHER)},
    )  # fmt: skip


def unreached_of(made: Batch) -> list[int]:
    """Those of a state; its store says the same of each, without loading it."""
    store, found = MemoryStore(), unreached(made)
    store.commit(made)
    assert [number for number in (OURS, OTHER) if is_unreached(store, number)] == found
    return found


@pytest.mark.parametrize(("kind", "result"), [*product(Kind, Result)])
def test_a_page_that_came_or_a_server_that_answered_is_reached(kind, result) -> None:
    assert unreached_of(state((OURS, kind, result))) == ([OURS] if result is Result.FAILED else [])
    brought = result is Result.OK and kind in (Kind.PAGE, Kind.HUB)
    mixed = state((OURS, Kind.PAGE, Result.FAILED), (OURS, kind, result), (OTHER, Kind.PAGE, Result.FAILED))
    assert unreached_of(mixed) == ([OTHER] if brought else [OURS, OTHER])


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.DONE])
def test_what_is_not_complete_goes_on_anyway(phase) -> None:
    assert unreached(state((OURS, Kind.PAGE, Result.FAILED), phase=phase)) == []


def test_what_failed_is_open_again_and_nothing_of_other_captures() -> None:
    before = state(
        (OURS, Kind.ROBOTS, Result.FAILED), (OURS, Kind.PAGE, Result.FAILED), (OURS, Kind.PAGE, Result.GONE),
        (OTHER, Kind.ROBOTS, Result.FAILED), (OTHER, Kind.PAGE, Result.FAILED),
    )  # fmt: skip
    after = reopened(before, OURS)
    assert [visit.finished for visit in after.visits] == [False, False, True, True, True]
    assert [visit._replace(finished=True) for visit in after.visits] == before.visits, "attempts stay on record"
    assert after.hosts == {"h1": before.hosts["h1"]}, "rules that could not be had are read again"
    assert after.members == [(3, 0), (4, 0)]
    assert after.subsites.keys() == {(OTHER, 0)}
    ours = before.captures[OURS]._replace(phase=Phase.VISIT, started=2.0, reference=None, ended=None)
    assert after.captures == {OURS: ours, OTHER: before.captures[OTHER]}
    assert after.pages == before.pages


def test_rules_that_were_had_are_kept_though_a_page_failed() -> None:
    after = reopened(state((OURS, Kind.ROBOTS, Result.OK), (OURS, Kind.PAGE, Result.FAILED)), OURS)
    assert after.hosts.keys() == {"h0", "h1"}
    assert [visit.finished for visit in after.visits] == [True, False]


def test_rules_that_came_at_a_later_attempt_are_kept() -> None:
    before = state((OURS, Kind.ROBOTS, Result.OK), (OURS, Kind.PAGE, Result.FAILED))
    first = before.visits[0]._replace(finished=False, outcome=Outcome(Result.FAILED, 0.5, 0.7))
    before.visits.insert(0, first)
    assert reopened(before, OURS).hosts.keys() == {"h0", "h1"}, "a host without rules that are owed waits for ever"


def test_what_is_asked_for_again_is_not_noted_as_lost_any_more() -> None:
    before = state((OURS, Kind.ROBOTS, Result.FAILED))
    lost = "http://h0/robots.txt could not be read (status 503): nothing on it is fetched"
    notes = ("a note", lost, "sitemap http://h0/sitemap.xml: robots.txt could not be read")
    before.captures[OURS] = before.captures[OURS]._replace(notes=notes)
    assert reopened(before, OURS).captures[OURS].notes == ("a note",)


def test_what_was_refused_without_a_request_is_open_again_too() -> None:
    refused = state((OURS, Kind.PAGE, Result.GONE), (OTHER, Kind.PAGE, Result.GONE), attempt=0)
    assert [visit.finished for visit in reopened(refused, OURS).visits] == [False, True]


def test_what_was_never_finished_does_not_become_so() -> None:
    before = state((OTHER, Kind.PAGE, Result.OK))
    before.visits[0] = before.visits[0]._replace(finished=False)
    assert not reopened(before, OURS).visits[0].finished
