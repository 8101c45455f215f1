"""A project's download slots: each has its own pace, and is looked at when something went over it."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler

from tests.live.dropin_runs import ADDON, items, run
from tests.live.serving import serving

SLOTS = """
import scrapy


class Slots(scrapy.Spider):
    name = "slots"
    custom_settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}

    async def start(self):
        for slot in ("a.example", "www.a.example"):
            yield scrapy.Request(self.url + slot, meta={"download_slot": slot})

    def parse(self, response):
        yield {"url": response.url}
"""

MANY = """
import scrapy
from sharc_crawler.live.project import download_slots, dropin

looked = decided = 0


def last_asked(slot, last_asked=download_slots.last_asked):
    global looked
    looked += 1
    return last_asked(slot)


def follow_slots(self, follow_slots=dropin.DropIn.follow_slots):
    global decided
    decided += 1
    follow_slots(self)


download_slots.last_asked, dropin.DropIn.follow_slots = last_asked, follow_slots


class Many(scrapy.Spider):
    name = "many"
    custom_settings = {"CONCURRENT_REQUESTS": 2}

    async def start(self):
        for number in range(100):
            yield scrapy.Request(f"{self.url}{number}", meta={"download_slot": str(number)})

    def closed(self, reason):
        import pathlib
        pathlib.Path("looked").write_text(f"{looked} {decided}")

    def parse(self, response):
        yield {"url": response.url}
"""


class _Both(BaseHTTPRequestHandler):
    """Answers when both pages have been asked for."""

    both: threading.Barrier

    def do_GET(self):
        self.both.wait(120)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


class _Any(_Both):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()


def test_slots_named_as_one_machine_has_its_hosts_do_not_wait_for_each_other(tmp_path):
    _Both.both = threading.Barrier(2)
    with serving(_Both) as url:
        assert len(items(tmp_path, url, ADDON, SLOTS, "RETRY_ENABLED=False")) == 2


def test_slots_that_nothing_has_reached_are_not_looked_at(tmp_path):
    (tmp_path / "poll.py").write_text(MANY)
    with serving(_Any) as url:
        run(tmp_path, url, ADDON)
    looked, decided = map(int, (tmp_path / "looked").read_text().split())
    assert decided >= 100
    assert looked <= 4 * decided, "of 100 slots those are looked at that two requests at once are for"
