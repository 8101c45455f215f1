"""``skip=attested`` in virtual time: what the archive has, by the sitemap's word, is not asked for."""

from __future__ import annotations

import numpy as np
import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.lab.driver import experience
from sharc_crawler.lab.experiment import RunSpec, run
from sharc_crawler.lab.history import HistorySpec
from sharc_crawler.rates.trust import trust
from tests.lab.small import write_history

DAY = 86_400
PAGES = 60


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """Each page changed once, months ago; five a day before the window, after the archive saw them, five within it."""
    folder = tmp_path_factory.mktemp("skip")
    lines = [f"/,{-300 * DAY},1,,{-200 * DAY},"]
    for number in range(1, PAGES):
        past = [-(100 + number) * DAY] + ([-DAY] if number <= 5 else [])
        now = 3 * DAY if 5 < number <= 10 else ""
        lines.append(f"/{number},{-300 * DAY},1,,{';'.join(map(str, past))},{now}")
    return write_history(folder, lines)


def crawled(history, **other):
    spec = HistorySpec(str(history), "/", 0.0, 10.0 * DAY)
    return run(RunSpec(spec, "sharc-attested", "captures", "recapture", sitemap=True, audited=0.02, **other)).facts


@pytest.mark.slow
def test_fewer_pages_are_asked_for_and_nothing_is_claimed_wrongly(history):
    every, fewer = crawled(history), crawled(history, skip="attested")
    assert "not_asked" not in every
    assert fewer["not_asked"] >= PAGES - 6 - 1, "what changed since the archive saw it, and the front page"
    assert fewer["downloads"] < every["downloads"] / 2
    assert fewer["wrongly_coherent"] == fewer["wrongly_confirmed"] == 0
    assert sum(fewer["judged"].values()) == PAGES


def test_liars_are_no_more_than_the_audit_leaves(history):
    found = crawled(history, skip="attested", lying=1.0)
    assert found["wrongly_coherent"] <= found["audited"]["bound"]


def test_an_archive_learned_that_the_sitemap_told_of_changes(history):
    site = HistorySpec(str(history), "/", 0.0, 10.0 * DAY).build()
    (verdict,) = trust(experience(site, -7.0 * DAY))
    assert (verdict.checks, verdict.believed) == (PAGES, True)
    assert len(experience(site, None)) == 0


def test_without_an_archive_it_is_refused(history):
    spec = HistorySpec(str(history), "/", 0.0, 10.0 * DAY)
    with pytest.raises(UsageError, match="skip='attested' needs an archive"):
        run(RunSpec(spec, "sharc-attested", "oracle", "recapture", sitemap=True, skip="attested"))
    with pytest.raises(UsageError, match="skip='all' is not known"):
        RunSpec(spec, "sharc-attested", skip="all")


def test_experience_is_in_the_order_of_time(history):
    found = experience(HistorySpec(str(history), "/", 0.0, 10.0 * DAY).build(), -7.0 * DAY)
    assert (np.diff(found.times.reshape(-1, 2)) > 0).all()
