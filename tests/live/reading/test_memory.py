"""Large bodies lie on the disk, all that is under way is counted, and a crawl keeps every byte of them."""

from __future__ import annotations

import gzip
import random
from http.server import BaseHTTPRequestHandler

import pytest
from warcio.archiveiterator import ArchiveIterator

from sharc_crawler.bodies.spool import LARGE, Spool
from sharc_crawler.bodies.spooling import Spooling
from sharc_crawler.changes.content import ContentDetector
from sharc_crawler.live.reading.document import read
from sharc_crawler.live.reading.memory import ONE, MemoryBudget
from sharc_crawler.live.reading.readings import Order, Wants
from sharc_crawler.live.wire.tap import Tap
from tests.live.serving import serving

LINKS = b"<!--" + b" " * LARGE + b"-->" + b"".join(b"<a href=/%d>%d</a>" % (one % 3, one) for one in range(999))
CODED = gzip.compress(random.Random(1).randbytes(2 * LARGE), 0, mtime=0)
MAXSIZE = 3 * LARGE


def test_what_is_under_way_is_counted_and_large_responses_go_to_the_disk(tmp_path) -> None:
    memory = MemoryBudget(2 * ONE)
    memory.lie_in(tmp_path)
    tap, other = Tap(lambda: 0.0, memory), Tap(lambda: 0.0, memory)
    other.receive(bytes(1000))
    for _ in range(LARGE // 1000 + 1):
        assert memory.taken <= LARGE + 2000
        tap.receive(bytes(1000))
    assert memory.taken == 1000, "it is on the disk now"
    assert memory.receiving() == ", 4.2 MB of 1 large file received"
    tap.receive(b"end, and what follows")
    tap.forget(len(b", and what follows"))
    assert tap.surplus == b", and what follows"
    large = tap.response()
    assert isinstance(large, Spool)
    assert large[-4:] == b"\0end"
    assert other.response() == bytes(1000)
    assert (memory.taken, memory.receiving()) == (0, "")
    del large
    assert [list(folder.iterdir()) for folder in tmp_path.iterdir()] == [[]]
    memory.close()
    assert not list(tmp_path.iterdir())


def test_a_tap_that_begins_again_keeps_nothing(tmp_path) -> None:
    memory = MemoryBudget()
    memory.lie_in(tmp_path)
    tap = Tap(lambda: 0.0, memory)
    tap.receive(bytes(LARGE + 1))
    tap.begin(None)
    tap.receive(b"abc")
    assert not memory.receiving()
    assert (tap.response(), memory.taken) == (b"abc", 0)


def test_no_further_request_when_memory_is_used_up_but_always_one() -> None:
    memory = MemoryBudget(1)
    assert not memory.is_used_up(0), "nothing else is under way"
    assert memory.is_used_up(1)
    assert MemoryBudget().limit > ONE
    memory = MemoryBudget(2 * ONE)
    assert not memory.is_used_up(ONE)
    assert memory.is_used_up(ONE + 1)


def test_what_a_killed_crawl_left_is_removed(tmp_path) -> None:
    MemoryBudget().lie_in(tmp_path)
    killed = MemoryBudget()
    killed.lie_in(tmp_path)
    killed.spooling().write(b"abc")
    assert list(tmp_path.glob(".bodies-*/body-*"))
    MemoryBudget().lie_in(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_large_sitemap_is_read_whole(tmp_path) -> None:
    entry = b"<url><loc>http://h.example/with/a/long/way/to/it/with/a/long/way/to/it/page-%06d</loc></url>"
    entries = b"".join(entry % number for number in range(50_000))
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n\r\n"
    sitemap = b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>" + entries + b"</urlset>"
    large = Spooling(tmp_path, [head, sitemap]).done()
    assert len(large) > LARGE
    reading = read(large, Order("http://h.example/sitemap.xml", Wants.SITEMAP), ContentDetector())
    assert len(reading.links) == 50_000
    assert not reading.problems


class _Large(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        links = [b"<a href=/%b>a</a>" % page for page in (b"links", b"coded", b"endless", b"small")]
        page = {"/": b"".join(links), "/links": LINKS, "/coded": CODED, "/endless": b"", "/small": b"small"}
        body = page.get(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Type", "text/html")
        if self.path == "/coded":
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for at in range(0, len(body or b""), 1 << 20):
            self._chunk((body or b"")[at : at + (1 << 20)])
        while self.path == "/endless":
            self._chunk(bytes(1 << 16))
        self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.long
def test_a_crawl_of_large_bodies(crawl) -> None:
    """One budget that holds a single response, and nothing is lost or left over."""
    settings = (f"DOWNLOAD_MAXSIZE={MAXSIZE}", "SHARC_MAX_MEMORY=1")
    with serving(_Large) as url:
        done = crawl(url=url, delay=0, sitemap="off", settings=settings)
    assert done.code == 0, done.err
    assert not list(done.folder.glob(".bodies-*"))
    pages = {page["url"].removeprefix(url): page for page in done.capture["pages"]}
    coherent = [name for name, page in pages.items() if page["verdict"] == "coherent"]
    assert sorted(coherent) == ["", "coded", "links", "small"], "judged as small ones are"
    assert pages["endless"]["reason"].count("DOWNLOAD_MAXSIZE") == 1
    assert (done.folder / "crawl.jsonl").read_text().count('"larger than DOWNLOAD_MAXSIZE"') == 1, "one attempt"
    kept = {}
    for path in done.warcs:
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response":
                    name = record.rec_headers.get_header("WARC-Target-URI").removeprefix(url)
                    stated = record.rec_headers.get_header("WARC-Truncated")
                    kept[name] = record.raw_stream.read() if name == "coded" else len(record.raw_stream.read()), stated
    chunks = [CODED[at : at + (1 << 20)] for at in range(0, len(CODED), 1 << 20)]
    assert kept["coded"] == (b"".join(b"%x\r\n%b\r\n" % (len(one), one) for one in [*chunks, b""]), None)
    assert kept["links"][0] > len(LINKS)
    assert kept["endless"][0] > MAXSIZE
    assert kept["endless"][1] == "length"
