"""More sites than a process may have files open; sites that are killed, moved and gone on with."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler

import pytest

from sharc_crawler.archive.files import OPEN
from sharc_crawler.certificate.verify import verify
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.report.sites import MOVED
from sharc_crawler.storage.beside import load_state
from sharc_crawler.storage.folders import site_folders
from tests.live import warm
from tests.live.serving import Answering, serving_at
from tests.live.warm import Scrapy, site_words

SITES = 40
FILES = 60  #: of which the crawl needs about thirty for itself


class Small(Answering, BaseHTTPRequestHandler):
    def do_GET(self):
        found = self.path in ("/", "/two")
        body = b"<html><a href=/two>two</a>" + self.headers["Host"].encode() if found else b""
        self.answer(body, status=200 if found else 404)


@pytest.fixture
def seeds(tmp_path):
    with serving_at([f"127.0.1.{number + 1}" for number in range(SITES)], Small) as urls:
        (tmp_path / "seeds.txt").write_text("\n".join(urls))
        yield


#: ``scrapy``, with fewer open files
LIMITED = (
    "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, {}); from scrapy.cmdline import execute; execute()"
)


def run(tmp_path, files, *chosen):
    (tmp_path / "limited.py").write_text(LIMITED.format((files * 3 // 4, files)))
    given = {"seeds": "seeds.txt", "output": "capture", "delay": "0", "strategy": "bfs:revisits=none"}
    words = site_words("SHARC_ALLOWED_ADDRESSES=127.0.0.0/8", *chosen, **given)
    return warm.finished(words, tmp_path, program="limited.py")


@pytest.mark.slow
@pytest.mark.usefixtures("seeds")
def test_more_sites_than_open_files_are_captured(tmp_path):
    done = run(tmp_path, FILES)
    assert done.returncode == 0, done.stderr
    index = json.loads((tmp_path / "capture" / "index.json").read_text())
    assert (len(index["sites"]), index["complete"]) == (SITES, SITES)
    assert {site["coherence"]["captured"] for site in index["sites"]} == {2}
    assert not list((tmp_path / "capture").rglob(f"*{OPEN}"))
    checked = warm.finished(["verify", "capture"], tmp_path, program=warm.SHARC)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("seeds")
def test_too_few_files_are_said_before_the_first_request(tmp_path):
    done = run(tmp_path, 48, "CONCURRENT_REQUESTS=40")
    assert done.returncode == 2
    assert "ulimit -n: of 48 open files" in done.stderr
    assert "CONCURRENT_REQUESTS=40 needs" in done.stderr


@pytest.fixture
def three():
    """Sites of their own, on three addresses."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(serve(LivingSite(seed=seed, pages=20, slow=0.05), host=f"127.0.0.{seed}"))
            for seed in (2, 3, 4)
        ]


def start(folder, servers):
    arguments = {"url": ",".join(server.url for server in servers), "output": folder, "delay": "0.02"}
    return Scrapy(site_words(**arguments), folder.parent)


def finished(folder):
    """How often each URL was finished, by slot."""
    state = load_state(folder)
    assert {row.page for row in state.pages if row.state == 0} == {one.page for one in state.visits if one.finished}
    return Counter((visit.page, visit.slot) for visit in state.visits if visit.finished)


def test_killed_and_moved_sites_go_on_each_where_it_lies(tmp_path, three):
    folder, elsewhere = tmp_path / "capture", tmp_path / "elsewhere"
    process = start(folder, three)
    deadline = time.monotonic() + 240
    while min(len(server.log) for server in three) < 12 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=280)
    folders = site_folders(folder)
    *stay, moved = folders.values()
    moved.rename(elsewhere)

    both = [start(folder, three), start(elsewhere, three[2:])]
    outs = [process.communicate(timeout=280)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], "".join(outs)
    assert f"{next(reversed(folders))} is skipped: its folder" in outs[0]
    for place in (*stay, elsewhere):
        assert set(finished(place).values()) == {1}
        assert verify(place).findings == []
        (capture,) = json.loads((place / "report.json").read_text())["captures"]
        assert len(capture["times"]["interruptions"]) == 1
    assert len(verify(folder).claims) == 2
    index = json.loads((folder / "index.json").read_text())
    assert [site["claim"] == MOVED for site in index["sites"]] == [False, False, True]
    again = start(folder, three)
    out, _ = again.communicate(timeout=280)
    assert again.returncode == 2, out
    assert "already holds a capture that is complete" in out
    other = start(folder, three[:2])
    out, _ = other.communicate(timeout=280)
    assert other.returncode == 2, out
    assert "which only the same command resumes" in out
