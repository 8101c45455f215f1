"""More sites than a process may have files open."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from sharc_crawler.archive.files import OPEN
from tests.live.conftest import captures_of
from tests.live.warm import PROFILE

SITES = 150
FILES = 110  #: of which the crawl needs about thirty for itself


class Small(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are kept, one or more a host

    def do_GET(self):
        found = self.path in ("/", "/two")
        body = b"<html><a href=/two>two</a>" + self.headers["Host"].encode() if found else b""
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def seeds(tmp_path):
    server = ThreadingHTTPServer(("", 0), Small)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    hosts = [f"127.0.{number // 200 + 1}.{number % 200 + 1}" for number in range(SITES)]
    (tmp_path / "seeds.txt").write_text("".join(f"http://{host}:{server.server_port}/\n" for host in hosts))
    yield
    server.shutdown()
    server.server_close()


def run(tmp_path, files, *chosen):
    settings = ["SHARC_ALLOWED_ADDRESSES=127.0.0.0/8", *chosen]
    arguments = ["seeds=seeds.txt", "output=capture", "delay=0", "strategy=bfs:revisits=none"]
    given = [text for one in arguments for text in ("-a", one)] + [text for one in settings for text in ("-s", one)]
    limits = f'ulimit -S -n {files * 3 // 4} && ulimit -H -n {files} && exec "$@"'
    return subprocess.run(
        ["sh", "-c", limits, "sh", sys.executable, "-m", "scrapy", "crawl", "site", *given],
        env={**os.environ, "SCRAPY_SETTINGS_MODULE": PROFILE},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.usefixtures("seeds")
def test_more_sites_than_open_files_are_captured(tmp_path):
    done = run(tmp_path, FILES)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "capture" / "report.json").read_text())
    assert len(report["captures"]) == SITES
    assert {len(capture["pages"]) for capture in captures_of(tmp_path / "capture")} == {2}
    assert not list((tmp_path / "capture").glob(f"*{OPEN}"))
    verify = [Path(sys.executable).with_name("sharc"), "verify", "capture"]
    assert subprocess.run(verify, cwd=tmp_path, timeout=500, check=False).returncode == 0


@pytest.mark.usefixtures("seeds")
def test_too_few_files_are_said_before_the_first_request(tmp_path):
    done = run(tmp_path, 48, "CONCURRENT_REQUESTS=40")
    assert done.returncode == 2
    assert "ulimit -n: of 48 open files" in done.stderr
    assert "CONCURRENT_REQUESTS=40 needs" in done.stderr
