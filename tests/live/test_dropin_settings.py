"""A project's own settings beside the add-on: what clashes, what has no effect, what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler

import pytest

from sharc_crawler.live.project.resuming import LOST
from tests.live.dropin_runs import ADDON, ELSEWHERE, REDIRECTED, SPIDER, items, run
from tests.live.serving import Answering, serving
from tests.live.warm import finished

CLASHING = """
import scrapy


class Clashing(scrapy.Spider):
    name = "clashing"
    custom_settings = {
        "USER_AGENT": "mine/1.0",
        "SHARC_OPERATOR": "crawls@library.example",
        "SHARC_STRATEGY": "bfs:revisits=fifo",
        "SHARC_OUTPUT": "capture",
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_DIR": "cache",
        "JOBDIR": "jobs",
        "AUTOTHROTTLE_ENABLED": True,
        "CLOSESPIDER_PAGECOUNT": 1000,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
    }

    async def start(self):
        yield scrapy.Request(self.url, priority=9)
        yield scrapy.Request(self.url + "?2", priority=8)

    def parse(self, response):
        yield {"agent": response.request.headers["User-Agent"].decode()}
"""


def test_clashes_are_said_in_a_line_each_and_revisits_bypass_a_cache(tmp_path, living_site):
    (tmp_path / "poll.py").write_text(CLASHING)
    done = run(tmp_path, living_site.url, ADDON)
    for begin in (
        "CONCURRENT_REQUESTS_PER_DOMAIN=4: ",
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
    assert asked["/"] >= 2, "the second time was a revisit, and no answer of the cache's; a tested 304 is one more"


def test_the_next_run_goes_by_the_history_of_the_run_before(static, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<html>one</html>")
    addons = ADDON
    more = ("SHARC_HISTORY=history.sqlite", "SHARC_STRATEGY=sharc-selective", "SHARC_OUTPUT=captures/%(time)s")
    sources = []
    with static(tmp_path / "site") as url:
        for _ in range(2):
            assert len(items(tmp_path, f"{url}index.html", addons, SPIDER, *more)) == 6
            (report,) = set(tmp_path.glob("captures/*/report-pages.jsonl")) - {seen for seen, _ in sources}
            sources.append((report, json.loads(report.read_text().splitlines()[0])["rate_source"]))
    assert [source in ("history", "unchanged") for _, source in sources] == [False, True]


def test_sources_of_rates_that_a_project_names_are_asked_without_a_history_too(static, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<html>one</html>")
    more = ("SHARC_RATES=constant:rate=0.01", "SHARC_STRATEGY=sharc-selective", "SHARC_OUTPUT=capture")
    with static(tmp_path / "site") as url:
        items(tmp_path, f"{url}index.html", ADDON, SPIDER, *more)
    page = json.loads((tmp_path / "capture" / "report-pages.jsonl").read_text().splitlines()[0])
    assert (page["rate"], page["rate_source"]) == (0.01, "constant")


MAPS = """
from scrapy.spiders import SitemapSpider


class Maps(SitemapSpider):
    name = "maps"
    custom_settings = {"SHARC_OUTPUT": "capture", "SHARC_STRATEGY": "sharc-selective", "LOG_FILE": "log.txt"}

    def __init__(self, url, **more):
        super().__init__(sitemap_urls=[url + "robots.txt"], **more)

    def parse(self, response):
        yield {"url": response.url}
"""


def test_what_a_sitemap_spider_reads_is_none_of_the_pages(static, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "poll.py").write_text(MAPS)
    for name in "abc":
        (tmp_path / "site" / name).write_text("<html>a page</html>")
    with static(tmp_path / "site") as url:
        (tmp_path / "site" / "robots.txt").write_text(f"Sitemap: {url}sitemap.xml\n")
        listed = "".join(f"<url><loc>{url}{name}</loc></url>" for name in "abc")
        (tmp_path / "site" / "sitemap.xml").write_text(f"<urlset>{listed}</urlset>")
        assert len(items(tmp_path, url, ADDON, MAPS)) == 3
    lines = (tmp_path / "capture" / "report-pages.jsonl").read_text().splitlines()
    kinds = Counter((entry["kind"], entry["verdict"]) for entry in map(json.loads, lines))
    assert kinds["page", "coherent"] == sum(number for (kind, _), number in kinds.items() if kind == "page") == 3
    assert "'sharc/page/coherent': 3," in (tmp_path / "log.txt").read_text(), "those judged at the end among them"


def test_a_shell_says_that_nothing_is_archived_there(tmp_path, living_site):
    given = (
        f"ADDONS={json.dumps(ADDON)}",
        "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8",
        "SHARC_OUTPUT=kept",
    )
    chosen = [text for setting in given for text in ("-s", setting)]
    done = finished(["shell", living_site.url, "-c", "response.status", *chosen], tmp_path, os.environ)
    assert done.stdout.strip() == "200", done.stderr
    assert done.stderr.count("A shell archives nothing, even with SHARC_OUTPUT") == 1
    assert "set SHARC_OUTPUT" not in done.stderr, "it is set"
    assert not (tmp_path / "kept").exists()


def test_a_job_folder_hides_nothing_from_the_next_run(static, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<html><a href=/index.html?2>2</a><a href=/index.html?3>3</a></html>")
    spider = REDIRECTED.replace('yield scrapy.Request(self.url + "new")', 'yield from response.follow_all(css="a")')
    addons, more = ADDON, ("JOBDIR=job", "HTTPERROR_ALLOW_ALL=True")
    with static(tmp_path / "site") as url:
        assert items(tmp_path, f"{url}index.html?", addons, spider, *more) == items(
            tmp_path, f"{url}index.html?", addons, spider, *more
        )
        assert len((tmp_path / "items.jsonl").read_text().splitlines()) == 5


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            ["SCHEDULER=scrapy.core.scheduler.Scheduler"],
            "SCHEDULER='scrapy.core.scheduler.Scheduler' and the add-on",
        ),
        (["SHARC_STRATEGY="], "SHARC_STRATEGY='' names no strategy"),
        # as by --nolog
        (["SHARC_ALLOWED_ADDRESSES=bla", "LOG_ENABLED=False"], "sharc: error: SHARC_ALLOWED_ADDRESSES='bla' is not a"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(tmp_path, living_site, settings, said):
    (tmp_path / "poll.py").write_text(SPIDER)
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(tmp_path, living_site.url, ADDON, *settings)
    assert caught.value.stderr.count(said) == 1
    assert "Traceback" not in caught.value.stderr
    assert not living_site.log


def test_an_archive_needs_asyncio_and_says_so_before_anything_is_sent(tmp_path, living_site):
    (tmp_path / "poll.py").write_text(ELSEWHERE)
    select = "TWISTED_REACTOR=twisted.internet.selectreactor.SelectReactor"
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(tmp_path, living_site.url, ADDON, select, "SHARC_OUTPUT=kept")
    assert "CRITICAL: sharc: error: SHARC_OUTPUT='kept': WARC files are written by way" in caught.value.stderr
    assert not living_site.log
    run(tmp_path, living_site.url, ADDON, select)
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
        if at:
            for number in range(3):
                yield scrapy.Request(self.url + f"?more{number}", callback=lambda response: None)
"""


def test_what_cannot_be_kept_is_requested_all_the_same_and_lost_where_a_crawl_is_cut_off(static, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<html>hello</html>")
    with static(tmp_path / "site") as url:
        chosen = ["SHARC_OUTPUT=capture", "SHARC_RESUME=True", f"LOG_FILE={tmp_path / 'log.txt'}"]
        found = items(tmp_path, url, ADDON, UNKEEPABLE, *chosen, "CLOSESPIDER_PAGECOUNT=3", "CONCURRENT_REQUESTS=1")
        log = (tmp_path / "log.txt").read_text()
        items(tmp_path, url, ADDON, UNKEEPABLE, *chosen)
    assert sorted(json.loads(item)["at"] for item in found) == ["(1, b'x')", "None"]
    assert f"<GET {url}> is requested, but SHARC_RESUME cannot keep it: meta['parser'] is a Unkeepable" in log
    assert f"<GET {url}?closure> is requested" in log
    assert "'scheduler/unserializable': 5" in log
    (capture,) = json.loads((tmp_path / "capture" / "report.json").read_text())["captures"]
    assert "SHARC_RESUME could not keep 5 requests: being cut off loses those without an answer" in capture["notes"]
    lines = (tmp_path / "capture" / "report-pages.jsonl").read_text().splitlines()
    assert sum(LOST in line for line in lines) == 3, "what only an answer of the first run had named"


def test_another_handler_is_said_to_be_without_guard_and_wire(tmp_path, living_site):
    (tmp_path / "poll.py").write_text(ELSEWHERE)
    theirs = "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"
    setting = f"DOWNLOAD_HANDLERS={json.dumps({'http': theirs})}"
    done = run(tmp_path, living_site.url, ADDON, setting)
    assert f"Requests of http go through {theirs}" in done.stderr
    assert "Requests of https" not in done.stderr


CLOSED = """
import scrapy


class Closed(scrapy.Spider):
    name = "closed"

    async def start(self):
        for number in range(6):
            yield scrapy.Request(f"{self.url}closed/{number}")
        yield scrapy.Request(self.url + "open")

    def parse(self, response):
        yield {"url": response.url}
"""


def test_of_many_requests_that_wait_for_robots_txt_none_passes_it(tmp_path):
    """Under Scrapy's own middleware all but the first of them would."""
    asked = []

    class Site(Answering, BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            if self.path == "/robots.txt":
                time.sleep(0.3)  # all seven come meanwhile; where they do not, nothing passes either
                self.answer(b"User-agent: *\nDisallow: /closed/\n", "text/plain")
            else:
                self.answer(b"<html>a page</html>")

    settings = "ROBOTSTXT_OBEY=True", "CONCURRENT_REQUESTS_PER_DOMAIN=8", "SHARC_STRATEGY=bfs:revisits=none"
    with serving(Site) as url:
        found = items(tmp_path, url, ADDON, CLOSED, *settings, "SHARC_WARC=False")
    assert [json.loads(line)["url"] for line in found] == [f"{url}open"]
    assert sorted(asked) == ["/open", "/robots.txt"]
