"""Pages are told of where somebody would see it."""

from __future__ import annotations

import logging

import pytest
from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from sharc_crawler.live.monitoring.quiet import QuietFormatter


@pytest.mark.parametrize(
    ("level", "told"), [("DEBUG", True), (logging.DEBUG, True), ("WARNING", False), (logging.INFO, False)]
)
def test_a_page_is_told_of_at_debug_level(level: str | int, told: bool) -> None:
    formatter = QuietFormatter.from_crawler(get_crawler(settings_dict={"LOG_LEVEL": level}))
    url = "http://h.example/"
    line = formatter.crawled(Request(url), Response(url), Spider(name="any"))
    assert (line is not None) == told
