"""Which download comes next: what a host owes, a visit, a poll; what looks like a trap waits."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.hosts import Host, Politeness, Task
from sharc_crawler.frontier.leasing import Chooser
from sharc_crawler.model import Phase, Slot, Visit
from sharc_crawler.state.lifecycle import State

NOW = 50.0


class Choice:
    """Two hosts, all of whose pages a strategy names in this order; ``odd``: pages that look like a trap's."""

    def __init__(self, *visits: Visit, hosts: dict[int, int] | None = None, odd: tuple[int, ...] = ()) -> None:
        self.left, self.woken, self.told, self.hosts = list(visits), [], [], []
        for name in "ab":
            self.hosts.append(Host(name, Politeness(obey_robots=False)))
            self.hosts[-1].has_pages = True
        self.capture = SimpleNamespace(
            life=SimpleNamespace(phase=Phase.VISIT),
            phase=Phase.VISIT,
            owed=SimpleNamespace(first=set(), unread=set(), pending=0, add=lambda: self.told.append("owed")),
            strategy="a strategy",
            traps=SimpleNamespace(waits=lambda page, pages: page in odd) if odd else None,
            doubted=None,
            budget=SimpleNamespace(ends=math.inf),
            later=[],
            far={},
            beginning=False,
            weighing=False,
            mode=SimpleNamespace(
                waits=lambda *_: False,
                next=lambda *_: self.left.pop(0) if self.left else None,
                owes_more=lambda _: False,
                turn=lambda _: self.told.append("turned"),
            ),
        )
        prober = SimpleNamespace(put_off=self.put_off, surest=lambda *_: self.capture.doubted.pop(0))
        finisher = SimpleNamespace(prober=prober, complete=self.complete)
        ledger = SimpleNamespace(
            capture=self.capture,
            hosts=self.hosts,
            polls=None,
            ring=SimpleNamespace(wake=self.woken.append),
            pages=SimpleNamespace(hosts=hosts or {}, urls=None, states={}),
        )
        self.ledger = ledger
        self.parts = 0  # of the site that are still to come
        self.chooser = Chooser(ledger, lambda *_: None, finisher)

    def put_off(self, capture, visit, doubts) -> None:
        capture.doubted = [*(capture.doubted or ()), visit]

    def complete(self, capture, now) -> bool:
        self.told.append("complete")
        self.left += [Visit(9, Slot.FIRST)] * (self.parts > 0)
        self.parts -= 1
        capture.phase = Phase.DONE if self.parts < 0 else Phase.OPENING
        return True

    def choose(self, number: int = 0) -> Task | None:
        self.ledger.pages.hosts = {9: 0, **self.ledger.pages.hosts}
        return self.chooser.choose(number, self.hosts[number], NOW)


def test_a_page_of_another_host_is_held_for_that_one_which_is_woken():
    site = Choice(Visit(1, Slot.FIRST), Visit(2, Slot.FIRST), hosts={1: 1, 2: 0})
    assert site.choose() == Task(2, Slot.FIRST)
    assert list(site.hosts[1].held) == [Task(1, Slot.FIRST)]
    assert site.woken == [1]
    assert site.choose(1) == Task(1, Slot.FIRST)
    assert site.told == ["owed", "owed"]


def test_of_pages_of_other_hosts_sixty_four_are_held_for_one_decision():
    site = Choice(*(Visit(page, Slot.FIRST) for page in range(70)), hosts=dict.fromkeys(range(70), 1))
    assert site.choose() is None
    assert len(site.hosts[1].held) == 64


def test_the_first_second_download_turns_and_no_other():
    site = Choice(Visit(1, Slot.SECOND), Visit(2, Slot.SECOND), Visit(3, Slot.FIRST), hosts={1: 0, 2: 0, 3: 0})
    site.choose()
    assert site.told == ["turned", "owed"]
    site.capture.phase = Phase.REVISIT
    site.choose()
    site.capture.phase = Phase.VISIT
    site.choose()
    assert site.told.count("turned") == 1


def test_what_looks_like_a_traps_waits_until_nothing_else_is_left_or_under_way():
    visits = [Visit(1, Slot.FIRST), Visit(2, Slot.FIRST), Visit(3, Slot.FIRST), Visit(1, Slot.SECOND)]
    site = Choice(*visits, hosts=dict.fromkeys(range(5), 0), odd=(1, 3))
    assert site.choose() == Task(2, Slot.FIRST)
    assert site.choose() == Task(1, Slot.SECOND), "it was visited: no more is asked"
    site.capture.owed.pending = 1
    assert site.choose() is None
    site.capture.owed.pending = 0
    assert [site.choose(), site.choose()] == [Task(1, Slot.FIRST), Task(3, Slot.FIRST)]
    assert "complete" not in site.told
    assert site.choose() is None
    assert "complete" in site.told


def test_of_a_page_it_is_asked_once_whether_it_looks_so():
    site, asked = Choice(Visit(1, Slot.FIRST), hosts={1: 0}, odd=(2,)), []
    site.capture.traps.waits = lambda page, _: asked.append(page)
    assert site.choose() == Task(1, Slot.FIRST)
    assert asked == [1]


@pytest.mark.parametrize(("doubted", "page"), [(999, 8), (1_000, 9)])
def test_a_thousand_pages_are_put_off_at_once_and_one_more_is_visited(doubted, page):
    site = Choice(*(Visit(8, Slot.FIRST) for _ in range(doubted)), Visit(9, Slot.FIRST), hosts={8: 0}, odd=(8, 9))
    assert site.choose() == Task(page, Slot.FIRST)


def test_once_a_part_of_a_site_is_over_the_next_is_asked_for_at_once():
    site = Choice()
    site.parts = 1
    assert site.choose() == Task(9, Slot.FIRST)
    assert site.told == ["complete", "owed"]
    assert site.choose() is None
    assert site.told[2:] == ["complete"]


@pytest.mark.parametrize("what", ["beginning", "weighing"])
def test_a_capture_that_is_being_worked_on_is_asked_again_soon(what):
    site = Choice()
    assert site.chooser.later(0, site.hosts[0], NOW) == math.inf
    setattr(site.capture, what, True)
    assert site.chooser.later(0, site.hosts[0], NOW) == pytest.approx(NOW + 0.1)
    site.hosts[0].retry(Task(1), NOW + 0.05)
    assert site.chooser.later(0, site.hosts[0], NOW) == NOW + 0.05


def test_a_hub_is_polled_when_nothing_new_is_to_be_fetched():
    site, asked = Choice(Visit(1, Slot.FIRST), hosts={1: 0}), []
    polls = {"take": lambda *given: asked.append(given) or 5, "due": lambda number, now: now + 7.0}
    site.ledger.polls = SimpleNamespace(**polls)
    site.ledger.pages.states = {5: State.QUEUED}
    assert site.choose() == Task(1, Slot.FIRST)
    assert not asked
    assert site.choose() == Task(5, Slot.FIRST)
    site.ledger.pages.states = {5: State.VISITED}
    assert site.choose() == Task(5, Slot.SECOND)
    assert asked[0] == (0, NOW)
    assert site.told.count("owed") == 3
    assert site.chooser.later(0, site.hosts[0], NOW) == NOW + 7.0
    site.hosts[0].waits = True
    assert site.chooser.later(0, site.hosts[0], NOW) == math.inf
    assert site.choose() is None, "robots.txt comes first"


def test_what_waits_for_a_time_that_the_capture_has_not_got_is_taken_now():
    site = Choice()
    site.hosts[0].retry(Task(1), NOW + 9.0)
    site.capture.budget.ends = NOW + 1.0
    assert site.choose() is None
    site.capture.budget.ends = NOW
    assert site.choose() == Task(1)


@pytest.mark.parametrize(("pending", "page"), [(1, 8), (2, None)])
def test_pages_that_were_put_off_do_not_wait_for_what_failed_and_is_asked_for_again(pending, page):
    site = Choice(Visit(8, Slot.FIRST), hosts={8: 0}, odd=(8,))
    site.hosts[0].retry(Task(2, Slot.FIRST, attempt=2), NOW + 15.0)
    site.capture.owed.pending, site.capture.mode.whole = pending, False
    task = site.chooser.choose(0, site.hosts[0], NOW)
    assert (task.page if task else None) == page
