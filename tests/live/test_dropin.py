"""A project's requests under a SHARC order: no item more or less than without."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import threading
from collections import Counter
from contextlib import contextmanager

import pytest

from tests.live.conftest import captures_of
from tests.live.serving import serving
from tests.live.warm import finished

SPIDER = """
import scrapy


class Poll(scrapy.Spider):
    name = "poll"
    polled = 0

    async def start(self):
        for _ in range(2):
            yield scrapy.Request(self.url, dont_filter=True)

    def parse(self, response):
        self.polled += 1
        yield {"polled": self.polled}
        if self.polled < 4:
            yield scrapy.Request(response.url, dont_filter=True)
        yield scrapy.Request(response.url, callback=self.once)

    def once(self, response):
        yield {"once": response.url}
"""


REDIRECTED = """
import scrapy


class Redirected(scrapy.Spider):
    name = "redirected"

    async def start(self):
        yield scrapy.Request(self.url + "old")
        yield scrapy.Request(self.url + "late")
        yield scrapy.Request(self.url + "other")

    def parse(self, response):
        yield {"url": response.url}
        yield scrapy.Request(self.url + "new")
"""

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


ELSEWHERE = """
import scrapy


class Elsewhere(scrapy.Spider):
    name = "elsewhere"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield {"url": response.url}
        for url in ("data:text/plain,hello", "data:text/plain,hello", "file://" + __file__, "data:,"):
            yield scrapy.Request(url, self.other, dont_filter=url == "data:,")
        yield scrapy.Request("data:,", self.other)

    def other(self, response):
        yield {"url": response.url[:30]}
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


def items(tmp_path, url, addons, spider=SPIDER, *more) -> list[str]:
    (tmp_path / "poll.py").write_text(spider)
    run(tmp_path, url, addons, *more)
    return sorted((tmp_path / "items.jsonl").read_text().splitlines())


def run(tmp_path, url, addons, *more) -> subprocess.CompletedProcess[str]:
    settings = [
        f"ADDONS={json.dumps(addons)}",
        "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8",
        "TELNETCONSOLE_ENABLED=False",
        *more,
    ]
    chosen = [text for setting in settings for text in ("-s", setting)]
    words = ["runspider", "poll.py", "-a", f"url={url}", "-O", "items.jsonl", *chosen]
    done = finished(words, tmp_path, os.environ)
    done.check_returncode()
    return done


def test_dont_filter_is_honoured_and_hides_no_later_request(static, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<html>polled</html>")
    with static(tmp_path / "site") as url:
        plain = items(tmp_path, url, {})
        assert len(plain) == 6
        assert items(tmp_path, url, {"sharc_crawler.live.addon.SharcAddon": 500}) == plain


def test_requests_that_no_web_server_answers_are_sent_as_ever(static, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<html>hello</html>")
    with static(tmp_path / "site") as url:
        plain = items(tmp_path, url, {}, ELSEWHERE)
        assert len(plain) == 5
        assert items(tmp_path, url, {"sharc_crawler.live.addon.SharcAddon": 500}, ELSEWHERE) == plain


@contextmanager
def redirecting():
    """A server three of whose addresses lead to /new; what was asked for."""
    asked, lead = Counter(), dict.fromkeys(("/old", "/other", "/late"), "/new")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked[self.path] += 1
            self.send_response(302 if self.path in lead else 200)
            self.send_header("Location", lead.get(self.path, ""))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", asked
        server.shutdown()
        thread.join(5)


def test_what_several_requests_are_redirected_to_is_asked_for_once(tmp_path):
    with redirecting() as (url, asked):
        plain = items(tmp_path, url, {}, REDIRECTED)
        assert asked.pop("/new") == 1
        assert items(tmp_path, url, {"sharc_crawler.live.addon.SharcAddon": 500}, REDIRECTED) == plain
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
        assert items(tmp_path, url, {"sharc_crawler.live.addon.SharcAddon": 500}, ROUNDS) == plain


def test_the_report_names_requests_and_why_they_were_dropped_as_a_reader_knows_them(static, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<html>hello</html>")
    (tmp_path / "site" / "robots.txt").write_text("User-agent: *\nDisallow: /closed\n")
    with static(tmp_path / "site") as url:
        # one at a time: Scrapy 2.19 lets requests pass that come while robots.txt is under way (docs/upstream.md)
        once = "CONCURRENT_REQUESTS_PER_DOMAIN=1"
        items(tmp_path, url, {"sharc_crawler.live.addon.SharcAddon": 500}, NAMED, once)
    (capture,) = captures_of(tmp_path / "capture")
    named = Counter(page["url"].partition(" (")[0] for page in capture["pages"])
    assert named == {url: 2, f"{url}closed.html": 1, f"POST {url}form": 2, f"HEAD {url}head": 1}
    assert f"{url} (request 2)" in {page["url"] for page in capture["pages"]}
    reasons = {page["url"]: page["reason"] for page in capture["pages"] if page["verdict"] is None}
    assert reasons[f"{url}closed.html"] == "robots.txt disallows it"


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


class Echo(http.server.BaseHTTPRequestHandler):
    """Answers a POST with its own body."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ADDON = {"sharc_crawler.live.addon.SharcAddon": 500}
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


@pytest.mark.parametrize(("spider", "number"), [(IDENTITY, 9), (NO_FILTER, 3)], ids=["fingerprinter", "filter"])
def test_which_requests_are_one_is_the_projects_to_say(static, tmp_path, spider, number):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<html>hello</html>")
    with static(tmp_path / "site") as url:
        plain, stats, reason = stats_of(tmp_path, url, {}, spider)
        assert len(plain) == number
        assert stats_of(tmp_path, url, ADDON, spider) == (plain, stats, reason)


CLASHING = """
import scrapy


class Clashing(scrapy.Spider):
    name = "clashing"
    custom_settings = {
        "USER_AGENT": "mine/1.0",
        "SHARC_OPERATOR": "crawls@library.example",
        "SHARC_STRATEGY": "bfs:revisits=fifo",
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_DIR": "cache",
        "JOBDIR": "jobs",
        "AUTOTHROTTLE_ENABLED": True,
        "CLOSESPIDER_PAGECOUNT": 1000,
    }

    async def start(self):
        yield scrapy.Request(self.url, priority=9)
        yield scrapy.Request(self.url + "?2", priority=8)

    def parse(self, response):
        yield {"agent": response.request.headers["User-Agent"].decode()}
"""


def test_clashes_are_said_in_a_line_each_and_revisits_bypass_a_cache(tmp_path, living_site):
    (tmp_path / "poll.py").write_text(CLASHING)
    done = run(tmp_path, living_site.url, {"sharc_crawler.live.addon.SharcAddon": 500})
    for begin in (
        "CONCURRENT_REQUESTS_PER_DOMAIN=8, Scrapy's default: ",
        "JOBDIR='jobs' has no effect",
        "HTTPCACHE_ENABLED=True: ",
        "AUTOTHROTTLE_ENABLED=True: ",
        "USER_AGENT='mine/1.0' is the spider's own",
        "CLOSESPIDER_PAGECOUNT=1000 counts revisits",
        "Requests have a priority",
    ):
        assert done.stderr.count(begin) == 1, begin
    lines = (tmp_path / "items.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [{"agent": "mine/1.0"}] * 2, "a spider's own settings stay"
    asked = Counter(request.target for request in living_site.log)
    assert asked["/"] == 2, "the second time was a revisit, and no answer of the cache's"


def test_the_next_run_goes_by_the_history_of_the_run_before(static, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<html>one</html>")
    addons = {"sharc_crawler.live.addon.SharcAddon": 500}
    more = ("SHARC_HISTORY=history.sqlite", "SHARC_STRATEGY=sharc-selective", "SHARC_OUTPUT=captures/%(time)s")
    sources = []
    with static(tmp_path / "site") as url:
        for _ in range(2):
            assert len(items(tmp_path, f"{url}index.html", addons, SPIDER, *more)) == 6
            (report,) = set(tmp_path.glob("captures/*/report-pages.jsonl")) - {seen for seen, _ in sources}
            sources.append((report, json.loads(report.read_text().splitlines()[0])["rate_source"]))
    assert [source == "history" for _, source in sources] == [False, True]


def test_a_shell_says_that_nothing_is_archived_there(tmp_path, living_site):
    given = (
        'ADDONS={"sharc_crawler.live.addon.SharcAddon": 500}',
        "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8",
        "SHARC_OUTPUT=kept",
    )
    chosen = [text for setting in given for text in ("-s", setting)]
    done = finished(["shell", living_site.url, "-c", "response.status", *chosen], tmp_path, os.environ)
    assert done.stdout.strip() == "200", done.stderr
    assert done.stderr.count("Nothing is archived in a shell, with SHARC_OUTPUT or without") == 1
    assert "set SHARC_OUTPUT" not in done.stderr, "it is set"
    assert not (tmp_path / "kept").exists()


def test_a_job_folder_hides_nothing_from_the_next_run(static, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<html><a href=/index.html?2>2</a><a href=/index.html?3>3</a></html>")
    spider = REDIRECTED.replace('yield scrapy.Request(self.url + "new")', 'yield from response.follow_all(css="a")')
    addons, more = {"sharc_crawler.live.addon.SharcAddon": 500}, ("JOBDIR=job", "HTTPERROR_ALLOW_ALL=True")
    with static(tmp_path / "site") as url:
        assert items(tmp_path, f"{url}index.html?", addons, spider, *more) == items(
            tmp_path, f"{url}index.html?", addons, spider, *more
        )
        assert len((tmp_path / "items.jsonl").read_text().splitlines()) == 5


def test_two_schedulers_are_refused(tmp_path, living_site):
    (tmp_path / "poll.py").write_text(SPIDER)
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(
            tmp_path,
            living_site.url,
            {"sharc_crawler.live.addon.SharcAddon": 500},
            "SCHEDULER=scrapy.core.scheduler.Scheduler",
        )
    assert "SCHEDULER='scrapy.core.scheduler.Scheduler' and the add-on" in caught.value.stderr
    assert "Traceback" not in caught.value.stderr
    assert not living_site.log


def test_an_archive_needs_asyncio_and_says_so_before_anything_is_sent(tmp_path, living_site):
    (tmp_path / "poll.py").write_text(ELSEWHERE)
    select = "TWISTED_REACTOR=twisted.internet.selectreactor.SelectReactor"
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(tmp_path, living_site.url, {"sharc_crawler.live.addon.SharcAddon": 500}, select, "SHARC_OUTPUT=kept")
    assert "CRITICAL: sharc: error: SHARC_OUTPUT='kept': WARC files are written by way" in caught.value.stderr
    assert not living_site.log
    run(tmp_path, living_site.url, {"sharc_crawler.live.addon.SharcAddon": 500}, select)
    assert living_site.url in (tmp_path / "items.jsonl").read_text()


UNKEEPABLE = """
import scrapy


class Unkeepable(scrapy.Spider):
    name = "unkeepable"

    async def start(self):
        yield scrapy.Request(self.url, meta={"parser": self})
        yield scrapy.Request(self.url + "?closure", callback=lambda response: None)
        yield scrapy.Request(self.url + "?kept", cb_kwargs={"at": (1, b"x")})

    def parse(self, response, at=None):
        yield {"url": response.url, "at": str(at)}
"""


def test_what_cannot_be_kept_is_refused_with_its_name_when_it_is_yielded(static, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<html>hello</html>")
    with static(tmp_path / "site") as url:
        chosen = ["SHARC_OUTPUT=capture", "SHARC_RESUME=True", f"LOG_FILE={tmp_path / 'log.txt'}"]
        found = items(tmp_path, url, ADDON, UNKEEPABLE, *chosen)
    assert [json.loads(item)["at"] for item in found] == ["(1, b'x')"]
    log = (tmp_path / "log.txt").read_text()
    assert f"<GET {url}> is not requested, as SHARC_RESUME could not keep it: meta['parser'] is a Unkeepable" in log
    assert f"<GET {url}?closure> is not requested" in log
    assert "'scheduler/unserializable': 2" in log


def test_another_handler_is_said_to_be_without_guard_and_wire(tmp_path, living_site):
    (tmp_path / "poll.py").write_text(ELSEWHERE)
    theirs = "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"
    setting = f"DOWNLOAD_HANDLERS={json.dumps({'http': theirs})}"
    done = run(tmp_path, living_site.url, {"sharc_crawler.live.addon.SharcAddon": 500}, setting)
    assert f"Requests of http go through {theirs}" in done.stderr
    assert "Requests of https" not in done.stderr
