"""A trap that only a browser sees: scripts that name ever new pages. Its capture ends."""

from __future__ import annotations

from collections import Counter
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.live.browser import chromium
from tests.live.serving import serving

TRUE = 4  #: pages that say something of their own
TRAP = """<title>trap</title><p id=p></p><script>
const made = () => Math.random().toString(36).slice(2, 12);
const name = () => NAME;
p.innerHTML = 'This is a page of the trap, which says what all of its pages say. ' +
  [1, 2, 3].map(() => `<a href="${name()}">x</a>`).join(' ');
</script>"""
HOME = "<title>home</title>" + "".join(f"<a href=/true/{number}>x</a>" for number in range(TRUE)) + "<a href=/in>x</a>"


def server(asked: Counter[str], name: str):
    trap = TRAP.replace("NAME", name)

    class Trap(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            path = urlsplit(self.path).path
            asked[path] += 1
            true = f"<title>{path}</title><p>A page with words of its own, which are these: {path * 3}</p>"
            body = HOME if path == "/" else true if path.startswith("/true/") else trap
            self.send_response(404 if path == "/robots.txt" else 200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

    return Trap


@pytest.mark.long
@pytest.mark.parametrize("name", ["'/x/' + made()", "'/' + made() + '/' + made()"])
def test_a_trap_of_links_that_scripts_make_up_ends(crawl, name):
    try:
        chromium.found()
    except UsageError as error:
        pytest.skip(str(error))
    asked: Counter[str] = Counter()
    with serving(server(asked, name)) as url:
        done = crawl(url=url, browser="always", delay="0", sitemap="off", strategy="bfs")
    assert done.code == 0, done.err
    pages = {page["url"].removeprefix(url) for page in done.capture["pages"] if page["kind"] == "page"}
    assert {f"true/{number}" for number in range(TRUE)} <= pages
    assert len(pages) < 150, f"{len(pages)} pages"
    print(f"{len(pages)} pages, {asked.total()} requests")
