"""What only the page visited last embeds is judged like everything else: crawls of small sites, and what they prove."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler
from typing import ClassVar

import pytest

from sharc_crawler.certificate.verify import verify
from tests.live.conftest import captures_of
from tests.live.serving import Answering, serving
from tests.live.test_interruptions import start

ONE_PAGE = {
    "/": ("text/html", "<title>One</title><link rel=stylesheet href=s.css><script src=s.js></script><img src=i.png>"),
    "/s.css": ("text/css", "body { background: url(bg.png) }"),
    "/s.js": ("text/javascript", "let it = 'be'"),
    "/i.png": ("image/png", "an image"),
    "/bg.png": ("image/png", "a background"),
}
EACH_ITS_IMAGE = {
    "/": ("text/html", "<a href=1>1</a><a href=2>2</a><img src=0.png>"),
    "/1": ("text/html", "<p>One</p><img src=1.png>"),
    "/2": ("text/html", "<p>Two</p><img src=2.png>"),
    **{f"/{i}.png": ("image/png", f"image {i}") for i in range(3)},
}


def site(files, changing="", holding=""):
    """A handler that serves files: one of them anew at each download, one of them not at its first."""

    class Files(Answering, BaseHTTPRequestHandler):
        asked: ClassVar = Counter()
        held = threading.Event()

        def do_GET(self) -> None:
            self.asked[self.path] += 1
            if self.path == holding and self.asked[self.path] == 1:
                self.held.set()
                self.rfile.read(1)  # until who asked is gone
                return
            kind, text = files.get(self.path, ("text/plain", "no"))
            body = f"{text} {f'<!-- {self.asked[self.path]} -->' if self.path == changing else ''}".encode()
            self.answer(body, kind, 200 if self.path in files else 404)

    return Files


def verdicts(folder):
    """By path; all of them are proved from the WARC files, and T lies between all visits and all revisits."""
    assert verify(folder).findings == []
    (capture,) = captures_of(folder)
    pages, reference = capture["pages"], capture["times"]["reference"]
    assert max(page["visit"]["started"] for page in pages) <= reference
    assert reference <= min(page["revisit"]["started"] for page in pages)
    return {"/" + page["url"].split("/", 3)[3]: page["verdict"] for page in pages}


@pytest.mark.matrix
@pytest.mark.parametrize("changing", ["", "/2.png"])
def test_pages_with_an_image_each(crawl, changing):
    with serving(site(EACH_ITS_IMAGE, changing)) as url:
        done = crawl(url=url, delay="0.01", strategy="sharc-selective", sitemap="off")
    assert done.code == 0, done.err
    assert verdicts(done.folder) == {path: "changed" if path == changing else "coherent" for path in EACH_ITS_IMAGE}


def test_one_page_killed_between_its_visit_and_its_revisit(tmp_path):
    folder, handler = tmp_path / "capture", site(ONE_PAGE, holding="/i.png")
    with serving(handler) as url:
        killed = start(folder, url)
        assert handler.held.wait(240), "the page's image is asked for"
        killed.send_signal(signal.SIGKILL)
        killed.communicate(timeout=280)
        process = start(folder, url)
        out, _ = process.communicate(timeout=280)
    assert process.returncode == 0, out
    assert verdicts(folder) == dict.fromkeys(ONE_PAGE, "coherent")
    assert handler.asked["/"] == 2, "its visit was not repeated"
    assert "embedding" not in out, "nothing takes from the page's coherence"


def test_one_page_that_differs_each_time_is_said_to_have_had_the_same_content(crawl):
    with serving(site(ONE_PAGE, changing="/")) as url:
        done = crawl(url=url, delay="0.01", strategy="sharc-selective", sitemap="off")
    assert verdicts(done.folder) == dict.fromkeys(ONE_PAGE, "coherent") | {"/": "changed"}
    assert "1 of 1 page kept its content (0 coherent)" in done.out
