"""One host: when it may be asked again, what it owes, whose turn it is; against lists of all."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.frontier.hosts import Host, HostRing, Pace, Politeness, Task
from sharc_crawler.frontier.throttling import AWAY, SILENCE, SILENT, rest, silence_of
from sharc_crawler.model import Fetch, Kind, Outcome, Result, Slot

STEPS = st.lists(
    st.tuples(st.sampled_from(["wake", "rotate", "park", "delay", "ripen"]), st.integers(0, 3), st.integers(1, 5)),
    max_size=40,
)


class Turns:
    """The same with lists. What was woken before its time is woken at its time, too."""

    def __init__(self) -> None:
        self.ready: list[int] = []
        self.delayed: list[tuple[int, int]] = []
        self.told = 0

    def wake(self, host: int) -> None:
        if host not in self.ready:
            self.ready.append(host)
            self.told += len(self.ready) == 1

    def rotate(self) -> None:
        self.ready.append(self.ready.pop(0))

    def park(self) -> None:
        del self.ready[0]

    def delay(self, until: int) -> None:
        self.delayed = sorted([*self.delayed, (until, self.ready.pop(0))])

    def ripen(self, now: int) -> None:
        while self.delayed and self.delayed[0][0] <= now:
            self.wake(self.delayed.pop(0)[1])


@given(STEPS)
def test_hosts_take_turns_and_each_is_in_one_place(steps):
    woken: list[int] = []
    ring, model, now = HostRing(lambda: woken.append(1)), Turns(), 0
    assert [ring.add() for _ in range(4)] == [0, 1, 2, 3]
    for what, host, time in steps:
        now += time if what == "ripen" else 0
        argument = {"wake": (host,), "delay": (now + time,), "ripen": (now,)}.get(what, ())
        if model.ready or what in ("wake", "ripen"):
            getattr(ring, what)(*argument)
            getattr(model, what)(*argument)
        assert ring.head() == (model.ready[0] if model.ready else None)
        assert ring.earliest() == (model.delayed[0][0] if model.delayed else None)
        assert len(woken) == model.told, "told when there is a host to ask, and was none"


def test_a_host_that_rests_is_not_asked_before_its_time():
    ring = HostRing()
    ring.wake(ring.add())
    ring.delay(5.0)
    ring.ripen(4.0)
    assert (ring.head(), ring.earliest()) == (None, 5.0)
    ring.ripen(5.0)
    assert (ring.head(), ring.earliest()) == (0, None)


def test_a_machine_is_given_on_to_who_has_waited_longest():
    pace, ring, other = Pace(), HostRing(), HostRing()
    first, second = ring.add(), ring.add()
    third = other.add()
    for place, host in ((ring, second), (other, third), (ring, first), (ring, second)):
        pace.wait(place, host)
    pace.offer()
    assert (ring.head(), other.head()) == (second, None)
    pace.leave(other)
    pace.offer()
    assert other.head() is None, "nobody there waits any more"
    ring.rotate()
    assert ring.head() == first
    pace.offer()  # nobody waits
    pace.pause(5.0)
    pace.pause(3.0)
    assert pace.free(0.0, Host("h", Politeness())) == 5.0


def test_what_a_host_owes_comes_in_order():
    host = Host("h", Politeness(obey_robots=True))
    tasks = [Task(number) for number in range(6)]
    host.robots, host.held = tasks[0], host.held
    host.held.append(tasks[1])
    host.urgent.append(tasks[2])
    host.retry(tasks[3], 9.0)
    host.retry(tasks[4], 8.0)
    assert host.owed(7.0) == tasks[0], "robots.txt, before all else that is due"
    assert host.owed(7.0) is None, "and nothing until it is read"
    host.waits = False
    assert [host.owed(8.5) for _ in range(4)] == [tasks[4], tasks[2], tasks[1], None]
    assert host.owed(9.0) == tasks[3], "at its time"


def test_who_says_nothing_asks_a_host_for_one_page_a_second_thrice_at_most_and_by_its_rules():
    assert Politeness() == Politeness(
        delay=1.0,
        concurrency=1,
        attempts=3,
        back_off=5.0,
        longest_pause=3_600.0,
        max_delay=300.0,
        obey_robots=True,
        hosts=None,
        at_once=None,
        apart=True,
    )
    assert Task(7).attempt == 1


def test_of_a_new_host_nothing_is_known_and_it_may_be_asked_at_once():
    host = Host("h", Politeness(delay=0.0, obey_robots=False))
    assert (host.delay, host.read, host.pace.due, host.pace.busy) == (0.0, 0.0, 0.0, 0)
    assert (host.owes, host.owed(0.0), silence_of(host, math.inf)) == (False, None, "")
    assert host.allows("http://h/")


def test_exceptions_by_host_are_those_hosts_alone():
    politeness = Politeness(delay=2.0, concurrency=3, hosts={"a": 7.0}, at_once={"b": 1})
    assert [politeness.delay_of(name) for name in "ab"] == [7.0, 2.0]
    assert [politeness.concurrency_of(name) for name in "ab"] == [3, 1]
    host = Host("a", politeness)
    assert (host.delay, host.at_once) == (7.0, 3)
    host.asked = 9.0
    assert host.delay == 9.0
    host.asked = 1.0
    assert host.delay == 7.0


def fetch(attempt: int = 1) -> Fetch:
    return Fetch(1, 0, "s", "http://h/", Kind.PAGE, Slot.FIRST, Task(0).plan, "h", attempt, None, 0.0)


def asking(retry_after: float | None) -> Outcome:
    return Outcome(Result.FAILED, 10.0, 11.0, 500, retry_after=retry_after)


def ledger(left: bool) -> SimpleNamespace:
    return SimpleNamespace(politeness=Politeness(longest_pause=100.0), leaves_hosts=left)


@pytest.mark.parametrize(
    ("asked", "attempt", "left", "read", "until", "away"),
    [
        (None, 1, True, True, 0.0, 0),
        (5.0, 1, True, True, 16.0, 0),
        (100.0, 1, True, True, 111.0, 0),  # as long as is waited, and no longer
        (100.1, 1, True, True, 111.0, 1),
        (100.1, 2, True, True, 111.0, 0),  # of the same URL
        (100.1, 1, True, False, 0.0, 1),  # its robots.txt: it is left out, and nobody waits
        (5.0, 1, True, False, 16.0, 0),
        (100.0, 1, True, False, 111.0, 0),
    ],
)
def test_a_host_gets_the_pause_that_it_asks_for_up_to_the_longest(asked, attempt, left, read, until, away):
    host = Host("h", Politeness())
    if read:
        host.waits = False
    rest(ledger(left), host, fetch(attempt), asking(asked))
    assert (host.pace.due, host.away) == (until, away)


@pytest.mark.parametrize(("attempt", "until"), [(1, 111.0), (2, 0.0)])
def test_a_url_that_asks_again_though_others_were_answered_waits_alone(attempt, until):
    host = Host("h", Politeness())
    rest(ledger(left=False), host, fetch(9), Outcome(Result.OK, 1.0, 2.0, 200))
    rest(ledger(left=False), host, fetch(attempt), asking(100.0))
    assert host.pace.due == until


@pytest.mark.parametrize("left", [True, False])
def test_one_that_asks_for_too_long_again_and_again_is_left_out_where_hosts_are(left):
    host = Host("h", Politeness(obey_robots=False))
    for _ in range(AWAY):
        assert silence_of(host, math.inf) == ""
        host.pace.due = 0.0
        rest(ledger(left), host, fetch(), asking(1e6))
    assert host.pace.due == (0.0 if left else 111.0)
    assert "(Retry-After)" in silence_of(host, 0.0)
    rest(ledger(left), host, fetch(), asking(5.0))
    assert (host.away, silence_of(host, 0.0)) == (0, "")


@pytest.mark.parametrize("answered", [0, 1])
def test_one_that_answers_nothing_is_silent_after_so_many_urls_and_so_long(answered):
    host = Host("h", Politeness())
    for _ in range(answered):
        host.over(Outcome(Result.OK, 1.0, 2.0))
    for number in range(SILENT):
        assert silence_of(host, math.inf) == ""
        host.over(Outcome(Result.FAILED, 100.0 + number, 101.0))
    assert silence_of(host, 100.0 + SILENCE - 0.1) == ""
    said = silence_of(host, 100.0 + SILENCE)
    assert said == "h has answered nothing whole for 30 minutes (10 URLs in a row were lost)"
    assert "for 31 minutes" in silence_of(host, 100.0 + SILENCE + 60.0)
    host.over(Outcome(Result.GONE, 5000.0, 5001.0))
    assert silence_of(host, math.inf) == ""
    host.over(Outcome(Result.FAILED, 6000.0, 6001.0))
    assert (host.lost, host.silence) == (1, 6000.0)


@pytest.mark.parametrize(("wanted", "asked"), [(0.0, 0.0), (299.0, 299.0), (300.0, 300.0), (300.5, 0.0)])
def test_a_host_is_left_out_where_it_asks_for_more_than_the_longest_delay(wanted, asked):
    host = SimpleNamespace(rules=None, missing="", asked=7.0)
    Host.obey(host, SimpleNamespace(delay=wanted), 300.0)
    assert host.asked == asked
    assert host.too_slow == (
        "" if wanted <= 300 else ("asks for 300.5 s between two requests: more than SHARC_MAX_DELAY=300")
    )
