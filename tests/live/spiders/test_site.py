"""What Scrapy has for any spider, and a capture has no use for, is asked for no page; what a project adds is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.defaultheaders import DefaultHeadersMiddleware
from scrapy.downloadermiddlewares.downloadtimeout import DownloadTimeoutMiddleware
from scrapy.downloadermiddlewares.useragent import UserAgentMiddleware
from scrapy.http import Headers, Response
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from sharc_crawler.errors import UsageError
from sharc_crawler.live import private
from sharc_crawler.live.config import Config
from sharc_crawler.live.private import CaptureDownloader
from sharc_crawler.live.requests import Sent, request_for, usual_headers
from sharc_crawler.live.spiders.site import IDLE, SiteSpider
from sharc_crawler.live.wire.client import request_bytes
from sharc_crawler.model import Fetch, Kind, Plan, Slot, Validators

if TYPE_CHECKING:
    from pathlib import Path


class Own:
    """A project's middleware."""


def test_a_page_passes_through_no_component_that_does_nothing(tmp_path: Path) -> None:
    settings = Settings({"DOWNLOADER_MIDDLEWARES": {Own: 5}, "SPIDER_MIDDLEWARES": {Own: 6}})
    settings.setmodule("sharc_crawler.live.profile")
    crawler = Crawler(SiteSpider, settings)
    theirs = {one.split(".")[-2] for one in crawler.settings["DOWNLOADER_MIDDLEWARES_BASE"]}
    assert set(IDLE) <= theirs, "Scrapy has them"
    SiteSpider.from_crawler(crawler, url="http://127.0.0.1:9/", output=str(tmp_path / "x"))
    crawler.addons.load_settings(crawler.settings)
    downloader = crawler.settings.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES")
    left = {str(one).split(".")[-2] for one in downloader}
    assert not set(IDLE) & left
    assert "httpproxy" in left
    assert downloader[Own] == 5
    spider = crawler.settings.get_component_priority_dict_with_base("SPIDER_MIDDLEWARES")
    assert {name for name, priority in spider.items() if priority is not None} == {Own}


@pytest.mark.parametrize("own", [{}, {"USER-agent": "mine", "X-Own": "1"}])
@pytest.mark.parametrize("agent", ["named (+https://h/)", ""])
def test_a_request_says_what_scrapys_middlewares_would_make_it_say(own: dict[str, str], agent: str) -> None:
    given = {"X-All": "ä", "accept": None, "ACCEPT-ENCODING": "theirs", "Accept-Language": "en"}
    settings = {"DEFAULT_REQUEST_HEADERS": given, "USER_AGENT": agent, "DOWNLOAD_TIMEOUT": 7}
    crawler = get_crawler(SiteSpider, settings)
    fetch = Fetch(1, 0, "h", "http://h/", Kind.PAGE, Slot.ONLY, Plan.HOPEFUL, "h", 1, Validators(), 0.0)
    made = request_for(fetch, SiteSpider, Sent(own), usual_headers(crawler.settings, ["gzip"]), 7.0)
    theirs = Request("http://h/", headers={**Headers(own), b"Accept-Encoding": "gzip"})
    for kind in (DownloadTimeoutMiddleware, DefaultHeadersMiddleware, UserAgentMiddleware):
        kind.from_crawler(crawler).process_request(theirs)
    assert made.headers == theirs.headers
    assert made.meta["download_timeout"] == theirs.meta["download_timeout"]
    assert request_bytes(made, "h") == request_bytes(theirs, "h")
    abroad = request_for(fetch._replace(url="http://straße.de/ö"), SiteSpider, Sent(own), Headers(), 7.0)
    assert abroad.url == "http://xn--strae-oqa.de/%C3%B6", "strasse.de is somebody else's"


def test_what_settings_say_of_captures_holds_for_them(tmp_path: Path) -> None:
    settings = Settings({"SHARC_PAGE_RESOURCES": "5", "SHARC_SIZE": "70"})
    settings.setmodule("sharc_crawler.live.profile")
    crawler = Crawler(SiteSpider, settings)
    spider = SiteSpider.from_crawler(crawler, url="http://127.0.0.1:9/", output=str(tmp_path / "x"))
    (spec,) = spider.capture_specs(Config.from_settings(crawler.settings))
    assert (spec.page_resources, spec.size) == (5, 70)


def test_a_project_with_commands_of_its_own_runs_it_under_a_scheduler_too(tmp_path: Path) -> None:
    settings = Settings({"SPIDER_MODULES": ["sharc_crawler.live.spiders"]})
    url = "http://127.0.0.1:9/"
    given = {"url": url, "output": str(tmp_path / "x"), "_job": "6a1f"}
    assert SiteSpider.from_crawler(Crawler(SiteSpider, settings), **given).arguments.urls == (url,)


def test_nobody_elses_downloader_delays_a_request() -> None:
    crawler = Crawler(SiteSpider, Settings({"DOWNLOADER": "project.Downloader", "DOWNLOAD_DELAY": 9}))
    assert crawler.settings["DOWNLOADER"] == f"{CaptureDownloader.__module__}.{CaptureDownloader.__name__}"


@pytest.mark.parametrize("middlewares", [[], [print]])
def test_callbacks_that_do_nothing_are_called_only_where_somebody_looks(middlewares: list[Any]) -> None:
    scraper: Any = SimpleNamespace(spidermw=SimpleNamespace(methods={"process_spider_input": middlewares}))
    scraper.enqueue_scrape = list
    private.spare_callbacks(scraper)
    assert (scraper.enqueue_scrape is list) is bool(middlewares)


@pytest.mark.parametrize("fails", [False, True])
async def test_whoever_listens_hears_of_each_request(fails: bool) -> None:
    heard: list[object] = []
    crawler = Crawler(SiteSpider, Settings())
    listener = heard.append
    made = [signals.request_reached_downloader, signals.response_downloaded, signals.request_left_downloader]
    for one in made:
        crawler.signals.connect(lambda signal: listener(signal), one, weak=False)

    async def answered(request: Request) -> Response:
        assert downloader.active == {request}
        if fails:
            raise OSError("no answer")
        return Response(request.url)

    downloader = CaptureDownloader.__new__(CaptureDownloader)
    downloader.crawler, downloader.signals, downloader.active = crawler, crawler.signals, set()
    downloader.handlers = SimpleNamespace(download_request_async=answered)  # type: ignore[assignment]
    downloader.middleware = SimpleNamespace(download_async=lambda ask, request: ask(request))  # type: ignore[assignment]

    fetched = downloader.fetch(Request("http://h/"))
    if fails:
        with pytest.raises(OSError, match="no answer"):
            await fetched
    else:
        assert (await fetched).url == "http://h/"
    assert heard == ([made[0], made[2]] if fails else made)
    assert not downloader.active


def test_a_misspelt_setting_is_not_told_as_one_that_is_missing() -> None:
    settings = Settings({"SHARC_OPERATER": "crawls@library.example"})
    with pytest.raises(UsageError, match="SHARC_OPERATER is no setting; did you mean 'SHARC_OPERATOR'"):
        SiteSpider.prepare(settings, {"url": "https://www.example.org/"})


@pytest.mark.parametrize("bare", ["127.0.0.1:8977", "www.example.org:8443/news", "localhost:80"])
def test_an_address_with_a_port_says_whether_it_is_https(bare: str) -> None:
    with pytest.raises(UsageError, match=f"url='{bare}' says neither http nor https; write http://{bare} or https:"):
        SiteSpider.prepare(Settings(), {"url": bare})
