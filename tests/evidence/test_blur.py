"""Blur against the paper's examples, its closed forms and a walk through time."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.evidence.blur import blur_variance, penalty, stochastic_blur
from sharc_crawler.evidence.details import Blur, PageBlur
from sharc_crawler.evidence.facts import PageFacts, VisitFacts
from sharc_crawler.evidence.survival import expected_coherence
from sharc_crawler.evidence.truth import actual_blur
from sharc_crawler.instants import iso
from sharc_crawler.model import Kind, Result, Slot, Url
from sharc_crawler.rates.base import PRIOR

times = st.integers(0, 200).map(lambda number: number / 2)
SLOTS = np.arange(6.0)
RATES = np.arange(6.0)  # of the site in Fig. 3
PIPES = np.array([0.0, 5, 1, 4, 2, 3])  # Example 2


def test_example_1() -> None:
    blur = stochastic_blur(RATES, SLOTS, (0, 5))
    assert blur == pytest.approx([0, 1.7, 2.6, 3.9, 6.8, 12.5])
    assert blur.sum() == pytest.approx(27.5)


def test_example_2() -> None:
    assert stochastic_blur(RATES, PIPES, (0, 5)).sum() == pytest.approx(22.7)


def test_example_7() -> None:
    blur = stochastic_blur(RATES, SLOTS, (0, 11), SLOTS + 6)
    assert 22 * blur == pytest.approx([0, 35, 62, 93, 140, 215])
    assert blur.sum() == pytest.approx(24.7727, abs=5e-5)


def test_example_8_is_near_the_optimum() -> None:
    """The best of all orders of visits and of revisits."""
    assert stochastic_blur(RATES, PIPES, (0, 11), PIPES + 6).sum() == pytest.approx(22.5909, abs=5e-5)
    v, r = (axis.ravel() for axis in np.meshgrid(SLOTS, SLOTS + 6, indexing="ij"))
    penalties = penalty(v, (0, 11), r).reshape(6, 6)  # by slot of the visit and of the revisit
    best = np.inf
    for visits in itertools.permutations(range(6)):  # page → slot
        costs = RATES[:, None] * penalties[list(visits)]
        best = min(best, float(costs[linear_sum_assignment(costs)].sum()))
    assert best / 11 == pytest.approx(22.5227, abs=5e-5)


def test_example_6() -> None:
    penalties = penalty(np.arange(10.0), (0, 9))
    assert penalties[[0, 9]] == pytest.approx(40.5)
    assert penalties[[1, 8]] == pytest.approx(32.5)


def test_a_change_at_the_very_instant_of_a_download_is_seen_by_it_and_missed_before() -> None:
    assert actual_blur([[2.0]], np.array([2.0]), (0.0, 5.0)) == pytest.approx([0.4])
    assert actual_blur([[2.0]], np.array([2.0]), (0.0, 5.0), np.array([4.0])) == pytest.approx([0.4])
    assert actual_blur([[4.0]], np.array([2.0]), (0.0, 5.0), np.array([4.0])) == pytest.approx([0.2])


@given(times, times)
def test_closed_forms(a: float, b: float) -> None:
    """Equations 2 and 19, for downloads within the observation interval."""
    v, r = np.array([min(a, b)]), np.array([max(a, b)])
    end = 100.0
    assert penalty(v, (0, end)) == pytest.approx(v**2 - v * end + end**2 / 2)
    assert penalty(v, (0, end), r) == pytest.approx(v**2 - (v + r) ** 2 / 4 + r**2 - r * end + end**2 / 2)


@given(st.floats(-50, 50), st.floats(1, 50), st.floats(-50, 50), st.floats(0, 60))
def test_penalty_is_the_distance_to_the_nearest_download(start: float, length: float, v: float, gap: float) -> None:
    """Also where downloads lie outside the observation interval."""
    moments = start + length * (np.arange(20_000) + 0.5) / 20_000
    distance = np.minimum(np.abs(moments - v), np.abs(moments - v - gap)).mean() * length
    found = penalty(np.array([v]), (start, start + length), np.array([v + gap]))[0]
    assert found == pytest.approx(distance, rel=1e-4, abs=1e-3)


@given(st.lists(times, max_size=5), times, times, st.integers(-80, 80))
def test_actual_blur_is_what_a_reader_misses(changes: list[float], a: float, b: float, moved: int) -> None:
    """At moments all over the interval: changes between the moment and the nearer download."""
    v, r = min(a, b), max(a, b)
    h = np.sort(changes)
    moments = np.arange(0.05, 100, 0.1) + moved
    nearer = np.where(moments <= (v + r) / 2, v, r)
    missed = np.abs(np.searchsorted(h, moments, "right") - np.searchsorted(h, nearer, "right"))
    found = actual_blur([changes], np.array([v]), (moved, 100.0 + moved), np.array([r]))
    assert found[0] == pytest.approx(missed.mean(), abs=0.01)


@pytest.mark.slow
@given(st.lists(times, max_size=5), times, times, st.sampled_from([-3e6, 1e3, 1.75e9]))
def test_blur_is_the_same_whenever_a_capture_is_made(changes: list[float], a: float, b: float, moved: float) -> None:
    """Seconds since 1970, or since its own start."""
    v, r, rate = np.array([min(a, b)]), np.array([max(a, b)]), np.array([0.25])
    for observation in ((0.0, 100.0), (20.0, 60.0)):
        later = (observation[0] + moved, observation[1] + moved)
        for revisits in (None, r):
            again = None if revisits is None else revisits + moved
            assert stochastic_blur(rate, v + moved, later, again) == pytest.approx(
                stochastic_blur(rate, v, observation, revisits), rel=1e-4, abs=1e-4
            )
            assert blur_variance(rate, v + moved, later, again) == pytest.approx(
                blur_variance(rate, v, observation, revisits), rel=1e-4, abs=1e-4
            )
            assert actual_blur([[one + moved for one in changes]], v + moved, later, again) == pytest.approx(
                actual_blur([changes], v, observation, revisits), abs=1e-4
            )


def test_a_revisit_that_was_not_made() -> None:
    v = np.array([20.0, 20.0])
    r = np.array([math.nan, 60.0])
    both = actual_blur([[50.0], [50.0]], v, (0, 100), r)
    assert both[0] == actual_blur([[50.0]], v[:1], (0, 100))[0] == 0.5
    assert both[1] == 0.1
    assert penalty(v, (0, 100), r)[0] == penalty(v[:1], (0, 100))[0]


def test_actual_blur_is_the_stochastic_on_average() -> None:
    rng = np.random.default_rng(1)
    rate, v, r, observed = 0.3, np.full(4000, 20.0), np.full(4000, 70.0), (0.0, 90.0)
    drawn = actual_blur([rng.uniform(-10, 100, rng.poisson(rate * 110)) for _ in v], v, observed, r)
    expected = stochastic_blur(np.array([rate]), v[:1], observed, r[:1])[0]
    assert drawn.mean() == pytest.approx(expected, abs=4 * drawn.std() / math.sqrt(len(drawn)))


@pytest.mark.parametrize("r", [70.0, math.nan])
def test_the_variance_of_actual_blur(r: float) -> None:
    rng = np.random.default_rng(2)
    rate, observed = 0.3, (10.0, 90.0)
    visits, revisits = np.full(6000, 20.0), np.full(6000, r)
    drawn = actual_blur([rng.uniform(10, 90, rng.poisson(rate * 80)) for _ in visits], visits, observed, revisits)
    (expected,) = blur_variance(np.array([rate]), visits[:1], observed, revisits[:1])
    assert drawn.var() == pytest.approx(expected, rel=4 * math.sqrt(3 / len(drawn)))


def test_weights() -> None:
    one = stochastic_blur(RATES, SLOTS, (0, 5), weights=np.full(6, 0.5))
    assert one.sum() == pytest.approx(27.5 / 2)
    assert actual_blur([[1.0, 4.0]], np.array([2.0]), (0, 5), weights=np.array([10.0])) == pytest.approx([4.0])


def test_bad_input() -> None:
    for interval in ((5.0, 5.0), (5.0, 4.0), (math.nan, 1.0)):
        with pytest.raises(UsageError, match="observation="):
            stochastic_blur(RATES, SLOTS, interval)
    with pytest.raises(DataError, match="2 pages need as many change histories, not 1"):
        actual_blur([[1.0]], np.zeros(2), (0, 1))
    with pytest.raises(DataError, match="page 1 has a change"):
        actual_blur([[1.0], [math.nan]], np.zeros(2), (0, 1))


@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf])
def test_rates_and_weights_that_cannot_be(value: float) -> None:
    good, bad, times = np.ones(2), np.array([1.0, value]), np.zeros(2)
    for what, measure in {
        "rate": [
            lambda: stochastic_blur(bad, times, (0, 1)),
            lambda: expected_coherence(bad, times),
        ],
        "weight": [
            lambda: stochastic_blur(good, times, (0, 1), weights=bad),
            lambda: actual_blur([[], []], times, (0, 1), weights=bad),
            lambda: expected_coherence(good, times, weights=bad),
        ],
    }.items():
        for one in measure:
            with pytest.raises(UsageError, match=f"the {what} of page 1 is {value}"):
                one()
    with pytest.raises(UsageError, match="3 pages need as many rates, not 2"):
        expected_coherence(good, np.zeros(3))


def test_no_page() -> None:
    assert stochastic_blur(np.zeros(0), np.zeros(0), (0, 1)).sum() == 0
    assert actual_blur([], np.zeros(0), (0, 1)).sum() == 0


def test_what_is_embedded_has_no_blur_of_its_own() -> None:
    visits = VisitFacts(Slot.FIRST, Result.OK, 1.0, 1.0), VisitFacts(Slot.SECOND, Result.OK, 5.0, 5.0)
    page = PageFacts(Url("http://h.example/"), Kind.PAGE, "link", 0, 0.1, "sitemap", visit=visits[0], revisit=visits[1])
    found = Blur((0.0, 9.0)).of([page, replace(page, kind=Kind.RESOURCE)])
    assert (found[0].stochastic is None, found[1]) == (False, PageBlur())


@pytest.mark.parametrize(("shape", "share"), [(4.0, 0.25), (0.5, 2.0), (math.inf, 0.0)])
def test_a_rate_that_is_not_sure_widens_the_variance_by_the_blurs_square_over_its_shape(shape, share) -> None:
    visit = VisitFacts(Slot.FIRST, Result.OK, 1.0, 1.0)
    page = PageFacts(Url("http://h.example/"), Kind.PAGE, "link", 0, 0.3, "sitemap", visit=visit)
    sure, unsure = Blur((0.0, 9.0)).of([page, replace(page, rate_shape=shape)])
    assert sure.stochastic == unsure.stochastic > 1.0
    assert unsure.variance - sure.variance == pytest.approx(share * sure.stochastic**2)


def test_a_report_adds_up_what_is_known():
    blur = Blur((0.0, 9.0))
    assert blur.totals() is None
    blur.add([PageBlur()])
    assert blur.totals() is None
    blur.add([PageBlur(1.0, None, 4.0), PageBlur(2.0, None, 12.0, guessed=True)])
    known = {name: value for name, value in blur.totals().items() if value is not None}
    assert known == {
        "from": iso(0.0), "to": iso(9.0), "stochastic": 3.0, "stochastic_average": 1.5, "deviation": 2.0,
        "pages": 2, "guessed": 1, "actual_pages": 0,
    }  # fmt: skip
    only_actual = Blur((0.0, 9.0))
    only_actual.add([PageBlur(None, 4.0)])
    assert (only_actual.totals()["actual_average"], only_actual.totals()["stochastic_average"]) == (4.0, None)


def test_totals_are_sums_and_means_of_the_pages_that_each_is_known_of() -> None:
    blur = Blur((0.0, 9.0))
    blur.add([PageBlur(1.0, 2.0, 3.0), PageBlur(3.0, None, 1.0, guessed=True), PageBlur(None, 6.0), PageBlur(2.0, 1.0)])
    assert blur.totals() == {
        "from": iso(0.0), "to": iso(9.0), "pages": 3, "guessed": 1, "actual_pages": 3,
        "stochastic": 6.0, "stochastic_average": 2.0, "deviation": 2.0 / 3, "actual": 9.0, "actual_average": 3.0,
    }  # fmt: skip


def test_pages_edited_together_vary_together_and_guessed_rates_are_told() -> None:
    visit = VisitFacts(Slot.FIRST, Result.OK, 1.0, 1.0)
    page = PageFacts(Url("http://h.example/"), Kind.PAGE, "link", 0, 0.3, "sitemap", visit=visit)
    alone, together = (Blur((0.0, 9.0), group).of([page])[0] for group in (1.0, 3.0))
    assert together.variance == pytest.approx(3 * alone.variance) != 0
    assert [one.guessed for one in Blur((0.0, 9.0)).of([page, replace(page, rate_source=PRIOR)])] == [False, True]


def test_over_an_instant_nothing_is_blurred() -> None:
    visit = VisitFacts(Slot.FIRST, Result.OK, 5.0, 5.0)
    page = PageFacts(Url("http://h.example/"), Kind.PAGE, "link", 0, 0.3, "sitemap", visit=visit, true_changes=(5.0,))
    assert Blur((5.0, 5.0)).of([page]) == [PageBlur()]
    assert Blur((math.inf, -math.inf)).of([page]) == [PageBlur()]
