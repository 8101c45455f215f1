"""A host that refuses requests as too many is asked less often, until it answers them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Host, Politeness
from sharc_crawler.frontier.throttling import rest, slow_down
from sharc_crawler.model import Outcome, Result, Sighting, Slot
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.conftest import World

ROOT = "http://a.example/"


@dataclass
class Limited(World):
    """As nginx limits: so many requests a second, so many ahead of their time."""

    rate: float = 0.25
    burst: int = 4
    status: int = 429
    refused: int = 0
    _level: float = 0.0
    _last: float = 0.0

    def answer(self, fetch):
        self._level = max(0.0, self._level - (self.now - self._last) * self.rate)
        self._last = self.now
        if self._level > self.burst:
            self.refused += 1
            return super().answer(fetch)._replace(result=Result.FAILED, status=self.status, digest=None)
        self._level += 1
        return super().answer(fetch)


def crawled(world, pages, delay=1.0, **more):
    world.links = {ROOT: [Sighting(f"{ROOT}{number}") for number in range(pages)]}
    frontier = Frontier(Politeness(delay=delay, **more), MemoryStore())
    capture = frontier.open(CaptureSpec("a.example", (ROOT,), "bfs", sitemaps=()), world.now)
    world.run(frontier, 10_000)
    return frontier, capture


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(("rate", "delay", "at_once"), [(0.25, 1.0, 1), (2.0, 0.0, 8)])
def test_no_page_is_lost_to_a_limit_and_few_requests_are_refused(status, rate, delay, at_once):
    world = Limited(rate=rate, status=status)
    frontier, capture = crawled(world, 70, delay, concurrency=at_once)
    assert len({fetch.url for _, fetch in world.requests if fetch.slot is Slot.SECOND}) == 71, "visited and revisited"
    assert world.refused < 0.2 * len(world.requests)
    assert world.now - 1000.0 < 1.5 * len(world.requests) / rate, "nor does it take much longer than it has to"
    assert [note for note in capture.notes if "a.example refused requests as too many" in note]
    assert 0.0 < frontier.ledger.hosts[0].slowed < 2 / rate


def test_a_page_that_is_always_refused_slows_the_others_down_once(world):
    world.answers[f"{ROOT}30"] = [{"result": Result.FAILED, "status": 503}] * 9
    _, capture = crawled(world, 70)
    times = [now for now, _ in world.requests]
    gaps = [after - before for before, after in pairwise(times)]
    assert 1.8 < max(gaps[:60]) < 2.2
    assert sum(gap > 1.1 for gap in gaps[:60]) <= 8
    assert not any("asked less often" in note for note in capture.notes), "it is the page's fault"


def test_where_nothing_is_refused_nothing_is_said_and_nothing_waits(world):
    frontier, capture = crawled(world, 20)
    assert frontier.ledger.hosts[0].slowed == 0.0
    assert not any("asked less often" in note for note in capture.notes)


@pytest.mark.parametrize(("share", "seconds"), [(0.05, 1.3), (0.1, 1.6), (0.15, 3.0), (0.2, 5.0)])
def test_where_so_many_requests_fail_by_chance_the_others_hardly_wait(share, seconds):
    """However seldom they are made: of 700, a second apart, none asked for again, in 50 crawls."""
    waited = 0.0
    for seed in range(50):
        chance, host, now = random.Random(seed), Host("h", Politeness(delay=1.0)), 0.0
        for _ in range(700):
            now += host.delay
            failed = chance.random() < share
            if failed or host.slowed:
                slow_down(host, 1, Outcome(Result.FAILED, now, now + 0.1, 503 if failed else 200))
        waited += now / 700 / 50
    assert waited < seconds


class Answering:
    """A host, second after second, and what is noted of it."""

    def __init__(self, delay: float) -> None:
        self.host, self.notes, self.now = Host("h", Politeness(delay=delay)), [], 0.0
        capture = SimpleNamespace(note=self.notes.append)
        self.ledger = SimpleNamespace(politeness=Politeness(), capture=capture, leaves_hosts=False)

    def answers(self, status: int | None, attempt: int = 1, started: float | None = None, **more: float) -> float:
        """The delay after one more answer."""
        self.now += 1.0
        outcome = Outcome(Result.FAILED, self.now if started is None else started, self.now + 0.5, status, **more)
        rest(self.ledger, self.host, SimpleNamespace(attempt=attempt), outcome)
        return self.host.delay


def test_each_refusal_doubles_the_delay_from_a_quarter_of_a_second_to_half_a_minute():
    site = Answering(0.0)
    delays = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    assert [site.answers(429) for _ in delays] == delays
    assert len(site.notes) == len(delays) - 1, "the first may be chance"
    assert Answering(20.0).answers(503) == 30.0
    assert Answering(40.0).answers(503) == 40.0


def test_each_answer_takes_a_tenth_off_until_the_delay_is_as_it_was():
    site = Answering(0.0)
    site.answers(429)
    assert [site.answers(200) for _ in range(7)] == [*(pytest.approx(0.25 * 0.9**n) for n in range(1, 7)), 0.0]
    slow = Answering(0.9)
    slow.host.slowed = 1.0
    assert slow.answers(None) == 1.0, "it answered nothing"
    assert (slow.answers(200), slow.host.slowed) == (0.9, 0.0)
    asked = Answering(0.0)
    asked.host.asked, asked.host.slowed = 5.0, 5.5
    assert (asked.answers(404), asked.host.slowed) == (5.0, 0.0), "robots.txt asks for it"


def test_a_refusal_of_what_was_asked_for_before_the_last_one_or_again_says_nothing_new():
    site = Answering(1.0)
    assert site.answers(429) == 2.0
    assert site.answers(429, started=1.4) == 2.0
    assert site.answers(429, attempt=2) == 2.0
    assert site.answers(429, started=1.5) == 4.0


def test_the_next_request_waits_from_when_the_refused_one_was_sent():
    site = Answering(1.0)
    site.answers(429)
    assert site.host.pace.due == 3.0
    site.answers(429, sent=2.25)
    assert site.host.pace.due == 6.25
