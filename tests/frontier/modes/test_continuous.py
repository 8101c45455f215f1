"""A site that is kept up: when its pages are looked at, what looks teach, and how it ends."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.modes.continuous import Continuously
from sharc_crawler.frontier.modes.two_visits import TwoVisits
from sharc_crawler.frontier.opening import Parts
from sharc_crawler.model import Outcome, Phase, RateEstimate, Result, Slot
from sharc_crawler.rates.chain import Chain
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.strategies.upkeep import LEAST
from tests.frontier.modes.stubs import Noted
from tests.frontier.small import ROOT, page, spec, urls, verdicts

LASTS, LOOKS = 60.0, 3600.0  # a look each second


class Told:
    """The rate of each page, and how sure it is."""

    def __init__(self, rates: dict[str, float], shape: float) -> None:
        self._rates, self._shape = rates, shape

    def rates(self, sightings, now):
        return [RateEstimate(self._rates[one.url.removeprefix(ROOT)], "told", self._shape) for one in sightings]


def kept_up(world, politeness, rates, shape=float("inf"), store=None, **more):
    """Runs it to its end; the frontier."""
    world.links = {ROOT: [page(name) for name in rates if name]}
    parts = Parts(rates=lambda _: Chain([Told(rates, shape)]))
    frontier = Frontier(politeness, store, parts)
    order = {"mode": "continuous", "lasts": LASTS, "looks": LOOKS, "upkeep": "even"} | more
    frontier.open(spec(**order), world.now)
    world.run(frontier)
    return frontier


def looks_of(world, pages: int) -> list[tuple[float, str]]:
    """After the first visit of each."""
    seen = [(at, fetch.url.removeprefix(ROOT)) for at, fetch in world.requests if fetch.slot is not Slot.SECOND]
    return seen[pages:]


RATES = {"": 1e-3, "1": 1e-3, "2": 1e-3}


def test_looks_come_at_their_pace_until_the_time_is_over_each_page_in_turn(world, impolite):
    store, began = MemoryStore(), world.now
    capture = kept_up(world, impolite, RATES, store=store).capture
    looks = looks_of(world, 3)
    assert 55 <= len(looks) <= 61
    assert all(later[0] - former[0] == pytest.approx(1.0, abs=0.05) for former, later in pairwise(looks[2:-2]))
    assert all(began < at <= began + LASTS + 0.05 for at, _ in looks)
    assert max(Counter(name for _, name in looks).values()) - min(Counter(name for _, name in looks).values()) <= 1
    assert capture.phase is Phase.DONE
    assert capture.reference >= looks[-1][0]
    assert capture.mode.looks == len(looks)
    again = urls([fetch for _, fetch in world.requests], slots=[Slot.SECOND])
    assert sorted(again) == ["", "1", "2"]
    assert set(verdicts(store).values()) == {"coherent"}


def test_twice_as_many_looks_an_hour_are_twice_as_many(world, impolite):
    kept_up(world, impolite, RATES, looks=2 * LOOKS)
    assert 110 <= len(looks_of(world, 3)) <= 121


def test_pages_are_looked_at_by_the_upkeep_of_their_rates(world, impolite):
    """Least blur: the square root of the rate."""
    kept_up(world, impolite, {"": 1e-3, "1": 9e-3, "2": 1e-3}, upkeep="sharp")
    times = Counter(name for _, name in looks_of(world, 3))
    assert times["1"] == pytest.approx(3 * times["2"], rel=0.2)


def test_a_page_that_is_given_up_is_visited_and_revisited_and_not_looked_at_between(world, impolite):
    kept_up(world, impolite, {"": 1e-3, "1": 50.0, "2": 1e-3}, upkeep="coherent")
    times = Counter(fetch.url.removeprefix(ROOT) for _, fetch in world.requests)
    assert times["1"] == 2
    assert times["2"] > 20


def test_where_all_pages_are_given_up_nothing_is_waited_for(world, impolite):
    began = world.now
    kept_up(world, impolite, RATES, upkeep=f"{__name__}.nobody")
    assert len(world.requests) == 6 or len(world.requests) == 5  # the last page may be visited once
    assert world.now - began < 10.0


def nobody(rates, per_second):
    return np.full(len(rates), np.inf)


def test_all_is_planned_anew_after_looks_at_a_quarter_of_the_pages(world, impolite, monkeypatch):
    monkeypatch.setattr("sharc_crawler.frontier.modes.continuous.FEW", 1)
    plans.clear()
    kept_up(world, impolite, {str(number or ""): 1e-3 for number in range(20)}, upkeep=f"{__name__}.counted")
    assert len(looks_of(world, 20)) // 5 <= len(plans) <= len(looks_of(world, 20)) // 5 + 1


plans: list[int] = []


def counted(rates, per_second):
    plans.append(len(rates))
    return np.full(len(rates), len(rates) / per_second)


@pytest.mark.parametrize(("shape", "learns"), [(0.5, True), (float("inf"), False)])
def test_looks_teach_how_often_a_page_changes_unless_its_rate_is_known(world, impolite, shape, learns):
    world.answers = {ROOT + "1": [{"digest": f"sha1:{number}"} for number in range(400)]}
    kept_up(world, impolite, {"": 1e-2, "1": 1e-2, "2": 1e-2}, shape=shape, upkeep="sharp", lasts=300.0)
    early, late = (Counter(name for _, name in some) for some in np.split(np.array(looks_of(world, 3), object), [100]))
    assert early["1"] == pytest.approx(early["2"], abs=2), "until a hundred looks are made"
    assert (late["1"] > 2 * late["2"]) is learns


def test_a_page_that_was_not_looked_at_yet_has_its_rate(world, impolite):
    rates.clear()
    kept_up(world, impolite, {"": 0.5, "1": 0.5, "2": 2.0}, shape=3.0, upkeep=f"{__name__}.noted", lasts=8.0)
    assert rates[0] == pytest.approx([0.5, 0.5, 2.0])


rates: list[list[float]] = []


def noted(given, per_second):
    rates.append(given.tolist())
    return np.full(len(given), 3.0)


def test_the_last_look_is_what_a_page_is_judged_by(world, impolite):
    """It changed again and again, and not after its last look."""
    world.answers = {ROOT + "1": [{"digest": f"sha1:{number}"} for number in range(5)]}
    store = MemoryStore()
    kept_up(world, impolite, RATES, store=store)
    assert verdicts(store)["1"] == "coherent"


def test_a_budget_leaves_room_for_the_revisits(world, impolite):
    kept_up(world, impolite, RATES, max_requests=20)
    assert len(world.requests) <= 20
    again = urls([fetch for _, fetch in world.requests], slots=[Slot.SECOND])
    assert sorted(again) == ["", "1", "2"]
    assert len(looks_of(world, 3)) >= 10


@pytest.mark.slow
def test_after_restarts_looks_go_on_and_the_end_is_the_same(world, impolite):
    store, began, links = MemoryStore(), world.now, [page(name) for name in RATES if name]
    world.links = {ROOT: links}
    frontier = Frontier(impolite, store)
    frontier.open(spec(mode="continuous", lasts=20.0, looks=LOOKS, upkeep="even"), world.now)
    for _ in range(2):
        for _ in range(20):
            assert world.step(frontier)
        frontier = Frontier(impolite, store)
        frontier.restore(store.load(), world.now)
    world.run(frontier, most=200)
    looks = looks_of(world, 3)
    assert 18 <= len(looks) <= 24
    assert looks[-1][0] <= began + 20.1
    assert sorted(urls([fetch for _, fetch in world.requests], slots=[Slot.SECOND])) == ["", "1", "2"]


@pytest.mark.parametrize("every", [1, 5])
def test_restarts_make_no_look_come_sooner(world, impolite, every):
    """Each is due an interval after the one before it, whoever made that."""
    world.links, store, began = {ROOT: [page(name) for name in RATES if name]}, MemoryStore(), world.now
    frontier = Frontier(impolite, store)
    frontier.open(spec(mode="continuous", lasts=8.0, looks=LOOKS, upkeep="even"), world.now)
    world.run_restarted(frontier, impolite, store, every)
    looks = looks_of(world, 3)
    assert 7 <= len(looks) <= 9
    between = [later[0] - former[0] for former, later in pairwise(looks)]
    assert all(seconds > 0.98 for seconds in between[1:-1]), "the last one is made when the time is over"
    assert looks[-1][0] <= began + 8.1
    assert [name for _, name in looks[:-1]] == (["", "2", "1"] * 3)[: len(looks) - 1], "in turn"


@pytest.mark.parametrize(
    ("order", "why"),
    [({"strategy": "sharc-online"}, "makes single visits"), ({"strategy": "sharc-attested"}, "makes single visits"),
     ({"subsites": "path"}, "subsites='path' has several")],
)  # fmt: skip
def test_who_makes_no_revisits_around_one_t_cannot_keep_a_site_up(world, impolite, order, why):
    with pytest.raises(UsageError, match=why):
        Frontier(impolite).open(spec(mode="continuous", lasts=LASTS, **order), world.now)


def test_a_look_is_waited_for_while_one_is_owed_or_there_is_time_and_budget_for_one():
    for pending, over, spare, due in product((0, 1), (False, True), (0.9, 1.0), ([], [(1.0, 7)])):
        owed, mode = [], Continuously.__new__(Continuously)
        mode._capture = SimpleNamespace(
            owed=SimpleNamespace(pending=pending), budget=SimpleNamespace(spare=lambda now, left=spare: left)
        )
        mode._ledger = SimpleNamespace(owe_at=lambda *given, owed=owed: owed.append(given))
        mode.ends, mode.looks, mode._planned, mode._due, mode._last, mode._gap = 50.0, 0, 0, list(due), 30.0, 9.0
        looks = bool(not pending and not over and spare >= 1 and due)
        assert mode._looks_on(50.0 if over else 20.0) is (bool(pending) or looks)
        assert owed == [(7, Slot.FIRST, 39.0)] * looks


# -- at its door -------------------------------------------------------------------------------------------------------


def keeping(rates=(), shapes=(), started=(), visited=None, **order) -> Continuously:
    """A mode whose pages have these rates, shapes and instants of their last visit."""
    told = {"upkeep": f"{__name__}.told", "looks": 1800.0, "lasts": 60.0} | order
    mode = Continuously(None, SimpleNamespace(spec=SimpleNamespace(**told), started=5.0), None)
    pages = list(range(len(rates))) if visited is None else visited
    table = SimpleNamespace(rates=rates, shapes=shapes, started=started, pages_in=lambda state: pages)
    mode._ledger = SimpleNamespace(pages=table)
    return mode


asked: list[tuple[list[float], float]] = []


def told(given, per_second):
    """Every page is due as many seconds after its last visit as its place says; the last one never."""
    asked.append((given.tolist(), per_second))
    return np.array([*range(1, len(given)), np.inf])


def test_a_plan_is_made_of_rates_and_of_the_looks_a_second():
    asked.clear()
    mode = keeping([0.1, 0.2, 0.3], [np.inf] * 3, [50.0, 40.0, 30.0])
    assert (mode.ends, mode._gap) == (65.0, 2.0)
    assert (mode.goes_on, mode.takes_hubs, mode.compares) == (True, False, True)
    mode._plan()
    assert asked == [([0.1, 0.2, 0.3], 0.5)]
    assert mode._due == [(42.0, 1), (51.0, 0)], "a page that is given up is never due"
    assert mode._every == {0: 1.0, 1: 2.0, 2: np.inf}


def test_where_no_page_was_visited_there_is_nothing_to_plan():
    asked.clear()
    mode = keeping()
    mode._plan()
    assert not asked
    assert mode._due == []


def look(at: float, content: str | None) -> Outcome:
    return Outcome(Result.OK, at, at + 1, 200, content)


def test_a_look_teaches_changes_and_the_time_they_took_unless_it_tells_nothing():
    mode, noted = keeping(), Noted()
    mode._hints, mode._ledger = SimpleNamespace(visited_again=noted.one("hint")), None
    mode.captured = lambda visits: None
    for before, now in (("a", "b"), ("b", "b"), ("b", None)):
        mode.visited_again(3, look(50.0, before), look(60.0, now))
    assert mode._seen == {3: (1, 20.0)}
    assert not noted.calls, "no hint was asked for it"
    assert mode._last == 60.0, "before all is planned, as after a restart: the next look comes an interval later"
    mode._planned, mode._every = 0, {3: 7.0}
    mode.visited_again(3, look(60.0, "b"), look(70.0, "b"))
    assert mode._due == [(77.0, 3)]
    assert mode._last == 60.0
    assert len(noted.calls) == 1, "the time for looks was over at 65"


def test_rates_are_means_of_what_was_held_and_what_looks_show():
    """Of a Gamma posterior; a rate that is known stays, and one of nothing is as good as nothing."""
    mode = keeping([0.5, 0.5, 0.5, 0.0], [2.0, 2.0, np.inf, 1.0])
    mode._seen = {1: (4, 8.0), 2: (4, 8.0)}
    assert mode._rates([0, 1, 2]) == pytest.approx([0.5, (2 + 4) / (2 / 0.5 + 8), 0.5])
    assert mode._rates([3]) == pytest.approx([LEAST])


@pytest.mark.parametrize(
    ("phase", "revisits", "left", "looks"),
    [(Phase.VISIT, True, 0, True), (Phase.REVISIT, True, 0, False), (Phase.VISIT, False, 0, False),
     (Phase.VISIT, True, 1, False)],
)  # fmt: skip
def test_looks_begin_when_all_first_visits_are_over_and_end_with_the_visits(monkeypatch, phase, revisits, left, looks):
    monkeypatch.setattr(TwoVisits, "waits", lambda self, strategy, now: False)
    mode = keeping()
    mode._capture.phase, mode._looks_on = phase, lambda now: now == 9.0
    strategy = SimpleNamespace(revisits=revisits, first_visits_left=left)
    assert bool(mode.waits(strategy, 9.0)) is looks
    assert not mode.waits(strategy, 8.0)
    monkeypatch.setattr(TwoVisits, "waits", lambda self, strategy, now: True)
    assert mode.waits(strategy, 8.0)


@pytest.mark.parametrize(
    ("made", "planned", "due", "plans"),
    [
        (0, -np.inf, 0, True),
        (99, 0, 4, False),
        (100, 0, 4, True),
        (150, 50, 4, True),
        (149, 50, 4, False),
        (100, 0, 404, False),
        (101, 0, 404, True),
    ],
)
def test_all_is_planned_anew_after_a_hundred_looks_or_as_many_as_a_quarter_of_the_pages(made, planned, due, plans):
    noted = Noted()
    mode = keeping()
    mode._capture.owed, mode._capture.budget = SimpleNamespace(pending=0), SimpleNamespace(spare=lambda now: 9)
    mode._ledger, mode._plan = SimpleNamespace(owe_at=noted.one("look")), noted.one("plan")
    mode.looks, mode._planned, mode._due = made, planned, [(float(at), at) for at in range(due)]
    assert mode._looks_on(10.0) is bool(due)
    assert [name for name, *_ in noted.calls] == ["plan"] * plans + ["look"] * bool(due)


@pytest.mark.parametrize(
    ("last", "now", "at"), [(10.0, 11.0, 12.0), (10.0, 30.0, 30.0), (64.0, 64.5, 65.0), (-np.inf, 7.0, 7.0)]
)
def test_a_look_comes_an_interval_after_the_last_one_and_not_after_the_end(last, now, at):
    owed = []
    mode = keeping()
    mode._capture.owed, mode._capture.budget = SimpleNamespace(pending=0), SimpleNamespace(spare=lambda now: 9)
    mode._ledger = SimpleNamespace(owe_at=lambda *given: owed.append(given))
    mode._planned, mode._due, mode._last = 0, [(50.0, 4), (60.0, 5)], last
    assert mode._looks_on(now) is True
    assert owed == [(4, Slot.FIRST, at)]
    assert mode._due == [(60.0, 5)]
