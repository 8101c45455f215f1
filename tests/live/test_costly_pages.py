"""Pages that are made to cost minutes: the crawl goes on, and says what it did not look at."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler

import pytest

from tests.live.serving import Answering, serving

ATTRIBUTES = b" ".join(b"a%d=%d" % (number, number) for number in range(100_000))
PAGES = {
    "/": b"<a href=/attributes>a</a> <a href=/deep>b</a> <a href=/plain>c</a>",
    "/attributes": b"<p %b><a href=/behind>d</a>" % ATTRIBUTES,
    "/deep": b"<div>" * 300_000,
    "/plain": b"plain",
    "/behind": b"behind",
}


TOO_LONG = {
    "/": b"<a href=/long>a</a> <a href=/plain>b</a>",
    "/long": b"without end <a href=/behind>c</a>",
    "/plain": b"plain",
    "/sitemap.xml": b"<urlset><!-- without end --><url><loc>/long</loc></url></urlset>",
}
_READER = """
import __main__ as main
from sharc_crawler.changes.content import ContentDetector as Usual
from sharc_crawler.live.reading import reader_process
process = main if hasattr(main, "SECONDS") else reader_process
read, process.SECONDS = process.read, 0.2
def without_end(raw, order, detector):
    while b"without end" in raw and order.wants != "nothing":
        pass
    return read(raw, order, detector)
process.read = without_end
"""


class _TooLong(Answering, BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer(TOO_LONG.get(self.path, b""), status=200 if self.path in TOO_LONG else 404)


@pytest.mark.slow
def test_what_takes_its_reader_too_long_is_told_with_what_is_lost(crawl, tmp_path) -> None:
    (tmp_path / "mine.py").write_text(_READER)
    with serving(_TooLong) as url:
        done = crawl(url=url, delay=0, settings=["SHARC_DETECTOR=mine.Usual"])
    assert done.code == 0, done.err
    told = "it could not be read, so its links are missing: the process that reads documents ended twice"
    assert f"sitemap {url}sitemap.xml: {told}" in done.capture["notes"]
    assert f"1 document was not read, or not whole: {url}long ({told})" in done.capture["notes"]
    assert told in done.out, "in the summary, too"


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
