"""Lots are the same for all who go on with a capture, and where its state is made again."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.modes.sampling import seed_of


def capture(started: float, run: str = "", site: str = "h"):
    return SimpleNamespace(started=started, spec=SimpleNamespace(site=site, settings={"run": run} if run else {}))


@pytest.mark.parametrize("later", [1000.51, 2000.0])
def test_when_it_is_told_to_have_begun_makes_no_difference(later):
    """A folder tells that of the crawl, which is some hundredths of a second before that of the capture."""
    assert seed_of(capture(1000.49, "ab12")) == seed_of(capture(later, "ab12"))


def test_each_owner_of_a_site_draws_the_same():
    assert seed_of(capture(1.0, "round-1.epoch-0001")) == seed_of(capture(2.0, "round-1.epoch-0017"))


def test_another_capture_another_site_and_another_simulation_draw_others():
    seeds = [capture(1.0, "a"), capture(1.0, "b"), capture(1.0, "a", "other"), capture(1.0), capture(7.0)]
    assert len({seed_of(one) for one in seeds}) == len(seeds)
