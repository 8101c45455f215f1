"""Scrapy's and Twisted's private names, all that we build on: what moved is named here first.

And versions that lack one: a sentence that says what to install.
"""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest
import scrapy
from scrapy.core import engine
from scrapy.core.downloader import Downloader
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.core.engine import ExecutionEngine
from scrapy.core.scraper import Scraper
from twisted.internet import _sslverify

import sharc_crawler.live
from sharc_crawler.errors import UsageError
from sharc_crawler.live import private, versions
from sharc_crawler.live.wire.handler import WireTapHandler
from tests.live.warm import finished

PROJECT = """
import sys
import scrapy
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import AsyncCrawlerProcess

class Moved(HTTP11DownloadHandler):
    def __init__(self, crawler):
        super(Moved, self).__init__(crawler)

HTTP11DownloadHandler.__init__ = Moved.__init__

class One(scrapy.Spider):
    name = "one"
    start_urls = ["http://127.0.0.1:9/"]

process = AsyncCrawlerProcess({"ADDONS": {"sharc_crawler.live.addon.SharcAddon": 500}})
process.crawl(One)
process.start()
sys.exit(process.bootstrap_failed)
"""


#: all that is private of what we build on, with where it is used
PRIVATE = {
    ("private.py", "_slot"),  # of Scrapy's engine
    ("private.py", "_pool"),  # of its handler
    ("private.py", "_contextFactory"),  # of its handler
    ("private.py", "_sslverify"),  # of Twisted
}


def names_of_others(file: Path) -> set[str]:
    """Names with an underscore that a file takes from elsewhere: of an import, or of an object that is not its own."""
    tree = ast.parse(file.read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    named = {name for node in imports for name in (*(node.module or "").split("."), *(one.name for one in node.names))}
    taken = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    of_others = {node.attr for node in taken if not isinstance(node.value, ast.Name | ast.Call)}
    of_others |= {node.attr for node in taken if isinstance(node.value, ast.Name) and node.value.id not in OWN}
    return {name for name in named | of_others if name.startswith("_") and not name.startswith("__")}


OWN = {"self", "cls", "os", "sys"}
NAMED_TUPLES = {"_replace", "_asdict"}


@pytest.mark.slow
def test_private_names_of_scrapy_and_twisted_are_few_and_in_one_module():
    room = Path(sharc_crawler.live.__file__).parent
    found = {(file.name, name) for file in room.rglob("*.py") for name in names_of_others(file) - NAMED_TUPLES}
    assert found == PRIVATE


def test_the_handler_has_no_name_that_is_its_bases():
    """Neither used nor overwritten."""

    def names(owner: type) -> set[str]:
        code = [method.__code__ for method in vars(owner).values() if hasattr(method, "__code__")]
        return {name for one in code for name in one.co_names if name.startswith("_") and not name.endswith("__")}

    bases = {name for base in WireTapHandler.__mro__[1:] for name in names(base) | set(vars(base))}
    assert {"_pool", "_crawler"} <= bases
    assert names(WireTapHandler) & bases == set()


def test_what_we_build_on_is_where_it_was():
    assert [*private.missing()] == [], f"gone from Scrapy {scrapy.__version__}, or its Twisted"


@pytest.mark.parametrize(
    ("owner", "name"),
    [(Downloader, "get_slot_key"), (Scraper, "enqueue_scrape"), (_sslverify, "VerificationError")],
)
def test_a_name_that_is_gone_is_named(owner, name, monkeypatch):
    monkeypatch.delattr(owner, name)
    assert [one.rpartition(".")[2] for one in private.missing()] == [name]


@pytest.mark.parametrize(
    ("owner", "names"),
    [
        (ExecutionEngine, ["_slot", "scraper"]),
        (Scraper, ["spidermw"]),
        (HTTP11DownloadHandler, ["_pool", "_contextFactory"]),
        (Downloader, ["slots", "total_concurrency", "active", "middleware", "handlers"]),
    ],
)
def test_an_attribute_that_is_not_set_is_named(owner, names, monkeypatch):
    monkeypatch.setattr(owner, "__init__", lambda self, crawler: None)
    assert [*private.missing()] == [f"{owner.__name__}.{name}" for name in names]


def test_the_engines_slot_has_what_we_ask_it_for():
    assert {"inprogress", "nextcall"} <= {*engine._Slot.__init__.__code__.co_names}


def test_an_old_scrapy_is_named_with_the_one_to_install(monkeypatch):
    monkeypatch.setattr(versions, "version_info", (2, 14, 2))
    with pytest.raises(UsageError, match=r"is too old for sharc-crawler: pip install 'scrapy>=2\.15'"):
        versions.require_scrapy()


def test_a_scrapy_without_a_name_that_we_need_is_named_in_a_line(tmp_path):
    (tmp_path / "project.py").write_text(PROJECT)
    done = finished([], tmp_path, os.environ, program="project.py")
    assert done.returncode != 0
    assert "has not what sharc-crawler builds on" in done.stderr
    assert f"Scrapy {scrapy.__version__}" in done.stderr
    assert "Traceback" not in done.stderr
