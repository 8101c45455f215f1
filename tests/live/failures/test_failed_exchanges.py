"""What a report says of exchanges that went wrong."""

from __future__ import annotations

from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.sites import Sites
from sharc_crawler.live.failures.failed_exchanges import remark
from sharc_crawler.model import Exchange
from sharc_crawler.state.spec import CaptureSpec


def test_requests_that_were_sent_twice_are_counted_in_one_note():
    sites = Sites(Politeness())
    capture = sites.open(CaptureSpec("h", ("http://h/",), strategy="bfs", sitemaps=()), 0.0).capture
    fetch = sites.next(0.0)
    for before, said in (
        (0, []),
        (1, ["1 request was sent a second time"]),
        (2, ["3 requests were sent a second time"]),
    ):
        remark(capture, fetch, Exchange("http://h/", 0.0, 1.0, b"GET", b"", before=before))
        assert [note.partition(",")[0] for note in capture.notes] == said
