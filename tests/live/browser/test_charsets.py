"""Links of a page that is not UTF-8, as it is shown: asked for as the browser itself would, and no others."""

from __future__ import annotations

import re
from http.server import BaseHTTPRequestHandler

import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.live.browser import chromium
from sharc_crawler.live.browser.page_records import as_sent
from sharc_crawler.live.reading.document import read_here
from sharc_crawler.live.reading.readings import Order, Wants
from tests.live.serving import Answering, serving

TERMS = {"detector": "content", "masks": None}
WORDS = {"shift_jis": "日本", "euc-jp": "日本", "iso-2022-jp": "日本", "windows-1252": "Straße", "utf-16le": "Straße"}
PAGE = '<meta charset={0}><title>a page</title><img src="/i.png?q={1}"><a href="/a.html?q={1}">{1}</a>'


@pytest.mark.parametrize("charset", [*WORDS, "replacement", "no-such-charset"])
def test_a_shown_page_names_what_it_names_as_served(charset):
    word = WORDS.get(charset, "Straße")
    markup = PAGE.format(charset, word)
    order = Order("http://h/", Wants.DOCUMENT)
    own = charset if charset in WORDS else "utf-8"
    served = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset={own}\r\n\r\n".encode() + markup.encode(own)
    named = [link.url for link in read_here(served, order, TERMS).links]
    assert named == [link.url for link in read_here(as_sent(markup, charset), order, TERMS).links]


def test_what_its_encoding_has_not_is_kept():
    said = as_sent("<title>\ud800日</title><p>ä日", "windows-1252")
    assert said.endswith("<title>&#55296;&#26085;</title><p>ä&#26085;".encode("cp1252"))


class Site(Answering, BaseHTTPRequestHandler):
    """A page of its encoding, and whatever that names."""

    def do_GET(self):
        self.asked.append(self.path)
        known = {"/": PAGE.format(self.charset, WORDS[self.charset]).encode(self.charset)}
        body = known.get(self.path.partition("?")[0], b"" if self.path[1:2] in "rs" else self.path.encode())
        self.answer(body, "text/html", status=200 if body else 404)


@pytest.mark.slow
@pytest.mark.parametrize(
    "charset",
    ["shift_jis", *(pytest.param(one, marks=pytest.mark.long) for one in ("euc-jp", "iso-2022-jp", "windows-1252"))],
)
def test_links_and_images_are_asked_for_once_in_the_encoding_of_their_page(crawl, charset):
    try:
        chromium.found()
    except UsageError as error:
        pytest.skip(str(error))
    asked: list[str] = []
    with serving(type("Of", (Site,), {"asked": asked, "charset": charset})) as url:
        done = crawl(url=url, browser="always", delay="0.01")
    assert done.code == 0, done.err
    query = "".join(f"%{byte:02X}" for byte in WORDS[charset].encode(charset))
    found = {path for path in asked if "?" in path}
    assert {re.sub(r"%..", "", path).partition("?")[0] for path in found} == {"/a.html", "/i.png"}
    assert len(found) == 2, (found, query)
