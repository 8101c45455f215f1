"""WebSockets of a page: opened by the crawl, archived, and bound as any request is."""

from __future__ import annotations

import json
from base64 import b64encode
from collections import Counter
from hashlib import sha1
from http.server import BaseHTTPRequestHandler

import pytest
from warcio.archiveiterator import ArchiveIterator

from sharc_crawler.certificate.verify import verify
from tests.live.browser.test_browsing import resources, there_is_chromium  # noqa: F401
from tests.live.serving import Answering, serving

pytestmark = pytest.mark.usefixtures("there_is_chromium")
WORKERS = ("dedicated", "shared", "service")
WORKER = "new WebSocket('ws://HERE/%s', 'of-workers'); fetch('/data-of-%s')"
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
ROBOTS = b"User-agent: *\nDisallow: /forbidden\n"
PAGE = """<!doctype html><title>live</title><p id=p></p><script>
for (const one of ['ws://HERE/news', 'ws://HERE/forbidden', 'ws://HERE/none', 'ws://INNER/inner'])
  new WebSocket(one, ['chat', 'v2.example']).onerror = () => { p.append('closed ') };
try { new WebSocket('ws://HERE/none', 'no name') } catch { new WebSocket('ws://HERE/nameless') }
new Worker('/dedicated.js'); new SharedWorker('/shared.js'); navigator.serviceWorker.register('/service.js');
fetch('/data').then(got => got.text()).then(said => p.append(said));
</script>"""


def server(asked: list[tuple[str, str | None]], inner: str = ""):
    """``asked``: path and ``Upgrade`` of each request."""

    class Live(Answering, BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, self.headers.get("Upgrade")))
            if self.path == "/news" and self.headers.get("Upgrade") == "websocket":
                self.accept()
            elif self.path == "/robots.txt":
                self.answer(ROBOTS, "text/plain")
            elif self.path.endswith(".js"):
                name = self.path[1:-3]
                self.answer((WORKER % (name, name)).replace("HERE", self.headers["Host"]).encode(), "text/javascript")
            elif self.path == "/" or self.path.startswith("/data"):
                page = PAGE.replace("HERE", self.headers["Host"]).replace("INNER", inner)
                self.answer(page.encode() if self.path == "/" else b"data", "text/html")
            else:
                self.answer(b"no", "text/plain", 404)

        def accept(self):
            key = b64encode(sha1(f"{self.headers['Sec-WebSocket-Key']}{GUID}".encode()).digest()).decode()
            self.wfile.write(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Accept: %b\r\n\r\n\x81\x05hello" % key.encode()
            )
            self.close_connection = True

    return Live


def openings(crawl) -> dict[str, tuple[str, bytes]]:
    """Status and request of each exchange that asked for another protocol, by URL."""
    requests, statuses = {}, {}
    for warc in crawl.warcs:
        with warc.open("rb") as stream:
            for record in ArchiveIterator(stream):
                url = record.rec_headers["WARC-Target-URI"]
                if record.rec_type == "request" and record.http_headers.get_header("Upgrade"):
                    requests[url] = record.http_headers
                elif record.rec_type in ("response", "revisit"):
                    statuses[url] = record.http_headers.get_statuscode()
    return {url: (statuses[url], headers) for url, headers in requests.items()}


@pytest.mark.long
def test_sockets_of_pages_and_workers_are_opened_archived_and_bound_as_any_request(crawl):
    asked: list[tuple[str, str | None]] = []
    inside: list[tuple[str, str | None]] = []
    with serving(server(inside), "127.0.0.78") as inner, serving(server(asked, inner.split("/")[2])) as url:
        done = crawl(url=url, browser="always", text="1", delay="0.01", sitemap="off")
    assert done.code == 0, done.err
    assert not inside, "an address that is private, and that nobody allowed"
    paths = [path for path, upgrade in asked if upgrade == "websocket"]
    of_workers = {f"/{name}" for name in WORKERS}
    absent = {"/none", "/nameless"} | of_workers
    assert Counter(paths) == {"/news": 1, **dict.fromkeys(absent, 2)}, "robots.txt holds; looked for after T, too"
    kept = openings(done)
    statuses = {one.removeprefix(url): status for one, (status, _) in kept.items()}
    assert statuses == {"news": "101", "none": "404", "nameless": "404", **dict.fromkeys(WORKERS, "404")}
    names = {one.removeprefix(url): said.get_header("Sec-WebSocket-Protocol") for one, (_, said) in kept.items()}
    page_own = {"news": "chat, v2.example", "none": "chat, v2.example", "nameless": None}
    assert names == {**page_own, **dict.fromkeys(WORKERS, "of-workers")}
    assert {path for path, _ in asked} >= {f"/data-of-{name}" for name in WORKERS}, "what workers ask for"
    headers = kept[f"{url}news"][1]
    assert headers.get_header("Origin") == url.rstrip("/")
    assert headers.get_header("Sec-WebSocket-Version") == "13"
    info = json.loads(resources(done)[f"urn:pageinfo:{url}"])["urls"]
    news, none = (info[f"{url}{name}".replace("http:", "ws:")] for name in ("news", "none"))
    assert (news, none["status"]) == ({"status": 101, "type": "websocket"}, 404)
    assert resources(done)[f"urn:text:{url}"].count(b"closed") == 4, "the page's own lead nowhere"
    (page,) = (page for page in done.capture["pages"] if page["kind"] == "page")
    assert page["verdict"] == "coherent"
    assert set(page["data"]) == {f"{url}data", *(f"{url}data-of-{name}" for name in WORKERS)}
    assert not verify(done.folder).findings
