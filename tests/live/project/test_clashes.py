"""Arguments of the spider ``site`` given to a project's own spider: said in a line, unless its code names them."""

from __future__ import annotations

import pytest
from scrapy import Spider
from scrapy.settings import Settings

from sharc_crawler.live.config import Config
from sharc_crawler.live.project.clashes import NOT_KEPT, begin, stray


class Own(Spider):
    name = "own"

    def parse(self, response):
        return [{"order": one} for one in (self.strategy, getattr(self, "delay", ""))]


class Inherits(Own):
    def also(self):
        return [lambda: self.mode]


def test_what_the_code_names_is_its_own() -> None:
    given = {"strategy": "bfs", "delay": "1", "mode": "x", "tag": "y"}
    assert [line.split()[1] for line in stray(Own(**given))] == ["mode=x"]
    assert stray(Inherits(**given)) == []


def test_the_setting_is_named_where_there_is_one() -> None:
    assert stray(Spider("plain", delay="2", include="/a", url="http://h.example/")) == [
        "-a delay=2 is for the spider site, and has no effect on your own: give -s DOWNLOAD_DELAY=2",
        "-a include=/a is for the spider site, and has no effect on your own",
        "-a url=http://h.example/ is for the spider site, and has no effect on your own",
    ]


@pytest.mark.parametrize(
    ("settings", "said"), [({}, [NOT_KEPT]), ({"SHARC_OUTPUT": "captures"}, []), ({"SHARC_WARC": False}, [])]
)
def test_a_crawl_that_archives_nothing_says_so_unless_that_was_asked_for(settings, said) -> None:
    assert begin(None, Config.from_settings(Settings(settings)), drop_in=False) == said
