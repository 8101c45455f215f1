"""The selective split by rate class: the same as the direct test, page by page."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharc_crawler.strategies.base import Candidates
from sharc_crawler.strategies.classes import Classes
from sharc_crawler.strategies.keep_or_drop import TIE, _drops
from sharc_crawler.strategies.layout import LIMIT, _bins, classify, lay_out
from sharc_crawler.strategies.selective import selective, split
from tests.strategies.oracles import direct_split, intervals_of, literal_split


def split_pages(rates: np.ndarray, width: float, weights: np.ndarray | None = None) -> list[bool]:
    """By class, as one flag per page, hottest first (of a class, the first pages are dropped, but never the apex)."""
    weights = np.ones(len(rates)) if weights is None else weights
    classes, row = classify(Candidates.of(np.arange(len(rates)), rates, weights))
    dropped = split(classes, width)
    before = [int((row[1:page] == row[page]).sum()) for page in range(len(rates))]
    return [page > 0 and before[page] < dropped[row[page]] for page in range(len(rates))]


def random_rates(rng: np.random.Generator) -> np.ndarray:
    """Sites of many kinds: λI from 1e-3 to 1e3, equal rates, hot groups, none at all."""
    n = int(rng.integers(1, 50))
    kind = rng.integers(5)
    scale = 10 ** rng.uniform(-3, 3) / n
    if kind == 0:
        rates = rng.lognormal(0, rng.uniform(0.01, 4), n)
    elif kind == 1:
        rates = 10 ** rng.uniform(-3, 3, n)
    elif kind == 2:
        rates = rng.choice(10 ** rng.uniform(-2, 2, rng.integers(1, 5)), n)
    elif kind == 3:
        rates = np.where(rng.random(n) < 0.5, 1e3, rng.lognormal(0, 1, n))
    else:
        rates = np.where(rng.random(n) < 0.3, 0.0, 1 / np.arange(1, n + 1))
    return np.sort(rates * scale)[::-1]


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 4))])
def test_the_same_as_the_direct_test(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(600):
        rates = random_rates(rng)
        ours, direct = split_pages(rates, 2.0), direct_split(rates, 2.0)
        if ours != direct:  # an exact tie
            value, reference = (np.exp(-rates * intervals_of(one, 2.0)).sum() for one in (ours, direct))
            assert value == pytest.approx(reference, rel=1e-9), rates


groups = st.tuples(
    st.floats(-3, 3).map(lambda power: 10**power), st.integers(1, 4)
)  # λI of the longest interval, pages


@pytest.mark.slow
@given(st.lists(groups, min_size=1, max_size=5), st.integers(0, 4))
@settings(max_examples=5 * settings.default.max_examples, deadline=None)
def test_the_same_as_the_definition_to_the_letter(groups: list[tuple[float, int]], still: int) -> None:
    """Groups of equal rates, from hardly any change to a thousand in the longest interval; and pages that never change.

    Both sums of the definition, with 450 digits: what doubles make of them is not trusted.
    """
    pages = still + sum(count for _, count in groups)
    changes = np.concatenate([np.repeat([most for most, _ in groups], [count for _, count in groups]), np.zeros(still)])
    rates = np.sort(changes)[::-1] / (2.0 * max(1, pages - 1))
    ours, literal = split_pages(rates, 2.0), literal_split(rates.tolist(), 2.0)
    if ours != literal:  # a tie, or as near to one as doubles can tell
        value, reference = (np.exp(-rates * intervals_of(one, 2.0)).sum() for one in (ours, literal))
        assert value == pytest.approx(reference, rel=1e-9)


@pytest.mark.slow
def test_the_same_as_the_direct_test_on_a_large_site() -> None:
    rates = 1 / np.arange(1, 1001) ** 1.2
    assert split_pages(rates, 2.0) == direct_split(rates, 2.0)


@pytest.mark.slow
def test_weights_as_the_direct_test() -> None:
    rng = np.random.default_rng(9)
    for _ in range(300):
        n = int(rng.integers(1, 40))
        rates, weights = 10 ** rng.uniform(-3, 0, n), rng.integers(1, 11, n) / 10
        order = np.argsort(-rates * weights, kind="stable")
        rates, weights = rates[order], weights[order]
        assert split_pages(rates, 2.0, weights) == direct_split(rates, 2.0, weights)


def test_hot_equal_rates_do_not_tie() -> None:
    """Two sums would tie in double precision: the hot group would be kept as a whole, for nothing."""
    rates = np.concatenate((np.full(400, 1000.0), np.full(2, 0.5)))
    hopeless = split_pages(rates, 2.0)
    assert hopeless == direct_split(rates, 2.0)
    assert sum(hopeless) == 399
    kept = np.exp(-rates * intervals_of(hopeless, 2.0)).sum()
    assert kept > 1.3 > 1.01 > np.exp(-rates * intervals_of([False] * 402, 2.0)).sum()


def test_pages_that_hardly_change_are_not_given_up_for_nothing() -> None:
    """Rates that differ by rounding, posteriors of two shapes: some order of them gains 1e-14 of a page."""
    rates, counts, weights = np.array([4e-7, 3.5399163449003343e-09, 3.5399163449003322e-09]), [1, 60, 34], np.ones(3)
    classes = Classes(rates, np.array(counts), weights, np.array([1.0, 0.5, 1.0]))
    assert split(classes, 2.0).tolist() == [0, 0, 0]


def test_a_drop_may_follow_a_keep() -> None:
    """Hopeless is not a prefix of the hottest."""
    rates = np.array([5.32, 0.97, 0.30, 0.22, 0.20])
    assert split_pages(rates, 2.0) == direct_split(rates, 2.0) == [False, True, False, True, False]


@pytest.mark.slow
@given(st.lists(st.floats(0, 5), min_size=1, max_size=12), st.sampled_from([math.inf, 1.0, 30.0]))
@settings(max_examples=settings.default.max_examples)
def test_posteriors_of_large_shape_are_known_rates(rates: list[float], shape: float) -> None:
    """Posterior predictives take the general path; as their shape grows they give the split of known rates."""
    descending = np.sort(rates)[::-1]
    counts, ones = np.ones(len(rates), np.int64), np.ones(len(rates))
    close = split(Classes(descending, counts, ones, np.full(len(rates), 1e12)), 2.0)
    known = split(Classes(descending, counts, ones), 2.0)
    values = [np.exp(-descending * intervals_of([bool(x) for x in one], 2.0)).sum() for one in (close, known)]
    assert values[0] == pytest.approx(values[1], rel=1e-6)
    assert split(Classes(descending, counts, ones, np.full(len(rates), shape)), 2.0).sum() < max(1, len(rates))


def test_weightless_pages_and_extremes() -> None:
    ones = np.ones(3, np.int64)
    assert split(Classes(np.array([3.0, 2.0, 1.0]), ones, np.zeros(3)), 2.0).tolist() == [0, 0, 0]
    assert split(Classes(np.array([1e300, 1e200, 0.0]), ones, np.ones(3)), 2.0).tolist() == [0, 0, 0]
    assert split(Classes(np.zeros(0), np.zeros(0, np.int64), np.zeros(0)), 2.0).tolist() == []


@pytest.mark.parametrize(("n", "incoherent"), [(10_000, 3030), (50_000, 11_905), (100_000, 21_305)])
def test_tables_13_and_14(n: int, incoherent: float) -> None:
    """The rate-only column of the paper's tables, by formula, with rates binned to 1 %."""
    assert expected_incoherence(n, 1.2, 1.0) == pytest.approx(incoherent, abs=1)


@pytest.mark.parametrize(
    ("slow_down", "incoherent"), [(1, 3030), (2, 4648), (3, 5618), (4, 6267), (5, 6734), (10, 7942)]
)
def test_tables_17_and_18(slow_down: float, incoherent: float) -> None:
    assert expected_incoherence(10_000, 1.2, slow_down) == pytest.approx(incoherent, abs=1)


@pytest.mark.parametrize(("skew", "incoherent"), [(1.0, 7049), (1.5, 374), (2.0, 16)])
def test_tables_20_and_21(skew: float, incoherent: float) -> None:
    assert expected_incoherence(10_000, skew, 1.0) == pytest.approx(incoherent, abs=1)


def expected_incoherence(n: int, skew: float, step: float) -> float:
    rates = 1 / np.arange(1, n + 1) ** skew
    layout = lay_out(Candidates.of(np.arange(n), rates), step, selective)
    return n - float(np.exp(-rates * layout.intervals).sum())


@pytest.mark.parametrize("scale", [0.0, -700.0, 300.0])
@pytest.mark.parametrize(
    ("own", "others", "drops"),
    [(1.0, [0.5, 0.5 + 9 * TIE], True), (1.0, [0.5, 0.5], False), (1.0, [0.5, 0.5 + TIE], False),
     (1.0, [0.6, 0.6], True), (1.0, [0.4, 0.4], False), (2.0, [0.9], False), (0.9, [2.0], True), (0.0, [0.0], False)],
)  # fmt: skip
def test_a_tie_is_kept_and_what_loses_more_is_dropped_on_any_scale(own, others, drops, scale) -> None:
    with np.errstate(divide="ignore"):
        assert _drops(np.log([own, *others]) + scale) == drops


def test_classes_lie_in_the_order_of_their_heat() -> None:
    rates, weights = np.array([1.0, 4.0, 2.0]), np.array([8.0, 1.0, 3.0])
    classes, row = classify(Candidates.of(np.arange(3), rates, weights))
    assert (classes.rates * classes.weights).tolist() == [8.0, 6.0, 4.0]
    assert row.tolist() == [0, 2, 1]


@pytest.mark.parametrize("more", [0, 1])
def test_so_many_combinations_of_rate_and_weight_are_classes_and_of_one_more_bins(more):
    side = math.isqrt(LIMIT)
    rates, weights = (column.ravel() for column in np.meshgrid(1.0 + np.arange(side), 1.0 + np.arange(side)))
    rates, weights = np.append(rates, [1e3] * more), np.append(weights, [1.0] * more)
    classes, _ = classify(Candidates.of(np.arange(len(rates)), rates, weights))
    assert (len(classes) == LIMIT) == (more == 0)
    assert len(classes) <= LIMIT


def test_nothing_and_infinity_have_bins_of_their_own() -> None:
    logs = np.array([-math.inf, 0.0, 0.004, 0.5, math.inf, 1.0])
    bins = _bins(logs, 0.01).tolist()
    assert bins[1] == bins[2]
    assert len(set(bins)) == 5
    assert (min(bins), max(bins)) == (bins[0], bins[4])
    assert bins[3] - bins[1] == 50
    assert _bins(np.array([-math.inf, 1.0]), 0.01).tolist() == [0, 1]
    assert _bins(np.array([0.0, 1.0, math.inf]), 0.01).tolist() == [1, 101, 102]


@pytest.mark.parametrize(("changes", "dropped"), [(1e-6, 0), (1.5e-6, 1)])
def test_up_to_a_millionth_of_a_change_in_the_longest_interval_no_page_is_given_up(changes: float, dropped: int):
    """Of two equally hot pages the one that changes more is given up; what that gains is next to nothing."""
    rate = changes / 2  # the longest of three intervals is two widths
    classes = Classes(np.array([1.0, rate, rate / 8]), np.ones(3, int), np.array([1.0, 1.0, 8.0]))
    assert split(classes, 1.0).tolist() == [0, dropped, 0]


def test_of_no_pages_the_layout_has_none():
    layout = lay_out(Candidates.of([], []), 1.0, selective)
    assert (len(layout.intervals), len(layout.hopeless)) == (0, 0)


def test_bins_become_twice_as_wide_until_they_are_few_enough():
    """Rates over 1,500 bins of a hundredth are so many as 750 of two, where three would make 500."""
    rates = np.exp(np.linspace(0.0, 15.0, 10_000))
    classes, _ = classify(Candidates.of(np.arange(len(rates)), rates))
    assert len(classes) == 751


@pytest.mark.parametrize("seed", range(20))
def test_few_pages_of_equal_rates_as_the_direct_test(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rates = np.repeat(np.sort(10 ** rng.uniform(-2, 0.5, 4))[::-1], rng.integers(1, 5, 4))
    assert split_pages(rates, 2.0) == direct_split(rates, 2.0)
    classes, _ = classify(Candidates.of(np.arange(len(rates)), rates))
    known, posteriors = (split(replace(classes, shapes=shapes), 2.0) for shapes in (None, np.full(len(classes), 1e9)))
    assert known.tolist() == posteriors.tolist(), "a posterior as narrow as that"


@pytest.mark.parametrize("width", [1e-4, 1.0, 1e4])
def test_the_unit_of_time_changes_nothing(width: float) -> None:
    classes = Classes(np.array([0.8, 0.7, 0.6, 0.5, 0.4]) / width, np.ones(5, int), np.ones(5))
    assert split(classes, width).tolist() == [0, 1, 1, 0, 0]


@pytest.mark.parametrize("seed", range(10))
def test_posteriors_are_split_by_what_each_page_is_worth_kept_and_dropped(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rates, shapes = np.sort(10 ** rng.uniform(-1, 0.5, 6))[::-1], rng.uniform(0.3, 3, 6)

    def stays(page: int, slot: int) -> float:
        return (1 + rates[page] * slot / shapes[page]) ** -shapes[page]

    free, dropped = [*range(1, 6)], [0]
    for page in range(1, 6):
        rest = range(page + 1, 6)
        keep = stays(page, free[0]) + sum(map(stays, rest, free[1:]))
        drop = stays(page, free[-1]) + sum(map(stays, rest, free[:-1]))
        dropped.append(int(keep < drop - 1e-12))
        free.pop(-1 if dropped[-1] else 0)
    assert split(Classes(rates / 2, np.ones(6, int), np.ones(6), shapes), 2.0).tolist() == dropped


def test_pages_of_uncertain_rates_are_kept_if_the_first_of_them_is_though_all_of_a_hotter_class_are_given_up() -> None:
    rates, weights, shapes = np.array([[7.0, 2.4, 0.9, 0.5], [10.0, 0.1, 2.0, 10.0], [0.5, 1.0, 0.5, math.inf]])
    assert split(Classes(rates, np.array([1, 1, 9, 10]), weights, shapes), 1.0).tolist() == [0, 1, 0, 0]
    assert split(Classes(rates, np.array([1, 1, 4, 4]), weights, shapes), 1.0).tolist() == [0, 1, 4, 0]


def test_classes_that_are_kept_are_found_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan is made some 500 times in a capture: to ask each of its classes took most of the frontier's time."""
    asked: list[int] = []
    monkeypatch.setattr(
        "sharc_crawler.strategies.keep_or_drop._drops", lambda logs: asked.append(len(logs)) or _drops(logs)
    )
    rates = np.concatenate(([3.0, 2.0], np.linspace(1e-3, 1e-4, 400)))
    classes = Classes(rates, np.ones(len(rates), np.int64), np.ones(len(rates)))
    drops = split(classes, 2.0)
    assert drops[1] == 1
    assert drops.sum() == 1
    assert len(asked) <= 4
