"""A project's spider, run with and without the add-on; its items."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from tests.live.warm import finished

if TYPE_CHECKING:
    import subprocess

SPIDER = """
import scrapy


class Poll(scrapy.Spider):
    name = "poll"
    polled = 0

    async def start(self):
        for _ in range(2):
            yield scrapy.Request(self.url, dont_filter=True)

    def parse(self, response):
        self.polled += 1
        yield {"polled": self.polled}
        if self.polled < 4:
            yield scrapy.Request(response.url, dont_filter=True)
        yield scrapy.Request(response.url, callback=self.once)

    def once(self, response):
        yield {"once": response.url}
"""


REDIRECTED = """
import scrapy


class Redirected(scrapy.Spider):
    name = "redirected"

    async def start(self):
        yield scrapy.Request(self.url + "old")
        yield scrapy.Request(self.url + "late")
        yield scrapy.Request(self.url + "other")

    def parse(self, response):
        yield {"url": response.url}
        yield scrapy.Request(self.url + "new")
"""


ELSEWHERE = """
import scrapy
from scrapy.utils.engine import get_engine_status


class Elsewhere(scrapy.Spider):
    name = "elsewhere"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield {"url": response.url}
        for url in ("data:text/plain,hello", "data:text/plain,hello", "file://" + __file__, "data:,"):
            yield scrapy.Request(url, self.other, dont_filter=url == "data:,")
        yield scrapy.Request("data:,", self.other)
        yield {"not known": [one for one in get_engine_status(self.crawler.engine) if "exception" in str(one[1])]}
        yield scrapy.Request("ftp://127.0.0.1:1/", self.other, errback=lambda failure: None)

    def other(self, response):
        yield {"url": response.url[:30]}
"""


def items(tmp_path, url, addons, spider=SPIDER, *more) -> list[str]:
    process(tmp_path, url, addons, spider, *more).check_returncode()
    return sorted((tmp_path / "items.jsonl").read_text().splitlines())


def process(tmp_path, url, addons, spider, *more) -> subprocess.CompletedProcess[str]:
    """Whatever it ends with."""
    (tmp_path / "poll.py").write_text(spider)
    settings = [
        f"ADDONS={json.dumps(addons)}",
        "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8",
        "TELNETCONSOLE_ENABLED=False",
        *more,
    ]
    chosen = [text for setting in settings for text in ("-s", setting)]
    words = ["runspider", "poll.py", "-a", f"url={url}", "-O", "items.jsonl", *chosen]
    return finished(words, tmp_path, os.environ)


def run(tmp_path, url, addons, *more) -> subprocess.CompletedProcess[str]:
    done = process(tmp_path, url, addons, (tmp_path / "poll.py").read_text(), *more)
    done.check_returncode()
    return done


ADDON = {"sharc_crawler.live.addon.SharcAddon": 500}
