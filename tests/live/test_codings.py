"""robots.txt, sitemaps and pages in a content coding: read like any others, or said to be unreadable."""

from __future__ import annotations

import gzip
import zlib
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any

import brotli
import pytest

from sharc_crawler.bodies.coding import zstd
from tests.live.serving import Answering, serving

PACK = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
    "br, gzip": lambda body: gzip.compress(brotli.compress(body)),
}
FILES = {
    "/robots.txt": b"User-agent: *\nDisallow: /closed\nSitemap: /map.xml\n",
    "/map.xml": b"<urlset><url><loc>/listed</loc></url></urlset>",
    "/": b"<title>front</title><a href=/linked>a</a> <a href=/closed>b</a>",
    "/listed": b"listed",
    "/linked": b"linked",
    "/closed": b"closed",
}


class _Coded(Answering, BaseHTTPRequestHandler):
    def __init__(self, coding: str, broken: bool, *args: Any) -> None:
        self._coding, self._broken = coding, broken
        super().__init__(*args)

    def do_GET(self) -> None:
        body = PACK[self._coding](FILES.get(self.path, b""))
        if self._broken and self.path == "/robots.txt":
            body = body[: len(body) // 2]
        kind = {"/robots.txt": "text/plain", "/map.xml": "text/xml"}.get(self.path, "text/html")
        self.answer(body, kind, 200 if self.path in FILES else 404, Content_Encoding=self._coding)


@pytest.mark.matrix
@pytest.mark.parametrize("coding", PACK)
def test_every_coding_that_is_asked_for_is_read(crawl, coding) -> None:
    with serving(partial(_Coded, coding, False)) as url:
        done = crawl(url=url, delay=0, strategy="bfs:revisits=none")
    assert done.code == 0, done.err
    captured = {page["url"]: page["visit"] is not None for page in done.capture["pages"] if page["kind"] == "page"}
    assert captured == {url: True, f"{url}listed": True, f"{url}linked": True, f"{url}closed": False}


def test_zstd_is_asked_for_only_where_that_is_set_and_warcinfo_has_the_fields_that_are_given(crawl, tmp_path) -> None:
    asked = {}
    for name, further in {"usual": (), "all": ("SHARC_CODINGS=gzip,zstd",)}.items():
        with serving(partial(_Coded, "gzip", False)) as url:
            settings = ['SHARC_WARCINFO={"publisher": "A Library", "isPartOf": "News"}', *further]
            done = crawl(url=url, delay=0, strategy="bfs:revisits=none", output=tmp_path / name, settings=settings)
        assert done.code == 0, done.err
        files = [gzip.decompress(file.read_bytes()) for file in sorted((tmp_path / name).glob("*.warc.gz"))]
        assert len(files) == 2
        assert all(b"\r\npublisher: A Library\r\nisPartOf: News\r\n" in text for text in files)
        asked[name] = {line for text in files for line in text.splitlines() if line.startswith(b"Accept-Encoding")}
    assert asked == {"usual": {b"Accept-Encoding: gzip, deflate, br"}, "all": {b"Accept-Encoding: gzip, zstd"}}


@pytest.mark.matrix
@pytest.mark.parametrize("coding", ["gzip", "br"])
def test_a_robots_txt_that_cannot_be_decoded_closes_the_site(crawl, coding) -> None:
    """RFC 9309, 2.3.1.4: what cannot be had forbids all."""
    with serving(partial(_Coded, coding, True)) as url:
        done = crawl(url=url, delay=0, strategy="bfs:revisits=none", settings=["SHARC_ATTEMPTS=2"])
    assert done.code == 4, done.err
    said = f"{url}robots.txt could not be read (could not be read: {coding} ends too early"
    assert said in " ".join(done.out.split())
