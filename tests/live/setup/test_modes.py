"""Instant crawls with the real command, against the living site's newsroom."""

from __future__ import annotations

import json
import re
import signal
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler

import pytest
from warcio.archiveiterator import ArchiveIterator

from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.errors import UsageError
from sharc_crawler.instants import unix
from sharc_crawler.live.setup.arguments import Arguments
from sharc_crawler.storage.beside import load_state
from tests.live.serving import Answering, serving
from tests.live.warm import Scrapy, finished, site_words

PROFILE = "sharc_crawler.live.profile"
NOTHING_CAPTURED, STOPPED, USAGE = 4, 5, 2


@pytest.fixture
def newsroom():
    """Two articles a second, so that seconds are enough."""
    with serve(LivingSite(seed=2, pages=40, news=7200.0, news_sections=4)) as server:
        yield server


def command(server, folder, **more) -> list[str]:
    arguments = {"mode": "instant", "every": "1s", "delay": "0.02", "output": folder, **more}
    return site_words("SHARC_BACK_OFF=0.1", url=f"{server.url}newsroom/", **arguments)


def start(server, folder, **more) -> Scrapy:
    return Scrapy(command(server, folder, **more), folder.parent, apart=True)


def after_articles(process, server, count: int) -> None:
    """Wait until so many articles have been asked for."""
    goal, deadline = len(articles(server)) + count, time.monotonic() + 240
    while len(articles(server)) < goal and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)


def articles(server) -> list[str]:
    return [entry.target for entry in list(server.log) if entry.target.endswith(".html")]


def report(folder) -> dict:
    return json.loads((folder / "report.json").read_text())


def test_new_pages_are_captured_and_nothing_else(newsroom, tmp_path):
    process = start(newsroom, tmp_path / "capture", **{"for": "6s"})
    out, err = process.communicate(timeout=280)
    assert process.returncode == 0, err
    found = report(tmp_path / "capture")
    assert found["new_pages"]["captured"] == found["new_pages"]["found"] >= 1
    room, began = newsroom.site.newsroom, unix(found["started"])
    truth = {newsroom.url[:-1] + a.path: a.published for a in room.articles(began - 1, time.time())}
    for page in found["pages"]:
        assert unix(page["captured"]) >= truth[page["url"]]
        if page["basis"] == "published":
            assert unix(page["published"]) == truth[page["url"]] // 1
        else:  # shown by the front page at the end, and no more by the feed
            assert unix(page["not_before"]) <= truth[page["url"]]
    assert len(articles(newsroom)) == len(set(articles(newsroom))) == found["new_pages"]["found"]
    assert found["requests"]["total"] == len(newsroom.log)
    assert f"{found['new_pages']['captured']} new page" in out
    assert "new pages" in (tmp_path / "capture" / "report.html").read_text()
    stored = Counter()
    for warc in (tmp_path / "capture").glob("*.warc.gz"):
        with warc.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                stored[record.rec_type] += 1
                profile = record.rec_headers.get_header("WARC-Profile") or ""
                stored["304"] += profile.endswith("server-not-modified")
    not_modified = sum(entry.status == 304 for entry in newsroom.log)
    assert stored["304"] == not_modified
    assert stored["response"] + stored["revisit"] == len(newsroom.log)  # some were the same payload again


@pytest.mark.slow
def test_killed_stopped_and_gone_on(newsroom, tmp_path):
    folder = tmp_path / "capture"
    process = start(newsroom, folder)
    after_articles(process, newsroom, 3)
    process.kill()
    process.communicate(timeout=280)

    process = start(newsroom, folder)
    after_articles(process, newsroom, 3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=280)
    assert process.returncode == STOPPED, err
    assert "by Ctrl-C or SIGTERM, before its end: the same command resumes it" in out
    found = report(folder)
    assert len(found["interruptions"]) == 1
    assert "Interrupted 1 time, for " in out
    assert re.search(r"resumes where it was: \d+ hubs?, \d+ polls?, \d+ new pages?\n", err), err
    assert not found["complete"]

    process = start(newsroom, folder, **{"for": "1s"})  # its time is over: what is left is fetched
    _, err = process.communicate(timeout=280)
    assert process.returncode == 0, err
    assert report(folder)["complete"]
    twice = [target for target, count in Counter(articles(newsroom)).items() if count > 1]
    assert len(twice) <= 1, "only what was in flight at the kill is asked for again"
    state = load_state(folder)
    assert len(state.novelties) == len({row.page for row in state.novelties.values()}) >= 4


def test_a_crawl_that_could_read_no_hub_says_so(tmp_path):
    class Busy(Answering, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(b"later", status=503)

    with serving(Busy) as url:
        given = {"mode": "instant", "every": "1s", "for": "1s", "output": tmp_path / "o"}
        done = finished(site_words("SHARC_BACK_OFF=0.05", url=url, **given), tmp_path)
    assert done.returncode == NOTHING_CAPTURED, done.stderr
    assert "No hub could be read" in done.stdout
    assert "robots.txt could not be read" in done.stdout


def test_a_folder_of_another_mode_is_refused(newsroom, tmp_path):
    folder = tmp_path / "capture"
    process = start(newsroom, folder)
    after_articles(process, newsroom, 1)
    process.kill()
    process.communicate(timeout=280)
    done = finished(site_words(url=f"{newsroom.url}newsroom/", delay="0.02", output=folder), tmp_path)
    assert done.returncode == USAGE
    assert "begun with mode=instant" in done.stderr


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"mode": "instnt"}, "mode='instnt' is not known; did you mean 'instant'"),
        ({"every": "5m"}, "every='5m' is only for -a mode=instant"),
        ({"mode": "instant", "every": "5 parsecs"}, "every='5 parsecs' is no duration"),
        ({"mode": "instant", "for": "0h"}, "for='0h' must be a duration"),
        ({"mode": "instant", "requests": "-1"}, "requests='-1' must be a whole number"),
        ({"mode": "instant", "strategy": "bfs"}, "strategy='bfs' is for whole captures"),
        ({"mode": "instant", "wacz": "1"}, "wacz='1' is for whole captures"),
    ],
)
def test_arguments_that_cannot_be_used(given, named):
    with pytest.raises(UsageError, match=named.replace("(", r"\(")):
        Arguments.parse({"url": "http://h.example/", **given})
