"""A site whose pages all hang ends by itself, each page lost for a reason that is told; another site is captured."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from threading import Event

import pytest

from sharc_crawler.certificate.verify import verify
from tests.live.conftest import captures_of
from tests.live.serving import Answering, serving_at

PAGES = 6
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def drip(write, what: bytes, over: Event) -> None:
    """A little now and then, for ever."""
    while not over.wait(0.1):
        write(what)


#: what is sent before and then again and again
HANGS = {
    "silent": (b"", b""),
    "headers-alone": (HEAD + b"Content-Length: 1000\r\n\r\n", b""),
    "a-byte-now-and-then": (HEAD + b"Content-Length: 1000000\r\n\r\n", b"x"),
    "a-header-now-and-then": (HEAD, b"X-More: to come\r\n"),
    "a-trailer-now-and-then": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n", b"X-More: to come\r\n"),
}


@pytest.mark.long
def test_a_site_whose_pages_all_hang_ends_and_holds_up_no_other(crawl, tmp_path):
    over, asked = Event(), set()

    class Site(Answering, BaseHTTPRequestHandler):
        def do_GET(self):
            hangs = self.connection.getsockname()[0].endswith(".2")
            name = self.path[1:]
            if hangs and name in HANGS:
                first, then = HANGS[name]
                try:
                    self.wfile.write(first)
                    drip(self.wfile.write, then, over)
                except OSError:
                    self.close_connection = True
                return
            names = HANGS if hangs else [f"p{number}" for number in range(PAGES)]
            asked.update({name} - set(HANGS) if not hangs else ())
            body = b"".join(b"<a href=/%b>%b</a>" % (one.encode(), one.encode()) for one in names)
            self.answer(self.path.encode() + body, status=404 if self.path.endswith((".txt", ".xml")) else 200)

    settings = ["DOWNLOAD_TIMEOUT=3", "SHARC_ATTEMPTS=1", "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8"]
    with serving_at(("127.0.5.2", "127.0.5.1"), Site) as urls:
        (tmp_path / "seeds.txt").write_text("\n".join(urls))
        try:
            done = crawl(seeds="seeds.txt", strategy="bfs:revisits=none", delay="0", settings=settings)
        finally:
            over.set()
    assert {f"p{number}" for number in range(PAGES)} <= asked
    assert done.code == 0, done.err
    folder = next(path for path in done.folder.iterdir() if path.name.startswith("127.0.5.2"))
    pages = {page["url"].rpartition("/")[2]: page for page in captures_of(folder)[0]["pages"]}
    assert pages.keys() == {"", *HANGS}
    for name in HANGS:
        assert pages[name]["visit"]["result"] == "failed"
        assert "in time" in pages[name]["visit"]["error"]
    assert verify(folder).findings == []
