"""What is typed of Scrapy's for what the frontier sees to: it had made records that no certificate speaks of."""

from __future__ import annotations

import pytest
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from sharc_crawler.live.spiders.site import CaptureSpider

TYPED = ("ROBOTSTXT_OBEY", "HTTPCACHE_ENABLED", "COOKIES_ENABLED", "RETRY_ENABLED", "REDIRECT_ENABLED")


class Bare(CaptureSpider):
    name = "bare"


@pytest.mark.parametrize("name", TYPED)
def test_no_middleware_does_what_the_frontier_does(name: str) -> None:
    settings = Settings()
    settings.set(name, True, "cmdline")
    crawler = Crawler(Bare, settings)
    Bare()._set_crawler(crawler)
    left = {one.split(".")[-2] for one in crawler.settings["DOWNLOADER_MIDDLEWARES_BASE"]}
    assert left == {"httpproxy"}
