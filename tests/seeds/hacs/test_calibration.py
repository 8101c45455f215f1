"""HACS's probabilities hold: what is foretold is held against what followed, of the pages that archives have."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sharc_crawler.seeds.base import RankingTask
from sharc_crawler.seeds.hacs.calibration import LEAST, MONTH, HazardCalibration, calibrated
from sharc_crawler.seeds.hacs.histories import UpdateHistories
from sharc_crawler.seeds.hacs.rank import RankedSeed, rank
from sharc_crawler.seeds.hacs.rankers import HALF_LIVES, Hacs
from sharc_crawler.seeds.hacs.sites import SeedHistories
from sharc_crawler.testing.rankers import DAY

PAGES = 4


def sites(count: int, days: float, rng: np.random.Generator) -> tuple[SeedHistories, np.ndarray]:
    """Sites whose pages change all at once, captured every ten days; and whether each changed in ``days`` after."""
    times, bits, owners, later = [], [], [], []
    for site in range(count):
        changes = np.cumsum(rng.exponential(60 * DAY, 100))
        seen = np.arange(40) * 10 * DAY
        found = np.searchsorted(changes, seen)
        for _ in range(PAGES):
            times.append(seen)
            bits.append(np.r_[-1, np.diff(found) > 0])
            owners.append(site)
        later.append(np.any((changes > seen[-1]) & (changes <= seen[-1] + days * DAY)))
    urls = [f"http://h{site}.org/{page}" for page, site in enumerate(owners)]
    pages = UpdateHistories.of(urls, times, bits)
    return SeedHistories([f"http://h{site}.org/" for site in range(count)], pages, np.array(owners)), np.array(later)


@pytest.mark.slow
def test_pages_that_change_together_are_no_independent_witnesses() -> None:
    seeds, updated = sites(150, 60, np.random.default_rng(1))
    found = rank(seeds, Hacs(), RankingTask(450 * DAY, ahead=0.0))
    p = np.mean([one.value for one in found])
    assert abs(p - updated.mean()) < 0.1
    assert 1 - math.exp(-PAGES) > updated.mean() + 0.2, "p, were they independent"


def by_url(seeds: SeedHistories, task: RankingTask) -> dict[str, RankedSeed]:
    return {one.url: one for one in rank(seeds, Hacs(), task)}


def two_sites(second: list[float], changed: list[int]) -> SeedHistories:
    """Two seeds: one has a page, the other has the same and one more."""
    known = ((np.arange(20) * 10 * DAY).tolist(), [-1, *[1, 0] * 9, 0])
    urls = ["http://a.org/", "http://b.org/", "http://b.org/more"]
    rows = [known, known, (second, changed)]
    pages = UpdateHistories.of(urls, [row[0] for row in rows], [row[1] for row in rows])
    return SeedHistories(["http://a.org/", "http://b.org/"], pages, np.array([0, 1, 1]))


@pytest.mark.slow
def test_a_page_that_nobody_captured_says_nothing_of_its_website() -> None:
    found = by_url(two_sites([], []), RankingTask(210 * DAY, ahead=0.0))
    assert found["http://b.org/"].p == pytest.approx(found["http://a.org/"].p, abs=0.02)
    with_page = by_url(two_sites([0.0, 10 * DAY], [-1, 1]), RankingTask(210 * DAY, ahead=0.0))
    assert with_page["http://b.org/"].value > with_page["http://a.org/"].value + 0.1


@pytest.mark.slow
def test_a_page_last_captured_before_the_window_has_been_unseen_since_then() -> None:
    seeds = two_sites([0.0, 10 * DAY], [-1, 0])
    whole, cut = (by_url(seeds, RankingTask(210 * DAY, 0.0, back)) for back in (math.inf, 60 * DAY))
    assert cut["http://b.org/"].p == pytest.approx(whole["http://b.org/"].p, rel=0.05)


def test_a_calibration_turns_no_order_round() -> None:
    hazard, rates = np.linspace(0.1, 3.0, 500), np.linspace(0.1, 3.0, 500) / MONTH
    backwards = calibrated(hazard, rates, hazard < 1.0)
    assert (backwards.power, backwards.more) == (LEAST[1], LEAST[2])
    assert np.all(np.diff(backwards.p(hazard, rates)) > 0)
    nothing = calibrated(np.zeros(0), np.zeros(0), np.zeros(0, np.bool_))
    assert (nothing.level, nothing.power, nothing.more) == (0.0, 1.0, 0.0)


def test_time_may_tell_less_than_rate() -> None:
    """Updates in bursts: pages with twice the rate have twice as many, twice the time shows hardly more of them."""
    rng = np.random.default_rng(1)
    rate, time = rng.lognormal(0, 1, 4000) / MONTH, rng.lognormal(0, 1, 4000) * MONTH
    true = -np.expm1(-0.3 * (rate * MONTH) * (time / MONTH) ** 0.3)
    found = calibrated(rate * time, rate, rng.random(4000) < true)
    off = found.p(rate * time, rate) - HazardCalibration(math.log(0.3), 0.3, 0.7).p(rate * time, rate)
    assert np.abs(off).mean() < 0.02


def test_what_is_all_but_sure_allows_for_rates_that_change() -> None:
    """Rates were what they seemed in the past. Ahead some of the busiest pages calm down, others wake up."""
    rng = np.random.default_rng(1)
    rate, time = rng.lognormal(0, 1, 20_000) / MONTH, rng.lognormal(0, 1, 20_000) * MONTH
    found = calibrated(rate * time, rate, rng.random(20_000) < -np.expm1(-rate * time))
    updated = rng.random(20_000) < -np.expm1(-rate * time * rng.gamma(4.0, 0.25, 20_000))
    p = found.p(rate * time, rate)
    assert max(abs((p - updated)[part].mean()) for part in np.array_split(np.argsort(p), 5)) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize(("lasting", "slower"), [(True, True), (False, False)])
def test_captures_fade_more_slowly_where_rates_last(lasting: bool, slower: bool) -> None:
    """Yearly captures over ten years: of pages of one rate each, or of rates drawn anew each year."""
    rng = np.random.default_rng(1)
    seen = np.arange(10) * 365 * DAY
    rate = rng.gamma(0.5, 2.0, (300, 1 if lasting else 9))
    bits = [[-1, *row] for row in (rng.random((300, 9)) < -np.expm1(-rate)).astype(int).tolist()]
    urls = [f"http://h{page % 30}.org/{page}" for page in range(300)]
    found = Hacs().fit(SeedHistories.of_pages(UpdateHistories.of(urls, [seen] * 300, bits)), float(seen[-1]))
    assert (found.half_lives_ != HALF_LIVES[0]) == slower
