"""What HACS makes of captures before the window, and of old ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sharc_crawler.seeds.base import RankingTask
from sharc_crawler.seeds.hacs.histories import UpdateHistories
from sharc_crawler.seeds.hacs.rank import RankedSeed, rank
from sharc_crawler.seeds.hacs.rankers import Hacs
from sharc_crawler.seeds.hacs.sites import SeedHistories
from sharc_crawler.testing.rankers import DAY


def ranked(bits: dict[str, list[int]], back: float) -> dict[str, RankedSeed]:
    """Pages of one site, seen every fifth day up to day 60 and again on day 98, ranked on day 100."""
    times = [[*np.arange(0.0, 61 * DAY, 5 * DAY), 98 * DAY]] * len(bits)
    pages = UpdateHistories.of([f"http://a.org/{name}" for name in bits], times, [[-1, *row] for row in bits.values()])
    found = rank(SeedHistories.of_pages(pages), Hacs(), RankingTask(100 * DAY, back=back))
    return {one.url.rpartition("/")[2]: one for one in found}


def test_captures_before_the_window_speak_for_their_page() -> None:
    """Each was seen once in the last week; before that one always had an update, one never."""
    found = ranked({"hot": [1] * 13, "cold": [0] * 13}, 7 * DAY)
    assert (found["hot"].captures, found["hot"].known) == (1, True)
    assert found["hot"].value > 2 * found["cold"].value


@pytest.mark.slow
def test_captures_in_the_window_count_once() -> None:
    bits = {"hot": [1] * 12 + [-1], "cold": [0] * 12 + [-1]}
    some, all_ = (ranked(bits, back) for back in (7 * DAY, math.inf))
    assert {name: one.value for name, one in some.items()} == {name: one.value for name, one in all_.items()}


@pytest.mark.parametrize("back", [7 * DAY, 42 * DAY, 71 * DAY])
def test_no_update_is_forgotten_where_the_window_begins(back: float) -> None:
    """The first capture in a window shows an update since the last one before it."""
    bits = {"late": [0] * 12 + [1], "hot": [1] * 13, "cold": [0] * 13}
    some, all_ = (ranked(bits, one) for one in (back, math.inf))
    assert {name: one.value for name, one in some.items()} == {name: one.value for name, one in all_.items()}


def test_captures_fade() -> None:
    """As many updates in as many intervals: those of late count more."""
    found = ranked({"late": [0] * 6 + [1] * 6 + [-1], "early": [1] * 6 + [0] * 6 + [-1]}, math.inf)
    assert found["late"].value > found["early"].value


def test_histories_one_after_the_other() -> None:
    whole = UpdateHistories.of(["a", "b", "c"], [[1, 5, 9], [2], [6, 8]], [[-1, 1, 0], [-1], [-1, 1]])
    joined = whole.window(5, 9).named(["c", "a", "new"]).after(whole.window(0, 4).named(["c", "a", "new"]))
    assert (joined.urls, joined.counts().tolist()) == (["c", "a", "new"], [2, 3, 0])
    assert (joined.times.tolist(), joined.changed.tolist()) == ([6, 8, 1, 5, 9], [-1, 1, -1, -1, 0])
    following = whole.window(5, 9).named(["c", "a", "new"]).following(whole.named(["c", "a", "new"]), 4)
    assert (following.times.tolist(), following.changed.tolist()) == ([6, 8, 1, 5, 9], [-1, 1, -1, 1, 0])
    gap = whole.window(7, 9).named(["a"]).following(whole.named(["a"]), 4)
    assert (gap.times.tolist(), gap.changed.tolist()) == ([1, 9], [-1, -1])
