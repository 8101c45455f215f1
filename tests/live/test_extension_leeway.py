"""Hosts that answer nothing for long hold up no other host, however many they are."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from threading import Event

import pytest

from tests.live.serving import Answering, serving_at

SILENT = 4
PAGES = 6


@pytest.mark.slow
def test_hosts_that_keep_silent_hold_up_no_other(crawl, tmp_path):
    """They answer when the other host has been asked for all of its pages: else never."""
    all_asked = Event()
    asked = set()

    class Site(Answering, BaseHTTPRequestHandler):
        def do_GET(self):
            if not self.connection.getsockname()[0].endswith(".1"):
                all_asked.wait()
                self.answer(b"at last")
                return
            if self.path.startswith("/p"):
                asked.add(self.path)
            if len(asked) == PAGES:
                all_asked.set()
            body = b"".join(b"<a href=/p%d>%d</a>" % (number, number) for number in range(PAGES))
            self.answer(self.path.encode() + body, status=404 if self.path.endswith((".txt", ".xml")) else 200)

    settings = ["CONCURRENT_REQUESTS=2", "DOWNLOAD_TIMEOUT=500", "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8"]
    with serving_at([f"127.0.4.{number}" for number in range(SILENT + 1, 0, -1)], Site) as urls:
        (tmp_path / "seeds.txt").write_text("\n".join(urls))
        try:
            done = crawl(seeds="seeds.txt", strategy="bfs:revisits=none", delay="0", settings=settings)
        finally:
            all_asked.set()
    assert done.code == 0, done.err
    assert len(asked) == PAGES
