"""A folder for each spider and run, by pattern; one folder is taken once."""

from __future__ import annotations

import json
import os

import pytest
from scrapy import Spider

from sharc_crawler.errors import UsageError
from sharc_crawler.live.setup.folder_names import attributes, named
from tests.live.warm import finished

PROJECT = """
import sys
import scrapy
from scrapy.crawler import CrawlerProcess

class One(scrapy.Spider):
    name = "one"
    start_urls = [sys.argv[1]]

    def parse(self, response):
        yield {"url": response.url}

class Two(One):
    name = "two"

process = CrawlerProcess({
    "ADDONS": {"sharc_crawler.live.addon.SharcAddon": 500},
    "SHARC_OUTPUT": sys.argv[2],
    "SHARC_ALLOWED_ADDRESSES": ["127.0.0.0/8"],
    "TELNETCONSOLE_ENABLED": False,
    "FEEDS": {"%(name)s.jsonl": {"format": "jsonlines"}},
})
process.crawl(One)
process.crawl(Two)
process.start()
sys.exit(process.bootstrap_failed)
"""


def test_places_are_filled_from_the_spider_and_the_clock():
    spider = Spider(name="news", topic="war", page=3)
    assert str(named("c/%(name)s/%(topic)s-%(page)s/%(time)s", attributes(spider), 0.0)) == (
        "c/news/war-3/1970-01-01T00-00-00.000000"
    )
    assert str(named("100%/%s", {}, 0.0)) == "100%/%s"
    assert named("%(time)s", {}, 0.001) != named("%(time)s", {}, 0.002), "two runs of one second"


def test_an_unknown_place_is_named_with_the_nearest():
    with pytest.raises(UsageError, match="did you mean 'name'"):
        named("captures/%(nmae)s", {"name": "news"}, 0.0)


def test_two_spiders_of_a_process_have_a_folder_each(living_site, tmp_path):
    done = _run(living_site.url, tmp_path, "captures/%(name)s/%(time)s")
    assert done.returncode == 0, done.stderr
    for name in ("one", "two"):
        assert json.loads((tmp_path / f"{name}.jsonl").read_text()) == {"url": living_site.url}
        (report,) = (tmp_path / "captures" / name).glob("*/report.json")
        assert json.loads(report.read_text())["captures"]


def _run(url, folder, output, project=PROJECT):
    (folder / "project.py").write_text(project)
    return finished([url, output], folder, os.environ, program="project.py")


def test_two_spiders_of_a_process_cannot_share_a_folder(living_site, tmp_path):
    done = _run(living_site.url, tmp_path, "captures")
    assert done.returncode != 0
    assert (tmp_path / "captures" / "report.json").exists(), "the other one is whole"


def test_a_folder_is_taken_once(living_site, tmp_path):
    project = PROJECT.replace("process.crawl(Two)\n", "")
    assert _run(living_site.url, tmp_path, "captures", project).returncode == 0
    before = len(living_site.log)
    again = _run(living_site.url, tmp_path, "captures", project)
    assert again.returncode != 0
    assert "already holds a capture that is complete; choose another folder" in again.stderr
    assert "SHARC_OUTPUT=captures/%(name)s/%(time)s" in again.stderr
    assert len(living_site.log) == before, "before anything is sent"


@pytest.mark.matrix
@pytest.mark.parametrize("broken", ["DropIn.queue", "Frontier.next"])
def test_a_fault_of_ours_ends_the_crawl_as_failed(living_site, tmp_path, broken):
    fault = f"""
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.live.project.dropin import DropIn

def broken(*_):
    raise RuntimeError("a fault")

{broken} = broken
"""
    done = _run(living_site.url, tmp_path, "captures/%(name)s", fault + PROJECT)
    assert done.returncode != 0
    assert "The crawl stops: RuntimeError: a fault. That is a fault of sharc-crawler's" in done.stderr
