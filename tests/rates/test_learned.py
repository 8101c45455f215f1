from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sharc_crawler.rates import learned
from sharc_crawler.rates.estimators.gamma_poisson import GammaPoisson
from sharc_crawler.rates.estimators.irregular import IrregularMle
from sharc_crawler.rates.evidence import combined_rates
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory
from sharc_crawler.rates.learned import WEEK, _dispersion, learnable, learned_rates
from sharc_crawler.rates.surroundings import Surroundings

NOW = 1e9


def weekly(bits: np.ndarray, urls: list[str]) -> SiteHistory:
    """Pages captured every week until now; bits of shape (pages, weeks)."""
    pages, weeks = bits.shape
    times = NOW - WEEK * np.arange(weeks, -1.0, -1.0)
    changed = np.concatenate([np.full((pages, 1), UNKNOWN), bits], axis=1).astype(np.int8)
    nothing = np.full(pages * (weeks + 1), np.nan)
    offsets = np.arange(pages + 1) * (weeks + 1)
    return SiteHistory("s", urls, offsets, np.tile(times, pages), changed.ravel(), nothing, nothing, nothing)


def simulated(seed: int, pages: int = 800) -> tuple[SiteHistory, np.ndarray]:
    """Pages of two words; those of one are ten times as hot, and all rates drift. With the rates of the last week."""
    rng = np.random.default_rng(seed)
    hot = np.arange(pages) % 8 == 0
    level = np.log(np.where(hot, 0.1, 0.01))[:, None] + np.cumsum(rng.normal(0, 0.25, (pages, 40)), axis=1)
    rates = np.exp(level - 0.5 * 0.25**2 * np.arange(40))
    bits = rng.random(rates.shape) < -np.expm1(-rates)
    return weekly(bits, [f"{'news' if h else 'essay'}/{i}" for i, h in enumerate(hot)]), rates[:, -1] / WEEK


@pytest.mark.slow
def test_beats_the_estimators_that_know_each_page_alone():
    history, truth = simulated(1)
    found = learned_rates(history, NOW, 4 * WEEK, Surroundings(history.urls)).rate
    intervals = history.histories()
    for estimator in (IrregularMle(), GammaPoisson()):
        alone = estimator.fit(intervals).estimate(intervals).rate
        assert (
            np.corrcoef(np.argsort(np.argsort(found)), np.argsort(np.argsort(truth)))[0, 1]
            > 1.1 * np.corrcoef(np.argsort(np.argsort(alone)), np.argsort(np.argsort(truth)))[0, 1]
        )
    assert found.mean() == pytest.approx(truth.mean(), rel=0.6)


@pytest.mark.long
def test_of_a_large_site_a_sample_is_learned_from(monkeypatch: pytest.MonkeyPatch):
    history, _ = simulated(1)
    around, drawn = Surroundings(history.urls), []
    examples = learned._examples
    monkeypatch.setattr(learned, "_examples", lambda *asked: drawn.append(examples(*asked)) or drawn[-1])
    everything = learned_rates(history, NOW, 4 * WEEK, around).rate
    assert {len(columns[0]) for columns in drawn} == {800}
    drawn.clear()
    monkeypatch.setattr(learned, "EXAMPLES", 3_000)
    first, again = (learned_rates(history, NOW, 4 * WEEK, around).rate for _ in range(2))
    assert {len(column) for columns in drawn for column in columns} == {3_000 // (len(drawn) // 2)}
    np.testing.assert_array_equal(first, again)
    assert len(first) == 800
    assert np.corrcoef(np.log(first), np.log(everything))[0, 1] > 0.9


@pytest.mark.slow
def test_looks_at_nothing_after_now():
    history, _ = simulated(2, pages=200)
    then = NOW - 10 * WEEK
    around = Surroundings(history.urls)
    flipped = replace(history, changed=np.where(history.times > then, 1 - history.changed, history.changed))
    first, second = (learned_rates(h.before(then), then, 4 * WEEK, around).rate for h in (history, flipped))
    np.testing.assert_array_equal(first, second)


def test_the_shape_is_what_the_rates_leave_open():
    rng = np.random.default_rng(4)
    mean = rng.lognormal(0.0, 1.0, 50_000)
    hit = rng.random(len(mean)) < -np.expm1(-rng.gamma(1.0, mean))
    assert _dispersion(mean, hit) == pytest.approx(1.0, rel=0.2)


def test_few_changes_are_not_learned_from():
    bits = np.zeros((5, 3))
    bits[0, 1] = 1
    assert not learnable(weekly(bits, list("abcde")), NOW, WEEK)
    assert not learnable(SiteHistory.empty(), NOW, WEEK)
    assert learnable(simulated(1)[0], NOW, WEEK)


@pytest.mark.slow
def test_a_page_never_accessed_before_the_cuts_gets_a_rate():
    history, _ = simulated(3, pages=200)
    late = history.times >= NOW - WEEK
    late |= history.pages() != 5
    counts = np.bincount(history.pages()[late], minlength=len(history))
    young = SiteHistory(
        "s",
        history.urls,
        np.concatenate([[0], np.cumsum(counts)]),
        *(c[late] for c in (history.times, history.changed, history.lastmods, history.precisions, history.modified)),
    )
    rate = learned_rates(young, NOW, 4 * WEEK, Surroundings(young.urls)).rate
    assert np.isfinite(rate).all()
    assert (rate > 0).all()


def test_captures_minutes_apart_are_counted_not_learned_from():
    history, _ = simulated(1)
    times = NOW + (history.times - NOW) * 60.0 / WEEK
    minutes = replace(history, times=times)
    assert not learnable(minutes, NOW, WEEK)
    assert not learnable(minutes, NOW + WEEK, WEEK), "the time since is no evidence"


def test_one_comparison_each_leaves_the_rates_open():
    rng = np.random.default_rng(5)
    start, pages = rng.uniform(0.0, 60.0, 1000), 1000
    bits = np.column_stack([np.full(pages, UNKNOWN), rng.random(pages) < 0.1]).astype(np.int8)
    nothing = np.full(2 * pages, np.nan)
    times = (NOW + np.column_stack([start, start + 60.0])).ravel()
    urls = [f"p/{page}" for page in range(pages)]
    twice = SiteHistory("s", urls, 2 * np.arange(pages + 1), times, bits.ravel(), nothing, nothing, nothing)
    found = combined_rates(twice, NOW + 300.0, 3600.0)
    assert (found.spread > 0.4 * found.rate).all()
    changed = bits[:, 1] == CHANGED
    assert found.rate[changed].min() > found.rate[~changed].max()
    assert found.rate.mean() == pytest.approx(bits[:, 1].mean() / 60.0, rel=0.3)


def test_captures_between_all_that_is_looked_at_teach_no_regression():
    day, pages = WEEK / 7, 50
    times = np.array([*np.arange(24) / 24, 8.0, 16.0]) * day
    seen = weekly(np.zeros((pages, len(times) - 1)), [f"page/{number}" for number in range(pages)])
    bits = np.where(times > day, CHANGED, UNCHANGED)
    bits[0] = UNKNOWN
    history = replace(seen, times=np.tile(times, pages), changed=np.tile(bits, pages).astype(np.int8))
    now = 20.5 * day  # looks of two hours, two days apart: none at the 8th and the 16th day
    assert not learnable(history, now, 3600.0)
    found = combined_rates(history, now, 3600.0).rate
    assert (found > 0).all() and np.isfinite(found).all()


def around_a_busy_day(ago: float, rebuilt: float | None = None) -> SiteHistory:
    """Two captures so many days ago; on the day between them 50 of 500 pages were edited.

    Each changes twice a year. 400 of them may have been made again, so many days ago.
    """
    day, pages, edited = WEEK / 7, 500, 50
    rng = np.random.default_rng(6)
    lastmods = NOW - np.column_stack([rng.exponential(180.0, pages) * day + ago * day] * 3)
    lastmods[:edited, 1:] = NOW - (ago - rng.uniform(0.0, 1.0, (edited, 1))) * day
    bits = np.full((pages, 3), UNCHANGED, np.int8)
    bits[:, 0], bits[:edited, 1] = UNKNOWN, CHANGED
    if rebuilt:
        lastmods[100:, 2], bits[100:, 2] = NOW - rebuilt * day, CHANGED
    times, nothing = np.tile(NOW - np.array([ago, ago - 1.0, 0.0]) * day, pages), np.full(3 * pages, np.nan)
    rows = times, bits.ravel(), lastmods.ravel(), np.zeros(3 * pages), nothing
    return SiteHistory("s", [f"p/{page}" for page in range(pages)], 3 * np.arange(pages + 1), *rows)


def test_the_level_of_two_captures_around_a_busy_day_is_the_lastmods():
    history = around_a_busy_day(2.0)
    found = combined_rates(history, NOW, 4 * WEEK)
    assert found.rate[:50].min() > found.rate[50:].mean()
    changing = 1.0 - (1.0 + found.rate * 4 * WEEK / found.shape) ** -found.shape
    assert 0.5 < changing.mean() / -np.expm1(-28 / 180) < 2.0


def test_a_rebuild_since_is_no_look_of_a_capture():
    history = around_a_busy_day(200.0, rebuilt=5.0)
    found = combined_rates(history, NOW, 4 * WEEK).rate
    assert 0.8 < found.mean() * 180 * WEEK / 7 < 1.2
