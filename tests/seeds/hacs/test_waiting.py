"""What waiting does to p, and what is made of seeds whose answers held no content."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.archive.histories.reading import read_history
from sharc_crawler.seeds.base import RankingTask
from sharc_crawler.seeds.hacs.histories import UpdateHistories
from sharc_crawler.seeds.hacs.rank import RankedSeed, make_ranker, rank
from sharc_crawler.seeds.hacs.rankers import Hacs
from sharc_crawler.seeds.hacs.sites import SeedHistories, homepages
from sharc_crawler.seeds.hacs.updates import digest_change
from sharc_crawler.testing.rankers import DAY

if TYPE_CHECKING:
    from pathlib import Path


def values(bits: list[list[int]], *now: float) -> list[list[float]]:
    """p of pages of one site that were captured every 30 days, at each instant."""
    times = [(np.arange(len(row)) * 30 * DAY).tolist() for row in bits]
    pages = UpdateHistories.of([f"http://a.org/{place}" for place in range(len(bits))], times, bits)
    seeds = SeedHistories.of_pages(pages)
    ranker = Hacs().fit(seeds, min(now))
    return [ranker.score(seeds, RankingTask(at, ahead=0.0)).value.tolist() for at in now]


def test_a_monthly_changer_last_captured_a_year_ago_has_changed() -> None:
    monthly, never = [-1] + [1] * 23, [-1] + [0] * 23
    (p,) = values([monthly, *[never] * 8], (23 * 30 + 365) * DAY)
    assert p[0] > 0.95
    assert max(p[1:]) < 0.5


@pytest.mark.slow
@given(st.lists(st.lists(st.sampled_from([0, 1]), min_size=1, max_size=12), min_size=2, max_size=6), st.floats(1, 1e4))
def test_p_never_falls_by_waiting(bits: list[list[int]], days: float) -> None:
    rows = [[-1, *row] for row in bits]
    last = max(map(len, rows)) * 30 * DAY
    earlier, later = values(rows, last + DAY, last + (1 + days) * DAY)
    assert all(after >= before - 1e-12 for before, after in zip(earlier, later, strict=True))


CDX = """\
org,a)/ 20200101000000 http://a.org/ text/html 200 AAAA 9
org,a)/ 20200201000000 http://a.org/ text/html 200 BBBB 9
org,moved)/ 20200101000000 http://moved.org/ text/html 301 CCCC 9
org,moved)/ 20200301000000 http://moved.org/ text/html 302 DDDD 9
org,broken)/ 20200105000000 http://broken.org/ text/html 301 CCCC 9
org,broken)/ 20200305000000 http://broken.org/ text/html 503 EEEE 9
"""


@pytest.mark.parametrize("ranker", ["hacs", "hacs-plain", "last-obs"])
def test_redirects_and_failures_alone_are_states_of_their_own(tmp_path: Path, ranker: str) -> None:
    (tmp_path / "index.cdx").write_text(CDX)
    found = read_history([tmp_path / "index.cdx"])
    urls = ["http://a.org/", "http://moved.org/", "http://broken.org/", "http://never.org/"]
    keys = ["org,a)/", "org,moved)/", "org,broken)/", "org,never)/"]
    seeds = homepages(urls, keys, found.captures, digest_change(found.captures), found.answered)
    now = max(found.captures.times) + 60 * DAY
    by_url: dict[str, RankedSeed] = {one.url: one for one in rank(seeds, make_ranker(ranker), RankingTask(now, 0.0))}
    assert by_url["http://never.org/"].place == 1
    moved, broken = by_url["http://moved.org/"], by_url["http://broken.org/"]
    assert moved.captures == broken.captures == 0
    assert (moved.last_seen, broken.last_seen) == (1583020800.0, 1583366400.0)
    if ranker != "last-obs":
        assert "archives hold redirects of it alone" in moved.reason
        assert "archives hold failures of it alone" in broken.reason
        assert moved.value < 1 > broken.value
