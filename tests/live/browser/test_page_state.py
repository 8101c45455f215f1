"""A page whose scripts never end, within a capture."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

import pytest

from tests.live.browser.test_browsing import resources, there_is_chromium  # noqa: F401
from tests.live.serving import Answering, serving

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("there_is_chromium")]
ENDLESS = "<p>On and on<script>while (true);</script>"
LINKS = "<a href=/endless>x</a> <a href=/one>x</a> <a href=/two>x</a>"


class Site(Answering, BaseHTTPRequestHandler):
    def do_GET(self):
        pages = {"/": LINKS, "/endless": ENDLESS, "/one": "<p>One", "/two": "<p>Two"}
        self.answer(pages.get(self.path, "").encode(), status=200 if self.path in pages else 404)


def test_it_is_tried_once_and_counts_as_served(crawl):
    with serving(Site) as url:
        done = crawl(
            url=url, browser="always", delay="0.01", sitemap="off", strategy="bfs", settings=("SHARC_BROWSER_TIME=7",)
        )
    assert done.code == 0, done.err
    pages = {urlsplit(page["url"]).path: page["verdict"] for page in done.capture["pages"] if page["kind"] == "page"}
    assert pages == dict.fromkeys(("/", "/endless", "/one", "/two"), "coherent")
    why = "it took more than 7 s of processor time: do its scripts ever end?"
    assert any(f"not shown by a browser ({why}): {url}endless" in note for note in done.capture["notes"])
    told = json.loads(resources(done)[f"urn:pageinfo:{url}endless"])
    assert told["cut"] == [f"a browser: {why}"], "each page has its own record"
    assert done.err.count("was not shown by a browser") == 1


def test_a_budget_of_time_ends_it(crawl):
    with serving(Site) as url:
        done = crawl(url=f"{url}endless", browser="always", delay="0.01", sitemap="off", max_time="8s")
    assert done.code == 4, "no page was shown"
    assert any(f"not shown by a browser (max_time has run out): {url}endless" in note for note in done.capture["notes"])
