"""Several requests to a host at once, and what a revisit that finds other bytes is read for."""

from __future__ import annotations

import http.server
import threading
from collections import Counter

import pytest

from tests.live.serving import Answering
from tests.report.by_hand import load_facts

PAGES = 40


class _Site(http.server.ThreadingHTTPServer):
    """A tree of pages; page 1 names another page from its second request on. Notes how many requests run at once."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.lock = threading.Lock()
        self.asked = Counter()
        self.at_once = self.most = 0
        self.never = threading.Event()

    def answer(self, path: str) -> bytes | None:
        self.asked[path] += 1
        name = path.strip("/")
        if name and not name.isdigit():
            return b"late" if name == "late" else None
        number = int(name or 0)
        links = [f"<a href='/{child}'>" for child in (2 * number + 1, 2 * number + 2) if child < PAGES]
        late = ["<a href='/late'>"] if number == 1 and self.asked[path] > 1 else []
        own = "".join("abcdefghij"[int(digit)] for digit in str(number))  # no two pages are alike
        return "".join([f"<!doctype html><p>{own * 4}", *links, *late]).encode()


class _Handler(Answering, http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        site = self.server
        with site.lock:
            site.at_once += 1
            site.most = max(site.most, site.at_once)
            body = site.answer(self.path)
        site.never.wait(0.02)  # the answer takes its time, so that requests overlap
        with site.lock:
            site.at_once -= 1
        self.answer(body or b"", status=200 if body else 404)


@pytest.fixture
def site():
    with _Site() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join(5)


def test_a_host_that_bears_four_requests_at_once_gets_four_and_the_capture_is_whole(crawl, site):
    url = f"http://127.0.0.1:{site.server_port}/"
    done = crawl(
        url=url, sitemap="off", delay="0", strategy="sharc-selective", settings=["CONCURRENT_REQUESTS_PER_DOMAIN=4"]
    )
    assert done.code == 0, done.err
    assert 1 < site.most <= 4
    times = Counter(site.asked[f"/{number or ''}"] for number in range(PAGES))
    assert set(times) <= {1, 2}, site.asked
    assert times[1] <= 1, "one page may be visited at T itself, where no other was under way by then"
    (facts,) = load_facts(done.folder)
    verdicts = {page.url.removeprefix(url): page.verdict for page in facts.pages if page.visit}
    assert verdicts.pop("1") == "changed"
    assert len(verdicts) == PAGES - 1
    assert set(verdicts.values()) == {"coherent"}
    assert "1 page was discovered after the reference instant" in str(done.capture)
    assert not site.asked["/late"]
