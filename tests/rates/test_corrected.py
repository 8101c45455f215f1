"""Rates put right by what was seen since: known worlds come out, and nothing is concluded from nothing."""

from __future__ import annotations

import numpy as np
import pytest

from sharc_crawler.rates.corrected import by_class, corrected

PERIODS = (30.0, 50.0)


def alike(count):
    return np.zeros(count, np.int64)


READ = sum(PERIODS)


def seen(rates, rng):
    return [rng.random(len(rates)) < -np.expm1(-rates * period) for period in PERIODS]


def last_changes(early, late, rng):
    """In the second period, in the first, or some time before."""
    first, second = (rng.uniform(size=len(early)) * period for period in PERIODS)
    return np.where(late, PERIODS[0] + second, np.where(early, first, -1.0 - rng.uniform(0, 1000, len(early))))


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.1, 1.0, 5.0])
def test_a_factor_that_all_rates_are_wrong_by_is_found(factor):
    rng = np.random.default_rng(1)
    held = rng.gamma(2.0, 0.002, 20_000)
    both = seen(factor * held, rng)
    found, shapes = corrected(
        held, np.full(len(held), 5.0), *both, PERIODS, alike(20_000), last_changes(*both, rng), READ
    )
    assert found.mean() == pytest.approx(factor * held.mean(), rel=0.1)
    assert shapes.min() > 2.0, "right but for the factor: seeing a page change says little more"


@pytest.mark.slow
def test_pages_that_changed_are_hotter_where_rates_say_little():
    rng = np.random.default_rng(2)
    held = np.full(20_000, 0.01)
    true = held * rng.gamma(0.2, 5.0, len(held))
    early, late = seen(true, rng)
    dates = last_changes(early, late, rng)
    found, _ = corrected(held, np.full(len(held), np.inf), early, late, PERIODS, alike(20_000), dates, READ)
    for mask in (early & late, early & ~late, ~early & ~late):
        assert found[mask].mean() == pytest.approx(true[mask].mean(), rel=0.2)


def test_from_few_changes_nothing_is_concluded():
    held, shapes = np.full(100, 0.01), np.full(100, 3.0)
    few = np.arange(100) < 5
    found, same = corrected(held, shapes, few, few, PERIODS, alike(100), np.arange(100.0), READ)
    assert found is held
    assert same is shapes


@pytest.mark.slow
def test_a_class_of_urls_that_does_not_change_any_more_is_told_from_one_that_does():
    """As where the past held rebuilds of the whole site: all pages were held for equally hot."""
    rng = np.random.default_rng(3)
    classes = np.repeat(np.arange(60), 25)
    held = rng.gamma(2.0, 0.005, len(classes))
    early, late = seen(np.where(classes < 40, 1e-4, 1.0) * held, rng)
    dates = last_changes(early, late, rng)
    found, _ = corrected(held, np.full(len(held), 2.0), early, late, PERIODS, classes, dates, READ)
    unseen = ~early & ~late
    assert found[unseen & (classes < 40)].mean() < 0.1 * found[unseen & (classes >= 40)].mean()
    assert found[classes >= 40].mean() == pytest.approx(0.01, rel=0.2)


@pytest.mark.slow
def test_pages_of_a_class_that_were_edited_at_once_changed_once():
    classes = np.repeat(np.arange(20), 25)
    held, never = np.full(len(classes), 0.01), np.zeros(len(classes), bool)
    shapes, edited = np.full(len(classes), 2.0), classes < 4
    rng = np.random.default_rng(4)
    apart, single = last_changes(edited, never, rng), np.where(edited, 7.0 * classes, -1.0 - rng.uniform(0, 9, 500))
    found = [corrected(held, shapes, edited, never, PERIODS, classes, dates, READ)[0] for dates in (apart, single)]
    apart, at_once = (rates[~edited].mean() / rates[edited].mean() for rates in found)
    assert apart < 0.5 * at_once


@pytest.mark.filterwarnings("error::RuntimeWarning")  # NumPy's; another may be of a test before
def test_classes_that_nobody_watched_say_nothing_of_the_others():
    expected, changed = np.ones(120), (np.arange(120) < 60).astype(float)
    classes = np.repeat([0, 1, 2, 3], 30)
    expected[90:] = 0.0
    when = np.arange(120) % 30 / 30
    assert by_class(expected, changed, classes, when)[:3] == pytest.approx(
        by_class(expected[:90], changed[:90], classes[:90], when[:90]), rel=0.1
    )


def test_a_class_whose_files_were_put_up_anew_in_two_hours_is_no_hotter_for_that():
    """In August 2012 one author did so with 130 of a wiki's 1,400 files: its pages came too late for it."""
    rng = np.random.default_rng(5)
    classes = np.repeat([0, 1], [4000, 1000])
    held = np.where(classes == 0, 0.2, 0.3) / 1000
    early, late = seen(held, rng)
    again = (classes == 1) & (rng.random(5000) < 0.1)
    dates = np.where(again, 20.0 + rng.uniform(0, 0.1, 5000), last_changes(early, late, rng))
    found, _ = corrected(held, np.full(5000, 5.0), early | again, late & ~again, PERIODS, classes, dates, READ)
    still = ~early & ~late & ~again
    assert found[still & (classes == 1)].mean() < 2 * found[still & (classes == 0)].mean()


@pytest.mark.parametrize("when", [12.0, 60.0])
def test_a_rebuild_of_nearly_all_pages_makes_none_hotter(when):
    """It is one event, in the first or the second period; afterwards pages change as before."""
    rng = np.random.default_rng(6)
    held = np.full(5000, 1 / 1000)
    early, late = seen(held, rng)
    dates = last_changes(early, late, rng)
    rebuilt = (rng.random(5000) < 0.95) & (dates < when)
    again = np.where(rebuilt, when, dates)
    first = early | (rebuilt & (when < PERIODS[0]))
    found, _ = corrected(held, np.full(5000, 5.0), first, again > PERIODS[0], PERIODS, alike(5000), again, READ)
    assert found.mean() == pytest.approx(held.mean(), rel=0.25)


@pytest.mark.filterwarnings("error::RuntimeWarning")  # NumPy's; another may be of a test before
@pytest.mark.parametrize("ahead", [0.0, 86_400.0])
def test_a_rebuild_that_is_dated_when_the_sitemap_is_read_or_later_says_nothing(ahead):
    """Sitemaps that are made on request may date pages now, or tomorrow by a clock that is wrong."""
    rng = np.random.default_rng(6)
    held = np.full(5000, 1 / 1000)
    early, late = seen(held, rng)
    dates = np.where(np.arange(5000) < 900, READ + ahead, last_changes(early, late, rng))
    found, _ = corrected(held, np.full(5000, 5.0), early, late, PERIODS, alike(5000), dates, READ)
    assert found.min() > 0.0
    assert found.mean() == pytest.approx(held.mean(), rel=0.5)
