"""How far a site's changes swing together: as held where nothing is known, and as its history tells."""

from dataclasses import replace

import numpy as np
import pytest

from sharc_crawler.model import Url
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory
from sharc_crawler.rates.level import WIDEST
from sharc_crawler.rates.swings import DAY, GROUP, KNOTS, Swings, usual
from sharc_crawler.rates.swings_learned import learned_swings

WEEK = 7 * DAY
PAGES, ROUNDS = 400, 52


def watched(changed: np.ndarray, dated: bool = True) -> SiteHistory:
    """Weekly captures of pages, by whether each changed in each week; sitemaps date changes to a moment of the week."""
    pages, rounds = changed.shape
    times = np.tile(WEEK * np.arange(rounds), pages)
    moments = np.random.default_rng(2).random(changed.shape)
    last = WEEK * np.maximum.accumulate(np.where(changed, np.arange(rounds) - moments, -np.inf), axis=1)
    nothing = np.full(times.size, np.nan)
    bits = np.where(changed, CHANGED, UNCHANGED).astype(np.int8)
    bits[:, 0] = UNKNOWN
    return SiteHistory(
        "h",
        [Url(f"http://h/{page}") for page in range(pages)],
        np.arange(pages + 1) * rounds,
        times,
        bits.ravel(),
        np.where(np.isinf(last), np.nan, last).ravel() if dated else nothing,
        np.zeros(times.size),
        nothing,
    )


def rebuilt(changed: np.ndarray, *rounds: int) -> SiteHistory:
    """The same, and in the middle of these weeks all pages were made again."""
    every = changed.copy()
    every[:, rounds] = True
    history, last = watched(every), watched(changed).lastmods.reshape(changed.shape)
    for one in rounds:
        last[:, one:] = np.fmax(last[:, one:], WEEK * (one - 0.5))
    return replace(history, lastmods=last.ravel())


def steady() -> np.ndarray:
    """Pages that change by chance alone."""
    return np.random.default_rng(1).random((PAGES, ROUNDS)) < 0.1


def swinging(sigma: float) -> np.ndarray:
    """Whole weeks are busy or quiet."""
    rng = np.random.default_rng(1)
    busy = np.exp(sigma * rng.standard_normal(ROUNDS) - sigma**2 / 2)
    return rng.random((PAGES, ROUNDS)) < -np.expm1(-0.1 * busy)


def test_of_a_site_without_a_history_the_stated_figure_is_held() -> None:
    assert learned_swings(SiteHistory.empty()) == Swings.usual(WIDEST)
    assert Swings.usual().at(DAY) == pytest.approx(usual(DAY))
    assert Swings.usual(0.64).at(30 * DAY) > 2 * Swings.usual().at(30 * DAY), "a look of a day tells little of a month"


@pytest.mark.slow
def test_a_small_site_without_a_history_is_held_to_be_edited_several_pages_at_once() -> None:
    """What its history tells holds that already."""
    assert Swings.usual().group == GROUP == learned_swings(SiteHistory.empty()).group
    assert learned_swings(watched(steady())).group == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("days", [1, 14, 30])
def test_a_steady_site_swings_less_than_the_stated_figure(days: float) -> None:
    assert learned_swings(watched(steady())).at(days * DAY) < 0.7 * usual(days * DAY)


@pytest.mark.slow
def test_rebuilds_are_no_swing_of_the_pages_own_changes() -> None:
    calm, rebuilds = learned_swings(watched(steady())), learned_swings(rebuilt(steady(), 15, 30))
    assert rebuilds.at(14 * DAY) < 1.2 * calm.at(14 * DAY)


@pytest.mark.slow
def test_lastmods_that_are_always_of_now_hide_no_change() -> None:
    """They look like a rebuild before every capture."""
    undated = watched(swinging(1.0), dated=False)
    lying = replace(undated, lastmods=undated.times - 60.0)
    assert learned_swings(lying) == learned_swings(undated)


@pytest.mark.slow
@pytest.mark.parametrize("dated", [True, False])
def test_busy_and_quiet_weeks_are_learned(dated: bool) -> None:
    calm, wild = (learned_swings(watched(changed, dated)).at(14 * DAY) for changed in (steady(), swinging(1.0)))
    assert wild > 2 * calm
    assert 0.4 < wild < 1.2, "of weeks a deviation of about 1, so of a fortnight about 0.7"


@pytest.mark.long
def test_most_weeks_to_come_lie_within_what_those_before_tell() -> None:
    """Of made sites, each swinging differently."""
    inside = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        sigma = rng.uniform(0.2, 1.0)
        busy = np.exp(sigma * rng.standard_normal(ROUNDS + 1) - sigma**2 / 2)
        changed = rng.random((PAGES, ROUNDS + 1)) < -np.expm1(-0.1 * busy)
        swing = learned_swings(watched(changed[:, :-1])).at(WEEK)
        mean = changed[:, :-1].sum() / ROUNDS
        inside += abs(changed[:, -1].sum() - mean) < 1.28 * np.hypot(np.sqrt(mean * 0.905), swing * mean)
    assert 18 <= inside <= 28, "chance alone would hold a third"


def test_lengths_beyond_those_told_of_take_the_nearest() -> None:
    swings = Swings(tuple(float(place) for place in range(len(KNOTS))))
    assert swings.at(0.0) == 0.0
    assert swings.at(2 * KNOTS[3]) == pytest.approx(4.0)
    assert swings.at(1e12) == len(KNOTS) - 1
