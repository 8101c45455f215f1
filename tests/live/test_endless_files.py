"""A robots.txt without end: its first part is obeyed, and no more of it is downloaded."""

from __future__ import annotations

import gzip
from http.server import BaseHTTPRequestHandler
from typing import ClassVar

import pytest

from tests.live.serving import Answering, serving

RULES = b"User-agent: *\nDisallow: /closed\nSitemap: /map.xml\n"


class _Endless(Answering, BaseHTTPRequestHandler):
    sent: ClassVar[list[int]] = []
    packed = False

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            self._without_end()
        elif self.path == "/map.xml":
            self.answer(b"<urlset><url><loc>/listed</loc></url><url><loc>/closed</loc></url></urlset>", "text/xml")
        else:
            self.answer(b"<title>%b</title>" % self.path.encode())

    def _without_end(self) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        if self.packed:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        sent = 0
        try:
            part = RULES
            while sent < 50_000_000:
                data = gzip.compress(part) if self.packed else part
                self.wfile.write(data)
                sent += len(data)
                part = b"# and so on\n" * 1000
        except OSError:
            self.sent.append(sent)


class _EndlessAndPacked(_Endless):
    packed = True


@pytest.mark.matrix
@pytest.mark.parametrize("handler", [_Endless, _EndlessAndPacked])
def test_a_robots_txt_without_end_is_obeyed_as_far_as_it_is_read(crawl, tmp_path, handler) -> None:
    _Endless.sent.clear()
    with serving(handler) as url:
        done = crawl(url=url, delay=0, strategy="bfs", output=tmp_path / handler.__name__)
    assert done.code == 0, done.err
    captured = {page["url"]: page["visit"] is not None for page in done.capture["pages"] if page["kind"] == "page"}
    assert captured == {url: True, f"{url}listed": True, f"{url}closed": False}
    assert len(_Endless.sent) == 1  # once: it is no failure that would be tried again
    assert _Endless.sent[0] < 10_000_000  # what lies between the two processes counts, too
    assert b"\r\nWARC-Truncated: length\r\n" in b"".join(gzip.decompress(file.read_bytes()) for file in done.warcs)
