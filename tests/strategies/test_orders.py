"""The orders of the paper: Tables 1 to 3, Examples 2 to 5, Theorem 3, FIFO and LIFO."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharc_crawler.evidence.blur import penalty, stochastic_blur
from sharc_crawler.evidence.survival import expected_coherence
from sharc_crawler.model import Slot
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.layout import lay_out
from sharc_crawler.strategies.make import make_strategy
from sharc_crawler.strategies.selective import selective

GRAPH = {0: [1, 2], 1: [3, 4], 2: [5]}  # Fig. 3, where a page's number is its rate


def crawl_graph(spec: str) -> list[int]:
    strategy = make_strategy(spec, Setting(size=6))
    strategy.add(Candidates.of([0], [0]))
    order = []
    while (visit := strategy.next(len(order))) and visit.slot is not Slot.SECOND:
        order.append(visit.page)
        links = GRAPH.get(visit.page, [])
        strategy.add(Candidates.of(links, [float(page) for page in links]))
        strategy.finished(visit, captured=True)
    return order


def visits_of(spec: str, rates: list[float], setting: Setting | None = None) -> list[tuple[int, Slot]]:
    """All visits of a site that is known from the start, at its own pace."""
    setting = setting or Setting(size=len(rates))
    strategy = make_strategy(spec, setting)
    strategy.add(Candidates.of([*range(len(rates))], rates))
    visits = []
    while visit := strategy.next(setting.start + len(visits) * setting.step):
        strategy.finished(visit, captured=True)
        visits.append((visit.page, visit.slot))
    return visits


@pytest.mark.parametrize(
    ("spec", "order"),
    [
        ("dfs", [0, 1, 3, 4, 2, 5]),  # Table 1
        ("bfs", [0, 1, 2, 3, 4, 5]),  # Table 2
        ("sharc-online", [0, 1, 4, 3, 2, 5]),  # Table 3, Examples 3 to 5
        ("hottest-first", [0, 2, 5, 1, 4, 3]),
        ("hottest-last", [0, 1, 2, 3, 4, 5]),
        ("olston-pandey", [0, 2, 5, 1, 4, 3]),
    ],
)
def test_the_site_of_figure_3(spec: str, order: list[int]) -> None:
    assert crawl_graph(spec) == order


@pytest.mark.parametrize("spec", ["sharc-offline", "sharc-online"])
def test_example_2(spec: str) -> None:
    visits = visits_of(spec, [0, 1, 2, 3, 4, 5])
    assert [page for page, _ in visits] == [0, 2, 4, 5, 3, 1]
    assert {slot for _, slot in visits} == {Slot.ONLY}


def test_definition_4() -> None:
    visits = visits_of("sharc-revisits", [0, 1, 2, 3, 4, 5])
    n = 5
    for i in range(n + 1):
        v = i / 2 if i % 2 == 0 else n - (i - 1) / 2
        first, second = (at for at, (page, _) in enumerate(visits) if page == i)
        assert (first, second) == (v, n + 1 + v)


@pytest.mark.parametrize("revisits", ["none", "fifo", "lifo"])
@pytest.mark.parametrize("name", ["bfs", "dfs", "hottest-first", "hottest-last", "olston-pandey", "sharc-online"])
def test_revisits(name: str, revisits: str) -> None:
    visits = visits_of(f"{name}:revisits={revisits}", [0.3, 0.1, 0.2, 0.4])
    firsts, seconds = [page for page, _ in visits[:4]], [page for page, _ in visits[4:]]
    assert seconds == {"none": [], "fifo": firsts, "lifo": firsts[::-1]}[revisits]
    assert {slot for _, slot in visits[4:]} <= {Slot.SECOND}


rates = st.lists(st.integers(0, 9).map(float), min_size=1, max_size=5)


@pytest.mark.slow
@given(rates, st.one_of(st.none(), st.tuples(st.integers(-8, 8), st.integers(1, 12))), st.sampled_from([0.5, 1.0, 3.0]))
@settings(max_examples=5 * settings.default.max_examples)
def test_offline_has_the_least_blur_of_all_orders(
    rates: list[float], observed: tuple[int, int] | None, step: float
) -> None:
    """Theorem 2, and where the capture interval is fixed, hottest pages nearest to the middle of the observation."""
    interval = (100.0, 100.0 + step * (len(rates) - 1) + 1e-9) if observed is None else (
        100.0 + observed[0], 100.0 + observed[0] + observed[1]
    )  # fmt: skip
    setting = Setting(len(rates), step, 100.0, None if observed is None else interval)
    visits = visits_of("sharc-offline", rates, setting)
    times = np.empty(len(rates))
    times[[page for page, _ in visits]] = 100 + step * np.arange(len(rates))
    every = [
        np.asarray(rates) @ penalty_like(np.array(order) * step + 100, interval)
        for order in itertools.permutations(range(len(rates)))
    ]
    assert np.asarray(rates) @ penalty_like(times, interval) == pytest.approx(min(every), abs=1e-6)


def penalty_like(times: np.ndarray, interval: tuple[float, float]) -> np.ndarray:
    """The paper's ω also outside the observation interval: what Theorem 3 minimises."""
    start, end = interval
    return times**2 - times * (start + end) + (start**2 + end**2) / 2


def test_penalty_like_is_the_penalty() -> None:
    times = np.arange(6.0)
    assert penalty_like(times, (0.0, 5.0)) == pytest.approx(penalty(times, (0.0, 5.0)))


def test_sharc_revisits_with_its_own_observation_interval() -> None:
    """Observed around the last slots, the hottest pages come last."""
    visits = visits_of("sharc-revisits", [5, 4, 3, 2, 1, 0], Setting(6, 1.0, 0.0, (8.0, 16.0)))
    assert [page for page, _ in visits[:6]] == [5, 4, 3, 2, 1, 0]


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from([0.1, 0.5, 1.0])), min_size=1, max_size=5))
@settings(max_examples=settings.default.max_examples)
def test_offline_has_the_least_weighted_blur_of_all_orders(pages: list[tuple[int, float]]) -> None:
    rates, weights = np.array(pages, float).T
    strategy = make_strategy("sharc-offline", Setting(len(pages)))
    strategy.add(Candidates.of(np.arange(len(pages)), rates, weights=weights))
    times = np.empty(len(pages))
    for now in range(len(pages)):
        times[strategy.next(float(now)).page] = now
    observed = (0.0, max(1.0, len(pages) - 1.0))
    every = [
        stochastic_blur(rates, np.array(order, float), observed, weights=weights).sum()
        for order in itertools.permutations(range(len(pages)))
    ]
    assert stochastic_blur(rates, times, observed, weights=weights).sum() == pytest.approx(min(every), abs=1e-9)


@pytest.mark.long
def test_while_a_site_is_discovered_pages_not_yet_found_are_planned_for() -> None:
    """With the true size and the distribution of the rates less than 0.02 % is lost, without them far more."""
    rates = np.random.default_rng(0).lognormal(-5, 2.5, 500)
    pages = Candidates.of(np.arange(500), rates)
    offline = expected_coherence(rates, lay_out(pages, 1.0, selective).intervals)
    prior = tuple(np.quantile(rates, (np.arange(200) + 0.5) / 200))
    informed, blind = (discovered(rates, setting) for setting in (Setting(500, prior=prior), Setting()))
    assert informed > 0.9998 * offline
    assert blind < 0.995 * offline


def discovered(rates: np.ndarray, setting: Setting) -> float:
    """Expected coherence of sharc-selective where every visit brings three more pages."""
    strategy = make_strategy("sharc-selective", setting)
    strategy.add(Candidates.of([0], rates[:1]))
    intervals = np.zeros(len(rates))
    known, now = 1, 0
    while visit := strategy.next(float(now)):
        intervals[visit.page] += {Slot.FIRST: -now, Slot.ONLY: 0, Slot.SECOND: now}[visit.slot]
        strategy.finished(visit, captured=True)
        now += 1
        if visit.slot is not Slot.SECOND:
            found = np.arange(known, min(known + 3, len(rates)))
            strategy.add(Candidates.of(found, rates[found]))
            known += len(found)
    return expected_coherence(rates, intervals)


def test_wrong_observation_does_not_lose_pages() -> None:
    for interval in ((-1e9, -1e8), (1e8, 1e9)):
        for spec in ("sharc-offline", "sharc-revisits"):
            visits = visits_of(spec, [0.3, 0.1, 0.2], Setting(3, 1.0, 0.0, interval))
            assert {page for page, _ in visits} == {0, 1, 2}


def test_weights_count_like_rates() -> None:
    strategy = make_strategy("hottest-first:revisits=none", Setting())
    strategy.add(Candidates.of([0, 1, 2], [1.0, 2.0, 3.0], weights=[10.0, 1.0, 1.0]))
    assert [strategy.next(now).page for now in range(3)] == [0, 2, 1]


def test_olston_pandey_follows_utilities_where_they_are_known() -> None:
    strategy = make_strategy("olston-pandey", Setting())
    strategy.add(Candidates.of([0, 1, 2], [1.0, 2.0, 3.0], utilities=[3.0, 2.0, 1.0]))
    assert [strategy.next(now).page for now in range(3)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("spec", "order"),
    [
        ("sharc-offline", "0123"),
        ("sharc-online", "0123"),
        ("hottest-first:revisits=none", "0123"),
        ("hottest-last:revisits=none", "0123"),
        ("sharc-revisits", "01230123"),
        ("sharc-selective", "3210123"),  # those found first nearest to T
        ("sharc-optimal", "3210123"),
        ("sharc-attested", "32100123"),
    ],
)
def test_ties(spec: str, order: str) -> None:
    """Of pages with equal rates, all known."""
    assert "".join(str(page) for page, _ in visits_of(spec, [1e-3] * 4)) == order


@pytest.mark.parametrize("spec", ["sharc-selective", "sharc-optimal", "sharc-attested"])
def test_ties_while_pages_are_missing(spec: str) -> None:
    """Those found first come first: they lead to the others."""
    assert [page for page, _ in visits_of(spec, [1e-3] * 4, Setting(size=8))[:3]] == [0, 1, 2]


@pytest.mark.parametrize("spec", ["sharc-selective", "sharc-optimal", "sharc-attested"])
def test_ties_under_a_budget(spec: str) -> None:
    """Those found first come first: what lies deep is what there may be no room for."""
    assert [page for page, _ in visits_of(spec, [1e-3] * 4, Setting(bounded=True))[:3]] == [0, 1, 2]


def test_repriced_pages_take_their_new_place() -> None:
    strategy = make_strategy("hottest-last:revisits=none", Setting())
    strategy.add(Candidates.of([0, 1, 2], [1.0, 2.0, 3.0]))
    strategy.reprice(2, 0.5)
    strategy.reprice(0, 9.0)
    assert [strategy.next(now).page for now in range(3)] == [2, 1, 0]
    strategy.reprice(1, 5.0)  # its place is taken
    assert strategy.next(3) is None


def test_a_page_whose_rate_is_known_better_keeps_its_weight() -> None:
    for weight in (0.5, 2.0, 3.0):
        strategy = make_strategy("hottest-last:revisits=none", Setting())
        strategy.add(Candidates.of([0, 1, 2], [1.0, 1.0, 1.0], weights=[weight, 1.0, 1.0]))
        strategy.reprice(0, 4.0)
        strategy.reprice(1, 4.0 * weight - 0.1)
        strategy.reprice(2, 4.0 * weight + 0.1)
        assert [strategy.next(now).page for now in range(3)] == [1, 0, 2]


def test_many_rates_are_binned_and_stay_in_order() -> None:
    """Beyond the limit of exact classes, pages are at most a bin out of order."""
    rng = np.random.default_rng(0)
    rates = 10 ** rng.uniform(-3, 0, 5000)
    order = [page for page, _ in visits_of("hottest-last:revisits=none", rates.tolist())]
    visited = rates[order]
    assert (visited[1:] > visited[:-1] * 0.98).all()
    assert sorted(order) == [*range(5000)]


def test_sharc_offline_of_many_pages_is_as_good_as_exact() -> None:
    """What 1 % bins cost in blur."""
    rates = 1 / np.arange(1, 5001) ** 1.2
    order = [page for page, _ in visits_of("sharc-offline", rates.tolist())]
    times = np.empty(5000)
    times[order] = np.arange(5000)
    slots = np.argsort(-penalty(np.arange(5000.0), (0, 4999)), kind="stable")
    best = np.empty(5000)
    best[np.argsort(rates, kind="stable")] = slots
    ours, exact = (stochastic_blur(rates, one, (0, 4999)).sum() for one in (times, best))
    assert exact <= ours < exact * 1.00001


@pytest.mark.parametrize(("n", "blur"), [(10_000, 1.222), (50_000, 1.270), (100_000, 1.287), (1_000_000, 1.328)])
def test_tables_11_and_12(n: int, blur: float) -> None:
    """The rate-only column of the paper's tables, by formula."""
    rates = 1 / np.arange(1, n + 1) ** 1.2
    slots = np.argsort(-penalty(np.arange(float(n)), (0, n - 1)), kind="stable")
    assert stochastic_blur(rates[::-1], slots, (0, n - 1)).mean() == pytest.approx(blur, abs=6e-4)


def test_organ_pipes_in_a_capture_whose_times_are_given() -> None:
    """A page is colder than another that is visited nearer to the middle of the observation, to the very slot."""
    visits = visits_of("sharc-offline", [1, 2, 3, 4, 5], Setting(size=5, step=1.0, observation=(0.0, 4.0)))
    assert [page for page, _ in visits] == [0, 2, 4, 3, 1]
