"""Which hub is polled when: learned rates, fair starts, bounds, the end."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sharc_crawler.polling.polls import Polls
from sharc_crawler.polling.terms import Terms


def spend(polls: Polls, until: float, brings, now: float = 0.0) -> dict[int, int]:
    """Poll whatever is due on host 0, one poll a second at most; how often each hub was polled."""
    made: dict[int, int] = {}
    while now < until:
        hub = polls.take(0, now)
        if hub is None:
            now = max(now + 1.0, min(polls.due(0, now), until))
            continue
        for _ in range(brings(hub, now)):
            polls.news(hub)
        polls.polled(hub, now)
        made[hub] = made.get(hub, 0) + 1
        now += 1.0
    return made


def hubs(terms: Terms, count: int) -> Polls:
    polls = Polls(terms)
    polls.begin(0.0)
    for page in range(count):
        polls.add(page, 0, 0)
    return polls


@pytest.mark.slow
def test_a_busy_hub_is_polled_more_often_and_the_number_of_polls_is_the_same():
    busy = spend(hubs(Terms(every=300), 6), 36_000, lambda hub, now: 3 if hub == 0 else 0)
    even = spend(hubs(Terms(every=300, adaptive=False), 6), 36_000, lambda hub, now: 3 if hub == 0 else 0)
    assert busy[0] > 3 * max(busy[page] for page in range(1, 6))
    assert sum(busy.values()) == pytest.approx(sum(even.values()), rel=0.05)
    assert max(even.values()) - min(even.values()) <= 1


@pytest.mark.long
def test_shares_follow_the_square_root_of_the_rates():
    rng = np.random.default_rng(1)
    rates, last = np.array([16, 4, 1, 1]) / 3600, {}

    def brings(hub, now):
        before = last.get(hub, now)
        last[hub] = now
        return rng.poisson(rates[hub] * (now - before))

    made = spend(hubs(Terms(every=300), 4), 100_000, brings)
    assert made[0] / made[1] == pytest.approx(2, rel=0.2)
    assert made[1] / made[2] == pytest.approx(2, rel=0.3)


@pytest.mark.long
def test_a_hub_that_wakes_up_is_found_out():
    polls = hubs(Terms(every=60), 4)
    spend(polls, 6_000, lambda hub, now: hub == 0)
    later = spend(polls, 40_000, lambda hub, now: hub == 3, now=6_000)
    assert later[3] > 2 * later[0]


def test_hubs_take_turns_after_the_first_round():
    polls = hubs(Terms(every=100, adaptive=False), 4)
    starts: list[float] = []
    spend(polls, 200, lambda hub, now: starts.append(now) or 0)
    assert starts[:4] == [0, 1, 2, 3]
    assert np.diff(starts[4:8]).tolist() == pytest.approx([26, 26, 26], abs=2)


def test_the_end():
    polls = hubs(Terms(every=60, duration=100), 1)
    assert polls.open(0, 99.0)
    assert not polls.open(0, 100.0)
    assert polls.due(0, 99.0) <= 100.0
    assert polls.due(0, 100.0) == math.inf
    assert polls.take(0, 100.0) is None


def test_a_capture_without_hubs_is_not_open():
    polls = hubs(Terms(), 1)
    polls.drop(0, 0, 0)
    assert not polls.open(0, 1.0)
    assert polls.take(0, 1.0) is None
    assert len(polls) == 0


def test_polls_leave_room_in_a_budget_for_what_they_find():
    polls = hubs(Terms(every=10, requests=60), 5)
    made = 0
    while polls.take(0, 0.0) is not None:
        polls.spend(0.0)
        made += 1
    assert made == polls.budget.burst // 2
    assert polls.budget.ready(0.0) == 0.0
