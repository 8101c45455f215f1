"""Addresses that are spelt in another way than they are known by: nothing is lost, and the certificate holds."""

from __future__ import annotations

import http.server
from urllib.parse import urlsplit

from sharc_crawler.certificate.verify import verify
from sharc_crawler.model import Result
from sharc_crawler.storage.observations import ObservationStore
from tests.live.serving import serving

LINKS = (
    "/dead?b=2&a=1&utm_source=x",
    "/dead.html#part",
    "/DEAD/../dead/%7euser",
    "/utf8",
    "/latin1",
    "/self",
    "/folder",
    "/nothing?z=1&y=2",
    "/sorted?a=1&b=2",
    "/tracked?utm_source=x",
    "/blank",
    "/control",
    "/shorter",
)
MOVED = {"/utf8": "/müll.html".encode(), "/latin1": b"/m\xfcll.html", "/self": b"/self", "/folder": b"/folder/"}
MOVED |= {"/blank": b"/blank.html #top", "/control": b"/control\x0b#top", "/shorter": b"/shorter #top"}
MOVED |= {"/sorted?a=1&b=2": b"/sorted?b=2&a=1", "/tracked?utm_source=x": b"/tracked"}


class _Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if "dead" in self.path.lower():
            self.close_connection = True
            return
        found = self.path in {"/", "/m%C3%BCll.html", "/m%FCll.html", "/sorted?b=2&a=1", "/tracked", "/folder/"}
        found |= self.path.endswith(("%20", "%0B"))
        status = 301 if self.path in MOVED else 200 if found else 404
        body = b"".join(b'<a href="%s">x</a>' % link.encode() for link in LINKS) if self.path == "/" else b"page"
        moved = b"Location: " + MOVED[self.path] + b"\r\n" if self.path in MOVED else b""
        head = b"HTTP/1.1 %d X\r\nContent-Type: text/html\r\nContent-Length: %d\r\n%s\r\n"
        self.wfile.write(head % (status, len(body), moved) + body)

    def log_message(self, *_):
        pass


def test_spellings_that_are_not_canonical_are_certified_and_redirects_in_raw_bytes_followed(crawl, tmp_path):
    history = tmp_path / "archive.sqlite"
    with serving(_Site) as url:
        settings = ("SHARC_ATTEMPTS=2", "SHARC_BACK_OFF=0")
        done = crawl(url=url, delay="0", sitemap="off", history=str(history), settings=settings)
    assert done.code == 0, done.err
    shown = {urlsplit(page["url"]).path: page for page in done.capture["pages"]}
    assert shown["/m%C3%BCll.html"]["verdict"] == shown["/m%FCll.html"]["verdict"] == "coherent"
    assert shown["/self"]["reason"] == "redirects to itself: it may want a cookie"
    assert shown["/folder"]["target"] == f"{url}folder/"
    assert shown["/folder/"]["verdict"] == "coherent"
    assert sum(page["visit"]["result"] == "failed" for page in shown.values()) == 3
    by_url = {page["url"].removeprefix(url): page["verdict"] for page in done.capture["pages"]}
    assert by_url["sorted?b=2&a=1"] == "coherent", "its canonical URL redirects to it"
    assert by_url["sorted?a=1&b=2"] is None
    assert [by_url[name] for name in ("blank.html%20", "control%0B", "shorter%20")] == ["coherent"] * 3
    assert by_url["tracked#"] == "coherent"
    with ObservationStore(history) as store:
        last = store.latest(urlsplit(url).netloc)
    assert last[f"{url}tracked"].result is Result.OK, "the next capture asks for this one"
    assert f"{url}tracked#" not in last
    verified = verify(done.folder)
    assert verified.findings == []
    assert verified.pages == 9
