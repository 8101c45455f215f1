"""What projects combine with Scrapy, with the add-on: each plug-in's own way to download, to inject, to watch.

Those that are not installed are skipped: ``pip install`` them here, or in another environment with sharc-crawler whose
Python ``SHARC_PLUGINS`` names. docs/drop-in.md lists what was tried.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from http.server import BaseHTTPRequestHandler
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.live.conftest import captures_of
from tests.live.serving import serving

if TYPE_CHECKING:
    from collections.abc import Mapping

PYTHON = os.environ.get("SHARC_PLUGINS", sys.executable)
CHROMIUM = shutil.which("chromium")
PAGES = 5
SETTINGS = {
    "ADDONS": {"sharc_crawler.live.addon.SharcAddon": 500},
    "SHARC_ALLOWED_ADDRESSES": ["127.0.0.0/8"],
    "SHARC_OUTPUT": "capture",
    "SHARC_STRATEGY": "sharc-selective",
    "TELNETCONSOLE_ENABLED": False,
}
SPIDER = """
import scrapy


class Pages(scrapy.Spider):
    name = "pages"
    meta = {meta}

    async def start(self):
        yield scrapy.Request(self.url, meta=dict(self.meta))

    async def parse(self, response{more}):
        {first}
        yield {{"url": response.url, "title": {title}}}
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, meta=dict(self.meta))
"""
POET = """
import web_poet


class Title(web_poet.WebPage):
    def title(self):
        return self.css("title::text").get()


"""
MONITOR = """
from spidermon import Monitor, MonitorSuite


class Items(Monitor):
    def test_items(self):
        assert self.data.stats["item_scraped_count"] == 5, self.data.stats


class Suite(MonitorSuite):
    monitors = [Items]


"""


class Plugin(NamedTuple):
    """A project that uses it."""

    module: str
    settings: Mapping[str, object] = MappingProxyType({})
    before: str = ""
    meta: str = "{}"
    more: str = ""
    first: str = "pass"
    title: str = 'response.css("title::text").get()'


HANDLERS = {
    "playwright": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler",
    "impersonate": "scrapy_impersonate.ImpersonateDownloadHandler",
}
PLUGINS = {
    "scrapy-playwright": Plugin(
        "scrapy_playwright",
        {
            "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https"), HANDLERS["playwright"]),
            "PLAYWRIGHT_LAUNCH_OPTIONS": {"executable_path": CHROMIUM, "args": ["--no-sandbox"]},
        },
        meta='{"playwright": True, "playwright_include_page": True}',
        first='await response.meta["playwright_page"].close()',
    ),
    "scrapy-impersonate": Plugin(
        "scrapy_impersonate",
        {"DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https"), HANDLERS["impersonate"])},
        meta='{"impersonate": "chrome"}',
    ),
    "scrapy-poet": Plugin(
        "scrapy_poet",
        {"ADDONS": {**SETTINGS["ADDONS"], "scrapy_poet.Addon": 300}},
        before=POET,
        more=", page: Title",
        title="page.title()",
    ),
    "spidermon": Plugin(
        "spidermon",
        {
            "EXTENSIONS": {"spidermon.contrib.scrapy.extensions.Spidermon": 500},
            "SPIDERMON_ENABLED": True,
            "SPIDERMON_SPIDER_CLOSE_MONITORS": ["spider.Suite"],
        },
        before=MONITOR,
    ),
}


class _Site(BaseHTTPRequestHandler):
    """Five pages, all linked from the first."""

    def do_GET(self):
        links = "".join(f"<a href='/{number}'>" for number in range(1, PAGES)) if self.path == "/" else ""
        body = f"<!doctype html><title>T{self.path}</title>{links}<p>page {self.path}".encode()
        known = self.path == "/" or self.path[1:] in map(str, range(1, PAGES))
        self.send_response_only(200 if known else 404)  # no Date: on a busy machine its answers are minutes old
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def crawled(folder, url: str, plugin: Plugin) -> subprocess.CompletedProcess[str]:
    """A project of one spider, run to its end."""
    if subprocess.run([PYTHON, "-c", f"import {plugin.module}"], capture_output=True, check=False).returncode:
        pytest.skip(f"{plugin.module} is not installed")
    form = {name: getattr(plugin, name) for name in ("meta", "more", "first", "title")}
    (folder / "spider.py").write_text(plugin.before + SPIDER.format(**form))
    (folder / "settings.py").write_text("".join(f"{k} = {v!r}\n" for k, v in {**SETTINGS, **plugin.settings}.items()))
    env = {**os.environ, "SCRAPY_SETTINGS_MODULE": "settings", "PYTHONPATH": str(folder)}
    words = ["-m", "scrapy", "runspider", "spider.py", "-a", f"url={url}", "-O", "items.jsonl"]
    return subprocess.run(
        [PYTHON, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.parametrize("name", PLUGINS)
def test_a_plug_in_works_as_without(tmp_path, name):
    if name == "scrapy-playwright" and CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with serving(_Site) as url:
        done = crawled(tmp_path, url, PLUGINS[name])
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert sorted(item["title"] for item in items) == sorted(["T/", *(f"T/{n}" for n in range(1, PAGES))])
    (capture,) = captures_of(tmp_path / "capture")
    assert [page["verdict"] for page in capture["pages"]] == ["coherent"] * PAGES
    assert "1 monitor in" in done.stderr or name != "spidermon", done.stderr


def test_scrapy_redis_is_refused(tmp_path):
    with serving(_Site) as url:
        done = crawled(tmp_path, url, Plugin("scrapy_redis", {"SCHEDULER": "scrapy_redis.scheduler.Scheduler"}))
    assert done.returncode
    assert "Traceback" not in done.stderr
    assert "are two schedulers" in done.stderr
