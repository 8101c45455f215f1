"""What crawls is, object for object, what the simulator evaluates."""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path

import pytest

from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.frontier import sites
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.lab import driver
from tests.live.recording import replay
from tests.live.warm import finished

RUN = """
import pickle, sys
from scrapy.crawler import CrawlerProcess
from scrapy.utils.project import get_project_settings
from sharc_crawler.frontier import sites
from sharc_crawler.live.spiders.site import SiteSpider
from tests.live.recording import Recorder

recorders = []

class Recorded(sites.Frontier):
    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        recorders.append(Recorder(self))

sites.Frontier = Recorded
process = CrawlerProcess(get_project_settings())
process.crawl(SiteSpider, url=sys.argv[1], strategy=sys.argv[2], delay="0.005", output=sys.argv[3])
process.start()
(recorder,) = recorders
with open(sys.argv[4], "wb") as file:
    pickle.dump(recorder.calls, file)
"""


@pytest.mark.parametrize("strategy", ["sharc-selective", pytest.param("bfs", marks=pytest.mark.long)])
def test_a_live_crawls_calls_replayed_give_the_same_decisions(tmp_path, strategy):
    with serve(LivingSite(seed=2, pages=40, slow=0.02)) as server:
        arguments = [server.url, strategy, str(tmp_path / "capture"), str(tmp_path / "calls")]
        (tmp_path / "recorded.py").write_text(RUN)
        done = finished(arguments, tmp_path, program="recorded.py")
        assert done.returncode == 0, done.stderr
    calls = pickle.loads((tmp_path / "calls").read_bytes())  # written by ourselves a moment ago
    politeness = Politeness(delay=0.005, agent="sharc-crawler")
    assert replay(calls, Frontier(politeness)) > 80


def test_both_drivers_use_the_same_class():
    assert sites.Frontier is Frontier
    assert driver.Frontier is Frontier
    for module in (sites, driver):
        assert "class Frontier" not in Path(inspect.getfile(module)).read_text()
