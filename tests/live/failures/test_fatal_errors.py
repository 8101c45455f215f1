"""What is said where a crawl fails and no log is shown, or nobody awaits it."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.live.failures.fatal_errors import tell
from tests.live.warm import finished

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

#: of each of the programs
SETTINGS = {
    "ADDONS": {"sharc_crawler.live.addon.SharcAddon": 500},
    "SHARC_OUTPUT": "capture",
    "SHARC_ALLOWED_ADDRESSES": "127.0.0.0/8",
    "TELNETCONSOLE_ENABLED": False,
}
TWO = """
import sys
import scrapy
from scrapy.crawler import CrawlerProcess


class One(scrapy.Spider):
    name = "one"
    start_urls = sys.argv[1:]


class Two(One):
    name = "two"


process = CrawlerProcess(SETTINGS)
crawls = process.crawl(One), process.crawl(Two)
process.start()
"""

FULL = """
import errno
import os
import signal
import sys
import scrapy
from scrapy.crawler import CrawlerProcess
from sharc_crawler.storage.sqlite import SqliteStore


class Full(scrapy.Spider):
    name = "full"

    async def start(self):
        for number in range(40):
            yield scrapy.Request(f"{sys.argv[1]}index.html?{number}")

    def parse(self, response):
        if SqliteStore.commit is not no_room:  # a second signal would end it at once
            SqliteStore.commit = no_room
            os.kill(os.getpid(), signal.SIGINT)


def no_room(store, batch):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


process = CrawlerProcess(SETTINGS)
process.crawl(Full)
process.start()
"""


@pytest.mark.parametrize(
    ("handlers", "told"),
    [
        ([logging.NullHandler()], "sharc: error: no room\n"),  # as with --nolog
        ([], ""),  # Python's own way shows it
        ([logging.NullHandler(), logging.StreamHandler()], ""),
    ],
)
def test_it_is_told_once(monkeypatch, capsys, handlers, told):
    monkeypatch.setattr(logging.getLogger(), "handlers", handlers)
    tell("no room")
    assert capsys.readouterr().err == told


def ran(program: str, static, folder: Path) -> subprocess.CompletedProcess[str]:
    """Such a program, to its end, over a site of one page."""
    (folder / "site").mkdir()
    (folder / "site" / "index.html").write_text("<html>hello</html>")
    with static(folder / "site") as url:
        (folder / "program.py").write_text(f"SETTINGS = {SETTINGS}{program}")
        return finished([url], folder, os.environ, program="program.py")


def test_a_second_spider_in_one_folder_is_refused_in_one_line_though_nobody_awaits_it(static, tmp_path):
    done = ran(TWO, static, tmp_path)
    assert "ImportError" not in done.stderr
    assert "sharc: error: SHARC_OUTPUT='capture' is being written by another crawl" in done.stderr
    assert (tmp_path / "capture" / "certificate.json").exists(), "of the first"


def test_a_crawl_that_is_interrupted_while_its_state_finds_no_room_ends(static, tmp_path):
    done = ran(FULL, static, tmp_path)
    assert done.stderr.count("could not be written") < 20, "what cannot be written is not tried again and again"
    assert "No space left on device" in done.stderr
