"""Pages that are made to cost minutes: the crawl goes on, and says what it did not look at."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler

from tests.live.serving import Answering, serving

ATTRIBUTES = b" ".join(b"a%d=%d" % (number, number) for number in range(100_000))
PAGES = {
    "/": b"<a href=/attributes>a</a> <a href=/deep>b</a> <a href=/plain>c</a>",
    "/attributes": b"<p %b><a href=/behind>d</a>" % ATTRIBUTES,
    "/deep": b"<div>" * 300_000,
    "/plain": b"plain",
    "/behind": b"behind",
}


class _Costly(Answering, BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer(PAGES.get(self.path, b""), status=200 if self.path in PAGES else 404)


def test_a_page_of_100000_attributes_and_one_without_end(crawl) -> None:
    with serving(_Costly) as url:
        done = crawl(url=url, delay=0)
    assert done.code == 0, done.err
    pages = {page["url"].removeprefix(url): page for page in done.capture["pages"]}
    assert {"attributes", "deep", "plain", "behind"} <= pages.keys(), "what follows the tag is found"
    assert sum(page["revisit"] is not None for page in pages.values()) == len(pages) - 1, "one is at T"
    assert done.capture["coherence"]["coherent"] == 5, "judged by their bytes"
    (note,) = [note for note in done.capture["notes"] if "not whole" in note]
    assert note.startswith("2 documents were not read, or not whole: ")
    assert "attributes after the first 256 of 1 tag" in note or "250,000 tags" in note
