"""What a crawl still needs."""

from __future__ import annotations

import pytest

from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.sites import Sites
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.live.monitoring import time_left
from sharc_crawler.model import Fetch, Outcome, Result, Sighting


@pytest.mark.parametrize("strategy", ["bfs", "bfs:revisits=none"])
def test_urls_to_come_are_counted_alike_on_small_sites_and_large(monkeypatch, strategy):
    sites = Sites(Politeness(delay=0.0, obey_robots=False))
    links = [Sighting(f"http://{host}.example/{number}") for number in range(9) for host in ("h", "www.h")]
    frontier = sites.open(CaptureSpec("h", ("http://h.example/",), strategy=strategy, sitemaps=()), 0.0)
    now, found = 0.0, []
    while isinstance(fetch := sites.next(now), Fetch):
        monkeypatch.setattr(time_left, "FEW", 500)
        small = time_left._unfinished(frontier)
        monkeypatch.setattr(time_left, "FEW", 0)
        assert time_left._unfinished(frontier) == small
        found.append(sum(small.values()))
        now += 1.0
        sites.finished(fetch, Outcome(Result.OK, now, now, 200, digest="sha1:x"), links if len(found) == 1 else ())
    assert found[1] >= 17
    assert found[-1] == 1
