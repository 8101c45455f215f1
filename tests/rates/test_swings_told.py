"""How far a site's changes swing together, as the ages of its pages' last changes tell."""

import numpy as np
import pytest

from sharc_crawler.model import Hints, Sighting, Url
from sharc_crawler.rates.sources import HistoryRates
from sharc_crawler.rates.swings import DAY, Swings, usual
from sharc_crawler.rates.swings_told import told_swings

NOW, YEARS = 1e9, 2 * 365
PAGES = 600


def last_changes(kind: str, seed: int = 1) -> np.ndarray:
    """Of pages that change every 200 days: by chance alone, on busy days, or thirty of a section at once."""
    rng = np.random.default_rng(seed)
    if kind == "sections":
        edits = [rng.uniform(0.0, YEARS, rng.poisson(YEARS / 200)).max(initial=0.0) for _ in range(PAGES // 30)]
        ages = YEARS - np.repeat(edits, 30) + rng.uniform(0.0, 0.01, PAGES)
    else:
        busy = rng.gamma(0.1, 10.0, YEARS) if kind == "bursts" else np.ones(YEARS)
        changed = rng.random((PAGES, YEARS)) < -np.expm1(-busy / 200)
        ages = np.where(changed.any(axis=1), changed[:, ::-1].argmax(axis=1), YEARS) + rng.random(PAGES)
    return NOW - ages * DAY


def test_a_steady_site_swings_less_and_a_busy_one_more_than_the_stated_figure() -> None:
    steady, bursts, sections = (told_swings(last_changes(kind), NOW) for kind in ("steady", "bursts", "sections"))
    assert steady.at(DAY) < 0.7 * usual(DAY)
    for wild in (bursts, sections):
        assert wild.at(DAY) > 2.0 * usual(DAY)
        assert wild.at(14 * DAY) > 1.5 * steady.at(14 * DAY)
    assert {one.group for one in (steady, bursts, sections)} == {1.0}, "the deviations hold that"


def test_one_edit_of_many_pages_is_out_of_the_ordinary() -> None:
    edited = last_changes("steady")
    edited[:60] = np.maximum(edited[:60], NOW - (100.0 + 0.05 * np.random.default_rng(2).random(60)) * DAY)
    assert told_swings(edited, NOW).at(DAY) < 1.5 * told_swings(last_changes("steady"), NOW).at(DAY)


@pytest.mark.parametrize(
    ("kind", "every", "told"),
    [
        ("steady", 1, [0.376, 0.193, 0.154, 0.146]),
        ("bursts", 20, [5.95, 2.57, 1.12, 0.311]),
        ("sections", 1, [12.0, 7.87, 2.56, 0.641]),
    ],
)
def test_what_was_told_of_a_site_is_told_of_it_again(kind: str, every: int, told: list[float]) -> None:
    """In times of three hours, a day, eight days and 64: a report is read beside former ones."""
    found = told_swings(last_changes(kind)[::every], NOW).deviations
    assert found[::3] == pytest.approx(told, rel=0.01)


def test_the_edit_that_most_pages_stem_from_is_no_swing() -> None:
    """Before it nothing is known, so the time that it lies in is no whole one."""
    born = NOW - np.concatenate([np.linspace(0.0, 90.0, 40), np.full(560, 100.0)]) * DAY
    assert told_swings(born, NOW).at(8 * DAY) < 0.5
    older = np.append(born, NOW - 900.0 * DAY)
    assert told_swings(older, NOW).at(8 * DAY) > 0.5, "one page shows that the site was there before it"


def test_of_a_year_of_steady_changes_times_of_four_months_are_told_of_too() -> None:
    assert told_swings(last_changes("steady"), NOW).at(128 * DAY) < 0.7 * usual(128 * DAY)


def test_few_lastmods_tell_nothing() -> None:
    few = np.where(np.arange(PAGES) < 9, last_changes("steady"), np.nan)
    assert told_swings(few, NOW) == told_swings(few * np.nan, NOW) == Swings.usual()
    ten = np.where(np.arange(PAGES) < 10, last_changes("steady"), np.nan)
    assert told_swings(ten, NOW) != Swings.usual()


@pytest.mark.parametrize("share", [0.4, 0.9])
def test_a_first_capture_goes_by_the_sitemap(share: float) -> None:
    lastmods, source = last_changes("steady"), HistoryRates()
    source.rates([Sighting(Url(f"http://h/{page}"), hints=Hints(at)) for page, at in enumerate(lastmods)], NOW)
    assert source.swings() == told_swings(lastmods, NOW)
