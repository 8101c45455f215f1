"""Pictures that pages embed and the server lacks: a page is complete without them where they were not there at T."""

from __future__ import annotations

from collections import Counter
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from sharc_crawler.certificate.verify import verify
from sharc_crawler.frontier.finishing import NESTED
from tests.live.serving import Answering, serving

PAGE = b"<!doctype html><title>%s</title><img src=/lost.png><img src=/late.png><a href=/a>a</a><a href=/b>b</a><p>%s"


class _Broken(Answering, BaseHTTPRequestHandler):
    """``late.png`` is answered with this status from the second request on."""

    def __init__(self, late: int, asked: Counter[str], *args: Any) -> None:
        self._late, self._asked = late, asked
        super().__init__(*args)

    def do_GET(self) -> None:
        self._asked[self.path] += 1
        if self.path == "/late.png" and self._asked[self.path] > 1:
            self.answer(b"" if self._late == 304 else b"\x89PNG", "image/png", self._late)
        elif self.path in ("/", "/a", "/b"):
            self.answer(PAGE % (self.path.encode(), self.path.encode()))
        else:
            self.answer(b"nothing here", status=404)


@pytest.mark.parametrize(
    ("late", "verdict"), [(404, "coherent"), (410, "coherent"), (200, "changed"), (403, "unknown"), (304, "unknown")]
)
def test_a_picture_that_is_not_there_is_asked_for_again_after_the_reference_instant(crawl, late, verdict) -> None:
    asked = Counter[str]()
    with serving(partial(_Broken, late, asked)) as url:
        done = crawl(url=url, delay=0)
    assert done.code == 0, done.err
    assert asked["/lost.png"] == asked["/late.png"] == 2
    found = {page["url"]: page for page in done.capture["pages"]}
    assert found[f"{url}lost.png"]["reason"] == "gone both times"
    assert found[f"{url}late.png"]["verdict"] == verdict
    assert done.capture["coherence"]["complete"][verdict] == 3
    assert done.capture["resources"]["captured"] == (late == 200), "the server has no other"
    assert not verify(done.folder).findings
    assert not any("fault of sharc" in note for note in done.capture["notes"])


def test_a_picture_that_single_visits_did_not_find_was_asked_for_once(crawl) -> None:
    asked = Counter[str]()
    with serving(partial(_Broken, 404, asked)) as url:
        done = crawl(url=url, delay=0, strategy="bfs:revisits=none")
    assert done.code == 0, done.err
    assert asked["/lost.png"] == 1
    (lost,) = [page for page in done.capture["pages"] if page["url"] == f"{url}lost.png"]
    assert (lost["verdict"], lost["reason"]) == (None, "not there (status 404)")
    assert not verify(done.folder).findings


def test_what_is_embedded_in_what_is_embedded_has_an_end(crawl) -> None:
    class Nested(Answering, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            number = int("".join(filter(str.isdigit, self.path)) or 0)
            self.answer(b"<title>t</title><img src=/x%d.png>" % (number + 1))

    with serving(Nested) as url:
        done = crawl(url=url, delay=0, sitemap="off")
    assert done.code == 0, done.err
    assert sum(page["kind"] == "resource" for page in done.capture["pages"]) == NESTED
    assert any("more than 12 levels deep" in note for note in done.capture["notes"])
    assert not verify(done.folder).findings


@pytest.mark.parametrize(
    ("late", "target", "verdict"),
    [(302, "/shown.png", "coherent"), (307, "/shown.png", "coherent"), (302, "/other.png", "unknown"),
     (200, "", "changed"), (404, "", "changed"), (503, "", "unknown"), (304, "", "unknown")],
)  # fmt: skip
def test_a_picture_that_redirects_for_now_is_asked_for_again_after_the_reference_instant(crawl, late, target, verdict):
    """Where it leads to another place by then, nobody knows whether the same is shown there."""
    asked = Counter[str]()

    class Redirecting(Answering, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked[self.path] += 1
            first = asked[self.path] == 1
            if self.path == "/":
                self.answer(b"<!doctype html><title>t</title><img src=/moved.png>")
            elif self.path == "/moved.png":
                status, to = (302, "/shown.png") if first else (late, target)
                more = {"location": to} if to else {}
                self.answer(b"" if status != 200 else b"PNG", "image/png", status, etag='"1"', **more)
            else:
                self.answer(b"\x89PNG", "image/png", 200 if self.path.endswith(".png") else 404)

    with serving(Redirecting) as url:
        done = crawl(url=url, delay=0)
    assert done.code == 0, done.err
    assert asked["/moved.png"] >= 2
    assert done.capture["coherence"]["complete"][verdict] == 1
    assert done.capture["resources"]["captured"] == 1 + (late == 200)
    assert not verify(done.folder).findings
    assert not any("fault of sharc" in note for note in done.capture["notes"])


@pytest.mark.parametrize("target", ["ftp://h.example/x.png", "mailto:x@y.example", "/x\0y.png"])
def test_a_picture_that_redirects_to_what_nobody_asks_for_leaves_its_page_unknown(crawl, target) -> None:
    class Leading(Answering, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/":
                self.answer(b"<!doctype html><title>t</title><img src=/moved.png>")
            elif self.path == "/moved.png":
                self.answer(b"", "image/png", 302, location=target)
            else:
                self.answer(b"", status=404)

    with serving(Leading) as url:
        done = crawl(url=url, delay=0)
    assert done.code == 0, done.err
    assert done.capture["coherence"]["complete"]["unknown"] == 1
    assert not verify(done.folder).findings


class _Shown(Answering, BaseHTTPRequestHandler):
    """A page shows what robots.txt names as a sitemap, which is another at each answer."""

    def __init__(self, asked: Counter[str], *args: Any) -> None:
        self._asked = asked
        super().__init__(*args)

    def do_GET(self) -> None:
        self._asked[self.path] += 1
        if self.path == "/robots.txt":
            self.answer(b"User-agent: *\nSitemap: /pages.xml\n", "text/plain")
        elif self.path == "/pages.xml":
            self.answer(b"<urlset><url><loc>/a</loc></url></urlset><!-- %d -->" % self._asked[self.path], "text/xml")
        elif self.path in ("/", "/a"):
            self.answer(b"<title>%s</title><a href=/a>a</a><iframe src=/pages.xml></iframe>" % self.path.encode())
        else:
            self.answer(b"nothing here", status=404)


def test_a_sitemap_that_pages_embed_is_part_of_them(crawl) -> None:
    with serving(partial(_Shown, Counter())) as url:
        done = crawl(url=url, delay=0)
    assert done.code == 0, done.err
    found = {page["url"].removeprefix(url): page for page in done.capture["pages"]}
    assert found["a"]["verdict"] == "coherent"
    assert found["a"]["complete"] == "changed"
    assert not verify(done.folder).findings
