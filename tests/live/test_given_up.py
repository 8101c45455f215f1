"""Downloads that a budget gave up after requests that brought nothing: the certificate speaks of these, too."""

from __future__ import annotations

from collections import Counter
from http.server import BaseHTTPRequestHandler

import pytest

from sharc_crawler.certificate.verify import verify
from tests.live.serving import Answering, serving

PAGES, MOST = 12, 12


class Failing(Answering, BaseHTTPRequestHandler):
    """Every second page is busy, from a request on."""

    since = 0
    asked: Counter[str]

    def do_GET(self):
        self.asked[self.path] += 1
        name = self.path.strip("/p")
        if name.isdecimal() and int(name) % 2 == 0 and self.asked[self.path] > self.since:
            self.answer(b"busy", status=503)
        elif name.isdecimal() or self.path == "/":
            self.answer(f"<p>{name}".encode() + b"".join(b"<a href=/p%d>x</a>" % one for one in range(PAGES)))
        else:
            self.answer(b"", status=404)


@pytest.mark.matrix
@pytest.mark.parametrize("since", [0, 1], ids=["visits", "revisits"])
def test_what_failed_before_the_budget_was_used_up_is_spoken_of(crawl, since):
    handler = type("Site", (Failing,), {"since": since, "asked": Counter()})
    with serving(handler) as url:
        done = crawl(url=url, max_requests=str(MOST), delay="0.01", sitemap="off", settings=["SHARC_BACK_OFF=0.01"])
    assert done.code == 0, done.err
    assert sum(handler.asked.values()) <= MOST
    assert done.capture["left_by_budget"]
    assert verify(done.folder).findings == []
