"""Ages of lastmods that no one Gamma prior explains."""

from __future__ import annotations

import numpy as np
import pytest

from sharc_crawler.model import Hints, Sighting, Url
from sharc_crawler.rates.age import age_rates
from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.mixture import ENOUGH, AnyForm
from sharc_crawler.rates.sources import HistoryRates
from sharc_crawler.rates.surroundings import Surroundings

DAY = 86_400.0
NOW = 1e9


def site(pages: int, fast: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """True rates and lastmods: a fifth of the pages changes so many times as often as once in 300 days."""
    rng = np.random.default_rng(seed)
    rates = np.where(np.arange(pages) % 5 == 0, fast, 1.0) / (300 * DAY)
    return rates, NOW - np.minimum(rng.exponential(1 / rates), 900 * DAY)


def single(lastmods: np.ndarray):
    names = [f"http://h/{number}" for number in range(len(lastmods))]
    return age_rates(lastmods, np.full(len(lastmods), NOW), Surroundings(names, None))


def of_two_kinds(before: Estimates, lastmods: np.ndarray, read: np.ndarray) -> Estimates | None:
    form = AnyForm(before, lastmods, read)
    return form.rates() if form.far_better else None


def by_first_capture(lastmods: np.ndarray) -> Estimates:
    """Of weeks: no page is thought hot for its last minutes."""
    listed = [Sighting(Url(f"http://h/{page}"), hints=Hints(at)) for page, at in enumerate(lastmods.tolist())]
    found = HistoryRates().rates(listed, NOW)
    rate, spread, shape = (np.array(one) for one in zip(*((f.rate, f.spread, f.shape) for f in found), strict=True))
    return Estimates(rate, spread, shape, np.ones(len(rate)))


def changing(rates: Estimates, days: float) -> np.ndarray:
    return 1.0 - (1.0 + rates.rate * days * DAY / rates.shape) ** -rates.shape


@pytest.mark.parametrize("pages", [150, 600])
def test_of_a_site_of_two_kinds_both_are_seen(pages):
    true, lastmods = site(pages, 60.0)
    before = single(lastmods)
    found = of_two_kinds(before, lastmods, np.full(pages, NOW))
    lost = [float(-np.expm1(-rates * 7 * DAY).sum()) for rates in (true, before.rate)]
    expected = 1.0 - (1.0 + found.rate * 7 * DAY / found.shape) ** -found.shape
    assert lost[1] < 0.6 * lost[0], "one Gamma distribution has neither"
    assert 0.7 * lost[0] < expected.sum() < 1.3 * lost[0]
    assert (found.spread > 0).all()
    assert np.allclose(found.shape, (found.rate / found.spread) ** 2)


@pytest.mark.parametrize(("pages", "fast"), [(600, 1.0), (600, 3.0)])
def test_where_one_prior_explains_the_ages_it_stays(pages, fast):
    lastmods = site(pages, fast)[1]
    assert of_two_kinds(single(lastmods), lastmods, np.full(pages, NOW)) is None


@pytest.mark.parametrize(
    ("pages", "fast", "seed", "taken"),
    [(100, 60.0, 1, False), (100, 60.0, 15, True), (600, 28.0, 0, False), (600, 32.0, 0, True)],
)
def test_it_is_taken_where_it_explains_the_ages_better_by_ten_and_by_three_for_each_hundred_pages(
    pages, fast, seed, taken
):
    """By 9.8, 10.9, 16.8 and 22.5, as logarithms of likelihoods."""
    lastmods = site(pages, fast, seed)[1]
    assert (of_two_kinds(single(lastmods), lastmods, np.full(pages, NOW)) is not None) is taken


@pytest.mark.parametrize("hours", [1.0, 1 / 60])
def test_pages_a_hundred_thousand_times_hotter_are_seen_by_a_capture_of_a_day(hours):
    """One in twenty changes every hour, or minute. A capture of weeks takes them for pages of a burst."""
    rng = np.random.default_rng(1)
    hot = np.arange(600) % 20 == 0
    lastmods = NOW - rng.exponential(np.where(hot, hours / 24, 300.0) * DAY)
    listed = [Sighting(Url(f"http://h/{page}"), hints=Hints(at)) for page, at in enumerate(lastmods.tolist())]
    day, month = (
        np.array([one.rate for one in HistoryRates(horizon=days * DAY).rates(listed, NOW)]) for days in (1, 30)
    )
    assert np.median(day[hot]) * hours * 3600 == pytest.approx(1.0, abs=0.5)
    assert day[~hot].max() < 0.1 * day[hot].min()
    assert month[hot].max() < 5 / DAY


def test_the_rates_are_these():
    """Per day, from the coldest page to the hottest: they change on purpose alone. The first lastmod is an import's."""
    lastmods = site(600, 60.0)[1]
    lastmods[::7], lastmods[1::7] = np.nan, NOW - 800 * DAY
    found = of_two_kinds(single(lastmods), lastmods, np.full(600, NOW))
    of_lastmods = ~np.isnan(lastmods)
    rates, shapes = (np.quantile(one[of_lastmods], [0.01, 0.3, 0.9, 0.99]) for one in (found.rate * DAY, found.shape))
    assert rates == pytest.approx([0.00080449, 0.0022384, 0.15932, 0.66749], rel=1e-4)
    assert shapes == pytest.approx([0.51556, 0.89683, 1.7287, 1.8822], rel=1e-4)


@pytest.mark.filterwarnings("error::RuntimeWarning")  # NumPy's; another may be of a test before
@pytest.mark.parametrize("still", [400 * DAY, 9_000 * DAY])
def test_no_page_is_known_better_than_the_factors_lie_apart(still):
    """Half of the pages change each minute, the others never."""
    rng = np.random.default_rng(0)
    lastmods = NOW - np.where(np.arange(400) % 2, rng.exponential(30.0, 400), still * rng.uniform(0.5, 1.0, 400))
    found = of_two_kinds(single(lastmods), lastmods, np.full(400, NOW))
    assert np.isfinite(found.rate).all()
    assert (found.spread >= 0.249 * found.rate).all()
    assert found.shape.min() > 0
    assert found.shape.max() == pytest.approx(16.0), "a spread of a quarter"


def test_pages_without_lastmod_and_those_of_an_import_are_no_ages():
    true, lastmods = site(600, 60.0)
    lastmods[::7], lastmods[1::7] = np.nan, NOW - 800 * DAY
    before = single(lastmods)
    found = of_two_kinds(before, lastmods, np.full(600, NOW))
    assert (found.rate[::7] == before.rate[::7]).all()
    assert (found.rate[1::7] < 1 / (200 * DAY)).all(), "they stood still since the import"
    hot = (np.arange(600) % 5 == 0) & ~np.isnan(lastmods) & (np.arange(600) % 7 != 1)
    assert np.median(found.rate[hot]) > 0.5 * true[0]


def test_a_first_capture_goes_by_it():
    lastmods = site(600, 60.0)[1]
    listed = [Sighting(Url(f"http://h/{page}"), hints=Hints(at)) for page, at in enumerate(lastmods.tolist())]
    rates = np.array([one.rate for one in HistoryRates().rates(listed, NOW)])
    assert 0.5 < np.median(rates[::5]) * 5 * DAY < 1.5


def differing(pages: int = 2_000) -> tuple[np.ndarray, np.ndarray]:
    """True rates, log-normal about once in two years, and lastmods: one Gamma prior explains them about as well."""
    rng = np.random.default_rng(2)
    rates = rng.lognormal(0.0, 1.6, pages) / (700 * DAY)
    return rates, NOW - np.minimum(rng.exponential(1 / rates), 1500 * DAY * rng.uniform(0.9, 1.0, pages))


def test_where_one_prior_explains_the_ages_as_well_the_form_tells_which_pages_change_and_the_prior_how_many():
    true, lastmods = differing()
    before, found = single(lastmods), by_first_capture(lastmods)
    assert not AnyForm(before, lastmods, np.full(len(true), NOW)).far_better
    assert changing(found, 30).sum() == pytest.approx(changing(before, 30).sum(), rel=0.02)
    chances = -np.expm1(-true * 30 * DAY)
    likely = [
        float((chances * np.log(one) + (1.0 - chances) * np.log1p(-one)).sum())
        for one in (changing(before, 30), changing(found, 30))
    ]
    assert likely[1] > likely[0] + 3.0


def test_of_few_pages_no_form_is_learned():
    lastmods = differing(ENOUGH - 1)[1]
    assert by_first_capture(lastmods).rate == pytest.approx(single(lastmods).rate)


def test_pages_that_a_robot_edits_at_once_are_not_hot_for_it():
    lastmods = differing()[1]
    lastmods[:90] = NOW - 4 * DAY
    alone = lastmods.copy()
    alone[:90] += np.linspace(-DAY, DAY, 90)
    together, apart = (np.median(by_first_capture(one).rate[:90]) for one in (lastmods, alone))
    assert together < 0.6 * apart


def test_where_all_pages_are_published_by_the_dozen_a_dozen_is_each_pages_own():
    true, lastmods = differing()
    runs = NOW - np.floor((NOW - lastmods) / (5 * DAY)) * 5 * DAY - DAY
    found = by_first_capture(runs)
    young = runs == runs.max()
    assert 3 < young.sum() < 60
    assert np.median(found.rate[young]) > 5 * np.median(found.rate)
    assert np.median(true[young]) > 5 * np.median(true)
