"""How long an instant crawl goes on trying: as long as there is time, later each time."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.hosts import Host, Politeness, Task
from sharc_crawler.frontier.trying_again import is_tried_again, try_again
from sharc_crawler.model import Kind, Outcome, Result, Slot
from sharc_crawler.state.lifecycle import State

ENDS, EVERY, LONGEST = 100_000.0, 600.0, 7_200.0


class Instant:
    """A crawl that polls until ``ENDS``, with one URL of a host."""

    def __init__(self, kind: Kind = Kind.PAGE, seeded: bool = True) -> None:
        politeness = Politeness(attempts=3, back_off=5.0)
        self.host, self.read, self.woken = Host("h", politeness), [], []
        polls = SimpleNamespace(ends=ENDS, terms=SimpleNamespace(every=EVERY, longest=LONGEST))
        self.pages = SimpleNamespace(kinds=[kind], states=[State.LEASED], hosts=[0], move=lambda *given: None)
        self.capture = SimpleNamespace(
            budget=SimpleNamespace(spare=lambda now: 1.0),
            turned=False,
            mode=SimpleNamespace(whole=True),
            owed=SimpleNamespace(was_read=self.read.append),
        )
        self.ledger = SimpleNamespace(
            politeness=politeness,
            capture=self.capture,
            shared=SimpleNamespace(polls=polls),
            pages=self.pages,
            hosts=[self.host],
            seeded={"h"} if seeded else set(),
            ring=SimpleNamespace(wake=self.woken.append),
            leaves_hosts=False,
        )
        self.kind = kind

    def fails(self, attempt: int, now: float = 0.0, **more: float) -> tuple[float, int]:
        """After how long it is tried again, and for the how-manieth time."""
        try_again(self.ledger, Task(0, Slot.FIRST, attempt=attempt), Outcome(Result.FAILED, now, now, **more))
        ((due, _, task),), self.host.retries = self.host.retries, []
        return due - now, task.attempt

    def goes_on(self, status: int | None = None, now: float = 0.0, attempt: int = 3, **more) -> bool:
        outcome = Outcome(Result.FAILED, now, now, status, **more)
        return is_tried_again(
            self.ledger, SimpleNamespace(kind=self.kind), Task(0, Slot.FIRST, attempt=attempt), outcome
        )


def test_it_waits_twice_as_long_each_time_as_long_as_a_hub_is_left_alone_at_most():
    site = Instant()
    assert [site.fails(attempt) for attempt in (1, 2, 3, 4)] == [(5.0, 2), (10.0, 3), (20.0, 4), (40.0, 5)]
    assert site.fails(2_000) == (LONGEST, 2_001)
    assert site.woken == [0] * 5
    assert site.fails(4, retry_after=50.0) == (50.0, 5)
    assert site.fails(4, retry_after=20.0) == (40.0, 5)
    assert site.fails(20, now=ENDS - 60.0) == (60.0, 21)
    assert not site.read


@pytest.mark.parametrize(("seeded", "read"), [(True, ["h"]), (False, [])])
def test_robots_txt_is_asked_for_as_often_as_a_hub_and_others_wait_for_its_attempts_alone(seeded, read):
    site = Instant(Kind.ROBOTS, seeded)
    assert site.fails(2) == (10.0, 3)
    assert not site.read
    assert site.fails(3) == (20.0, 4)
    assert site.read == read
    assert site.fails(2_000) == (EVERY, 2_001)
    assert site.read == read


def test_a_page_whose_failure_may_pass_is_tried_as_long_as_there_is_time():
    site = Instant()
    for attempt in (3, 4, 50):
        assert site.goes_on(attempt=attempt)
    assert site.goes_on(503, ENDS - 10.0, retry_after=9.0)
    assert not site.goes_on(503, ENDS - 10.0, retry_after=10.0)
    assert not site.goes_on(500), "it may never"
    assert site.goes_on(error="TLS failed: SSL routines unexpected eof"), "the host may come to itself"
    assert not site.goes_on(error="TLS failed: SSL routines wrong version number"), "no TLS is spoken at this port"
    site.capture.turned = True
    assert not site.goes_on()


def test_so_is_robots_txt_until_it_was_read_once():
    site = Instant(Kind.ROBOTS)
    assert site.goes_on(500)
    assert not site.goes_on(500, ENDS)
    site.host.rules = SimpleNamespace()
    assert not site.goes_on(500)
    assert not site.goes_on()
