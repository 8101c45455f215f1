"""What Scrapy has for any spider, and a capture has no use for, is asked for no page; what a project adds is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from sharc_crawler.errors import UsageError
from sharc_crawler.live.spiders.site import IDLE, SiteSpider

if TYPE_CHECKING:
    from pathlib import Path


class Own:
    """A project's middleware."""


def test_a_page_passes_through_no_component_that_does_nothing(tmp_path: Path) -> None:
    settings = Settings({"DOWNLOADER_MIDDLEWARES": {Own: 5}, "SPIDER_MIDDLEWARES": {Own: 6}})
    settings.setmodule("sharc_crawler.live.profile")
    crawler = Crawler(SiteSpider, settings)
    assert set(IDLE) <= set(crawler.settings["DOWNLOADER_MIDDLEWARES_BASE"]), "Scrapy has them"
    SiteSpider.from_crawler(crawler, url="http://127.0.0.1:9/", output=str(tmp_path / "x"))
    crawler.addons.load_settings(crawler.settings)
    downloader = crawler.settings.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES")
    assert not set(IDLE) & set(downloader)
    assert downloader[Own] == 5
    spider = crawler.settings.get_component_priority_dict_with_base("SPIDER_MIDDLEWARES")
    assert {name for name, priority in spider.items() if priority is not None} == {Own}


def test_a_misspelt_setting_is_not_told_as_one_that_is_missing() -> None:
    settings = Settings({"SHARC_OPERATER": "crawls@library.example"})
    with pytest.raises(UsageError, match="setting='SHARC_OPERATER' is not known; did you mean 'SHARC_OPERATOR'"):
        SiteSpider.prepare(settings, {"url": "https://www.example.org/"})


@pytest.mark.parametrize("bare", ["127.0.0.1:8977", "www.example.org:8443/news", "localhost:80"])
def test_an_address_with_a_port_says_whether_it_is_https(bare: str) -> None:
    with pytest.raises(UsageError, match=f"url='{bare}' says neither http nor https; write http://{bare} or https:"):
        SiteSpider.prepare(Settings(), {"url": bare})
