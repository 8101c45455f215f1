"""A server whose headers hold bytes that are not ASCII: its validators come back as they were, and the proof holds."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from typing import ClassVar

import pytest

from sharc_crawler.certificate.verify import verify
from tests.live.serving import serving

PAGES = 20  # of one class: some are asked for in full, to see what a 304 is worth
LINKS = b"<a href=/moved>moved</a>" + b"".join(b"<a href=/%d>%d</a>" % (number, number) for number in range(PAGES))
ODD = b"\xc3\xa0 \xff"  # UTF-8 that ends in what Latin-1 takes for a space, and what is no UTF-8


class _Odd(BaseHTTPRequestHandler):
    asked: ClassVar[list[tuple[bytes, bytes]]] = []

    def do_GET(self) -> None:
        etag = b'"%s %s"' % (self.path.encode(), ODD)
        condition = self.headers.get("If-None-Match")
        if condition is not None:
            self.asked.append((condition.encode("latin-1"), etag))  # what was sent: http.server decodes it so
        moved, known = self.path == "/moved", self.path != "/robots.txt"
        status = 302 if moved else 404 if not known else 304 if condition and self.asked[-1][0] == etag else 200
        body = b"<title>A page</title>" + (LINKS if self.path == "/" else b"") if status == 200 else b""
        place = b"Location: /m\xc3\xbcll\r\nLocation: ftp://h/\r\n" if moved else b""
        kind = b"image/png\xc3\xa9" if self.path == "/0" else b"text/html; charset=utf-8"
        head = b"ETag: %s\r\nContent-Type: %s\r\n%s" % (etag, kind, place)
        self.wfile.write(b"HTTP/1.0 %d Yes\r\n%sContent-Length: %d\r\n\r\n%s" % (status, head, len(body), body))

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def capture(run_crawl, tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    with serving(_Odd) as url:
        done = run_crawl(folder, url=url, output=str(folder / "out"), strategy="bfs", delay="0", sitemap="off")
    assert done.code == 0, done.err
    return done


def test_a_validator_comes_back_byte_for_byte(capture):
    assert _Odd.asked, "no page was asked for conditionally"
    assert [(asked, etag) for asked, etag in _Odd.asked if asked != etag] == []


def test_a_location_in_utf_8_is_followed_and_of_two_the_first(capture):
    captured = {page["url"].rpartition("/")[2] for page in capture.capture["pages"] if page["revisit"]}
    assert "m%C3%BCll" in captured


def test_the_certificate_holds(capture):
    assert verify(capture.folder).findings == []
