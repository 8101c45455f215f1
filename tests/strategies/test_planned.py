"""Waiting pages follow the plan, whatever joins it later; it is made anew when there is news enough."""

from __future__ import annotations

import pytest

from sharc_crawler.model import Plan
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.classes import Run
from sharc_crawler.strategies.planned import NEWS, PlannedPages
from sharc_crawler.strategies.scout import Scout
from sharc_crawler.strategies.selective import SharcSelective

HOT, COLD = 2.0, 1.0
MANY = 1000  # pages missing: a few pages more or less are no news


class Planned:
    """Pages under a plan of ``(row, pages)``, the hottest class being row 0; counts how often it was made."""

    def __init__(self, *runs: tuple[int, int], plan: Plan = Plan.HOPEFUL, strict: bool = False) -> None:
        self.made: list[list[int]] = []
        self._runs = [Run(row, pages, plan) for row, pages in runs]
        self.pages = PlannedPages(self._plan, ())
        if strict:
            self.pages.strict = True

    def _plan(self, classes) -> list[Run]:
        self.made.append(classes.counts.tolist())
        return self._runs

    def put(self, pages: list[int], rate: float) -> None:
        self.pages.put(Candidates.of(pages, [rate] * len(pages)))

    def take(self, count: int, missing: int = MANY) -> list[int]:
        return [self.pages.take(missing, 1.0).page for _ in range(count)]


def test_runs_come_in_turn_and_where_all_is_known_the_newest_of_a_class_first():
    for missing, order in ((0, [4, 1, 0, 3, 2]), (MANY, [2, 0, 1, 3, 4])):
        planned = Planned((1, 1), (0, 2), (1, 2))
        planned.put([0, 1], HOT)
        planned.put([2, 3, 4], COLD)
        assert planned.take(5, missing) == order
        assert len(planned.pages) == 0


def test_where_it_is_hopeless_or_not_all_have_room_the_oldest_is_first():
    hopeless, bounded = Planned((0, 3), plan=Plan.HOPELESS), Planned((0, 3))
    bounded.pages.bounded = True
    for planned in (hopeless, bounded):
        planned.put([0, 1, 2], HOT)
        assert planned.take(3, missing=0) == [0, 1, 2]


def test_a_page_that_joins_its_class_waits_for_the_class_s_turn():
    planned = Planned((1, 2), (0, 2), (1, 3))
    planned.put([0, 1], HOT)
    planned.put([2, 3, 4], COLD)
    assert planned.take(1) == [2]
    planned.put([5], COLD)
    assert planned.take(5) == [3, 0, 1, 4, 5]
    planned.put([6], COLD)
    assert planned.take(1) == [6], "the last run takes all that come beyond the plan"


def test_a_class_that_the_plan_does_not_know_joins_the_last_run_of_the_nearest():
    planned = Planned((1, 2), (0, 2), (1, 2))
    planned.put([0, 1], HOT)
    planned.put([2, 3, 4, 5], COLD)
    assert planned.take(1) == [2]
    planned.put([6], 1.1 * COLD)
    planned.put([7], 1.1 * HOT)
    assert planned.take(7) == [3, 0, 1, 7, 4, 5, 6]


def test_a_page_with_another_rate_changes_its_place():
    planned = Planned((1, 3), (0, 2))
    planned.put([0, 1], HOT)
    planned.put([2, 3, 4], COLD)
    planned.take(1)
    planned.pages.reprice(3, HOT)
    planned.pages.reprice(99, HOT)  # which waits nowhere
    assert planned.pages.discard(0).rate == HOT
    assert planned.pages.discard(0) is None
    assert planned.take(3) == [4, 1, 3]


def test_a_page_with_a_rate_that_the_plan_does_not_know_joins_the_nearest_class_at_once():
    planned = Planned((1, 3), (0, 2))
    planned.put([0, 1], HOT)
    planned.put([2, 3, 4], COLD)
    assert planned.take(1) == [2]
    planned.pages.reprice(1, 0.9 * COLD)
    assert planned.take(4) == [3, 4, 1, 0]


def test_a_strict_plan_ends_with_its_runs_and_the_coldest_follow():
    planned = Planned((0, 1), strict=True)
    planned.put([0, 1], HOT)
    planned.put([2], COLD)
    assert planned.take(3, missing=0) == [1, 2, 0]


def test_any_other_plan_goes_on_beyond_its_runs_with_their_classes():
    planned = Planned((0, 1))
    planned.put([0, 1], HOT)
    planned.put([2], COLD)
    assert planned.take(3, missing=0) == [1, 0, 2]


def test_news_of_just_a_hundredth_are_not_enough():
    planned = Planned((0, 397))
    planned.put([*range(397)], HOT)
    planned.take(1, missing=0)
    planned.put([*range(400, 404)], HOT)  # four, and 400 wait
    planned.pages.take(0, 1.0)
    assert len(planned.made) == 1
    planned.put([404], HOT)
    planned.pages.take(0, 1.0)
    assert len(planned.made) == 2


@pytest.mark.parametrize("missing", [0, 200])
def test_a_plan_is_made_anew_when_news_exceed_a_hundredth_of_what_is_left(missing):
    planned = Planned((0, 1000))
    planned.put([*range(400)], HOT)
    planned.take(1, missing)
    assert len(planned.made) == 1
    assert sum(planned.made[0]) == 400 + missing, "pages that are missing are planned for"
    left = 399 + missing
    news = int(missing > 0)  # a visit while pages are missing is news itself
    new = 0
    while news <= NEWS * (left + new):
        planned.put([1000 + new], HOT)
        new, news = new + 1, news + 1
        planned_before = len(planned.made)
    assert planned_before == 1
    planned.take(1, missing)
    assert len(planned.made) == 2
    planned.take(1, missing)
    assert len(planned.made) == 2, "then it is as good as new"


def test_where_all_is_known_one_plan_is_enough_until_the_step_is_another():
    planned = Planned((0, 300))
    planned.put([*range(300)], HOT)
    planned.take(100, missing=0)
    assert len(planned.made) == 1
    planned.take(1, missing=0)
    assert len(planned.made) == 1
    planned.pages.take(0, 2.0)
    assert len(planned.made) == 2


def test_undiscovered_pages_are_planned_as_the_prior_or_as_those_known():
    known = Planned((0, 10))
    known.put([0, 1, 2], HOT)
    known.put([3], COLD)
    known.take(1, missing=8)
    assert known.made == [[3 + 6, 1 + 2]]
    prior = Planned((0, 10))
    prior.pages = PlannedPages(prior._plan, (4.0, 0.5))
    prior.put([0], HOT)
    prior.take(1, missing=8)
    assert prior.made == [[4, 1, 4]], "hottest first: 4, 2, 0.5"


class Listening(Scout):
    """A scout that remembers what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[str, float]] = []

    def visited(self, page: int, rate: float) -> None:
        self.told.append(("visited", rate))
        super().visited(page, rate)

    def found(self, pages: int) -> None:
        self.told.append(("found", pages))
        super().found(pages)


def scouted(rate: float, missing: int) -> tuple[list[tuple[int, Plan]], Listening]:
    """Four visits to pages of one rate; two documents link to page 7, one to page 3."""
    planned, scout = Planned((0, 2), (1, 400)), Listening()
    planned.pages = PlannedPages(planned._plan, (HOT,))
    planned.pages.scout = scout
    planned.put([*range(400)], rate)
    planned.pages.scout.linked([7, 3])
    planned.pages.scout.linked([7])
    return [planned.pages.take(missing, 1.0)[:2] for _ in range(4)], scout


def test_while_pages_are_missing_the_scout_names_those_that_most_documents_link_to():
    taken, scout = scouted(COLD, missing=20)
    assert [page for page, _ in taken] == [7, 3, 0, 1]
    assert {plan for _, plan in taken} == {Plan.HOPELESS}, "a change a second: each is lost by being visited so early"
    assert scout.told == [("found", 400), *[("visited", COLD)] * 4]


@pytest.mark.parametrize("missing", [1, 600])
def test_as_many_errands_as_visits_are_made_under_one_plan(monkeypatch, missing):
    asked = []
    monkeypatch.setattr(Scout, "errands", lambda self, pages, rows, most: asked.append(most) or [])
    planned = Planned((0, 2), (1, 400))
    planned.pages = PlannedPages(planned._plan, (HOT,))
    planned.pages.scout = Scout()
    planned.put([*range(400)], COLD)
    planned.pages.take(missing, 1.0)
    assert asked == [1 + int(NEWS * (400 + missing))]


def test_pages_out_of_their_turn_are_given_up_only_where_they_are_likely_to_change():
    taken, _ = scouted(1e-6, missing=20)
    assert {plan for _, plan in taken} == {Plan.HOPEFUL}


def test_once_nothing_is_missing_pages_come_by_the_plan():
    planned = Planned((0, 400))
    planned.pages = PlannedPages(planned._plan, ())
    planned.pages.scout = Listening()
    planned.put([*range(400)], COLD)
    planned.pages.scout.linked([7])
    assert planned.pages.take(400, 1.0).page == 7
    assert planned.pages.take(0, 1.0).page == 399, "the newest of a class"


@pytest.mark.parametrize(("size", "scouts"), [(0, False), (3, False), (4, True)])
def test_there_is_a_scout_only_where_more_pages_are_expected_than_are_known_at_first(size, scouts):
    strategy = SharcSelective(Setting(size=size))
    strategy.add(Candidates.of([0, 1, 2], [COLD] * 3))
    strategy.add(Candidates.of([3], [COLD]))
    assert (strategy._pages.scout is not None) is scouts


@pytest.mark.parametrize(("apart", "counts"), [(True, [500, 500]), (False, [1000])])
def test_attested_pages_are_a_class_of_their_own_where_that_is_asked_for(apart: bool, counts: list[int]):
    seen: list[list[int]] = []

    def plan(classes) -> list[Run]:
        seen.append(classes.counts.tolist())
        return [Run(row, int(pages), Plan.HOPEFUL) for row, pages in enumerate(classes.counts)]

    for portion in (1000, 10):  # at once, and page by page
        pages = PlannedPages(plan, (), attested_apart=apart)
        for first in range(0, 1000, portion):
            some = range(first, first + portion)
            pages.put(Candidates.of(some, [HOT] * portion, attested=[page % 2 == 0 for page in some]))
        pages.take(0, 1.0)
    assert seen == [counts, counts]


@pytest.mark.parametrize("missing", [1, 2])
def test_a_plan_with_errands_holds_while_they_last(missing: int):
    planned = Planned((0, 400))
    planned.pages.scout = Scout()
    planned.put([*range(400)], HOT)
    planned.take(4, missing)
    assert len(planned.made) == 1


def test_pages_that_are_missing_are_expected_with_a_weight_of_one_at_the_rates_of_the_prior():
    seen = []

    def plan(classes) -> list[Run]:
        seen.append(classes)
        return [Run(row, int(pages), Plan.HOPEFUL) for row, pages in enumerate(classes.counts)]

    pages = PlannedPages(plan, (4.0, 1.0))
    pages.put(Candidates.of([0], [2.0]))
    pages.take(10, 1.0)
    assert [column.tolist() for column in (seen[0].rates, seen[0].counts, seen[0].weights, seen[0].attested)] == [
        [4.0, 2.0, 1.0],
        [5, 1, 5],
        [1.0, 1.0, 1.0],
        [False, False, False],
    ]
    assert seen[0].shapes is None


def test_a_class_of_which_none_waited_in_its_turn_has_its_place_back_when_pages_join_it():
    planned = Planned((1, 1), (0, 5))
    planned.put([0, 1], HOT)
    planned.put([2], COLD)
    assert planned.take(2) == [2, 0]
    planned.put([3], COLD)
    assert planned.take(2) == [3, 1]


@pytest.mark.parametrize("many", [2, 1000])
def test_many_that_are_found_later_join_the_plan_as_a_few_do(monkeypatch, many: int):
    monkeypatch.setattr("sharc_crawler.strategies.planned.MANY", many)
    planned = Planned((1, 3), (0, 3))
    planned.put([0, 1], HOT)
    planned.put([2, 3], COLD)
    assert planned.take(1) == [2]
    planned.put([4, 5], 0.9 * COLD)
    planned.put([6, 7], 1.1 * HOT)
    assert planned.take(7) == [3, 4, 5, 0, 1, 6, 7]


def test_the_scout_is_told_the_plan_over_twice_the_step_and_asked_about_pages_by_their_rows(monkeypatch):
    told, asked = [], []
    monkeypatch.setattr(Scout, "brief", lambda _, classes, runs, width: told.append((classes, runs, width)))
    monkeypatch.setattr(Scout, "errands", lambda _, pages, rows, most: asked.append((pages, rows)) or [])
    planned = Planned((1, 2), (0, 9), (2, 2))
    planned.pages = PlannedPages(planned._plan, (1.5,))
    planned.pages.scout = Scout()
    planned.put([3, 5], COLD)
    planned.put([4], HOT)
    planned.pages.take(7, 1.5)
    ((classes, runs, width),) = told
    assert (classes.rates.tolist(), classes.counts.tolist()) == ([HOT, 1.5, COLD], [1, 7, 2])
    assert ([run.row for run in runs], width) == ([1, 0, 2], 3.0)
    assert [column.tolist() for column in asked[0]] == [[3, 4, 5], [2, 0, 2]]


def test_shapes_are_planned_by_where_they_are_known():
    seen = []
    pages = PlannedPages(lambda classes: seen.append(classes) or [Run(0, 1, Plan.HOPEFUL)], ())
    pages.put(Candidates.of([0], [2.0], shapes=[0.5]))
    pages.take(0, 1.0)
    assert seen[0].shapes.tolist() == [0.5]
