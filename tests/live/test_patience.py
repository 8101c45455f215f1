"""A server that is too busy for robots.txt or a sitemap at first: the site is captured all the same."""

from __future__ import annotations

from functools import partial
from http.server import BaseHTTPRequestHandler
from itertools import count

import pytest

from tests.live.serving import Answering, serving

PAGES, NAMESPACE = 6, "http://www.sitemaps.org/schemas/sitemap/0.9"


class Busy(Answering, BaseHTTPRequestHandler):
    """Names its sitemap, which alone names the pages; one of both is refused so many times."""

    def __init__(self, *given, refused: str, times: count, most: int) -> None:
        self.refused, self.times, self.most = refused, times, most
        super().__init__(*given)

    def do_GET(self) -> None:
        base = f"http://{self.headers['Host']}"
        if self.path == self.refused and next(self.times) < self.most:
            self.answer(b"too many requests", "text/plain", 429)
        elif self.path == "/robots.txt":
            self.answer(f"User-agent: *\nSitemap: {base}/map.xml\n".encode(), "text/plain")
        elif self.path == "/map.xml":
            urls = "".join(f"<url><loc>{base}/{number}</loc></url>" for number in range(PAGES))
            self.answer(f'<urlset xmlns="{NAMESPACE}">{urls}</urlset>'.encode(), "text/xml")
        else:
            self.answer(f"<p>this is {self.path}".encode())


@pytest.mark.parametrize(
    ("refused", "times", "read"),
    [("/robots.txt", 5, True), ("/map.xml", 4, True), pytest.param("/map.xml", 99, False, marks=pytest.mark.long)],
)
def test_what_is_refused_at_first_loses_no_page(crawl, refused, times, read):
    handler = partial(Busy, refused=refused, times=count(), most=times)
    with serving(handler) as url:
        done = crawl(url=url, delay="0.01", settings=["SHARC_BACK_OFF=0.05"])
    assert done.code == 0, done.err
    pages = [page for page in done.capture["pages"] if page["verdict"]]
    assert len(pages) == (PAGES + 1 if read else 1)
    notes = " ".join(done.capture["notes"])
    assert f"{url.rstrip('/')}{refused} could not be read at first (status 429)" in notes
    assert ("pages that only it lists are missing" in notes) is not read
