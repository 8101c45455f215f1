"""A rebuild dates many pages to one instant: that is one event, no page's own change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from sharc_crawler.model import Hints, Sighting, Url
from sharc_crawler.rates.evidence import combined_rates
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory
from sharc_crawler.rates.rebuilds import FORMER, USUAL, own_changes, seen_rebuilds
from sharc_crawler.rates.sources import HistoryRates

if TYPE_CHECKING:
    from sharc_crawler.rates.swings import Swings

DAY = 86_400.0
NOW = 1e9
PAGES, OWN = 600, 90


def second_capture(rebuilt: bool) -> SiteHistory:
    """Two looks a day apart a fortnight ago, and the sitemap of now: some pages have changed, one after another.

    The whole site may have been rebuilt four days ago, which the others are dated to then.
    """
    times = NOW - np.array([14.0, 13.0, 0.0]) * DAY
    born = NOW - (100.0 + np.arange(PAGES)) * DAY
    last = np.where(np.arange(PAGES) < OWN, NOW - 3.0 * DAY + 60.0 * np.arange(PAGES), born)
    if rebuilt:
        last = np.maximum(last, NOW - 4.0 * DAY)
    lastmods = np.stack([born, born, last], axis=1)
    bits = np.full((PAGES, 3), UNCHANGED, np.int8)
    bits[:, 0], bits[last > born, 2] = UNKNOWN, CHANGED
    nothing = np.zeros(3 * PAGES)
    return SiteHistory(
        "h",
        [Url(f"http://h/{page}") for page in range(PAGES)],
        np.arange(PAGES + 1) * 3,
        np.tile(times, PAGES),
        bits.ravel(),
        lastmods.ravel(),
        nothing,
        np.full(3 * PAGES, np.nan),
    )


def daily(history: SiteHistory) -> float:
    """Changes of all pages expected in a day."""
    return float(combined_rates(history, NOW, DAY).rate.sum()) * DAY


@pytest.mark.slow
def test_a_rebuild_seen_once_does_not_make_every_page_a_daily_one() -> None:
    """It made 600 pages change a thousand times a day in all; without it, ninety changed in a fortnight."""
    assert 0.3 < daily(second_capture(rebuilt=True)) / daily(second_capture(rebuilt=False)) < 3.0


def test_pages_are_as_if_a_rebuild_had_looked_at_them() -> None:
    history = second_capture(rebuilt=True)
    left = own_changes(history)
    assert np.diff(left.offsets).tolist() == [4] * PAGES
    looks = left.changed.reshape(PAGES, 4)[:, 2:]
    assert (looks[:, 0] == UNKNOWN).all(), "until the rebuild"
    assert looks[:, 1].tolist() == [CHANGED] * OWN + [UNCHANGED] * (PAGES - OWN), "since"
    assert np.isnan(left.lastmods.reshape(PAGES, 4)[OWN:, 3]).all()
    calm = second_capture(rebuilt=False)
    assert own_changes(calm) is calm


def test_rebuilds_come_as_often_as_lastmods_tell() -> None:
    seen = seen_rebuilds(second_capture(rebuilt=True), NOW)
    assert seen is not None
    assert seen.rate == pytest.approx((1 + FORMER) / (14 * DAY + USUAL))
    assert seen.touched == pytest.approx(1 - OWN / PAGES)
    assert seen_rebuilds(second_capture(rebuilt=False), NOW) is None


@pytest.mark.slow
@pytest.mark.parametrize("known", [None, second_capture(rebuilt=False).before(NOW - DAY)])
def test_a_sitemap_that_tells_of_rebuilds_makes_what_is_expected_less_sure(known: SiteHistory | None) -> None:
    def told(rebuilt: bool) -> Swings | None:
        source = HistoryRates(known)
        read = second_capture(rebuilt).lastmods.reshape(PAGES, 3)[:, 2].tolist()
        source.rates([Sighting(Url(f"http://h/{page}"), hints=Hints(at)) for page, at in enumerate(read)], NOW)
        return source.swings()

    calm, rebuilt = told(False), told(True)
    assert calm is not None and rebuilt is not None
    assert calm.rebuild(60 * DAY) == 0.0 < rebuilt.rebuild(DAY) < 0.1, "few captures of a day meet one"
    assert 0.4 < rebuilt.rebuild(60 * DAY) < 0.9
    assert rebuilt.at(30 * DAY) <= calm.at(30 * DAY), "it is no swing of the pages' own changes"
