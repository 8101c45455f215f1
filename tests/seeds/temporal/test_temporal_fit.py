from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import curve_fit

from benchmarks.synthetic_views import SyntheticLog, generate
from sharc_crawler.errors import DataError
from sharc_crawler.seeds.temporal.classify import Threshold
from sharc_crawler.seeds.temporal.curve import Curves
from sharc_crawler.seeds.temporal.fit import fit
from sharc_crawler.seeds.temporal.solver import solve
from sharc_crawler.seeds.temporal.starts import dictionary

DAYS = np.arange(1.0, 61)


def curves(birth, mu, sigma, area=1000.0) -> Curves:
    arrays = np.broadcast_arrays(*(np.atleast_1d(np.asarray(a, float)) for a in (np.log(area), birth, mu, sigma)))
    zero = np.zeros(len(arrays[0]))
    return Curves(*arrays, zero, zero, zero + 1, zero == 0)


@pytest.mark.slow
def test_exact_curves_are_recovered():
    true = curves(birth=[10.4, 3.2, -4.0, 20.5], mu=[0.5, 2.0, 3.0, 1.0], sigma=[0.8, 0.5, 0.6, 1.4])
    found = fit(true.views(DAYS))
    assert found.known.all()
    assert np.allclose(found.birth, true.birth, atol=0.02)
    assert np.allclose(found.mu, true.mu, atol=0.02)
    assert np.allclose(found.sigma, true.sigma, atol=0.02)
    assert np.allclose(found.log_area, np.log(1000), atol=0.02)
    assert np.allclose(found.views(DAYS), true.views(DAYS), atol=0.2)


@pytest.mark.slow
def test_squares_are_those_of_the_curves():
    views = generate(SyntheticLog(pages=400), 5).views
    found = fit(views)
    squares = ((found.views(DAYS) - views) ** 2).sum(axis=1)
    assert np.allclose(
        squares[found.known], found.squares[found.known], rtol=1e-3, atol=1e-6 * (views**2).sum(axis=1).max()
    )


def test_a_fit_that_is_led_to_a_bound_goes_on_along_it():
    """Level pages are fitted by curves born as long ago as may be: steps that lead beyond would be cut, and useless."""
    views = generate(SyntheticLog(pages=400, temporal_share=0.05), 5).views.astype(np.float64)
    starts = dictionary(60)
    (chosen,) = starts.match(views.astype(np.float32), 1)
    with np.errstate(all="ignore"):
        end = solve(views.T.copy(), starts.frame(chosen, np.float64), starts.theta[:, chosen], 20, 1e-6)
    assert end.converged.mean() > 0.95


def peer(y) -> float:
    """Best sum of squares of scipy's curve_fit from four starts."""

    def curve(x, area, birth, mu, sigma):
        age = np.where(x > birth, x - birth, 1.0)
        z = (np.log(age) - mu) / sigma
        return np.where(x > birth, area * np.exp(-0.5 * z * z) / (age * np.abs(sigma)), 0.0)

    total, peak, mean = y.sum(), DAYS[y.argmax()], (DAYS * y).sum() / y.sum()
    best = np.inf
    for start in ((peak - 1, 0, 1), (peak - 0.5, 0.5, 0.7), (0, np.log(mean), 1), (-100, np.log(mean + 100), 1)):
        try:
            found, _ = curve_fit(curve, DAYS, y, p0=(total, *start), maxfev=400)
        except RuntimeError:
            continue
        best = min(best, float(((y - curve(DAYS, *found)) ** 2).sum()))
    return best


@pytest.mark.long
def test_no_worse_than_curve_fit_of_several_starts():
    views = generate(SyntheticLog(pages=120), 8).views[:40].astype(float)
    found = fit(views)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peers = np.array([peer(y) for y in views])
    assert np.isfinite(peers).mean() > 0.6
    fine = found.squares <= 1.001 * peers + 1e-9 * (views**2).sum(axis=1)
    assert fine.mean() >= 0.98


def test_constant_and_weekly_pages_are_untemporal():
    weekly = np.where(DAYS % 7 < 2, 60, 100)
    found = fit(np.array([np.full(60, 40), weekly]))
    assert found.known.all()
    assert not Threshold().temporal(found).any()


@pytest.mark.slow
def test_a_peak_that_does_not_hold_most_of_the_views_leaves_a_page_untemporal():
    rng = np.random.default_rng(4)
    chance = fit(rng.poisson(4 * rng.gamma(0.7, 1 / 0.7, (400, 60))))
    assert (chance.gathered(3) > 0.7).any()  # least squares ends anywhere
    assert not Threshold().temporal(chance).any()
    event = curves(30.3, -1.0, 0.6).views(DAYS)
    over = fit(event + np.array([[0], [1], [100]]))
    assert over.gathered(3)[0] > 0.7
    assert Threshold().temporal(over).tolist() == [True, True, False]


def test_a_page_that_nobody_viewed_is_unknown():
    views = np.zeros((2, 60))
    views[1, 30:34] = 50, 20, 5, 1
    found = fit(views)
    assert found.known.tolist() == [False, True]
    assert Threshold().temporal(found).tolist() == [False, True]


def test_one_day_of_views_is_temporal():
    views = np.zeros((3, 60))
    views[0, 0] = views[1, 30] = views[2, 59] = 500
    found = fit(views)
    assert Threshold().temporal(found)[1]
    assert found.known.tolist() == [True, True, False]  # on the last day nobody knows what follows
    assert np.allclose(found.squares, 0, atol=1e-3 * 500**2)


def test_a_life_cut_by_the_windows_start_is_continued_backwards():
    true = curves(birth=-2.0, mu=1.5, sigma=0.5)
    found = fit(true.views(DAYS))
    assert found.birth[0] == pytest.approx(-2, abs=0.3)
    assert found.gathered(3)[0] == pytest.approx(true.gathered(3)[0], abs=0.05)


def test_of_two_peaks_the_higher_is_fitted():
    views = curves(10.3, 0.2, 0.6).views(DAYS)[0] + curves(40.3, 0.2, 0.6, area=300.0).views(DAYS)[0]
    assert fit(views[None]).birth[0] == pytest.approx(10.3, abs=0.3)


def test_where_one_peak_and_a_curve_over_two_fit_alike_a_page_is_unknown():
    first, second = curves([30.3, 35.3], -1.0, 0.6).views(DAYS)
    views = first + np.linspace(0.8, 1.2, 41)[:, None] * second
    found = fit(views)
    assert 0 < (~found.known).sum() < 30
    assert found.known[0]
    assert not Threshold().temporal(found)[0]  # a life of a week
    assert fit(views, Threshold(days=20.0)).known.sum() > found.known.sum()  # nearly all of either within twenty days


@pytest.mark.parametrize("days", [0, 1, 4])
def test_too_few_days(days):
    with pytest.raises(DataError, match="a curve needs 5"):
        fit(np.ones((3, days)))


def test_five_days_and_no_pages():
    assert len(fit(np.array([[1, 50, 20, 5, 1]]))) == 1
    assert len(fit(np.zeros((0, 60)))) == 0


@pytest.mark.slow
@settings(max_examples=5)
@given(st.integers(0, 1000), st.sampled_from([0.01, 7.0, 1e6]))
def test_a_pages_curve_depends_on_its_own_views_alone_whatever_their_scale(seed, scale):
    views = generate(SyntheticLog(pages=20), seed).views.astype(float)
    found = fit(views)
    reversed_ = fit(scale * views[::-1])
    same = found.known & reversed_.known[::-1]
    assert same.mean() > 0.8
    assert np.allclose(
        reversed_.squares[::-1][same],
        scale**2 * found.squares[same],
        rtol=0.02,
        atol=1e-4 * scale**2 * (views**2).max(),
    )


@pytest.mark.slow
def test_progress_adds_up_over_batches(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sharc_crawler.seeds.temporal.fit._BATCH", 100)
    told: list[int] = []
    fit(np.full((250, 6), 10), progress=told.append)
    assert sorted(told) == [50, 100, 100]
