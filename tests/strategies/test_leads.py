"""SHARC-online before the middle: Algorithm 2, but for hotter pages that lead to many colder ones."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.evidence.blur import stochastic_blur
from sharc_crawler.lab.synthetic import SyntheticSpec
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.make import make_strategy
from sharc_crawler.strategies.organ_pipes import Leads, heat_per_page
from sharc_crawler.strategies.ranking import Ranking


def online(rates: np.ndarray, children: dict[int, list[int]]) -> list[int]:
    """The order of sharc-online; the root is page 0."""
    strategy = make_strategy("sharc-online", Setting(size=len(rates)))
    strategy.add(Candidates.of([0], rates[:1]))
    order: list[int] = []
    while visit := strategy.next(len(order)):
        order.append(visit.page)
        found = children.get(visit.page, [])
        strategy.add(Candidates.of(found, rates[found]))
        strategy.finished(visit, captured=True)
    return order


def algorithm_2(rates: np.ndarray, children: dict[int, list[int]]) -> list[int]:
    """As in the paper, corrected."""
    detected, order = [0], []
    while detected:
        detected.sort(key=lambda page: (rates[page], page))
        D, E, N = len(order), len(detected), len(rates)
        rank = 0 if D + E <= N / 2 else min(D, E - 1) if D <= N / 2 else E - 1
        order.append(detected.pop(rank))
        detected += children.get(order[-1], [])
    return order


def tree(parents: list[int]) -> dict[int, list[int]]:
    children: dict[int, list[int]] = {}
    for page, parent in enumerate(parents, 1):
        children.setdefault(parent, []).append(page)
    return children


def followed(leads: Leads, *heats: float, missing: int) -> float:
    """Which of the waiting pages comes next, by its heat."""
    waiting = Ranking()
    waiting.put([*range(len(heats))], [*heats])
    return heats[waiting.pop(leads.follow(waiting, missing))]


@pytest.mark.slow
@given(st.data(), st.integers(1, 40))
def test_where_pages_are_not_colder_than_those_they_are_found_on_it_is_algorithm_2(data, size):
    parents = [data.draw(st.integers(0, page - 1)) for page in range(1, size)]
    rates = np.ones(size)
    for page, parent in enumerate(parents, 1):
        rates[page] = rates[parent] + 2.0**-page + data.draw(st.integers(0, 3))  # no two are equal
    assert online(rates, tree(parents)) == algorithm_2(rates, tree(parents))


@given(
    roots=st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 3)), min_size=1, max_size=3),
    below=st.integers(-5, 3),
)
def test_the_least_heat_per_page_comes_first(roots, below):
    """Against all orders of a few pages, each with as many others behind it: the later the hot, the better."""

    @cache
    def least(waiting: tuple[int, ...], known: int, at: int) -> float:
        after = [2.0**below * -at + least(waiting, known - 1, at + 1)] if known else []
        return min([*after, *(begun(root, waiting, known, at) for root in waiting)], default=0.0)

    def begun(root: int, waiting: tuple[int, ...], known: int, at: int) -> float:
        octave, brings = roots[root]
        rest = tuple(other for other in waiting if other != root)
        return 2.0**octave * -at + least(rest, known + brings, at + 1)

    every = tuple(range(len(roots)))
    first = min(every, key=lambda root: heat_per_page(*roots[root], below))
    assert begun(first, every, 0, 0) == pytest.approx(least(every, 0, 0), rel=1e-9)


@pytest.mark.slow
def test_where_it_is_colder_below_the_hot_pages_wait_for_the_middle():
    """Only the hottest of a level lead on: Algorithm 2 visits all the others first, long before the middle."""
    size = 5000
    site = SyntheticSpec(size, outdegree=200).build()
    children = {page: list(site.graph.links(page, 0)) for page in range(size)}
    blur = {}
    for order in (online, algorithm_2):
        times = np.empty(size)
        times[order(site.rates, children)] = np.arange(size)
        blur[order] = stochastic_blur(site.rates, times, (0, size - 1)).mean()
    assert blur[online] < 0.95 * blur[algorithm_2]


def test_what_visits_to_an_octave_brought_speaks_for_the_next_one():
    """A hotter page whose like brought five pages comes before a colder one whose like brought one in three visits."""
    leads = Leads()
    follow = partial(followed, leads)
    follow(64.0, missing=10)
    leads.found([-5] * 5)
    for _ in range(3):
        follow(32.0, missing=10)
    leads.found([-5])
    assert follow(32.0, 64.0, missing=20) == 64.0
    for _ in range(4):
        follow(64.0, missing=10)
    leads.found([-5])
    assert follow(32.0, 64.0, missing=20) == 32.0


def test_a_page_that_led_to_one_two_octaves_colder_speaks_for_those_of_other_octaves():
    """A hundred visits to the coldest octave brought nothing; one to a hotter page brought a page as cold as these."""
    leads = Leads()
    follow = partial(followed, leads)
    for _ in range(100):
        follow(16.0, missing=10)
    follow(64.0, missing=10)
    leads.found([4])
    assert follow(16.0, 32.0, missing=20) == 32.0


def test_seeds_are_found_on_no_page():
    """The coldest seeds come first: that some are hotter does not say that pages lead to colder ones."""
    strategy = make_strategy("sharc-online", Setting(size=1000))
    strategy.add(Candidates.of(range(21), [2.0**-3] + [2.0**-4] * 20))
    visits = [strategy.next(float(now)) for now in range(20)]
    assert sorted(visit.page for visit in visits) == [*range(1, 21)]


def test_what_pages_bring_is_colder_by_the_mean_of_what_they_brought():
    leads = Leads()
    follow = partial(followed, leads)
    for _ in range(3):
        follow(16.0, missing=10)
    follow(64.0, missing=10)
    leads.found([4, 4])
    assert follow(16.0, 32.0, missing=20) == 16.0, "two octaves, not eight"


class ByHistory:
    """What to visit next, from all that visits have brought so far."""

    def __init__(self) -> None:
        self.visits: list[tuple[int, list[int]]] = []  # the octave of each, and those of the pages found on it
        self.chosen: int | None = None

    def next(self, waiting: list[int], missing: int) -> int:
        octave = waiting[0]
        steps = [below - above for above, found in self.visits for below in found]
        if octave != self.chosen and sum(steps) < 0:
            octave = self.best(sorted(set(waiting)), steps, missing / len(waiting))
        self.visits.append((octave, []))
        return octave

    def best(self, octaves: list[int], steps: list[int], prior: float) -> int:
        every = [below for _, found in self.visits for below in found]
        costs = {}
        for octave in octaves:
            like = [found for above, found in self.visits if above == octave]
            brings = (prior + sum(map(len, like))) / (1 + len(like))
            below = min(sum(every) / len(every), octave + sum(steps) / len(steps))
            costs[octave] = (2.0**octave + brings * 2.0 ** min(octave, below)) / (1 + brings)
        best = min(octaves, key=lambda octave: (costs[octave], octave))
        if best == octaves[0] and all(2.0**best <= costs[octave] for octave in octaves[1:]):
            self.chosen = best
        return best

    def found(self, octaves: list[int]) -> None:
        if octaves:
            self.visits[-1][1].extend(octaves)
            self.chosen = None


@pytest.mark.parametrize("seed", range(12))
def test_it_goes_by_all_that_visits_have_brought(seed: int) -> None:
    rng = np.random.default_rng(seed)
    leads, history, waiting, missing, page = Leads(), ByHistory(), Ranking(), 60, 5
    waiting.put([*range(5)], (2.0 ** rng.integers(2, 8, 5)).tolist())
    heats: list[int] = [waiting.octave(rank) for rank in range(5)]
    while heats and missing:
        octave = history.next(heats, missing)
        rank = leads.follow(waiting, missing)
        assert waiting.octave(rank) == octave
        waiting.pop(rank)
        heats.remove(octave)
        found = rng.integers(octave - 4, octave + 2, min(missing, rng.choice([0, 0, 1, 4]))).tolist()
        waiting.put([*range(page, page + len(found))], [2.0**octave for octave in found])
        leads.found(found)
        history.found(found)
        heats, missing, page = sorted(heats + found), missing - len(found), page + len(found)


class Told(Leads):
    """Remembers what it is asked and told."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[object] = []

    def follow(self, waiting: Ranking, missing: int) -> int:
        self.heard.append(missing)
        return 0

    def found(self, octaves: list[int]) -> None:
        self.heard.append(octaves)


def test_leads_are_told_what_is_found_before_the_middle_and_asked_with_what_is_missing() -> None:
    strategy = make_strategy("sharc-online", Setting(size=8))
    strategy._leads = leads = Told()
    strategy.add(Candidates.of([0], [1.0]))
    for page in range(4):
        strategy.next(0.0)
        strategy.add(Candidates.of([page + 1], [2.0**page], weights=[4.0]))
    assert leads.heard == [7, [2], 6, [3], 5, [4], 4, [5]]
    strategy.next(0.0)
    strategy.add(Candidates.of([5], [1.0]))
    assert len(leads.heard) == 8, "past the middle they are not asked any more"


@pytest.mark.parametrize("seed", range(6))
def test_where_hotter_pages_lie_deeper_it_is_algorithm_2_whatever_the_size(seed: int) -> None:
    rng = np.random.default_rng(seed)
    children = tree([int(rng.integers(0, page)) for page in range(1, 20 + seed)])
    rates = np.sort(rng.uniform(1, 9, 20 + seed))
    assert online(rates, children) == algorithm_2(rates, children)
