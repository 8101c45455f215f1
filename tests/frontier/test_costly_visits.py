"""What a page loads in a browser is a part of its visit: the plan's Δ follows what visits really take."""

from __future__ import annotations

import pytest

from sharc_crawler.frontier.finishing import KNOWN_PACE
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.model import Done, Fetch, Kind, Slot, Wait
from sharc_crawler.state.spec import CaptureSpec

DELAY, LOADED, SHOWN = 1.0, 3, 5.0  #: seconds between requests, what a page loads, seconds that it takes to be shown


def test_slow_pages_make_the_plans_slots_longer(world):
    seeds = tuple(f"http://h/{number}" for number in range(2 * KNOWN_PACE))
    frontier = Frontier(Politeness(delay=DELAY, obey_robots=False))
    frontier.open(CaptureSpec("h", seeds, strategy="sharc-revisits", sitemaps=()), world.now)
    shown, steps = None, {}
    while frontier.capture.counts.visits < KNOWN_PACE + 1:
        decision = frontier.next(world.now)
        assert not isinstance(decision, Done)
        if isinstance(decision, Wait):
            if shown is not None:  # all that it wanted is there
                world.now += SHOWN
                frontier.finished(*shown)
                shown = None
                steps[frontier.capture.counts.visits] = frontier.capture.strategy.setting.step
            else:
                world.now = decision.until
            continue
        outcome = world.answer(decision)
        if decision.kind is Kind.PAGE and decision.slot is Slot.FIRST:
            frontier.loads.answered(decision, outcome)
            for number in range(LOADED):
                assert frontier.loads.load(decision, f"{decision.url}/data/{number}", Kind.DATA, world.now) is not None
            shown = decision, outcome
        else:
            frontier.finished(decision, outcome)
    assert steps[KNOWN_PACE - 1] <= DELAY, "by the delay alone, as it was told"
    assert steps[KNOWN_PACE] == pytest.approx(SHOWN, rel=0.5), "by what visits took"


def test_others_are_visited_while_a_page_is_shown_that_takes_long(world):
    frontier = Frontier(Politeness(delay=DELAY, obey_robots=False))
    frontier.open(CaptureSpec("h", ("http://h/long", "http://h/other"), strategy="bfs", sitemaps=()), world.now)
    long = frontier.next(world.now)
    outcome = world.answer(long)
    frontier.loads.answered(long, outcome)
    world.now += DELAY
    assert not isinstance(frontier.next(world.now), Fetch), "its links may matter"
    frontier.loads.go_on(long)
    frontier.loads.go_on(long)
    other = frontier.next(world.now)
    assert other.url == "http://h/other"
    frontier.finished(other, world.answer(other))
    world.now += DELAY
    assert not isinstance(frontier.next(world.now), Fetch), "T waits for it"
    frontier.finished(long, outcome)
    world.now += DELAY
    assert frontier.next(world.now).slot is Slot.SECOND
