"""A mode decides nothing where it does not say so: all goes its usual way."""

from __future__ import annotations

from sharc_crawler.frontier.modes import Mode
from sharc_crawler.model import Kind, Slot
from tests.frontier.modes.stubs import Noted

PAGES, RATES = [1, 2], [0.1, 0.2]


def test_whole_sites_are_captured_once_from_pages_that_are_compared():
    mode = Mode()
    assert (mode.seeds, mode.whole, mode.compares) == (Kind.PAGE, True, True)
    assert (mode.goes_on, mode.takes_hubs, mode.listens, mode.parted) == (False, False, False, False)
    assert (mode.parts, mode.pooled) == (0, 0)
    assert mode.step is mode.apex is mode.audit is None
    assert mode.size(7) == 7


def test_all_that_is_found_is_taken_in_and_planned_as_it_is():
    mode = Mode()
    assert mode.first_pages(PAGES, 1.0, 9.0) is PAGES
    assert mode.named(None, None, PAGES) is PAGES
    assert mode.reconsidered(0, PAGES, 9.0) == []
    assert mode.why_left(None, 0) == ""
    assert mode.joining(PAGES) is PAGES
    assert mode.planned_by(PAGES, RATES) is RATES
    assert mode.attestable(PAGES, 9.0) is None


def test_the_strategy_decides_and_nothing_is_waited_for():
    mode, noted = Mode(), Noted()
    strategy = noted.one("next", "the strategy's")
    assert mode.waits(strategy, 9.0) is False
    assert mode.next(type("Door", (), {"next": staticmethod(strategy)}), 9.0) == "the strategy's"
    assert noted.calls == [("next", 9.0)]
    assert mode.owes_more(9.0) is False
    assert mode.asks_by_former(Kind.PAGE, Slot.ONLY) is False
    assert mode.takes(1, "http://h/", None) is False


def test_what_came_is_judged_at_once_and_the_end_is_the_end():
    mode = Mode()
    assert mode.audits(1) is mode.asks_again(1, Slot.SECOND, None) is mode.left_open(1) is False
    assert mode.revisited(1, Kind.PAGE, None, None, None) is False
    assert mode.judge(PAGES) == {}
    assert mode.part_over(9.0) is True


def test_after_a_restart_the_strategy_is_told_of_all_first_visits():
    mode = Mode()
    assert mode.reference_of(None) is None
    assert mode.resumed({}, PAGES) is PAGES
    assert mode.rebuilt(None, PAGES) == frozenset()
