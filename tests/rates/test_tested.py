"""How far rates are to be trusted, by what visits showed."""

import numpy as np
import pytest

from sharc_crawler.rates.tested import RateTrust, busier, rate_trust, since

COLD, HOT = 1e-7, 1e-5
HELD = np.repeat([COLD, HOT], [300, 100])
DAYS = np.full(400, 2 * 86_400.0)


def visits(rates: np.ndarray, seed: int) -> np.ndarray:
    """Which pages changed, if these are the true rates."""
    return np.random.default_rng(seed).random(400) < -np.expm1(-rates * DAYS)


@pytest.mark.parametrize("seed", range(5))
def test_where_the_past_holds_nothing_is_moved(seed: int) -> None:
    assert rate_trust(HELD, DAYS, visits(HELD, seed), HELD) == RateTrust()


@pytest.mark.parametrize("seed", range(5))
def test_a_season_of_more_changes_or_fewer_is_no_failure_of_the_order(seed: int) -> None:
    for factor in (0.2, 3.0):
        assert rate_trust(HELD, DAYS, visits(factor * HELD, seed), HELD).trust == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_where_hot_and_cold_are_swapped_so_are_the_rates(seed: int) -> None:
    found = rate_trust(HELD, DAYS, visits(HELD[::-1], seed), HELD)
    moved = found.of(HELD, HELD.mean(), float((HELD**found.trust).mean()))
    assert found.trust <= -0.5
    assert moved[0] > 5 * moved[-1]
    assert moved.mean() == pytest.approx(HELD.mean())


def test_the_coldest_visited_alone_tell_enough_when_they_change() -> None:
    changed = np.arange(300) % 3 == 0
    assert rate_trust(HELD[:300], DAYS[:300], changed, HELD).trust <= 0.0
    assert rate_trust(HELD[:300], DAYS[:300], np.zeros(300, bool), HELD).trust == 1.0


def test_calm_pages_alone_do_not_show_whether_the_order_holds() -> None:
    changed = np.arange(300) % 30 == 0
    assert rate_trust(HELD[:300], DAYS[:300], changed, HELD) == RateTrust(hidden=True)
    assert not rate_trust(HELD, DAYS, visits(HELD, 0), HELD).hidden


@pytest.mark.parametrize(("changed", "far"), [(0, False), (15, False), (16, True), (150, True)])
def test_a_site_is_far_busier_where_its_changes_are_a_thousand_times_as_likely(changed: int, far: bool) -> None:
    """Of 300 pages five are held to change."""
    found = np.arange(300) < changed
    assert busier(np.full(300, COLD), np.full(300, 5 / (300 * COLD)), found) is far


def test_many_changes_are_not_busier_by_less_than_twice() -> None:
    assert not busier(np.full(300, COLD), np.full(300, 0.5 / COLD), np.arange(300) < 290)


def test_an_order_that_shows_is_kept_however_many_change() -> None:
    """Few pages seen once: a dozen are held far too calm, and one, looked at more often, has nearly all of the mean."""
    held = np.repeat([1e-5, 2e-4, 7e-4, 0.25], [20, 4, 8, 1])
    assert rate_trust(held, np.full(33, 100.0), held > 1e-4, held) == RateTrust()


def test_a_page_that_changed_is_hotter_than_one_that_did_not() -> None:
    hot, calm = since(RateTrust(0.0, 1.0, 0.5), np.full(2, HOT), DAYS[:2], np.array([True, False]))
    assert hot > HOT > calm > 0
