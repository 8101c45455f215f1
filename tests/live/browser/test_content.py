"""The content of a page made by script is what it shows: not what its shell says, nor what differs unseen."""

from __future__ import annotations

from collections import Counter
from http.server import BaseHTTPRequestHandler

import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.live.browser import chromium
from tests.live.serving import serving

PAGE = (
    "<title>{0}</title><p id=p></p>"
    "<script>const state = '{1}'; fetch('/api').then(got => got.text()).then({2})</script>"
)
UNSEEN = "text => { p.textContent = 'All about ' + text + ', whoever asks for it.' }"
SEEN = "text => { p.textContent = 'All about ' + text + ' in edition ' + state + ', of many.' }"


def server(asked: Counter[str]):
    class Changing(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            asked[self.path] += 1
            word = ("first", "second", "third")[min(asked[self.path], 3) - 1]
            pages = {f"/{name}{number}": PAGE.format(f"{name} {number}", word, script)
                     for name, script in (("unseen", UNSEEN), ("seen", SEEN)) for number in range(2)}  # fmt: skip
            known = {"/": "".join(f"<a href={path}>a</a>" for path in pages), "/api": "something", **pages}
            body = known.get(self.path, "").encode()
            self.send_response(200 if self.path in known else 404)
            self.send_header("Content-Type", "text/plain" if self.path == "/api" else "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Changing


@pytest.mark.long
def test_a_page_whose_bytes_differ_is_shown_again_and_compared_by_what_it_shows(crawl):
    try:
        chromium.found()
    except UsageError as error:
        pytest.skip(str(error))
    asked: Counter[str] = Counter()
    with serving(server(asked)) as url:
        done = crawl(url=url, browser="always", delay="0", sitemap="off")
    assert done.code == 0, done.err
    pages = {page["url"].removeprefix(url): page for page in done.capture["pages"] if page["kind"] == "page"}
    twice = {path: page for path, page in pages.items() if path and page["revisit"]}
    assert len(twice) == 3, "the apex is its own revisit"
    for path, page in twice.items():
        content = "kept" if path.startswith("unseen") else "changed"
        assert (page["verdict"], page["content"]) == ("changed", content), path
    assert asked["/api"] == 2, "showing a page again asks for nothing"
