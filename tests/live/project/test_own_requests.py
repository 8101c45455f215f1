"""Requests of a project's own kinds: conditional ones, GET with a body; and a fault of ours at the crawl's end."""

from __future__ import annotations

import http.server
import json

import pytest

from sharc_crawler.certificate.verify import verify
from tests.archive.readback import read_all
from tests.live.conftest import captures_of
from tests.live.dropin_runs import ADDON, SPIDER, items, process
from tests.live.serving import Answering, serving

CONDITIONAL = """
import scrapy


class Conditional(scrapy.Spider):
    name = "conditional"
    handle_httpstatus_list = [304]
    custom_settings = {"SHARC_OUTPUT": "capture", "SHARC_STRATEGY": "sharc-selective"}

    async def start(self):
        known = {"If-None-Match": '"v1"'}
        yield scrapy.Request(self.url + "known", headers=known)
        yield scrapy.Request(self.url + "posted", method="POST", headers=known)
        yield scrapy.Request(self.url + "plain", self.again)

    def again(self, response):
        yield scrapy.Request(response.url, headers={"If-None-Match": '"v1"'}, dont_filter=True)

    def parse(self, response):
        yield {"url": response.url, "status": response.status}
"""

BODIES = """
import scrapy


class Bodies(scrapy.Spider):
    name = "bodies"
    custom_settings = {"SHARC_OUTPUT": "capture", "SHARC_STRATEGY": "sharc-selective"}

    async def start(self):
        for path in ("a/1", "a/2", "b/1"):
            yield scrapy.Request(self.url + path)
        yield scrapy.Request(self.url + "search/all", body="q=1")
        yield scrapy.http.JsonRequest(self.url + "search/all", method="GET", data={"q": 2})

    def parse(self, response):
        yield {"url": response.url}
"""

MANY = """
import scrapy
from sharc_crawler.storage.sqlite import SqliteStore


class Many(scrapy.Spider):
    name = "many"
    custom_settings = {"SHARC_OUTPUT": "capture", "SHARC_RESUME": True}
    written = 0

    async def start(self):
        commit = SqliteStore.commit

        def counted(store, batch):
            self.written += 1
            commit(store, batch)

        SqliteStore.commit = counted
        yield scrapy.Request(self.url + "all")

    def parse(self, response):
        if response.url.endswith("all"):
            self.before = self.written
            for number in range(100):
                yield scrapy.Request(f"{self.url}{number}")
        elif self.before is not None:
            yield {"written": self.written - self.before}
            self.before = None
"""

FROM_MEMORY = """
import scrapy
from scrapy.http import HtmlResponse


class Memory:
    "Nearer to the downloader than what archives: it answers revisits with what it has, and one page by itself."

    def __init__(self):
        self.known = {}

    def process_request(self, request, spider=None):
        if "invented" in request.url:
            return HtmlResponse(request.url, body=b"<title>nobody sent this</title>")
        return self.known.get(request.url)

    def process_response(self, request, response, spider=None):
        return self.known.setdefault(request.url, response)


class Remembering(scrapy.Spider):
    name = "remembering"
    custom_settings = {
        "SHARC_OUTPUT": "capture",
        "SHARC_STRATEGY": "sharc-selective",
        "DOWNLOADER_MIDDLEWARES": {Memory: 995},
    }

    async def start(self):
        for path in ("a", "b", "c", "invented"):
            yield scrapy.Request(self.url + path)

    def parse(self, response):
        yield {"title": response.css("title::text").get()}
"""

OWN_HANDLER = """
import scrapy
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler


class Caching(HTTP11DownloadHandler):
    "Answers what was asked before from memory."
    known = {}

    async def download_request(self, request):
        if request.url not in self.known:
            self.known[request.url] = await super().download_request(request)
        return self.known[request.url]


class Cached(scrapy.Spider):
    name = "cached"
    custom_settings = {
        "SHARC_OUTPUT": "capture",
        "SHARC_STRATEGY": "sharc-selective",
        "DOWNLOAD_HANDLERS": {"http": Caching},
    }

    async def start(self):
        for path in ("a", "b", "c"):
            yield scrapy.Request(self.url + path)

    def parse(self, response):
        yield {"title": response.css("title::text").get()}
"""

FAULT = """
import scrapy
from sharc_crawler.live import ending


class Fault(scrapy.Spider):
    name = "fault"
    custom_settings = {"SHARC_OUTPUT": "capture"}

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        ending.leave = None  # a fault of the code that writes the report


"""


class Known(Answering, http.server.BaseHTTPRequestHandler):
    """Each address has the entity tag "v1"; what a GET has as its body does not matter."""

    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        known = self.headers.get("If-None-Match") == '"v1"'
        self.answer(b"" if known else b"<html>hello</html>", status=304 if known else 200, ETag='"v1"')

    def do_POST(self):
        self.do_GET()


def test_what_a_spider_asked_for_conditionally_by_itself_is_not_captured_and_the_others_are_claimed(tmp_path):
    with serving(Known) as url:
        plain = items(tmp_path, url, {}, CONDITIONAL)
        assert sorted(json.loads(item)["status"] for item in plain) == [304, 304, 304]
        assert items(tmp_path, url, ADDON, CONDITIONAL) == plain
    (capture,) = captures_of(tmp_path / "capture")
    verdicts = {page["url"]: page["verdict"] for page in capture["pages"] if page["kind"] == "page"}
    assert verdicts == {f"{url}known": None, f"{url}plain": "coherent"}
    assert capture["claim"]["statement"].startswith("The only captured page was in this state at ")
    assert verify(tmp_path / "capture").findings == []
    assert (tmp_path / "capture" / "certificate.json").exists()


def test_a_callback_that_was_renamed_between_two_runs_is_one_line_and_nothing_is_lost(static, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<html>hello</html>")
    terms = "SHARC_OUTPUT=capture", "SHARC_RESUME=True"
    with static(tmp_path / "site") as url:
        process(tmp_path, url, ADDON, SPIDER, *terms, "CLOSESPIDER_PAGECOUNT=2")
        done = process(tmp_path, url, ADDON, SPIDER.replace("once", "twice"), *terms)
        assert "the spider 'poll' has no method 'once' any more, the callback of http://127.0.0.1" in done.stderr
        assert "give it back, and the same command resumes it; or choose another folder" in done.stderr
        assert "Traceback" not in done.stderr
        done = process(tmp_path, url, ADDON, SPIDER, *terms)
    assert "Traceback" not in done.stderr
    assert verify(tmp_path / "capture").findings == []


def test_what_a_callback_asks_for_is_written_in_few_steps(static, tmp_path):
    """Each is a sync of the disk, for which the reactor waits."""
    site = tmp_path / "site"
    site.mkdir()
    for name in ("all", *map(str, range(100))):
        (site / name).write_text(name)
    with static(site) as url:
        (found,) = items(tmp_path, url, ADDON, MANY)
    assert json.loads(found)["written"] < 50, "when the first of them has been visited"
    (capture,) = captures_of(tmp_path / "capture")
    assert capture["coherence"]["captured"] == 101


def test_a_get_with_a_body_is_a_page_of_its_folder(tmp_path):
    with serving(Known) as url:
        assert len(items(tmp_path, url, ADDON, BODIES)) == 5
    (capture,) = captures_of(tmp_path / "capture")
    site = url.removeprefix("http://").rstrip("/")
    folders = {page["url"]: page["subsite"] for page in capture["pages"] if page["kind"] == "page"}
    assert folders == {
        f"{url}a/1": f"{site}/a/",
        f"{url}a/2": f"{site}/a/",
        f"{url}b/1": f"{site}/b/",
        f"GET {url}search/all": f"{site}/search/",
    }
    assert capture["claim"]["statement"].startswith("All 4 pages were in this state together at ")
    assert verify(tmp_path / "capture").findings == []


@pytest.mark.parametrize("more", [[], ["LOG_ENABLED=False"]])
def test_a_fault_of_ours_at_the_end_is_told_and_fails_the_command(tmp_path, more):
    with serving(Known) as url:
        done = process(tmp_path, url, ADDON, FAULT, *more)
    assert done.returncode == 1
    assert "The end of the crawl cannot be written: TypeError: " in done.stderr
    assert "That is a fault of sharc-crawler's: please report it. All downloads are on disk; with a" in done.stderr
    assert "`sharc report capture` writes the report" in done.stderr


class _Counting(Answering, http.server.BaseHTTPRequestHandler):
    """Another content at each request."""

    def __init__(self, asked, *more):
        self.asked = asked
        super().__init__(*more)

    def do_GET(self):
        self.asked.append(self.path)
        self.answer(b"<title>answer %d</title>" % len(self.asked))


def test_what_a_middleware_nearer_to_the_wire_answers_is_neither_archived_nor_judged(tmp_path):
    asked = []
    with serving(lambda *more: _Counting(asked, *more)) as url:
        titles = [json.loads(line)["title"] for line in items(tmp_path, url, ADDON, FROM_MEMORY)]
    assert sorted(titles) == ["answer 1", "answer 2", "answer 3", "nobody sent this"]
    (capture,) = captures_of(tmp_path / "capture")
    found = {page["url"].removeprefix(url): page for page in capture["pages"] if page["kind"] == "page"}
    coherent = [path for path, page in found.items() if page["verdict"] == "coherent"]
    assert len(coherent) <= 1, "what was downloaded at T itself"
    assert found["invented"]["visit"]["warc"] is None
    answers = [record for record in read_all(tmp_path / "capture") if record.kind in ("response", "revisit")]
    assert len(answers) == len(asked), "no record of what was never exchanged"
    assert verify(tmp_path / "capture").findings == []


def test_a_claim_says_that_another_download_handler_handed_on_what_it_rests_on(tmp_path):
    with serving(lambda *more: _Counting([], *more)) as url:
        items(tmp_path, url, ADDON, OWN_HANDLER)
    (capture,) = captures_of(tmp_path / "capture")
    assert capture["claim"]["statement"].endswith("; what was on the wire was not seen")
    assert any("another download handler (" in note and "Caching)" in note for note in capture["notes"])
    document = json.loads((tmp_path / "capture" / "certificate.json").read_bytes())
    assert {"code": "wire-unseen"} in document["capture"]["claim"]["limits"]
    assert document["capture"]["notes"][0].startswith("what was on the wire was not seen")
    assert verify(tmp_path / "capture").findings == []
