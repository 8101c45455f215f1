"""A project's requests under a SHARC order: no item more or less than without."""

from __future__ import annotations

import http.server
import json
from collections import Counter
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

from sharc_crawler.certificate.verify import verify
from sharc_crawler.cli import main
from sharc_crawler.live.project.middleware_notes import BEGINS, IN_CLEAR
from tests.live.conftest import captures_of
from tests.live.dropin_runs import ADDON, ELSEWHERE, REDIRECTED, items, run
from tests.live.serving import Answering, serving

ROUNDS = """
import scrapy


class Rounds(scrapy.Spider):
    name = "rounds"

    async def start(self):
        for url in self.url.split(","):
            yield scrapy.Request(url)

    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a")
        if "last" in response.url:
            yield scrapy.Request(self.url.split(",")[0])
"""


NAMED = """
import scrapy
from tests.live.conftest import captures_of


class Named(scrapy.Spider):
    name = "named"
    custom_settings = {"ROBOTSTXT_OBEY": True, "SHARC_OUTPUT": "capture"}

    async def start(self):
        yield scrapy.Request(self.url)
        yield scrapy.Request(self.url, dont_filter=True)
        yield scrapy.Request(self.url + "closed.html")
        for body in ("a", "b"):
            yield scrapy.Request(self.url + "form", method="POST", body=body)
        yield scrapy.Request(self.url + "head", method="HEAD")

    def parse(self, response):
        yield {"url": response.url}
"""


def test_dont_filter_is_honoured_and_hides_no_later_request(static, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<html>polled</html>")
    with static(tmp_path / "site") as url:
        plain = items(tmp_path, url, {})
        assert len(plain) == 6
        assert items(tmp_path, url, ADDON) == plain


def test_requests_that_no_web_server_answers_are_sent_as_ever(static, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<html>hello</html>")
    with static(tmp_path / "site") as url:
        plain = items(tmp_path, url, {}, ELSEWHERE)
        assert len(plain) == 6
        done = run(tmp_path, url, ADDON)
    assert sorted((tmp_path / "items.jsonl").read_text().splitlines()) == plain
    assert "ftp://127.0.0.1:1/> (failed 3 times)" in done.stderr
    assert "have a priority" not in done.stderr, "a retry has one that no spider gave"


@contextmanager
def redirecting():
    """A server three of whose addresses lead to /new; what was asked for."""
    asked, lead = Counter(), dict.fromkeys(("/old", "/other", "/late"), "/new")

    class Handler(Answering, http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked[self.path] += 1
            self.answer(b"", status=302 if self.path in lead else 200, Location=lead.get(self.path, ""))

    with serving(Handler) as url:
        yield url, asked


def test_what_several_requests_are_redirected_to_is_asked_for_once(tmp_path):
    with redirecting() as (url, asked):
        plain = items(tmp_path, url, {}, REDIRECTED)
        assert asked.pop("/new") == 1
        assert items(tmp_path, url, ADDON, REDIRECTED) == plain
        assert asked.pop("/new") <= 2, "a visit and its revisit"


def test_a_known_page_is_not_asked_for_again_when_its_hosts_visits_are_over(static, tmp_path):
    for name, text in (
        ("a", "alone"),
        ("b", "<a href=1.html>"),
        ("b/1.html", "<a href=last.html>"),
        ("b/last.html", ""),
    ):
        path = tmp_path / name
        if path.suffix:
            path.write_text(text)
        else:
            path.mkdir()
            (path / "index.html").write_text(text)
    with static(tmp_path / "a") as one, static(tmp_path / "b", "127.0.0.2") as two:
        url = f"{one},{two}"
        plain = items(tmp_path, url, {}, ROUNDS)
        assert len(plain) == 4
        assert items(tmp_path, url, ADDON, ROUNDS) == plain


def test_the_report_names_requests_and_why_they_were_dropped_as_a_reader_knows_them(static, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<html>hello</html>")
    (tmp_path / "site" / "robots.txt").write_text("User-agent: *\nDisallow: /closed\n")
    with static(tmp_path / "site") as url:
        items(tmp_path, url, ADDON, NAMED)
    (capture,) = captures_of(tmp_path / "capture")
    named = Counter(page["url"].partition(" (")[0] for page in capture["pages"])
    assert named == {url: 2, f"{url}closed.html": 1, f"POST {url}form": 2, f"HEAD {url}head": 1}
    assert f"{url} (request 2)" in {page["url"] for page in capture["pages"]}
    reasons = {page["url"]: page["reason"] for page in capture["pages"] if page["verdict"] is None}
    assert reasons[f"{url}closed.html"] == "robots.txt disallows it"
    assert verify(tmp_path / "capture").findings == [], "an answer to HEAD is whole without the body it tells of"


AGAIN = """
import scrapy


class Again(scrapy.Spider):
    name = "again"
    custom_settings = {"SHARC_OUTPUT": "capture", "SHARC_STRATEGY": "sharc-selective"}

    async def start(self):
        for name in "ab":
            yield scrapy.Request(self.url + name)
        for _ in range(3):
            yield scrapy.Request(self.url + "a", dont_filter=True)

    def parse(self, response):
        yield {"url": response.url}
"""


def test_a_page_that_is_asked_for_again_counts_once(static, tmp_path):
    (tmp_path / "site").mkdir()
    for name in "ab":
        (tmp_path / "site" / name).write_text(f"<html>{name}</html>")
    with static(tmp_path / "site") as url:
        assert len(items(tmp_path, url, ADDON, AGAIN)) == 5
    (capture,) = captures_of(tmp_path / "capture")
    kinds = {page["url"]: page["kind"] for page in capture["pages"]}
    repeated = {f"{url}a (request {number})": "resource" for number in (2, 3, 4)}
    assert kinds == {f"{url}a": "page", f"{url}b": "page", **repeated}
    assert capture["claim"]["statement"].startswith("All 2 pages were in this state together at ")
    assert not any("byte for byte" in note for note in capture["notes"]), "one page under many URLs"
    assert not any(note.startswith(BEGINS) or note == IN_CLEAR for note in capture["notes"])
    assert verify(tmp_path / "capture").findings == []


TWO_ROUNDS = """
import scrapy


class TwoRounds(scrapy.Spider):
    name = "two-rounds"
    custom_settings = {"SHARC_OUTPUT": "capture", "SHARC_STRATEGY": "sharc-selective", "SHARC_REVISIT_CALLBACKS": True}
    asked = 0

    async def start(self):
        for name in "ab":
            yield scrapy.Request(self.url + name)

    def parse(self, response):
        self.asked += 1
        if self.asked == 3:  # a revisit
            yield scrapy.Request(self.url + "a", dont_filter=True)
"""


def test_the_claims_of_two_rounds_are_told_in_turn_and_by_name(static, tmp_path):
    (tmp_path / "site").mkdir()
    for name in "ab":
        (tmp_path / "site" / name).write_text(f"<html>{name}</html>")
    with static(tmp_path / "site") as url:
        items(tmp_path, url, ADDON, TWO_ROUNDS)
    told = CliRunner().invoke(main, ["verify", str(tmp_path / "capture")]).stdout
    first, second = told.index("\n127.0.0.1: All 2 pages were"), told.index("\n127.0.0.1 (2): The only page was")
    assert first < second


POSTS = """
import scrapy


class Posts(scrapy.Spider):
    name = "posts"

    async def start(self):
        for page in (1, 2):
            yield scrapy.http.JsonRequest(self.url + "api", data={"page": page})

    def parse(self, response):
        yield {"answer": response.text}
        if response.json()["page"] < 5:
            yield scrapy.http.JsonRequest(self.url + "api", data={"page": response.json()["page"] + 2})
"""


IDENTITY = """
import scrapy


class ByTenant:
    def __init__(self, *args):
        self.plain = scrapy.utils.request.RequestFingerprinter()

    def fingerprint(self, request):
        return self.plain.fingerprint(request) + request.headers.get("X-Tenant", b"")


class Identity(scrapy.Spider):
    name = "identity"
    custom_settings = {"REQUEST_FINGERPRINTER_CLASS": ByTenant}

    async def start(self):
        for tail in ("?session_id=1", "?session_id=2", "?utm_content=a", "?utm_content=b", "?replytocom=7", "?b=1&a=2"):
            yield scrapy.Request(self.url + tail)
        for tail in ("?a=2&b=1", "", "#part"):
            yield scrapy.Request(self.url + tail)
        for tenant in "12":
            yield scrapy.Request(self.url, headers={"X-Tenant": tenant})

    def parse(self, response):
        yield {"url": response.url, "tenant": (response.request.headers.get("X-Tenant") or b"").decode()}
"""


NO_FILTER = """
import scrapy


class NoFilter(scrapy.Spider):
    name = "no_filter"
    custom_settings = {"DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter"}

    async def start(self):
        for _ in range(3):
            yield scrapy.Request(self.url)

    def parse(self, response):
        yield {"url": response.url}
"""


class Echo(Answering, http.server.BaseHTTPRequestHandler):
    """Answers a POST with its own body."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(body, "application/json")


#: stats that a project's dashboards rest on
SAME = (
    "dupefilter/filtered",
    "scheduler/enqueued",
    "scheduler/dequeued",
    "scheduler/dequeued/memory",
    "item_scraped_count",
)


def stats_of(tmp_path, url, addons, spider):
    """The stats that Scrapy dumps at the end."""
    (tmp_path / "stats.py").write_text(
        "import json, pathlib\nfrom scrapy.statscollectors import MemoryStatsCollector\n\n\n"
        "class Kept(MemoryStatsCollector):\n"
        "    def _persist_stats(self, stats):\n"
        "        pathlib.Path('stats.json').write_text(json.dumps(stats, default=str))\n"
    )
    found = items(tmp_path, url, addons, spider, "STATS_CLASS=stats.Kept")
    stats = json.loads((tmp_path / "stats.json").read_text())
    return found, {name: stats.get(name) for name in SAME}, stats["finish_reason"]


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("strategy", "output"),
    [
        ("sharc-online", "capture"),
        ("bfs:revisits=none", ""),
        ("sharc-attested", "capture"),
        pytest.param("sharc-online", "", marks=pytest.mark.long),
        pytest.param("bfs:revisits=none", "capture", marks=pytest.mark.long),
        pytest.param("sharc-attested", "", marks=pytest.mark.long),
    ],
)
def test_a_host_that_gets_no_get_requests_has_an_end(tmp_path, strategy, output):
    with serving(Echo) as url:
        plain = items(tmp_path, url, {}, POSTS)
        assert len(plain) == 6
        chosen = [f"SHARC_STRATEGY={strategy}", *([f"SHARC_OUTPUT={output}"] if output else [])]
        assert items(tmp_path, url, ADDON, POSTS, *chosen) == plain


@pytest.mark.matrix
@pytest.mark.parametrize(("spider", "number"), [(IDENTITY, 9), (NO_FILTER, 3)], ids=["fingerprinter", "filter"])
def test_which_requests_are_one_is_the_projects_to_say(static, tmp_path, spider, number):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<html>hello</html>")
    with static(tmp_path / "site") as url:
        plain, stats, reason = stats_of(tmp_path, url, {}, spider)
        assert len(plain) == number
        assert stats_of(tmp_path, url, ADDON, spider) == (plain, stats, reason)
