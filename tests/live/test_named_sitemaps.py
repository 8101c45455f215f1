"""A robots.txt that lies elsewhere and names sitemaps that are none: pages, pictures, redirects; the proof holds."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler

import pytest

from sharc_crawler.certificate.verify import verify
from tests.live.serving import Answering, serving

MANY = 20_000  #: a thousand are read
INDEX = "<sitemapindex><sitemap><loc>http://{0}/part/1</loc></sitemap></sitemapindex>"
ELSEWHERE = {"/robots.txt": "/rules", "/gone": "/", "/old": "/a.pdf"}


class _Named(Answering, BaseHTTPRequestHandler):
    named: str

    def do_GET(self) -> None:
        if self.path in ELSEWHERE:
            self.answer(b"", status=302, Location=ELSEWHERE[self.path])
        elif self.path == "/rules":
            self.answer(self.named.encode(), "text/plain")
        elif self.path in ("/map.png", "/a.pdf"):
            self.answer(b"a file", "image/png" if self.path == "/map.png" else "application/pdf")
        elif self.path == "/index":
            self.answer(INDEX.format(self.headers["Host"]).encode(), "application/xml")
        else:  # whatever is asked for
            self.answer(b"<p>What is at %s</p><a href=/a>a</a>" % self.path.encode())


class _Few(_Named):
    named = "".join(f"Sitemap: {name}\n" for name in ("/none.xml", "/map.png", "/index", "/gone", "/old"))


class _Many(_Named):
    named = "".join(f"Sitemap: /{number}.xml\n" for number in range(MANY))


@pytest.mark.slow
@pytest.mark.parametrize("site", [_Few, pytest.param(_Many, marks=pytest.mark.long)])
def test_what_is_no_sitemap_costs_no_capture_its_certificate(site, crawl):
    with serving(site) as url:
        done = crawl(url=url, delay=0)
    assert done.code == 0, done.err
    assert done.capture["coherence"]["complete"]["coherent"] == 2
    assert verify(done.folder).findings == []
