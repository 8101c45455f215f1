"""The level of a site's rates: what one look cannot show is not concluded from it."""

from __future__ import annotations

import numpy as np
import pytest

from sharc_crawler.rates.counted import counted_rates
from sharc_crawler.rates.evidence import LONG, combined_rates
from sharc_crawler.rates.history import UNKNOWN, Histories, SiteHistory
from sharc_crawler.rates.learned import learnable
from sharc_crawler.rates.level import USUAL, level
from sharc_crawler.rates.swings import DAY, Swings
from sharc_crawler.rates.swings_learned import learned_swings


def looked_at(changed, times):
    """Pages whose bytes alone are known; ``changed``: by page and interval."""
    pages, looks = len(changed), len(times)
    bits = np.column_stack([np.full(pages, UNKNOWN), changed]).astype(np.int8).ravel()
    nothing = np.full(len(bits), np.nan)
    urls = [f"http://h/{page}" for page in range(pages)]
    offsets = np.arange(pages + 1) * looks
    return SiteHistory("h", urls, offsets, np.tile(times, pages), bits, nothing, nothing, nothing)


def one_look(pages, changes, length=DAY):
    return looked_at((np.arange(pages) < changes)[:, None], np.array([0.0, length]))


def test_a_day_without_a_change_leaves_open_how_many_change():
    """On trackawesome-2024b six days of twenty are such; in the month after, 190 pages change."""
    quiet = counted_rates(one_look(6_000, 0)).rate.mean()
    assert USUAL / 20 < quiet < USUAL
    assert quiet < counted_rates(one_look(6_000, 20)).rate.mean()


def test_the_range_of_what_is_expected_is_wider_the_fewer_changes_were_seen():
    after = [learned_swings(one_look(6_000, changes)).at(30 * DAY) for changes in (0, 5, 500)]
    assert after == sorted(after, reverse=True)
    assert after[0] > 1.2
    assert after[-1] > 2 * Swings.usual().at(30 * DAY), "it may have been a busy day"


@pytest.mark.parametrize("speed", [1, 1_000, 100_000])
def test_a_site_unlike_all_others_is_believed_once_changes_are_seen(speed):
    pages, often = 2_000, 0.1
    found = counted_rates(one_look(pages, int(often * pages), DAY / speed)).rate.mean() * DAY / speed
    assert found == pytest.approx(-np.log1p(-often), rel=0.3)


def test_three_pages_that_differ_at_every_download_are_not_explained_away():
    """Twenty minutes of 450 pages: by other sites' level none would have changed."""
    minutes = 20 * 60.0
    found = counted_rates(one_look(450, 3, minutes))
    assert -np.expm1(-found.shape * np.log1p(found.rate * minutes / found.shape)).sum() > 2.0


def test_a_long_history_speaks_for_itself():
    rng = np.random.default_rng(1)
    bits = (rng.random((500, 40)) < 0.3).astype(np.int8)
    weeks = Histories.of([[7 * DAY] * 40] * 500, list(bits))
    assert level(weeks).factor == pytest.approx(1.0, rel=0.01)


def test_what_a_few_captures_teach_tells_which_pages_change_and_counts_tell_how_many():
    """The last week was quiet. Learned rates follow it, and would expect a third of what all three weeks saw."""
    rng = np.random.default_rng(2)
    changed = rng.random((3_000, 8)) < np.array([0.1] * 6 + [0.01] * 2)
    times, month = np.arange(9) * 3 * DAY, 30 * DAY
    history, now = looked_at(changed, times), times[-1] + DAY
    assert learnable(history, now, month)
    assert np.ptp(times) < LONG
    found, counted = combined_rates(history, now, month), counted_rates(history)
    ours, theirs = (-np.expm1(-one.shape * np.log1p(one.rate * month / one.shape)) for one in (found, counted))
    assert ours.sum() == pytest.approx(theirs.sum(), rel=0.05)
