"""Pages visited out of their turn where it is that of pages still undiscovered."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.lab.experiment import RunSpec, facts
from sharc_crawler.lab.synthetic import SyntheticSpec
from sharc_crawler.model import Plan
from sharc_crawler.strategies.classes import Classes, Run
from sharc_crawler.strategies.scout import Scout, _nearness, costs
from sharc_crawler.strategies.selective import selective

WIDTH = 2.0


@st.composite
def sites(draw: st.DrawFn) -> Classes:
    """A few classes of pages."""
    rates = sorted(draw(st.lists(st.floats(1e-4, 3.0), min_size=1, max_size=5, unique=True)), reverse=True)
    counts = [draw(st.integers(1, 4)) for _ in rates]
    shapes = None if draw(st.booleans()) else np.full(len(rates), 2.0)
    return Classes(np.array(rates), np.array(counts), np.ones(len(rates)), shapes)


def value(classes: Classes, rows: list[int]) -> float:
    """Expected coherence of pages of these classes, from the longest interval to the shortest."""
    intervals = WIDTH * np.arange(len(rows))[::-1]
    values = [classes.log_values(np.full((len(classes), 1), interval))[:, 0] for interval in intervals]
    return float(sum(np.exp(of[row]) for row, of in zip(rows, values, strict=True)))


def scouting(*visits: tuple[float, int]) -> Scout:
    """A scout after visits: the rate of each page, and how many new pages it led to."""
    scout = Scout()
    for rate, found in visits:
        scout.visited(0, rate)
        scout.found(found)
    return scout


def brief(scout: Scout, classes: Classes) -> Scout:
    """The scout, told the plan of SHARC-selective."""
    scout.brief(classes, selective(classes, WIDTH), WIDTH)
    return scout


@pytest.mark.slow
@given(sites())
def test_costs_are_what_the_plan_loses(classes: Classes) -> None:
    runs = selective(classes, WIDTH)
    rows = [run.row for run in runs for _ in range(run.pages)]
    planned = value(classes, rows)
    for row, cost in enumerate(costs(classes, runs, WIDTH)):
        place = rows.index(row)
        loss = planned - value(classes, [row, *rows[:place], *rows[place + 1 :]])
        assert cost == pytest.approx(max(0.0, loss), abs=1e-9)


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from([0.0, 1e-4, 0.01, 0.011, 0.5]), st.integers(0, 2)), max_size=12), sites())
def test_what_visits_tell_does_not_depend_on_when_the_plan_was_made(
    visits: list[tuple[float, int]], classes: Classes
) -> None:
    early = brief(Scout(), classes)
    for rate, found in visits:
        early.visited(0, rate)
        early.found(found)
    assert early.likely == pytest.approx(brief(scouting(*visits), classes).likely)


def named(scout: Scout, classes: Classes, rows: list[int]) -> list[int]:
    """The pages 0, 1… of these rows in the order in which the scout names them."""
    found = brief(scout, classes).errands(np.arange(len(rows)), np.array(rows), len(rows))
    assert sorted(found) == [*range(len(rows))]
    return found


SITE = Classes(np.array([1e-2, 1e-4, 1e-6]), np.array([40, 60, 1900]), np.ones(3))


def test_what_is_lost_and_what_is_likely_to_be_found_are_weighed() -> None:
    """A visit to page 0 loses 1.45 times what one to page 1 loses, and brings so much more with one more link."""
    scout = scouting((1e-2, 400), (1e-4, 400))
    scout.linked([0, 1])
    assert named(scout, SITE, [0, 1]) == [1, 0]
    scout.linked([0])
    assert named(scout, SITE, [0, 1]) == [0, 1]
    assert named(scout, SITE, [0, 1, 2]) == [2, 0, 1], "page 2 costs nothing"
    for _ in range(2000):
        scout.visited(9, 1e-2)
    assert named(scout, SITE, [0, 1]) == [1, 0], "visits to pages of its rate bring nothing"


@pytest.mark.parametrize(("finds", "first"), [(400, 0), (1, 0), (0, 1)])
def test_where_visits_that_cost_something_bring_little_of_what_was_expected_the_coldest_page_is_next(
    finds: int, first: int
) -> None:
    """Each of three was linked to by 400 documents, as page 0 is."""
    scout = scouting((1e-2, 400), (1e-4, 400))
    for _ in range(400):
        scout.linked([0, 2, 3, 4])
    assert named(scout, SITE, [0, 1, 0, 0, 0])[-1] == 1
    for page in (2, 3, 4):
        scout.visited(page, 1e-2)
        scout.found(finds)
    assert named(scout, SITE, [0, 1])[0] == first


def test_that_visits_which_cost_nothing_bring_nothing_says_nothing_of_those_that_do() -> None:
    scout = scouting((1e-2, 400), (1e-4, 400))
    for _ in range(2):
        scout.linked([0, 2])
    for _ in range(20):
        assert named(scout, SITE, [0, 1, 2]) == [2, 0, 1]
        scout.visited(2, 1e-6)


@pytest.mark.parametrize(("missing", "first"), [(400, 0), (2, 40)])
def test_no_page_is_expected_to_bring_more_than_are_missing(missing: int, first: int) -> None:
    scout = scouting((1e-2, 400), (1e-4, 400))
    scout.linked([40])
    scout.linked([40])
    for _ in range(400):
        scout.linked([0])
    found = named(scout, SITE, [0] * 40 + [1] * 60 + [2] * (1900 - missing))
    assert next(page for page in found if page in (0, 40)) == first


@pytest.mark.slow
@given(sites())
def test_a_page_is_given_up_where_it_is_likelier_to_change_than_not_over_the_longest_interval(classes: Classes) -> None:
    weighed = replace(classes, weights=np.linspace(0.5, 3.0, len(classes)))
    scout = brief(Scout(), weighed)
    longest = WIDTH * (int(classes.counts.sum()) - 1)
    for row in range(len(classes)):
        rate, shape = classes.rates[row], None if classes.shapes is None else classes.shapes[row]
        stays = math.exp(-rate * longest) if shape is None else (1 + rate * longest / shape) ** -shape
        assert abs(stays - 0.5) < 1e-9 or scout.gives_up(row) == (stays < 0.5)


def test_a_document_that_links_to_nothing_tells_nothing() -> None:
    scout = scouting((1e-6, 3))
    scout.linked([])
    assert named(scout, SITE, [2] * 3) == [0, 1, 2]


def test_of_pages_alike_those_come_first_that_most_documents_link_to_then_those_found_first() -> None:
    scout = scouting((1e-6, 3))
    scout.linked([2, 4])
    scout.linked([4])
    assert named(scout, SITE, [2] * 5) == [4, 2, 0, 1, 3]


def test_a_visit_counts_once_and_by_how_near_its_rate_was() -> None:
    scout = scouting((1.0, 3), (0.5, 0))
    scout.found(0)
    scout.visited(0, 0.0)
    scout.found(2)
    scout.found(5)  # of the same visit
    classes = Classes(np.array([1.0, 0.5, 0.0]), np.ones(3, int), np.ones(3))
    assert brief(scout, classes).likely == pytest.approx([81 / 82, 1 / 82, 1.0], abs=1e-6)


def expected(site: SyntheticSpec, strategy: str = "sharc-selective", graph: str = "discover") -> float:
    """Incoherent pages, by formula."""
    return facts(RunSpec(site, strategy, graph=graph), lambda _: None)["expected_incoherent"]


@pytest.mark.long
def test_where_hot_pages_have_the_links_little_is_lost_by_discovery(monkeypatch) -> None:
    """Table 20 of the paper on a smaller site: online next to offline; and without looking ahead."""
    site = SyntheticSpec(size=600, outdegree=40, skew=1.5)
    offline, online = expected(site, graph="known"), expected(site)
    monkeypatch.setattr(Scout, "errands", lambda *_: [])
    assert online < 1.1 * offline
    assert online < 0.7 * expected(site)


@pytest.mark.long
def test_where_cold_pages_have_the_links_and_most_is_hopeless_it_is_not_worse_than_hottest_first() -> None:
    """Table 18 of the paper, slow-down 10, on a smaller site: what is found among the cold ones is mostly hopeless."""
    site = SyntheticSpec(size=1500, outdegree=60, leaves="hot", slow_down=20)
    assert math.floor(expected(site)) <= expected(site, "hottest-first")


def test_a_page_that_no_document_named_yet_is_an_errand_too() -> None:
    """Its number may lie beyond all that were named."""
    classes = Classes(np.array([0.5]), np.array([9]), np.ones(1))
    scout = brief(scouting((0.5, 3)), classes)
    scout.linked([2])
    scout.linked([2, 1_023])
    assert scout.errands(np.array([7_000, 1_024, 1_023, 2]), np.zeros(4, np.int64), 4)[:2] == [2, 1_023]


def test_links_to_a_page_just_beyond_those_known_are_counted() -> None:
    scout = Scout.__new__(Scout)
    scout._links = np.zeros(2, np.int32)
    scout.linked([1, 2])
    assert scout._links[:3].tolist() == [0, 1, 1]


def test_where_no_visit_found_anything_all_are_as_likely_to() -> None:
    scout = scouting((0.5, 0), (0.01, 0), (0.01, 0))
    found = brief(scout, SITE).likely
    assert ((found > 0) & (found < 1e-4)).all()
    assert (brief(Scout(), SITE).likely == 1.0).all(), "nor did any, of those that were not made"


@pytest.mark.parametrize(("stays", "given_up"), [(0.45, True), (0.55, False)])
def test_a_page_is_given_up_where_less_than_half_of_its_like_stay_the_same(stays: float, given_up: bool) -> None:
    classes = Classes(np.array([-math.log(stays) / (4 * WIDTH)]), np.array([5]), np.array([3.0]))
    assert brief(Scout(), classes).gives_up(0) == given_up


@pytest.mark.parametrize("seed", range(8))
def test_costs_of_plans_that_are_not_the_best_are_what_they_lose(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rates = np.sort(10 ** rng.uniform(-2, 0, 3))[::-1]
    classes = Classes(rates, np.full(3, 4), np.ones(3), rng.uniform(0.5, 3, 3) if seed % 2 else None)
    rows = rng.permutation([0, 0, 1, 1, 2, 2]).tolist()
    runs = [Run(row, 2, Plan.HOPEFUL) for row in rows]
    pages = [row for row in rows for _ in range(2)]
    planned = value(classes, pages)
    for row, cost in enumerate(costs(classes, runs, WIDTH)):
        place = pages.index(row)
        loss = planned - value(classes, [row, *pages[:place], *pages[place + 1 :]])
        assert cost == pytest.approx(max(0.0, loss), abs=1e-9)


def test_a_page_of_which_just_one_half_stays_is_not_given_up() -> None:
    """Of a page of shape 1, (1 + λI)^-1 stays the same."""
    classes = Classes(np.array([0.125]), np.array([5]), np.ones(1), np.ones(1))
    assert not brief(Scout(), classes).gives_up(0)


def test_nearness_falls_with_the_square_of_the_bands_between() -> None:
    assert [_nearness(np.array([3]), other).item() for other in (3, 4, 5, 1)] == [1.0, 1 / 4, 1 / 9, 1 / 9]
