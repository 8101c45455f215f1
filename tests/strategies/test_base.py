"""What a strategy need not say: the port's defaults, and what is refused of any."""

from __future__ import annotations

import pytest

from sharc_crawler.errors import StateError, UsageError
from sharc_crawler.model import Plan, Slot, Visit
from sharc_crawler.strategies import make
from sharc_crawler.strategies.base import Candidates, Setting, Strategy
from sharc_crawler.strategies.make import make_strategy


class Least(Strategy):
    """As little as a strategy can be."""

    def add(self, candidates: Candidates) -> None: ...

    def next(self, now: float) -> None: ...

    def finished(self, visit: Visit, captured: bool) -> None: ...

    def reprice(self, page: int, rate: float) -> None: ...

    def __len__(self) -> int:
        return 0


def test_who_says_nothing_more_agrees_to_nothing_and_has_a_fixed_order() -> None:
    least = Least(Setting())
    assert (least.revisits, least.accepts_late, least.attests, least.past_reference) == (True, False, False, False)
    assert least.revisit_after_all(0) is False
    assert least.revisits_ahead() == []
    assert least.linked([0]) is None
    with pytest.raises(NotImplementedError, match="Least has no order of revisits that is open"):
        least.reorder([])
    least.reference_passed()
    assert least.past_reference is True


def test_what_makes_no_strategy_is_said(monkeypatch) -> None:
    monkeypatch.setattr(make, "_load", lambda *_: lambda _setting: "bfs")
    with pytest.raises(UsageError, match="strategy='mine' is a str, not a sharc_crawler Strategy"):
        make_strategy("mine", Setting())


@pytest.mark.parametrize("name", ["bfs", "hottest-first", "sharc-selective", "sharc-revisits"])
def test_no_page_is_added_after_the_first_revisit(name: str) -> None:
    strategy = make_strategy(name, Setting(size=3))
    strategy.add(Candidates.of([0, 1, 2], [0.1, 0.2, 0.3]))
    while (visit := strategy.next(0.0)).slot is not Slot.SECOND:
        strategy.finished(visit, captured=True)
    strategy.add(Candidates.of([], []))
    with pytest.raises(StateError, match="page 3 was added after the first revisit"):
        strategy.add(Candidates.of([3], [0.1]))


@pytest.mark.parametrize("name", ["bfs", "sharc-optimal", "sharc-attested"])
def test_the_end_of_a_visit_that_nobody_made_is_an_error(name: str) -> None:
    strategy = make_strategy(name, Setting())
    with pytest.raises(StateError, match="page 3 is finished, but was neither handed out nor does it wait"):
        strategy.finished(Visit(3, Slot.FIRST, Plan.HOPEFUL), captured=True)
