"""What Scrapy has for any spider, and a capture has no use for, is asked for no page; what a project adds is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.crawler import Crawler
from scrapy.settings import Settings

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
