"""What is queued and not to be fetched after all, and what failed and is tried again."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.hosts import Host, Politeness, Task
from sharc_crawler.frontier.throttling import AWAY
from sharc_crawler.frontier.trying_again import refuse, try_again
from sharc_crawler.model import Kind, Outcome, Result, Slot
from sharc_crawler.state.lifecycle import Event, State
from tests.traps.tables import ROOT, add, table

NOW, BUDGET, WHY = 50.0, "budget: max_requests=5", "robots.txt disallows it"


class Refusing:
    """A page of each kind; what of a refusal is told, and to whom."""

    def __init__(self) -> None:
        self.pages, self.told = table(), []
        self.page = {kind: add(self.pages, kind, 0, kind) for kind in Kind}
        tell = self.told.append
        owed = SimpleNamespace(ended=lambda: tell("over"), was_read=lambda page: tell(("read", page)))
        self.capture = SimpleNamespace(
            owed=owed,
            budget=SimpleNamespace(forgone=lambda task, reason: tell(("forgone", task.page, reason))),
            mode=SimpleNamespace(
                visited_again=lambda page, before, outcome: tell(("looked", page, before.digest, outcome)),
                closed=lambda page, reason: tell(("closed", page, reason)),
                audits=lambda _: False,
            ),
            note=lambda text: tell(("note", text)),
            strategy=None,
            again=(),
        )
        self.ledger = SimpleNamespace(
            capture=self.capture,
            pages=self.pages,
            refused=lambda task, reason, now: tell(("refused", task.page, reason, now)),
            ring=SimpleNamespace(wake_all=lambda: tell("woken")),
        )
        self.opener = SimpleNamespace(robots_read=lambda _, page, outcome: tell(("robots", page, outcome)))

    def refuse(self, kind: Kind, reason: str = WHY, slot: Slot = Slot.ONLY) -> list:
        """What is told beside that it is over, refused and others are woken."""
        page = self.page[kind]
        self.told.clear()
        refuse(self.ledger, self.opener, Task(page, slot), reason, NOW)
        assert self.told[0] == "over"
        assert self.told[-1] == "woken"
        self.told.remove(("refused", page, reason, NOW))
        return self.told[1:-1]


def test_who_is_told_of_what_is_refused():
    site = Refusing()
    outcome = Outcome(Result.FAILED, NOW, NOW, error=WHY)
    pages = site.page
    assert site.refuse(Kind.HUB) == [("closed", pages[Kind.HUB], WHY)]
    assert site.refuse(Kind.ROBOTS) == [("robots", pages[Kind.ROBOTS], outcome)]
    assert site.refuse(Kind.SITEMAP) == [
        ("read", site.page[Kind.SITEMAP]),
        ("note", f"sitemap {ROOT}sitemap: {WHY}"),
    ]
    assert site.refuse(Kind.RESOURCE) == []
    assert site.refuse(Kind.PAGE) == [("forgone", pages[Kind.PAGE], WHY)], "no room is kept for it any more"
    refused = (Kind.HUB, Kind.ROBOTS, Kind.SITEMAP, Kind.RESOURCE, Kind.PAGE)
    assert {site.pages.states[pages[kind]] for kind in refused} == {State.LOST}


def test_what_a_budget_has_no_room_for_is_counted_but_where_a_visit_stands():
    for visited, slot, kind in product((False, True), (Slot.FIRST, Slot.SECOND), (Kind.PAGE, Kind.RESOURCE)):
        site = Refusing()
        page = site.page[kind]
        for event in (Event.LEASE, Event.CAPTURED) * visited:
            site.pages.move(page, event)
        if visited:
            site.pages.remember(page, Outcome(Result.OK, 1.0, 2.0, 200, "sha1:first"))
        told = site.refuse(kind, BUDGET, slot)
        looked = visited and slot is Slot.FIRST and kind is Kind.PAGE
        refused = Outcome(Result.REFUSED, NOW, NOW, error=BUDGET)
        assert told == [("looked", page, "sha1:first", refused) if looked else ("forgone", page, BUDGET)]
        assert site.pages.states[page] == (State.VISITED if visited else State.LOST)


class Failed:
    """A page of a host that failed."""

    def __init__(self, away: int = 0, *, leaves: bool = True) -> None:
        self.pages, self.woken = table("a"), []
        self.host = Host("h", Politeness())
        self.host.away = away
        self.ledger = SimpleNamespace(
            politeness=Politeness(back_off=5.0, longest_pause=100.0),
            pages=self.pages,
            hosts=[self.host],
            leaves_hosts=leaves,
            ring=SimpleNamespace(wake=self.woken.append),
        )

    def again(self, attempt: int = 1, **outcome) -> float:
        """How long after its end it is tried again."""
        self.host.retries.clear()
        self.pages.move(1, Event.LEASE)
        found = Outcome(**{"result": Result.FAILED, "started": 1.0, "ended": 2.0} | outcome)
        try_again(self.ledger, Task(1, attempt=attempt), found)
        [(due, page, task)] = self.host.retries
        assert (page, task, self.pages.states[1], self.woken[-1]) == (1, Task(1, attempt=attempt + 1), State.QUEUED, 0)
        return due - 2.0


def test_what_failed_is_tried_again_after_twice_as_long_each_time():
    assert [Failed().again(attempt) for attempt in (1, 2)] == [5.0, 10.0]
    assert Failed().again(result=Result.NOT_MODIFIED) == 0.0, "it is asked for without conditions"


@pytest.mark.parametrize(("asked", "wait"), [(0.0, 0.0), (7.0, 7.0), (100.0, 100.0), (101.0, 105.0)])
def test_a_server_says_how_long_to_wait_up_to_the_longest_pause(asked, wait):
    assert Failed().again(retry_after=asked) == wait


@pytest.mark.parametrize(("away", "leaves", "wait"), [(AWAY - 1, True, 5.0), (AWAY, True, 0.0), (AWAY, False, 5.0)])
def test_nobody_waits_for_a_host_that_is_left(away, leaves, wait):
    assert Failed(away, leaves=leaves).again() == wait
