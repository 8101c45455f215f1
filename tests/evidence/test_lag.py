"""How late sitemaps tell of changes: what former captures, and readings of one, show of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.lag import learned, seen
from sharc_crawler.evidence.lastmods import Download, Lastmod, weigh
from sharc_crawler.model import Change
from sharc_crawler.rates.history import SiteHistory

T, HOUR, DAY = 1_000_000.0, 3_600.0, 86_400.0


def history(*pages: list[tuple[float, float]]) -> SiteHistory:
    """Pages, each with its accesses: when, and the lastmod of then."""
    rows = [row for page in pages for row in page]
    times, lastmods = (np.array(column, np.float64) for column in zip(*rows, strict=True)) if rows else ([], [])
    offsets = np.concatenate([[0], np.cumsum([len(page) for page in pages])]).astype(np.int64)
    silent = np.full(len(rows), np.nan)
    urls = [f"http://h/{number}" for number in range(len(pages))]
    return SiteHistory("h", urls, offsets, times, np.zeros(len(rows), np.int8), lastmods, np.ones(len(rows)), silent)


@pytest.mark.parametrize(
    ("pages", "lag"),
    [
        ([], 0.0),
        ([[(T, 5.0)]], 0.0),
        ([[(T, 5.0), (T + DAY, 5.0)]], 0.0),
        ([[(T, 5.0), (T + DAY, T + HOUR)]], 0.0),  # changed after the first access
        ([[(T, 5.0), (T + DAY, T - HOUR)]], 2 * (HOUR - 1)),  # before it: then it was not told
        ([[(T, 5.0)], [(T + DAY, T - HOUR)]], 0.0),  # of two pages
        ([[(T, 5.0), (T + DAY, 6.0)]], 0.0),  # it may be the same second
        ([[(T, 5.0), (T + DAY, 7.0)]], 2 * (T - 8.0)),
        ([[(T, -9e6), (T + DAY, T - 30 * DAY - 1.0)]], 2 * 30 * DAY),  # as late as can be
        ([[(T, np.nan), (T + DAY, T - HOUR)]], 0.0),  # nothing was said then
        ([[(T, 5.0), (T + DAY, T - 40 * DAY)]], 0.0),  # dated anew
        ([[(T, 5.0), (T + DAY, T - HOUR)], [(T, 5.0), (T + DAY, T - 2 * HOUR)]], 2 * (2 * HOUR - 1)),
    ],
)
def test_a_lag_is_learned_from_changes_that_an_earlier_access_was_not_told_of(pages, lag):
    assert learned(history(*pages)) == lag


def told(changes: list[float], late: float, read: float) -> Lastmod:
    """What a sitemap that is so late says when it is read."""
    last = max((one for one in changes if one <= read - late), default=0.0)
    return Lastmod(read, last, last + 1.0)


@given(st.lists(st.floats(T - 900, T + 900), max_size=3), st.floats(0, 500), st.floats(1, 800))
def test_a_claim_that_is_not_provisional_is_true_however_late_the_sitemaps_are_within_their_lag(changes, late, before):
    visit = Download(T - before, T - before, float(int(T - before)))
    readings = [told(changes, late, at) for at in (T, T + 300, T + 600)]
    found = weigh([visit], readings, T, lag=500.0).comparison
    moved = any(T - before < one <= T for one in changes)
    if found.evidence is Evidence.ATTESTED and found.change is Change.UNCHANGED:
        assert not moved
    if found.evidence is Evidence.PROVISIONAL:
        assert weigh([visit], readings, T).comparison.change is Change.UNCHANGED, "it would have been claimed"


def test_a_sitemap_that_tells_within_its_lag_is_late_and_no_liar():
    visit = Download(T - 200, T - 200, T - 200)
    readings = [Lastmod(T, 5.0, 6.0), Lastmod(T + 300, T - 101, T - 100)]
    assert weigh([visit], readings, T, lag=50.0).lies
    found = weigh([visit], readings, T, lag=200.0)
    assert (found.lies, found.comparison.change) == ((), Change.CHANGED)


@given(st.lists(st.floats(T - 900, T + 900), max_size=3), st.floats(0, 500))
def test_readings_of_one_page_show_no_more_than_twice_the_lag(changes, late):
    assert seen([told(changes, late, at) for at in (T - 500, T, T + 200, T + 600)]) <= 2 * late


@pytest.mark.parametrize(
    ("before", "later", "behind", "lag"),
    [
        (5.0, 6.0, 0.0, 0.0),  # it may be the same second
        (5.0, T - HOUR, 0.0, 2 * (HOUR - 1)),
        (5.0, T - HOUR, 60.0, 2 * (HOUR + 59)),  # by a clock that is ahead of ours
        (-9e6, T - 30 * DAY - 1.0, 0.0, 2 * 30 * DAY),
        (-9e6, T - 30 * DAY - 2.0, 0.0, 0.0),
        (5.0, T - 1.25, 0.0, 0.5),
        (5.0, T - 1.0, 0.0, 0.0),
    ],
)
def test_a_lag_is_seen_from_a_reading_that_did_not_tell_of_what_was_before_it(before, later, behind, lag):
    readings = [Lastmod(T, before, before + 1.0), Lastmod(T + DAY, later, later + 1.0)]
    assert seen(readings, behind) == pytest.approx(lag)
    assert seen(readings[::-1], behind) == pytest.approx(lag), "in whatever order they come"
