"""Scrapy's and Twisted's private names, all that we build on: what moved is named here first.

And versions that lack one: a sentence that says what to install.
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest
import scrapy
from scrapy.core.downloader import Downloader
from scrapy.core.downloader.handlers import http11
from scrapy.core.engine import ExecutionEngine, _Slot
from scrapy.utils.test import get_crawler
from twisted.internet import _sslverify
from twisted.web import _newclient, client, http

from sharc_crawler.errors import UsageError
from sharc_crawler.live import moved, versions
from sharc_crawler.live.wire import WireTapHandler

PROJECT = """
import sys
import scrapy
from scrapy.core.downloader.handlers import http11
from scrapy.crawler import AsyncCrawlerProcess

for name in ("_ScrapyAgent", "ScrapyAgent"):
    vars(http11).pop(name, None)

class One(scrapy.Spider):
    name = "one"
    start_urls = ["http://127.0.0.1:9/"]

process = AsyncCrawlerProcess({"ADDONS": {"sharc_crawler.live.addon.SharcAddon": 500}})
process.crawl(One)
process.start()
sys.exit(process.bootstrap_failed)
"""


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (ExecutionEngine, "close_spider_async"),
        (Downloader, "get_slot_key"),
        (http11, "HTTP11DownloadHandler"),
        (http.HTTPChannel, "dataReceived"),
        (http, "_ChunkedTransferDecoder"),
        (http._ChunkedTransferDecoder, "_dataReceived_CHUNK_LENGTH"),
        (_newclient, "STATUS"),
        (_newclient, "HEADER"),
        (_newclient.HTTP11ClientProtocol, "_parser"),
        (_newclient.HTTP11ClientProtocol, "_currentRequest"),
        (_newclient.HTTP11ClientProtocol, "_finishResponse"),
        (_newclient.HTTPClientParser, "_transferDecoders"),
        (client.HTTPConnectionPool, "_factory"),
        (_sslverify, "VerificationError"),
    ],
)
def test_a_private_name_is_where_it_was(owner, name):
    assert hasattr(owner, name), f"{owner.__name__}.{name} is gone from Scrapy {scrapy.__version__}, or its Twisted"


def test_the_engines_slot_has_what_we_ask_it_for():
    assert {"inprogress", "nextcall"} <= {*re.findall(r"self\.(\w+)", inspect.getsource(_Slot.__init__))}
    assert "_slot" in inspect.getsource(ExecutionEngine.__init__)


def test_the_downloader_has_the_delays_that_the_frontier_takes_over():
    downloader = Downloader(get_crawler())
    missing = [name for name in ("slots", "per_slot_settings", "total_concurrency") if not hasattr(downloader, name)]
    downloader.close()
    assert missing == []


def test_an_agent_takes_what_the_tap_gives_it():
    taken = {*inspect.signature(moved.ScrapyAgent).parameters}
    assert taken >= {"contextFactory", "bindAddress", "pool", "maxsize", "warnsize", "fail_on_dataloss", "crawler"}
    assert list(inspect.signature(moved.ScrapyAgent._get_agent).parameters) == ["self", "request", "timeout"]
    agent = client.Agent(object())
    assert hasattr(agent._endpointFactory, "_reactor"), "there the guard of addresses is put"


def test_a_connection_is_made_by_the_factory_that_the_tap_replaces():
    assert issubclass(moved.ClientProtocol, _newclient.HTTP11ClientProtocol)
    assert list(inspect.signature(moved.ClientProtocol._finishResponse).parameters)[-1] in {"rest", "kwargs"}
    assert list(_newclient.HTTPClientParser._transferDecoders) == [b"chunked"]


def test_the_handler_has_the_attributes_that_the_tap_hands_on():
    handler = WireTapHandler(get_crawler(settings_dict={"TELNETCONSOLE_ENABLED": False}))
    names = ("_pool", "_contextFactory", "_bind_address", "_crawler", "_default_maxsize", "_default_warnsize")
    missing = [name for name in (*names, "_fail_on_dataloss", "_tls_verbose_logging") if not hasattr(handler, name)]
    assert missing == []


def test_an_old_scrapy_is_named_with_the_one_to_install(monkeypatch):
    monkeypatch.setattr(versions, "version_info", (2, 14, 2))
    with pytest.raises(UsageError, match=r"is too old for sharc-crawler: pip install 'scrapy>=2\.15'"):
        versions.require_scrapy()


def test_a_scrapy_without_a_name_that_we_need_is_named_in_a_line(tmp_path):
    (tmp_path / "project.py").write_text(PROJECT)
    run = [sys.executable, "project.py"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode != 0
    assert "has not what sharc-crawler builds on" in done.stderr
    assert f"Scrapy {scrapy.__version__}" in done.stderr
    assert "Traceback" not in done.stderr
