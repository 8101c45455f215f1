"""What a crawl does not load that uses no fleet, browser, collection, history or object store, and how much it does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import bench_startup
from sharc_crawler.demo import LivingSite, serve

ROOT = Path(__file__).parents[2]

#: of the package, and of the extras (warcio itself loads fsspec where it is installed)
UNUSED = (
    "sharc_crawler.fleet",
    "sharc_crawler.collection",
    "sharc_crawler.lab",
    "sharc_crawler.frontier.modes.rate_tests",
    "sharc_crawler.live.setup.begun",
    "sharc_crawler.live.fleet",
    "sharc_crawler.live.browser",
    "psycopg",
    "prometheus_client",
    "s3fs",
    "sklearn",
    "matplotlib",
    "duckdb",
    "sknetwork",
    "rfc3161_client",
    "yaml",
)

#: lines of the package that a plain capture may load, at most: before its end, and with what its end needs
#: (19,065 and 27,092 when this was written)
LINES = 19_300, 27_300

SITE = """
from scrapy.utils.project import get_project_settings
from sharc_crawler.live.spiders.site import SiteSpider as Chosen
settings = get_project_settings()
settings.set("SHARC_BACK_OFF", "0.1")
arguments = {"url": url, "delay": "0.01", "output": "capture"}
"""

DROP_IN = """
import scrapy
class Chosen(scrapy.Spider):
    name = "own"
    def __init__(self, url):
        self.start_urls = [url]
    def parse(self, response):
        yield from response.follow_all(css="a", callback=self.parse)
settings = {"ADDONS": {"sharc_crawler.live.addon.SharcAddon": 500}, "SHARC_STRATEGY": "sharc-selective",
            "SHARC_OUTPUT": "capture", "SHARC_RESUME": True, "SHARC_ALLOWED_ADDRESSES": "127.0.0.0/8"}
arguments = {"url": url}
"""

RUN = """
from scrapy.crawler import CrawlerProcess
process = CrawlerProcess(settings)
process.crawl(Chosen, **arguments)
process.start()
open("modules.json", "w").write(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.parametrize("crawl", [SITE, DROP_IN], ids=["site", "drop-in"])
def test_a_crawl_loads_only_what_it_uses(crawl, tmp_path):
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "sharc_crawler.live.profile"}
    with serve(LivingSite(seed=3, pages=20)) as server:
        script = f"import json, sys; url = sys.argv[1]\n{crawl}{RUN}"
        command = [sys.executable, "-c", script, server.url]
        subprocess.run(command, env=environment, check=True, timeout=280, cwd=tmp_path, capture_output=True)
    assert (tmp_path / "capture" / "report.html").exists()
    loaded = json.loads((tmp_path / "modules.json").read_text())
    assert [
        name for name in loaded if name.startswith(tuple(f"{unused}." for unused in UNUSED)) or name in UNUSED
    ] == []


def test_the_lines_that_a_plain_capture_loads_are_bounded():
    """Of a site that says nothing of its changes: no sitemap, no validators."""
    started = bench_startup.start(sys.executable, ROOT, "sharc-selective")
    assert 10_000 < started.lines_before_end <= LINES[0]
    assert started.own_lines <= LINES[1]
