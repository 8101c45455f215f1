"""The door against the contract as it is written: each decision is let through exactly where history allows it."""

from __future__ import annotations

import random
import signal
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharc_crawler.errors import StrategyError
from sharc_crawler.model import Plan, Slot, Visit
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.door import Door, Standing

FIRST, ONLY, SECOND = Slot.FIRST, Slot.ONLY, Slot.SECOND


class Scripted:
    """Decides as it is told to."""

    past_reference = False
    setting = Setting()

    def __init__(self, revisits: bool, attests: bool, late: bool) -> None:
        self.revisits, self.attests, self.accepts_late = revisits, attests, late
        self.decision: object = None
        self.ahead: list[int] = []
        self.told: list[object] = []

    def next(self, now: float) -> object:
        return self.decision

    def add(self, candidates: Candidates) -> None:
        self.told.append(candidates.pages.tolist())

    def finished(self, visit: Visit, captured: bool) -> None:
        self.told.append((visit, captured))

    def reprice(self, page: int, rate: float) -> None:
        self.told.append((page, rate))

    def reference_passed(self) -> None:
        self.told.append("T")

    def revisit_after_all(self, page: int) -> bool:
        return page == 7

    def revisits_ahead(self) -> list[int]:
        return self.ahead


@dataclass
class History:
    """What has happened, and what the port's contract says may happen next."""

    strategy: Scripted
    given: set[int] = field(default_factory=set)
    decided: set[tuple[int, Slot]] = field(default_factory=set)
    under_way: set[tuple[int, Slot]] = field(default_factory=set)
    captured: set[tuple[int, Slot]] = field(default_factory=set)
    turned: bool = False

    @property
    def waiting(self) -> set[int]:
        return self.given - {page for page, _ in self.decided}

    @property
    def due(self) -> set[int]:
        return {page for page, slot in self.captured if slot is FIRST and (page, SECOND) not in self.decided}

    def allows(self, page: int, slot: Slot) -> bool:
        one, firsts = self.strategy, {pair for pair in self.under_way if pair[1] is not SECOND}
        if slot is SECOND:
            visited = {(page, FIRST), (page, ONLY)} & self.captured and (page, SECOND) not in self.decided
            over = self.turned or not (firsts or (self.waiting and not one.accepts_late))
            return bool(one.revisits and visited and over)
        if page not in self.waiting or (self.turned and (slot is FIRST or not one.accepts_late)):
            return False
        if slot is FIRST:
            return one.revisits
        return not one.revisits or one.attests or (self.waiting == {page} and not firsts)

    def may_end(self) -> bool:
        return bool(self.under_way) or not (self.waiting or self.due)

    def decide(self, page: int, slot: Slot) -> None:
        self.decided.add((page, slot))
        self.under_way.add((page, slot))
        self.turned |= slot is SECOND

    def finish(self, pair: tuple[int, Slot], captured: bool) -> None:
        self.under_way.discard(pair)
        if captured:
            self.captured.add(pair)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 2)),
        st.tuples(st.just("decide"), st.integers(0, 4), st.sampled_from([FIRST, ONLY, SECOND])),
        st.tuples(st.just("legal"), st.integers(0, 9)),
        st.tuples(st.just("legal"), st.integers(0, 9)),
        st.tuples(st.just("finish"), st.integers(0, 9), st.booleans()),
        st.tuples(st.just("finish"), st.integers(0, 9), st.just(True)),
        st.tuples(st.just("turn")),
        st.tuples(st.just("end")),
    ),
    max_size=30,
)


def candidates(pages: list[int]) -> Candidates:
    return Candidates.of(pages, np.full(len(pages), 0.1))


@pytest.mark.slow
@settings(max_examples=5 * settings.default.max_examples)
@given(st.booleans(), st.booleans(), st.booleans(), STEPS)
def test_a_decision_is_let_through_exactly_where_history_allows_it(revisits, attests, late, steps) -> None:
    strategy = Scripted(revisits, attests, late)
    door, history = Door(strategy, "scripted"), History(strategy)
    for what, *more in steps:
        if what == "add":
            new = [len(history.given) + number for number in range(more[0])]
            door.add(candidates(new))
            history.given.update(new)
            assert strategy.told[-1] == new
        elif what == "finish" and history.under_way:
            pair = sorted(history.under_way)[more[0] % len(history.under_way)]
            door.finished(Visit(*pair, Plan.HOPEFUL), more[1])
            history.finish(pair, more[1])
        elif what == "turn":
            door.reference_passed()
            history.turned = True
        elif what == "end":
            if not asked(door, strategy, None, history.may_end()):
                return
        elif what in ("decide", "legal") and (choice := chosen(history, *more)):
            if not asked(door, strategy, Visit(*choice, Plan.HOPEFUL), history.allows(*choice)):
                return
            history.decide(*choice)
        check_ahead(door, strategy, history)


def chosen(history: History, page: int, slot: Slot | None = None) -> tuple[int, Slot] | None:
    """The page and slot given; without a slot, one that is allowed, if any."""
    if slot is not None:
        return page, slot
    legal = [(page, slot) for page in history.given for slot in Slot if history.allows(page, slot)]
    return legal[page % len(legal)] if legal else None


def asked(door: Door, strategy: Scripted, decision: Visit | None, allowed: bool) -> bool:
    """Whether it may go on."""
    strategy.decision = decision
    if allowed:
        assert door.next(0.0) == decision
        return True
    with pytest.raises(StrategyError) as caught:
        door.next(0.0)
    assert door.stopped is caught.value
    before = len(strategy.told)
    door.add(candidates([9]))
    door.reprice(9, 0.1)
    door.reference_passed()
    assert len(strategy.told) == before, "it is told nothing more"
    assert not door.revisit_after_all(7)
    assert door.revisits_ahead() == []
    return False


def check_ahead(door: Door, strategy: Scripted, history: History) -> None:
    firsts = {pair for pair in history.under_way if pair[1] is not SECOND}
    strategy.ahead = sorted(history.due)
    asks = history.due and not history.waiting and not firsts
    assert door.revisits_ahead() == (strategy.ahead if asks else [])


@pytest.mark.parametrize(("revisits", "attests", "late"), list(product((True, False), repeat=3)))
def test_long_histories_are_let_through_up_to_the_first_decision_that_is_not_allowed(revisits, attests, late) -> None:
    for seed in range(20):
        draw, strategy = random.Random(seed), Scripted(revisits, attests, late)
        door, history = Door(strategy, "scripted"), History(strategy)
        for _ in range(draw.randrange(40)):
            what = draw.choices(["add", "legal", "finish", "turn"], [6, 16, 16, 1])[0]
            if what == "add" and (late or not history.turned):
                door.add(candidates(new := [len(history.given)]))
                history.given.update(new)
            elif what == "legal" and (choice := chosen(history, draw.randrange(99))):
                assert asked(door, strategy, Visit(*choice, Plan.HOPEFUL), allowed=True)
                history.decide(*choice)
            elif what == "finish" and history.under_way:
                pair = draw.choice(sorted(history.under_way))
                door.finished(Visit(*pair, Plan.HOPEFUL), captured := draw.random() < 0.8)
                history.finish(pair, captured)
            elif what == "turn":
                door.reference_passed()
                history.turned = True
            if history.may_end():
                assert asked(door, strategy, None, allowed=True)
            firsts = sum(slot is not SECOND for _, slot in history.under_way)
            assert door.first_visits_waiting == len(history.waiting)
            assert door.first_visits_left == len(history.waiting) + firsts
            check_ahead(door, strategy, history)
        refused: list[Visit | None] = [
            Visit(page, slot, Plan.HOPEFUL)
            for page in range(len(history.given) + 1)
            for slot in Slot
            if not history.allows(page, slot)
        ]
        if not history.may_end() and draw.random() < 0.5:
            refused = [None]
        asked(door, strategy, draw.choice(refused), allowed=False)


@pytest.mark.parametrize("page", [-1, 1, 5])
def test_a_page_ahead_that_is_not_due_stops_it(page) -> None:
    strategy = Scripted(True, False, False)
    door = Door(strategy, "scripted")
    door.add(candidates([0]))
    strategy.decision = Visit(0, FIRST, Plan.HOPEFUL)
    door.next(0.0)
    door.finished(strategy.decision, captured=True)
    strategy.ahead = [0, page]
    with pytest.raises(StrategyError, match="it names the page among its revisits ahead"):
        door.revisits_ahead()


@pytest.mark.parametrize(
    "decision", ["a page", (0, FIRST, Plan.HOPEFUL), Visit(0.0, FIRST, Plan.HOPEFUL), Visit(0, "first", Plan.HOPEFUL),
                 Visit(0, FIRST, "hopeful"), Visit(-1, FIRST, Plan.HOPEFUL), Visit(1, FIRST, Plan.HOPEFUL)],
)  # fmt: skip
def test_what_is_no_decision_stops_it(decision) -> None:
    strategy = Scripted(True, False, False)
    door = Door(strategy, "scripted")
    door.add(candidates([0]))
    asked(door, strategy, decision, allowed=False)
    assert "scripted" in str(door.stopped)


@pytest.mark.parametrize(
    "method",
    [
        "add",
        "finished",
        "reprice",
        "reference_passed",
        "revisit_after_all",
        "next",
        "linked",
        "revisits_ahead",
        "reorder",
        "__len__",
    ],
)
def test_one_that_raises_is_stopped_and_told_nothing_more(method) -> None:
    def fail(*_):
        raise ZeroDivisionError

    strategy = type("Failing", (Scripted,), {method: fail})(True, False, False)
    door = Door(strategy, "scripted")
    calls = {
        "linked": lambda: door.linked([0]),
        "revisits_ahead": lambda: due(door).revisits_ahead(),
        "reorder": lambda: door.reorder([0]),
        "__len__": lambda: door.visits_left,
        "add": lambda: door.add(candidates([0])),
        "finished": lambda: door.finished(Visit(0, FIRST, Plan.HOPEFUL), captured=True),
        "reprice": lambda: door.reprice(0, 1.0),
        "reference_passed": door.reference_passed,
        "revisit_after_all": lambda: door.revisit_after_all(0),
        "next": lambda: door.next(0.0),
    }
    if method == "finished":
        door.add(candidates([0]))
    with pytest.raises(StrategyError, match=r"it raised ZeroDivisionError:  \(test_door\.py, line \d+\) when it was"):
        calls[method]()
        door.next(0.0)
    with pytest.raises(StrategyError, match="ZeroDivisionError"):
        door.next(0.0)


def due(door: Door) -> Door:
    """A page was visited, and its revisit is due."""
    door.add(candidates([0]))
    door.finished(Visit(0, FIRST, Plan.HOPEFUL), captured=True)
    return door


@pytest.mark.parametrize(
    ("revisits", "steps", "decision", "why"),
    [
        (False, [], Visit(0, FIRST, Plan.HOPEFUL), "it makes single visits: there is no second slot to come"),
        (False, [ONLY], Visit(0, SECOND, Plan.HOPEFUL), "it makes single visits: there is no second slot"),
        (True, ["turn"], Visit(0, FIRST, Plan.HOPEFUL), "a first visit comes too late"),
        (True, ["turn"], Visit(0, ONLY, Plan.HOPEFUL), "a first visit comes too late"),
        (
            True,
            [],
            Visit(0, ONLY, Plan.HOPEFUL),
            "with revisits only the last page may be visited once; 1 more pages wait for theirs, 0",
        ),
        (True, [FIRST], Visit(0, SECOND, Plan.HOPEFUL), "after all first visits; 1 more pages wait for theirs, 0 are"),
        (
            True,
            [FIRST, FIRST],
            Visit(2, FIRST, Plan.HOPEFUL),
            r"in each slot \(page 2 in slot 'first', which is 'NOT_GIVEN'",
        ),
        (True, [FIRST, FIRST], Visit(1, FIRST, Plan.HOPEFUL), r"in each slot \(page 1 in slot 'first', which is 'DUE'"),
        (True, [FIRST], None, r"nothing is left, and page 1 was never handed out \(page 1, which is 'WAITING'"),
        (True, [FIRST, FIRST], None, r"nothing is left, and page 0 was never revisited \(page 0, which is 'DUE'"),
        (True, [], (0, "first"), r"it decided \(0, 'first'\), which is no Visit"),
        (True, [], Visit(True, FIRST, Plan.HOPEFUL), "which is no Visit"),
        (True, [], Visit(0, "first", Plan.HOPEFUL), "which is no Visit"),
        (True, [], Visit(0, FIRST, "hopeful"), "which is no Visit"),
        (True, [], Visit(-1, FIRST, Plan.HOPEFUL), "which is 'NOT_GIVEN'"),
    ],
)
def test_why_it_is_stopped_is_said_with_page_slot_and_standing(revisits, steps, decision, why) -> None:
    strategy = Scripted(revisits, False, False)
    door = Door(strategy, "scripted")
    door.add(candidates([0, 1]))
    for page, step in enumerate(steps):
        if step == "turn":
            door.reference_passed()
            continue
        assert asked(door, strategy, Visit(page, step, Plan.HOPEFUL), allowed=True)
        door.finished(strategy.decision, captured=True)
    strategy.decision = decision
    with pytest.raises(StrategyError, match=f"^strategy='scripted' is stopped: .*{why}"):
        door.next(0.0)


def test_revisits_ahead_that_are_no_list_are_refused_though_there_are_none() -> None:
    strategy = Scripted(True, False, False)
    strategy.ahead = ()
    with pytest.raises(StrategyError, match="its revisits ahead are tuple, which is no list of pages"):
        due(Door(strategy, "scripted")).revisits_ahead()


@pytest.mark.parametrize(
    ("handler", "heard"), [(signal.default_int_handler, KeyboardInterrupt), (lambda *_: None, StrategyError)]
)
def test_ctrl_c_is_not_the_strategys(handler: object, heard: type[BaseException]) -> None:
    """Under a reactor, which hears it itself, Python raises none: there it was the strategy's."""

    def interrupt(*_):
        raise KeyboardInterrupt

    strategy = Scripted(True, False, False)
    strategy.next = interrupt
    door = Door(strategy, "scripted")
    former = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(heard):
            door.next(0.0)
    finally:
        signal.signal(signal.SIGINT, former)
    assert (door.stopped is None) == (heard is KeyboardInterrupt)


def test_how_many_first_visits_are_left_and_which_wait() -> None:
    strategy = Scripted(True, False, False)
    door = Door(strategy, "scripted")
    door.add(candidates([0, 1, 4]))
    assert (door.first_visits_left, door.first_visits_waiting) == (3, 3)
    asked(door, strategy, Visit(1, FIRST, Plan.HOPEFUL), allowed=True)
    assert (door.first_visits_left, door.first_visits_waiting) == (3, 2)
    assert [page for page in range(6) if door.waits_for(page)] == [0, 4]
    door.finished(strategy.decision, captured=False)
    assert (door.first_visits_left, door.first_visits_waiting) == (2, 2)
    assert not door.waits_for(1)


def test_one_without_visits_left_is_a_strategy_all_the_same() -> None:
    door = Door(Scripted(True, False, False), "scripted")
    assert door.visits_left == 0
    assert door


def test_what_it_is_asked_is_handed_on() -> None:
    strategy = Scripted(True, True, True)
    door = Door(strategy, "scripted")
    assert (door.revisits, door.attests, door.accepts_late, door.past_reference) == (True, True, True, False)
    assert door.revisit_after_all(7)
    assert not door.revisit_after_all(8)
    door.reprice(3, 0.5)
    assert strategy.told == [(3, 0.5)]
    door.setting = Setting(size=3)
    assert strategy.setting.size == door.setting.size == 3


def test_an_only_visit_is_enough_where_pages_are_claimed_on_the_servers_word() -> None:
    strategy = Scripted(True, True, True)
    door = Door(strategy, "scripted")
    door.add(candidates([0, 1]))
    for page in (0, 1):
        assert asked(door, strategy, Visit(page, ONLY, Plan.HOPEFUL), allowed=True)
        door.finished(Visit(page, ONLY, Plan.HOPEFUL), captured=True)
    assert asked(door, strategy, None, allowed=True)


@pytest.mark.parametrize("left", [0, 1])
def test_what_was_visited_before_a_restart_is_told_and_what_is_due_is_known(left) -> None:
    strategy = Scripted(True, False, False)
    door = Door(strategy, "scripted")
    door.add(candidates([0, 1, 2]))
    for page in (0, 1, 2):
        door.finished(Visit(page, FIRST, Plan.HOPEFUL), captured=True)
    for page in (0, 1, 2)[left:]:
        door.finished(Visit(page, SECOND, Plan.HOPEFUL), captured=True)
    asked(door, strategy, None, allowed=not left)


def test_no_two_states_are_one():
    assert len(Standing) == len(Standing.__members__)


def test_a_strategy_that_cannot_take_pages_is_stopped_with_the_first_of_them_named(monkeypatch) -> None:
    def add(*_):
        raise ValueError("full")

    for pages, where in (([0, 1], "(page 0, which is 'WAITING' there)"), ([], "when it was given 0 pages")):
        strategy = Scripted(True, False, False)
        monkeypatch.setattr(strategy, "add", add)
        door = Door(strategy, "scripted")
        door.add(candidates(pages))
        assert str(door.stopped).endswith(where)


def test_one_that_cannot_be_told_its_pace_is_stopped() -> None:
    def fail(_self: Scripted, _setting: Setting) -> None:
        raise ZeroDivisionError

    strategy = type("Failing", (Scripted,), {"setting": property(lambda _: Setting(), fail)})(True, False, False)
    door = Door(strategy, "scripted")
    door.setting = Setting(step=2.0)
    with pytest.raises(StrategyError, match=r"ZeroDivisionError.* when it was told its pace"):
        door.next(0.0)


def test_pages_that_come_one_by_one_take_a_byte_each() -> None:
    door = Door(Scripted(True, False, False), "scripted")
    for page in range(40):
        door.add(candidates([page]))
    assert len(door._pages) <= 41


def test_what_it_does_not_say_for_it_raised_is_nothing() -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    strategy = type("Failing", (Scripted,), {"revisits_ahead": fail, "__len__": fail})(True, False, False)
    assert due(Door(strategy, "scripted")).revisits_ahead() == []
    assert Door(strategy, "scripted").visits_left == 0


def test_revisits_ahead_that_name_a_page_twice_are_refused() -> None:
    strategy = Scripted(True, False, False)
    strategy.ahead = [0, 0]
    with pytest.raises(StrategyError, match="it names a page twice among its revisits ahead"):
        due(Door(strategy, "scripted")).revisits_ahead()
