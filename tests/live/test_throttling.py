"""A server that answers 403 to whoever asks too often: its pages are captured, and the certificate holds."""

from __future__ import annotations

import time
from functools import partial
from http.server import BaseHTTPRequestHandler

import pytest

from sharc_crawler.certificate.verify import verify
from sharc_crawler.frontier.throttling import ALIKE
from tests.live.serving import Answering, serving

PAGES = 30


class Throttling(Answering, BaseHTTPRequestHandler):
    """Of each two seconds it answers twenty requests."""

    def __init__(self, *given, window: list[float]) -> None:
        self.window = window
        super().__init__(*given)

    def do_GET(self) -> None:
        begun, made = self.window
        over = time.monotonic() >= begun + 2.0
        self.window[:] = (time.monotonic(), 1.0) if over else (begun, made + 1.0)
        if self.path in ("/robots.txt", "/sitemap.xml"):
            self.answer(b"no such page", status=404)
        elif self.window[1] > 20:
            self.answer(b"forbidden", status=403)
        else:
            links = "".join(f"<a href=/{number}>{number}</a>" for number in range(PAGES))
            self.answer(f"<p>this is {self.path}{links if self.path == '/' else ''}".encode())


@pytest.mark.parametrize("strategy", ["bfs:revisits=none", pytest.param("sharc-selective", marks=pytest.mark.long)])
def test_pages_refused_for_a_while_are_captured(crawl, strategy):
    with serving(partial(Throttling, window=[0.0, 0.0])) as url:
        done = crawl(url=url, delay="0.01", strategy=strategy, settings=["SHARC_BACK_OFF=0.2"])
    assert done.code == 0, done.err
    lost = [page for page in done.capture["pages"] if not page["verdict"]]
    assert len(done.capture["pages"]) == PAGES + 1
    notes = " ".join(done.capture["notes"])
    assert len(lost) <= ALIKE, notes
    assert "it refuses who asks too often" in notes
    assert not verify(done.folder).findings
