"""What was handed out and is not answered yet: leases end once, and hosts are free again in time."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.hosts import TAKEN, Host, Politeness, Task
from sharc_crawler.frontier.leasing import Leases
from sharc_crawler.model import NO_VALIDATORS, Kind, Outcome, Plan, Result, Slot, Validators
from sharc_crawler.state.lifecycle import Event, State
from tests.traps.tables import ROOT, table

OF_BEFORE, OF_THE_FIRST = Validators('"before"'), Validators('"first"')
NOW, DELAY, TIME = 50.0, 2.0, 60.0


class Leasing:
    """Pages of one host; what the records and the others are told."""

    def __init__(self, *, former: bool = True, believed: bool = True, apart: bool = True) -> None:
        self.pages, self.told, self.wanted = table("a", "b"), [], []
        self.host = Host("h", Politeness(delay=DELAY, obey_robots=False, apart=apart))
        self.capture = SimpleNamespace(
            spec=SimpleNamespace(site="a site"),
            mode=SimpleNamespace(asks_by_former=lambda *given: self.wanted.append(given) or former),
            owed=SimpleNamespace(
                before_visits=lambda _: self.told.append("others wait"),
                was_read=lambda _: self.told.append("others go on"),
            ),
        )
        ring = SimpleNamespace(
            wake=lambda number: self.told.append(("woken", number)), wake_all=lambda: self.told.append("all woken")
        )
        self.ledger = SimpleNamespace(
            pages=self.pages,
            hosts=[self.host],
            capture=self.capture,
            politeness=Politeness(apart=apart),
            shared=SimpleNamespace(last=7),
            leaves_hosts=True,
            ring=ring,
            freed=lambda number: self.told.append(("freed", number)),
        )
        self.leases = Leases(self.ledger, TIME, lambda *given: OF_BEFORE, lambda: believed)

    def grant(self, page: int = 1, slot: Slot = Slot.FIRST, kind: Kind = Kind.PAGE, attempt: int = 1, now: float = NOW):
        return self.leases.grant(self.host, Task(page, slot, attempt=attempt), kind, self.pages.urls[page], now)

    def visit(self, page: int = 1) -> None:
        for event in (Event.LEASE, Event.CAPTURED):
            self.pages.move(page, event)
        self.pages.remember(page, Outcome(Result.OK, 1.0, 2.0, 200, validators=OF_THE_FIRST))


def ended(started: float = NOW, **more) -> Outcome:
    return Outcome(Result.OK, started, started + 1.0, 200, **more)


def test_a_lease_has_a_number_of_its_own_and_its_host_is_busy_until_a_delay_has_passed():
    site = Leasing()
    fetches = [site.grant(page) for page in (1, 2)]
    assert [(one.lease, one.page, one.url) for one in fetches] == [(8, 1, f"{ROOT}a"), (9, 2, f"{ROOT}b")]
    assert {(one.site, one.host, one.slot, one.plan, one.attempt, one.decided) for one in fetches} == {
        ("a site", "h", Slot.FIRST, Plan.HOPEFUL, 1, NOW)
    }
    assert (site.host.pace.busy, site.host.pace.due, len(site.leases)) == (2, NOW + DELAY, 2)
    assert site.pages.states[1] == State.LEASED


def test_what_a_former_capture_has_is_asked_of_no_host_and_none_waits_for_it():
    site = Leasing()
    site.grant(attempt=TAKEN)
    assert site.host.pace.due == 0.0


@pytest.mark.parametrize(
    ("kind", "former", "validators"),
    [(Kind.PAGE, True, OF_BEFORE), (Kind.RESOURCE, True, OF_BEFORE), (Kind.DATA, True, NO_VALIDATORS),
     (Kind.SITEMAP, True, NO_VALIDATORS), (Kind.PAGE, False, NO_VALIDATORS)],
)  # fmt: skip
def test_a_first_download_is_asked_for_by_what_a_former_capture_had(kind, former, validators):
    site = Leasing(former=former)
    assert site.grant(kind=kind).validators == validators
    assert site.wanted == [(kind, Slot.FIRST)] * (kind in (Kind.PAGE, Kind.RESOURCE))


@pytest.mark.parametrize("believed", [True, False])
def test_a_second_one_by_what_the_first_had_and_a_second_look_by_nothing(believed):
    site = Leasing(believed=believed)
    site.visit()
    assert site.grant(slot=Slot.SECOND).validators == (OF_THE_FIRST if believed else NO_VALIDATORS)
    site.pages.move(1, Event.GIVEN_BACK)
    assert site.grant(slot=Slot.FIRST).validators == NO_VALIDATORS
    assert not site.wanted


def test_a_lease_ends_once_and_its_host_may_be_asked_a_delay_after_the_request_was_sent():
    site = Leasing()
    fetch = site.grant()
    assert site.leases.task(fetch) == Task(1, Slot.FIRST)
    assert site.leases.answer(fetch, ended(sent=NOW + 0.5)) == Task(1, Slot.FIRST)
    assert site.told == [("freed", 0)]
    assert site.host.pace.due == NOW + 0.5 + DELAY
    assert (site.leases.answer(fetch, ended()), site.leases.task(fetch), len(site.leases)) == (None, None, 0)
    assert site.told == [("freed", 0)]
    site.leases.answer(site.grant(2, now=NOW + 9.0), ended(NOW + 9.5))
    assert site.host.pace.due == NOW + 9.5 + DELAY, "nobody says when it was sent"


def test_a_host_that_asks_for_a_pause_gets_it_and_one_that_was_away_is_looked_at():
    site = Leasing()
    site.leases.answer(site.grant(), ended(retry_after=30.0))
    assert site.host.pace.due == NOW + 1.0 + 30.0
    site.host.away = 1
    site.leases.answer(site.grant(2), ended())
    assert site.host.away == 0


def test_where_the_exchange_is_over_and_the_visit_is_not_no_visit_is_decided_meanwhile():
    site = Leasing()
    fetch = site.grant()
    site.leases.let_go(fetch, ended())
    site.leases.let_go(fetch, ended())
    assert site.told == ["others wait", ("freed", 0)], "once"
    assert len(site.leases) == 1
    assert site.leases.answer(fetch, ended()) == Task(1, Slot.FIRST)
    assert site.told[2:] == ["others go on", "all woken"], "the host was free before"
    site.leases.let_go(fetch, ended())
    assert len(site.told) == 4, "it is over"


def test_others_go_on_before_a_visit_that_takes_long_is_over():
    site = Leasing()
    fetch, other = site.grant(), site.grant(2)
    site.leases.hold_up_no_more(fetch)
    assert not site.told
    site.leases.let_go(fetch, ended())
    for _ in range(2):
        site.leases.hold_up_no_more(fetch)
    assert site.told == ["others wait", ("freed", 0), "others go on", "all woken"]
    assert site.leases.answer(fetch, ended())
    assert len(site.told) == 4
    assert site.leases.answer(other, ended())
    assert site.told[4:] == [("freed", 0)]


@pytest.mark.parametrize("apart", [True, False])
def test_a_page_is_asked_for_in_another_second_than_before(apart):
    site = Leasing(apart=apart)
    site.leases.answer(site.grant(), ended(50.9))
    site.leases.answer(site.grant(2), ended(50.1))
    assert [site.leases.due(page, 50.95) for page in range(3)] == [50.95, *[51 if apart else 50.95] * 2]
    assert site.leases.due(1, 51.5) == 51.5
    site.visit(0)
    site.leases.answer(site.grant(0, Slot.SECOND, now=52.0), ended(52.0))
    assert [site.leases.due(page, 52.5) for page in range(3)] == [53 if apart else 52.5, 52.5, 52.5]
    site.pages.move(1, Event.CAPTURED)
    site.leases.answer(site.grant(1, Slot.SECOND, now=52.0), ended(51.0))
    assert site.leases.due(1, 52.5) == 52.5, "of a former second"


def test_the_first_second_of_all_is_one_too():
    site = Leasing()
    site.leases.answer(site.grant(now=0.2), ended(0.2))
    assert [site.leases.due(page, 0.9) for page in (1, 2)] == [1.0, 0.9]


def test_what_came_to_nothing_for_a_reason_of_our_own_is_made_again_as_the_same_attempt():
    site = Leasing()
    fetch = site.grant()
    site.leases.give_back(fetch, NOW + 1.0, NOW + 0.5)
    assert site.host.retries == [(NOW + 1.0, 1, Task(1, Slot.FIRST))]
    assert site.host.pace.due == NOW + 0.5 + DELAY
    assert (site.told, len(site.leases), site.pages.states[1]) == ([("freed", 0)], 0, State.QUEUED)
    site.leases.give_back(fetch, NOW + 1.0, NOW + 0.5)
    assert len(site.host.retries) == 1
    site.host.retries.clear()
    site.leases.give_back(site.grant(attempt=TAKEN), NOW, 0.0)
    assert site.host.retries[0][2].attempt == 1, "it is asked for now"
    fetch = site.grant(2)
    site.leases.let_go(fetch, ended())
    site.told.clear()
    site.leases.give_back(fetch, NOW, 0.0)
    assert site.told == ["others go on", "all woken", ("woken", 0)], "its host was free"


def test_what_is_never_answered_is_queued_again_as_another_attempt_oldest_first():
    site = Leasing()
    assert site.leases.expiry() is None
    for page, now in ((1, NOW), (2, NOW + 5.0)):
        site.grant(page, now=now)
    assert site.leases.expiry() == NOW + TIME
    site.leases.expire(NOW + TIME - 1.0)
    assert len(site.leases) == 2
    site.leases.expire(NOW + TIME)
    assert site.host.retries == [(NOW + TIME, 1, Task(1, Slot.FIRST, attempt=2))]
    assert site.leases.expiry() == NOW + 5.0 + TIME
    site.leases.expire(NOW + 2 * TIME)
    assert [task.page for *_, task in site.host.retries] == [1, 2]
    assert len(site.leases) == 0
