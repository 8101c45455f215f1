"""A site that answers every request with one page, robots.txt too, and makes the page's content by script."""

from __future__ import annotations

import threading
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from sharc_crawler.certificate.verify import verify
from sharc_crawler.cli import main
from tests.live.serving import Answering, serving

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

SHELL = (
    b"<!doctype html><html><head><title>App</title><script defer src=/app.js></script>"
    b"<link rel=stylesheet href=/app.css></head><body><div id=app></div>%s</body></html>"
)
INDEX = b'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>%sen/</loc></sitemap></sitemapindex>'
FILES = {"/app.js": (b"fetch('/api')", "text/javascript"), "/app.css": (b"a{}", "text/css")}


class _CatchAll(Answering, BaseHTTPRequestHandler):
    def __init__(self, body: bytes, asked: threading.Event, *args: Any) -> None:
        self._page, self._asked = SHELL % body, asked
        super().__init__(*args)

    def do_GET(self) -> None:
        if self.path == "/app.css" and not self._asked.is_set():
            self._asked.set()
            self.answer(b"", status=429, Retry_After="1")
        else:
            self.answer(*FILES.get(self.path, (self._page, "text/html")))


def catch_all(body: bytes) -> AbstractContextManager[str]:
    return serving(partial(_CatchAll, body, threading.Event()))


def test_a_page_in_place_of_robots_txt_is_no_page_and_no_rules(crawl) -> None:
    with catch_all(b"<a href=/a>a</a><a href=/b>b</a>") as url:
        done = crawl(url=url, delay=0)
    assert done.code == 0, done.err
    resources = [page for page in done.capture["pages"] if page["kind"] == "resource"]
    assert {page["via"] for page in resources} == {url}, "nothing is taken from robots.txt"
    assert all(page["revisit"] for page in resources)
    assert done.capture["coherence"]["complete"]["coherent"] == 3
    assert f"{url}robots.txt is an HTML page" in done.out
    assert "JavaScript is not run" not in done.out, "pages with links have something to show"


def test_a_page_that_scripts_make_is_said_to_be_one_and_so_is_who_asked_to_wait(crawl) -> None:
    with catch_all(b"<noscript>Enable JavaScript, <a href=http://h.example/how>like this</a>.</noscript>") as url:
        done = crawl(url=url, delay=0)
    assert done.code == 0, done.err
    assert "1 of 1 HTML page has scripts, no links and hardly any text" in done.out
    host = url.split("/")[2]
    asked = f"{host} asked the crawl to wait (429 or 503 with Retry-After): 1 time, for 1 s in all"
    assert asked in done.out


@pytest.mark.parametrize("robots", ["", "Sitemap: %s", "Sitemap: %sen/", "Sitemap: %sindex.xml"])
def test_a_page_that_sitemaps_lead_to_is_a_page_where_pages_lead_to_it_too(crawl, robots) -> None:
    """The home page and all that is unknown redirect to the start page of a language."""

    class Redirecting(Answering, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/robots.txt":
                self.answer((robots % url if robots else "").encode(), "text/plain")
            elif self.path == "/index.xml":
                self.answer(INDEX % url.encode(), "text/xml")
            elif self.path == "/en/":
                self.answer(b"<title>start</title><a href=/a>a</a><a href=/b>b</a>")
            elif self.path in ("/a", "/b"):
                self.answer(b"<title>%s</title><a href=/en/>start</a>" % self.path.encode())
            else:
                self.answer(b"", status=302, Location="/en/")

    with serving(Redirecting) as url:
        done = crawl(url=url, delay=0)
        again = CliRunner().invoke(main, ["report", str(done.folder)])
    assert done.code == 0, done.err
    assert {page["url"] for page in done.capture["pages"] if page["verdict"] == "coherent"} == {
        f"{url}{name}" for name in ("en/", "a", "b")
    }
    assert not verify(done.folder).findings
    assert again.exit_code == 0, again.output


@pytest.mark.slow
def test_a_sitemap_that_pages_link_to_is_no_page(crawl) -> None:
    """Whatever it is called: the crawl and the records know its lastmods by one URL."""
    entries = "".join(
        f"<url><loc>%(url)sp{n}</loc><lastmod>2026-03-0{n}T10:11:12Z</lastmod></url>" for n in range(1, 6)
    )
    listed = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'

    class Linking(Answering, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/robots.txt":
                self.answer(f"Sitemap: {url}feed".encode(), "text/plain")
            elif self.path == "/feed":
                self.answer((listed % {"url": url}).encode(), "text/xml")
            else:
                self.answer(b"<title>%s</title>a page<a href=/feed>feed</a>" % self.path.encode())

    with serving(Linking) as url:
        done = crawl(url=url, delay=0.1, strategy="sharc-attested", lag="1")
    assert done.code == 0, done.err
    assert not any(page["url"].endswith("feed") for page in done.capture["pages"])
    assert not verify(done.folder).findings
