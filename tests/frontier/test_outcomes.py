"""What becomes of a fetch: failed and tried again, given back, expired, not written."""

from __future__ import annotations

from itertools import pairwise, product
from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.besides_links import MOST
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness, Task
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.frontier.opening import Parts
from sharc_crawler.frontier.trying_again import _refuse_page
from sharc_crawler.model import (
    Done,
    Fetch,
    Kind,
    Outcome,
    Result,
    Sighting,
    Slot,
    Verdict,
    Wait,
)
from sharc_crawler.rates.chain import Chain
from sharc_crawler.rates.constant import ConstantRates
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.small import ROOT, FullStore, page, spec, urls, verdicts


def test_failures_are_tried_again_later_and_then_given_up(world, impolite):
    failed = {"result": Result.FAILED, "status": 503}
    world.links = {ROOT: [page("flaky"), page("dead")]}
    world.answers = {ROOT + "flaky": [failed, failed], ROOT + "dead": [failed] * 20}
    frontier = Frontier(impolite, store := MemoryStore())
    frontier.open(spec(), world.now)
    world.run(frontier)
    made = [(at, fetch) for at, fetch in world.requests if fetch.url.endswith("flaky")]
    assert [fetch.attempt for _, fetch in made][:3] == [1, 2, 3]
    assert made[1][0] - made[0][0] >= 1.0
    assert made[2][0] - made[1][0] >= 2.0
    assert verdicts(store)["flaky"] is Verdict.COHERENT
    assert sum(fetch.url.endswith("dead") for _, fetch in world.requests) == 4, "the last time at the end of the visits"
    assert "dead" not in verdicts(store)


def test_retry_after_pauses_the_whole_host(world, impolite):
    world.links = {ROOT: [page("busy"), page("other")]}
    world.answers = {ROOT + "busy": [{"result": Result.FAILED, "status": 429, "retry_after": 30.0}]}
    frontier = Frontier(impolite)
    frontier.open(spec(), world.now)
    world.run(frontier)
    times = [at for at, _ in world.requests]
    refused = next(i for i, (_, fetch) in enumerate(world.requests) if fetch.url.endswith("busy"))
    assert times[refused + 1] - times[refused] >= 30.0


def test_a_redirect_is_recorded_and_its_target_captured(world, impolite):
    world.links = {ROOT: [page("old")]}
    world.answers = {ROOT + "old": [{"result": Result.REDIRECTED, "status": 301, "location": ROOT + "new"}]}
    frontier = Frontier(impolite, store := MemoryStore())
    frontier.open(spec(), world.now)
    fetches = world.run(frontier)
    assert urls(fetches).count("old") == 1
    assert set(verdicts(store)) == {"", "new"}


def test_redirects_on_and_on_are_followed_as_often_as_by_browsers(world, impolite):
    world.links = {ROOT: [page("old")]}
    moved = {"result": Result.REDIRECTED, "status": 302}
    names = ["old", *(f"old?c={number}" for number in range(99))]
    world.answers = {ROOT + name: [{**moved, "location": ROOT + led}] for name, led in pairwise(names)}
    frontier = Frontier(impolite)
    capture = frontier.open(spec(), world.now)
    asked = [one for one in urls(world.run(frontier)) if "old" in one]
    assert asked == names[: MOST + 1]
    assert sum("redirects without end" in note for note in capture.notes) == 1


def test_files_embedded_in_each_other_are_followed_twelve_levels_deep(world, impolite):
    names = [ROOT, *(f"{ROOT}{level}.css" for level in range(1, 20))]
    world.links = {one: [Sighting(other, Kind.RESOURCE)] for one, other in pairwise(names)}
    frontier = Frontier(impolite)
    capture = frontier.open(spec(strategy="bfs:revisits=none"), world.now)
    assert urls(world.run(frontier), Kind.RESOURCE) == [f"{level}.css" for level in range(1, 13)]
    assert sum("more than 12 levels deep" in note for note in capture.notes) == 1


def test_a_lease_that_is_never_answered_is_queued_again(world, impolite):
    frontier = Frontier(impolite, lease_time=60.0)
    frontier.open(spec(), 0.0)
    lost = frontier.next(0.0)
    assert isinstance(lost, Fetch)
    wait = frontier.next(1.0)
    assert isinstance(wait, Wait)
    assert wait.until == 60.0
    again = frontier.next(61.0)
    assert isinstance(again, Fetch)
    assert (again.url, again.attempt) == (lost.url, 2)
    assert frontier.finished(lost, Outcome(Result.OK, 61.0, 62.0)) is None, "a late answer is ignored"
    frontier.finished(again, Outcome(Result.OK, 61.0, 62.0, digest="sha1:x"))
    while not isinstance(frontier.next(63.0), Done):
        pytest.fail("one page, one visit: the capture should be complete")
    assert frontier.capture.counts.captured == 1


def test_a_fetch_given_back_is_made_again_and_no_attempt_is_counted(world, impolite):
    store = MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(spec(), world.now)
    fetch = frontier.next(world.now)
    frontier.give_back(fetch, world.now)
    assert frontier.idle
    again = frontier.next(world.now)
    assert (again.page, again.attempt) == (fetch.page, 1)
    assert frontier.finished(fetch, world.answer(fetch)) is None, "it was given back"
    assert not store.load().visits


def test_a_visit_given_back_whose_exchange_was_over_is_made_again(world, impolite):
    frontier = Frontier(impolite)
    frontier.open(spec(), world.now)
    fetch = frontier.next(world.now)
    frontier.loads.answered(fetch, world.answer(fetch))
    frontier.loads.go_on(fetch)
    assert isinstance(frontier.next(world.now), Wait), "nothing else is owed to its host"
    frontier.give_back(fetch, world.now)
    assert frontier.next(world.now + 1.0).page == fetch.page


def test_what_was_sent_and_given_back_is_asked_for_again_a_delay_later(world):
    frontier = Frontier(Politeness(delay=2.0, obey_robots=False))
    frontier.open(spec(), world.now)
    fetch = frontier.next(world.now)
    frontier.give_back(fetch, world.now + 1.9, sent=world.now + 1.5)
    wait = frontier.next(world.now + 2)
    assert isinstance(wait, Wait)
    assert wait.until == pytest.approx(world.now + 3.5)


def test_what_a_full_disk_kept_from_being_written_is_written_later(world, impolite):
    store = FullStore()
    world.links = {ROOT: [page("1"), page("2")]}
    frontier = Frontier(impolite, store)
    frontier.open(spec(), world.now)
    fetch = frontier.next(world.now)
    store.room = False
    with pytest.raises(OSError, match="No space"):
        frontier.finished(fetch, world.answer(fetch), world.links[ROOT])
    store.room = True
    frontier.ledger.commit()
    state = store.load()
    assert [visit.page for visit in state.visits] == [fetch.page]
    assert [row.url for row in state.pages if row.kind is Kind.PAGE] == [ROOT, ROOT + "1", ROOT + "2"]


def test_a_page_tried_again_after_all_others_leaves_none_unjudged(world, impolite):
    world.links = {ROOT: [page("flaky"), page("1"), page("2")]}
    world.answers = {ROOT + "flaky": [{"result": Result.FAILED, "status": 500}]}
    frontier = Frontier(impolite, store := MemoryStore())
    frontier.open(spec(), world.now)
    world.run(frontier)
    assert set(verdicts(store)) == {"", "flaky", "1", "2"}
    assert Verdict.UNKNOWN not in verdicts(store).values()


def aging(world, rate, chain=False, restarted=False):
    """A site of twelve pages, one of which fails twice; in a chain each names the next."""
    names = [f"{number}" for number in range(11)]
    world.links = {ROOT: [page(name) for name in ([*names, "flaky"])]}
    if chain:
        world.links = {ROOT: [page("0")]} | {
            ROOT + one: [page(other)] for one, other in pairwise([*names, "flaky", "last"])
        }
    world.answers = {ROOT + "flaky": [{"result": Result.FAILED, "status": 500}] * 2}
    parts = Parts(rates=lambda _: Chain([ConstantRates(rate)]))
    frontier = Frontier(Politeness(delay=0.0, back_off=1.0, obey_robots=False), store := MemoryStore(), parts)
    capture = frontier.open(spec(), world.now)
    while restarted and capture.reference is None:
        world.step(frontier)
    if restarted:
        frontier = Frontier(frontier.ledger.politeness, store, parts)
        frontier.restore(store.load(), world.now)
    world.run(frontier)
    return store, capture, [at for at, fetch in world.requests if fetch.url == ROOT + "flaky"]


@pytest.mark.parametrize(("rate", "chain"), [(1e-4, False), (2.0, True)])
def test_the_reference_instant_waits_for_a_page_that_is_tried_again(world, rate, chain):
    store, capture, tries = aging(world, rate, chain)
    assert capture.reference > tries[2]
    assert list(verdicts(store).values()) == [Verdict.COHERENT] * (13 + chain)


@pytest.mark.parametrize("restarted", [False, True])
def test_it_does_not_wait_where_all_others_would_change_meanwhile(world, restarted):
    """The page is captured after it, and nothing is claimed of it; a capture that goes on knows that."""
    store, capture, tries = aging(world, 2.0, restarted=restarted)
    assert tries[0] < capture.reference < tries[1]
    assert len(tries) == 3
    assert verdicts(store)["flaky"] is Verdict.UNKNOWN
    assert {one.reason for one in store.load().judgements if one.verdict is Verdict.UNKNOWN} == {"late-download"}
    assert list(verdicts(store).values()).count(Verdict.COHERENT) == 12


def test_a_page_that_is_refused_counts_as_a_visit_or_as_its_revisit_and_its_order_goes_on():
    cases = product((Slot.FIRST, Slot.SECOND), (False, True), (False, True), (False, True))
    for slot, begun, audited, asked_again in cases:
        told, again = [], slot is Slot.SECOND
        strategy = SimpleNamespace(finished=lambda visit, *, captured, told=told: told.append((visit.slot, captured)))
        capture = SimpleNamespace(
            strategy=strategy if begun else None,
            mode=SimpleNamespace(audits=lambda page, found=audited: found),
            counts=SimpleNamespace(
                dropped=0,
                revisited=lambda told=told: told.append("revisited"),
                visited=lambda *, captured, told=told: told.append(("visited", captured)),
            ),
            again={7} if asked_again else set(),
        )
        _refuse_page(capture, Task(7, slot))
        counted = [] if not begun or (again and audited) else ["revisited" if again else ("visited", False)]
        assert capture.counts.dropped == len(counted)
        assert told == counted + [(slot, again)] * (bool(counted) and not asked_again)


def test_a_second_attempt_comes_after_five_seconds_and_a_third_after_ten_more(world):
    world.links = {ROOT: [page("flaky")]}
    world.answers = {ROOT + "flaky": [{"result": Result.FAILED, "status": 503}] * 2}
    frontier = Frontier(Politeness(obey_robots=False), MemoryStore())
    frontier.open(spec(), world.now)
    world.run(frontier)
    starts = [at for at, fetch in world.requests if fetch.url.endswith("flaky")][:3]
    assert [after - before for before, after in pairwise(starts)] == pytest.approx([5.0, 10.0], abs=0.1)


def test_a_page_that_is_not_fetched_is_recorded_as_over_after_no_attempt():
    rows = []
    ledger = SimpleNamespace(_store=object(), _batch=SimpleNamespace(visits=rows))
    Ledger.refused(ledger, Task(7, Slot.FIRST), "robots.txt disallows it", 5.0)
    assert [(row.page, row.finished, row.attempt, row.outcome.error) for row in rows] == [
        (7, True, 0, "robots.txt disallows it")
    ]
