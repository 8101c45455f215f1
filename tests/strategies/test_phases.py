"""Visits in two phases: how many are left, what is still taken after a failure, and in which unit time goes."""

from __future__ import annotations

import numpy as np
import pytest

from sharc_crawler.model import Plan, Slot, Visit
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.make import make_strategy

RANKED = ["hottest-first", "hottest-last", "olston-pandey", "sharc-online"]
PLANNED = ["sharc-selective", "sharc-optimal", "sharc-attested", "sharc-attested:visits=2"]


def visits_of(spec: str, rates: np.ndarray, second: float, attested: list[bool] | None = None) -> list[Visit]:
    """All visits of pages known from the beginning, a download each second; time is told in another unit."""
    size = len(rates)
    setting = Setting(size=size, step=second, observation=(0.0, 1.5 * size * second))
    strategy = make_strategy(spec, setting)
    strategy.add(Candidates.of(np.arange(size), rates / second, attested=attested))
    made: list[Visit] = []
    while visit := strategy.next(len(made) * second):
        made.append(visit)
        strategy.finished(visit, captured=True)
    return made


@pytest.mark.parametrize("spec", [*PLANNED, "sharc-offline", "sharc-revisits"])
def test_only_changes_a_step_count_and_not_the_unit_of_time(spec: str) -> None:
    rates = np.exp(np.random.default_rng(3).normal(-2.0, 1.5, 12))
    attested = [page % 3 == 0 for page in range(12)]
    assert visits_of(spec, rates, 16.0, attested) == visits_of(spec, rates, 1.0, attested)


@pytest.mark.parametrize(
    ("spec", "left"),
    [
        *((f"{name}:revisits=none", 3) for name in ["bfs", "dfs", *RANKED]),
        *((f"{name}:revisits={order}", 6) for name in ["bfs", "dfs", *RANKED] for order in ("fifo", "lifo")),
        ("sharc-selective", 5),
        ("sharc-optimal", 5),
        ("sharc-attested", 5),
        ("sharc-attested:visits=2", 6),
    ],
)
def test_so_many_visits_are_left(spec: str, left: int) -> None:
    strategy = make_strategy(spec, Setting(size=3))
    strategy.add(Candidates.of([0, 1, 2], [0.01, 0.02, 0.03], attested=[True, False, False]))
    for more in range(left, 0, -1):
        assert len(strategy) == more
        visit = strategy.next(0.0)
        assert visit is not None
        strategy.finished(visit, captured=True)
    assert len(strategy) == 0
    assert strategy.next(0.0) is None


@pytest.mark.parametrize("spec", ["bfs:revisits=fifo", "bfs:revisits=lifo", "hottest-last", "sharc-selective"])
def test_where_no_page_was_captured_the_phase_of_visits_goes_on(spec: str) -> None:
    strategy = make_strategy(spec, Setting(size=3))
    strategy.add(Candidates.of([0, 1], [0.01, 0.02]))
    while visit := strategy.next(0.0):
        strategy.finished(visit, captured=False)
    strategy.add(Candidates.of([2], [0.03]))
    visit = strategy.next(0.0)
    assert visit is not None
    assert (visit.page, visit.slot is Slot.SECOND) == (2, False)


@pytest.mark.parametrize("spec", ["bfs", *RANKED, *PLANNED])
def test_a_visit_made_before_a_restart_is_not_made_again(spec: str) -> None:
    strategy = make_strategy(spec, Setting(size=3))
    strategy.add(Candidates.of([0, 1, 2], [0.01, 0.02, 0.03]))
    strategy.finished(Visit(1, Slot.FIRST if strategy.revisits else Slot.ONLY, Plan.HOPEFUL), captured=True)
    made, left = [], len(strategy)
    while visit := strategy.next(0.0):
        made.append((visit.page, visit.slot is Slot.SECOND))
        strategy.finished(visit, captured=True)
    assert len(made) == left
    assert sorted(page for page, again in made if not again) == [0, 2]
    assert ((1, True) in made) == strategy.revisits


def test_half_of_the_single_visits_and_t_is_passed() -> None:
    strategy = make_strategy("bfs:revisits=none", Setting(size=4))
    strategy.add(Candidates.of([0, 1, 2, 3], [0.0] * 4))
    passed = []
    while strategy.next(0.0):
        passed.append(strategy.past_reference)
    assert passed == [False, False, True, True]


@pytest.mark.parametrize("spec", ["bfs", "sharc-revisits", "sharc-selective"])
def test_revisits_wait_for_the_visits_that_are_under_way(spec: str) -> None:
    strategy = make_strategy(spec, Setting(size=2))
    strategy.add(Candidates.of([0, 1], [0.01, 0.02]))
    visits = [strategy.next(0.0), strategy.next(0.0)]
    assert strategy.next(0.0) is None
    for visit in visits:
        assert visit is not None
        assert strategy.next(0.0) is None
        strategy.finished(visit, captured=True)
    again = strategy.next(0.0)
    assert again is not None
    assert again.slot is Slot.SECOND


@pytest.mark.parametrize(("other", "slots"), [(0, [Slot.SECOND]), (1, [])])
def test_the_apex_is_revisited_after_all_if_it_is_asked_for(other: int, slots: list[Slot]) -> None:
    """Another page's being asked for leaves the apex what it is."""
    strategy = make_strategy("sharc-selective", Setting(size=1))
    strategy.add(Candidates.of([0], [0.01]))
    visit = strategy.next(0.0)
    assert visit == Visit(0, Slot.ONLY, Plan.HOPEFUL)
    strategy.finished(visit, captured=True)
    assert strategy.revisit_after_all(other) is True
    made = []
    while visit := strategy.next(0.0):
        made.append(visit.slot)
        strategy.finished(visit, captured=True)
    assert made == slots


def test_a_page_that_documents_link_to_is_visited_before_its_like() -> None:
    strategy = make_strategy("sharc-selective", Setting(size=100))
    strategy.add(Candidates.of([0], [0.01]))
    visit = strategy.next(0.0)
    assert visit is not None
    strategy.add(Candidates.of([1, 2, 3, 4], [0.01] * 4))
    strategy.finished(visit, captured=True)
    strategy.linked([3])
    visit = strategy.next(1.0)
    assert visit is not None
    assert visit.page == 3


@pytest.mark.parametrize("spec", ["bfs", "sharc-revisits", "sharc-attested"])
def test_a_revisit_made_before_a_restart_is_not_made_again(spec: str) -> None:
    strategy = make_strategy(spec, Setting(size=2))
    strategy.add(Candidates.of([0, 1], [0.01, 0.02]))
    for page, slot in ((0, Slot.FIRST), (1, Slot.FIRST), (0, Slot.SECOND)):
        strategy.finished(Visit(page, slot, Plan.HOPEFUL), captured=True)
    assert (len(strategy), strategy.past_reference) == (1, True)
    assert strategy.next(0.0) == Visit(1, Slot.SECOND, Plan.HOPEFUL)
    assert (len(strategy), strategy.next(1.0)) == (0, None)


@pytest.mark.parametrize("spec", ["bfs", *RANKED, *PLANNED])
def test_the_server_s_word_counts_for_sharc_attested_alone(spec: str) -> None:
    strategy = make_strategy(spec, Setting(size=3))
    assert strategy.attests == spec.startswith("sharc-attested")
    assert strategy.past_reference is False


def test_t_is_passed_at_the_middle_of_those_found_where_they_are_more_than_expected() -> None:
    strategy = make_strategy("bfs:revisits=none", Setting(size=1))
    strategy.add(Candidates.of(range(6), [0.0] * 6))
    passed = []
    while strategy.next(0.0):
        passed.append(strategy.past_reference)
    assert passed == [False] * 3 + [True] * 3


@pytest.mark.parametrize("slots", [[Slot.FIRST] * 3, [Slot.FIRST, Slot.FIRST, Slot.ONLY]])
@pytest.mark.parametrize("spec", ["sharc-selective", "bfs:revisits=fifo"])
def test_after_a_restart_those_visited_in_their_first_slot_are_revisited(spec: str, slots: list[Slot]) -> None:
    strategy = make_strategy(spec, Setting(size=3))
    if spec != "sharc-selective" and Slot.ONLY in slots:
        return  # it visits no page once
    strategy.add(Candidates.of([0, 1, 2], [0.01, 0.02, 0.03]))
    for page, slot in enumerate(slots):
        strategy.finished(Visit(page, slot, Plan.HOPEFUL), captured=True)
    owed = slots.count(Slot.FIRST)
    assert len(strategy) == owed
    again = [strategy.next(0.0) for _ in range(owed)]
    assert sorted(visit.page for visit in again) == list(range(owed))
    assert strategy.next(0.0) is None


def test_no_revisit_is_ahead_before_the_visits_are_over_or_after_the_first_of_them() -> None:
    strategy = make_strategy("sharc-selective", Setting(size=3))
    strategy.add(Candidates.of([0, 1, 2], [0.01, 0.02, 0.03]))
    assert strategy.revisits_ahead() == []
    for _ in range(3):
        visit = strategy.next(0.0)
        assert strategy.revisits_ahead() == []
        strategy.finished(visit, captured=True)
    assert len(strategy.revisits_ahead()) == 2
    strategy.next(0.0)
    assert strategy.revisits_ahead() == []


@pytest.mark.parametrize("step", [1.0, 2.0])
def test_organ_pipes_of_visits_and_revisits_lie_about_the_middle_of_the_interval(step: float) -> None:
    """Of eight pages, each with two downloads, the first half of an interval of sixteen steps is for the visits."""
    rates = np.arange(1.0, 9.0)
    orders = []
    for interval in (None, (0.0, 15 * step), (2 * step, 17 * step)):
        strategy = make_strategy("sharc-revisits", Setting(size=8, step=step, observation=interval))
        strategy.add(Candidates.of(range(8), rates))
        start = interval[0] if interval else 0.0
        orders.append([strategy.next(start + at * step).page for at in range(8)])
    assert orders == [[0, 2, 4, 6, 7, 5, 3, 1]] * 3
