from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.seeds.temporal.shape import Frame, bounded, derivatives, natural, values
from sharc_crawler.seeds.temporal.solver import _damped, _Equations
from sharc_crawler.seeds.temporal.starts import dictionary

WINDOW = 30


def frame() -> Frame:
    return Frame.of(np.array([4.0]), np.array([[5.0], [8.0], [14.0]]), WINDOW, np.float64)


thetas = st.tuples(st.floats(-6, 6), st.floats(-6, 3), st.floats(-8, 6)).map(lambda t: np.array(t)[:, None])


@pytest.mark.slow
@given(thetas)
def test_values_are_the_log_normal_density_that_natural_names(theta):
    place, views = frame(), np.ones((WINDOW, 1))
    theta = bounded(place, theta)
    at = values(views, place, theta)
    birth, mu, sigma = (part[0] for part in natural(place, theta))
    ours = at.density[:, 0]
    ages = np.arange(1, WINDOW + 1) - birth
    near = (ours > 1e-9) & (ages > 1e-6)  # nearer to the birth, the difference of the natural names is rounding
    log_age = np.log(ages[near])
    halves = 0.5 * ((log_age - mu) / sigma) ** 2
    assert np.ptp(-log_age - halves - np.log(ours[near])) < 1e-6 + 1e-7 * halves.max()
    assert ours.max() == pytest.approx(1)


@pytest.mark.slow
@given(thetas)
def test_derivatives_are_those_of_the_log_density(theta):
    place, views = frame(), np.ones((WINDOW, 1))

    def logs(theta):
        at = values(views, place, theta)
        return np.log(np.maximum(at.density, 1e-300)) + at.height

    at = values(views, place, theta)
    exact = derivatives(place, theta, at)
    smooth = at.age > 0.01  # at birth itself the logarithm falls too steeply for differences
    for i, column in enumerate(exact):
        step = np.zeros((3, 1))
        step[i] = 1e-6
        up, down = logs(theta + step), logs(theta - step)
        seen = smooth & (up > -200) & (down > -200) & np.isfinite(up) & np.isfinite(down)
        numeric = (up - down) / 2e-6
        assert np.allclose(column[seen], numeric[seen], rtol=1e-3, atol=1e-3)


@given(st.integers(0, 2**32 - 1), st.floats(1e-6, 10))
def test_damped_solves_marquardts_equations(seed, damping):
    columns = np.random.default_rng(seed).normal(size=(10, 3))
    matrix, gradient = columns.T @ columns, columns.T @ np.ones(10)
    packed = matrix[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]][:, None]
    step = _damped(_Equations(packed, gradient[:, None]), np.array([damping]))[:, 0]
    assert np.allclose((matrix + damping * np.diag(np.diag(matrix))) @ step, gradient, atol=1e-6 * abs(gradient).max())


@pytest.mark.parametrize("window", [5, 7, 60])
def test_dictionary_curves_are_what_their_coordinates_say(window):
    curves = dictionary(window)
    chosen = np.random.default_rng(1).choice(curves.curves.shape[1], 200)
    at = values(np.ones((window, 200)), curves.frame(chosen, np.float64), curves.theta[:, chosen])
    ours = at.density / np.sqrt(at.norm)
    close = np.abs(ours - curves.curves[:, chosen]).max(axis=0)
    assert np.median(close) < 1e-5  # coordinates are clipped where curves are extreme
    assert np.isfinite(curves.theta).all()
