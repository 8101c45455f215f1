"""From the wire into WARC files: servers that behave, and servers that do not."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING

import brotli
import pytest
from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerRunner

from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.bodies.coding import zstd
from sharc_crawler.changes.http import parse_response
from sharc_crawler.instants import iso
from sharc_crawler.live.wire.handler import EXCHANGE_KEY
from tests.archive.readback import INFO, read_all
from tests.live.wire.test_handler import WELL_FORMED
from tests.live.wire_servers import Conversation, handler, in_loop, run_out_of_time, saying, serving

if TYPE_CHECKING:
    from pathlib import Path

OK = b"HTTP/1.1 200 OK\r\n"
UNPACKED = bytes(5_000_000)
BOMB = gzip.compress(UNPACKED, 9)


async def captured(folder: Path, script, stalls: int | None) -> list:
    """The records of one download, however it ended; ``stalls``: bytes after which the time is over."""
    async with serving(script) as server, handler(DOWNLOAD_MAXSIZE=500_000) as tap:
        request = Request(server.url + "/page")
        over = [] if stalls is None else [run_out_of_time(server, tap, stalls)]
        await asyncio.gather(tap.download_request(request), *over, return_exceptions=True)
    with WarcWriter(folder, "127.0.0.1", "run1", INFO) as out:
        out.write(request.meta[EXCHANGE_KEY])
    return read_all(folder)


async def _endless(peer: Conversation):
    await peer.heard()
    await peer.say(OK + b"\r\n")
    while True:
        await peer.say(bytes(10_000))


async def _reset_in_headers(peer: Conversation):
    await peer.heard()
    await peer.say(OK + b"Content-")
    peer.reset()


async def _reset_in_body(peer: Conversation):
    await peer.heard()
    await peer.say(OK + b"Content-Length: 100\r\n\r\nsome")
    await asyncio.sleep(0.05)
    peer.reset()


async def _hang_in_headers(peer: Conversation):
    await peer.heard()
    await peer.say(OK + b"Content-")
    await peer.reader.read(1)


async def _hang_in_body(peer: Conversation):
    await peer.heard()
    await peer.say(OK + b"Content-Length: 100\r\n\r\nsome")
    await peer.reader.read(1)


async def _drip(peer: Conversation):
    await peer.heard()
    await peer.say(OK + b"Content-Length: 100000\r\n\r\n")
    while True:
        await peer.say(b".")
        await asyncio.sleep(0.01)


async def _endless_headers(peer: Conversation):
    await peer.heard()
    await peer.say(OK)
    while True:
        await peer.say(b"X-More: " + b"y" * 10_000 + b"\r\n")


async def _endless_interim(peer: Conversation):
    await peer.heard()
    while True:
        await peer.say(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 5000)


async def _late(peer: Conversation):
    await peer.heard()
    await asyncio.sleep(0.2)
    await peer.say(OK + b"Content-Length: 2\r\n\r\n")
    await asyncio.sleep(0.2)
    await peer.say(b"hi")


def packed(coding: bytes, body: bytes) -> bytes:
    return OK + b"Content-Encoding: %s\r\nContent-Length: %d\r\n\r\n" % (coding, len(body)) + body


# what the server does: (script, kind of the main record, WARC-Truncated, part of the stated error)
BROKEN = {
    "shorter than announced": (saying(OK + b"Content-Length: 9\r\n\r\nhi"), "response", "disconnect", b"DataLoss"),
    "longer than announced": (
        saying(OK + b"Content-Length: 2\r\n\r\nhi there"),
        "response",
        None,
        b"surplus-base64: " + b64encode(b" there"),
    ),
    "bad chunk": (saying(OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\nhi"), "response", "disconnect", b"DataLoss"),
    "reset in the headers": (_reset_in_headers, "metadata", None, b"DownloadFailedError"),
    "reset in the body": (_reset_in_body, "response", "disconnect", b"DataLoss"),
    "gzip cut short": (
        saying(OK + b"Content-Encoding: gzip\r\nContent-Length: 60\r\n\r\n" + gzip.compress(bytes(99999))[:60]),
        "response",
        None,
        None,
    ),
    "gzip bomb": (
        saying(OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB) + BOMB),
        "response",
        None,
        None,
    ),
    "brotli bomb": (saying(packed(b"br", brotli.compress(UNPACKED, quality=5))), "response", None, None),
    "deflate bomb": (saying(packed(b"deflate", zlib.compress(UNPACKED))), "response", None, None),
    "zstd bomb": (saying(packed(b"zstd", zstd.compress(UNPACKED))), "response", None, None),
    "deflate that is not": (
        saying(OK + b"Content-Encoding: deflate\r\nContent-Length: 3\r\n\r\nnot"),
        "response",
        None,
        None,
    ),
    "endless body": (_endless, "response", "length", b"DownloadCancelledError"),
    "header injection in Location": (
        saying(b"HTTP/1.1 302 Found\r\nLocation: /a\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n"),
        "response",
        None,
        None,
    ),
    "control characters in headers": (
        saying(OK + b"A: \x00\x0b\x1b[31m\r\nContent-Length: 0\r\n\r\n"),
        "response",
        None,
        None,
    ),
    "conflicting lengths": (
        saying(OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi"),
        "response",
        "disconnect",
        b"conflicting Content-Length",
    ),
    "unknown transfer coding": (
        saying(OK + b"Transfer-Encoding: br\r\n\r\nhi"),
        "response",
        "disconnect",
        b"DownloadFailedError",
    ),
    "no headers at all": (saying(b"<html>hello</html>"), "metadata", None, b"DownloadFailedError"),
    # the rest of what Scrapy's own tests hold against it, and some more
    "hang in the headers": (_hang_in_headers, "metadata", None, b"DownloadTimeoutError"),
    "hang in the body": (_hang_in_body, "response", "time", b"DownloadTimeoutError"),
    "a byte at a time": (_drip, "response", "time", b"DownloadTimeoutError"),
    "late, in two parts": (_late, "response", None, None),
    "no last chunk": (
        saying(OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"),
        "response",
        "disconnect",
        b"DataLoss",
    ),
    "large and chunked": (
        saying(OK + b"Transfer-Encoding: chunked\r\n\r\n" + (b"400\r\n" + b"x" * 1024 + b"\r\n") * 1024 + b"0\r\n\r\n"),
        "response",
        "length",
        b"DownloadCancelledError",
    ),
    "chunk of an absurd size": (
        saying(OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"F" * 40 + b"\r\nhi"),
        "response",
        "disconnect",
        b"DataLoss",
    ),
    "chunk of a negative size": (
        saying(OK + b"Transfer-Encoding: chunked\r\n\r\n-2\r\nhi\r\n0\r\n\r\n"),
        "response",
        "disconnect",
        b"DataLoss",
    ),
    "chunked, with a length as well": (
        saying(OK + b"Transfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
        "response",
        None,
        None,
    ),
    "length that is no number": (
        saying(OK + b"Content-Length: two\r\n\r\nhi"),
        "response",
        "disconnect",
        b"DownloadFailedError",
    ),
    "negative length": (saying(OK + b"Content-Length: -2\r\n\r\nhi"), "response", "disconnect", b"DownloadFailedError"),
    "malformed status line": (saying(b"HTTP 1.1 200 OK\n\nhi"), "metadata", None, b"DownloadFailedError"),
    "blank line before the status line": (
        saying(b"\r\n" + OK + b"Content-Length: 2\r\n\r\nhi"),
        "response",
        None,
        b"surplus-base64: " + b64encode(b"\r\n"),
    ),
    "blank lines without end": (saying(b"\r\n" * 3 + OK + b"\r\nhi"), "metadata", None, b"DownloadFailedError"),
    "Shoutcast's status line": (saying(b"ICY 200 OK\r\n\r\nhi"), "metadata", None, b"DownloadFailedError"),
    "status that is no number": (saying(b"HTTP/1.1 two OK\r\n\r\nhi"), "metadata", None, b"DownloadFailedError"),
    "status 999": (saying(b"HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nhi"), "response", None, None),
    "header without a colon": (saying(OK + b"no colon here\r\nContent-Length: 2\r\n\r\nhi"), "response", None, None),
    "empty content type": (saying(OK + b"Content-Type:\r\nContent-Length: 2\r\n\r\nhi"), "response", None, None),
    "headers twice": (
        saying(OK + b"Set-Cookie: a=b\r\nSet-Cookie: c=d\r\nContent-Length: 0\r\n\r\n"),
        "response",
        None,
        None,
    ),
    "endless headers": (_endless_headers, "metadata", None, b"DownloadFailedError"),
    "endless interim responses": (_endless_interim, "metadata", None, b"Download"),
    "204 with a body": (
        saying(b"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nhi"),
        "response",
        None,
        b"surplus-base64: " + b64encode(b"hi"),
    ),
    "304 that nobody asked for": (saying(b"HTTP/1.1 304 Not Modified\r\n\r\n"), "response", None, None),
    "redirect to itself": (
        saying(b"HTTP/1.1 301 Moved\r\nLocation: /redirect%20to%20itself\r\nContent-Length: 0\r\n\r\n"),
        "response",
        None,
        None,
    ),
    "redirect to nowhere": (saying(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"), "response", None, None),
    "HTTP/2 unasked": (saying(b"\0\0\x12\4\0\0\0\0\0\0\3\0\0\0\x64"), "metadata", None, b"DownloadFailedError"),
    "nothing": (saying(), "metadata", None, b"DownloadFailedError"),
    "silence": (saying(hang=True), "metadata", None, b"DownloadTimeoutError"),
}


#: bytes that are received, and then time goes by
STALLED = {
    "hang in the headers": len(OK + b"Content-"),
    "hang in the body": len(OK + b"Content-Length: 100\r\n\r\nsome"),
    "a byte at a time": len(OK + b"Content-Length: 100000\r\n\r\n...."),
    "silence": 0,
}


@pytest.mark.parametrize("case", BROKEN)
@in_loop
async def test_a_broken_server_gives_a_valid_warc_and_a_stated_outcome(case, tmp_path):
    script, kind, truncated, error = BROKEN[case]
    records = await captured(tmp_path, script, STALLED.get(case))
    main = records[1]
    assert main.kind == kind
    assert main["WARC-Truncated"] == truncated
    notes = [record.block for record in records if record.kind == "metadata"]
    assert (error in notes[0]) if error else not notes
    requests = [record for record in records if record.kind == "request"]
    assert [request["WARC-Concurrent-To"] for request in requests] == [main["WARC-Record-ID"]]
    assert requests[0].block.startswith(b"GET /page HTTP/1.1\r\n")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("case", WELL_FORMED)
@in_loop
async def test_what_was_on_the_wire_is_in_the_warc_to_the_byte(case, method, tmp_path):
    said = b"".join(WELL_FORMED[case])
    if method == "HEAD":  # the same heads, without the bodies
        head = parse_response(said)
        said = head.interim + head.head
    async with serving(saying(said, hang=method == "HEAD")) as server, handler() as tap:
        request = Request(server.url + "/page", method=method)
        await tap.download_request(request)
    exchange = request.meta[EXCHANGE_KEY]
    with WarcWriter(tmp_path, "127.0.0.1", "run1", INFO) as out:
        out.write(exchange)
    _, response, sent, *notes = read_all(tmp_path)
    interim = b"".join(b64decode(note.block.partition(b": ")[2]) for note in notes)
    assert interim + response.block == said
    assert sent.block.startswith(method.encode() + b" /page HTTP/1.1\r\n")
    assert response["WARC-IP-Address"] == "127.0.0.1"
    assert response["WARC-Date"] == iso(exchange.started)


class _Archiver:
    """The smallest downloader middleware that archives what the tap kept."""

    def __init__(self, crawler):
        self.out = WarcWriter(crawler.settings["FOLDER"], "127.0.0.1", "run1", INFO)
        crawler.signals.connect(self.close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def process_response(self, request, response):
        self.out.write(request.meta.pop(EXCHANGE_KEY))
        return response

    def process_exception(self, request, exception):
        self.out.write(request.meta.pop(EXCHANGE_KEY))

    def close(self):
        self.out.close()


class _Pages(Spider):
    name = "pages"
    items: list

    async def start(self):
        yield Request(f"{self.url}/start")

    def parse(self, response):
        self.items.append((response.url, response.body))
        for number in range(5):
            yield Request(f"{self.url}/{number}", errback=lambda failure: None)


@in_loop
async def test_a_whole_crawl_with_robots_redirects_compression_and_a_failure(tmp_path):
    packed = zlib.compress(b"<p>packed</p>")
    answers = {
        b"/robots.txt": OK + b"Content-Length: 0\r\n\r\n",
        b"/start": b"HTTP/1.1 302 Found\r\nLocation: /home\r\nContent-Length: 0\r\n\r\n",
        b"/home": OK
        + b"Content-Type: text/html\r\nContent-Encoding: deflate\r\nContent-Length: %d\r\n\r\n" % len(packed)
        + packed,
        b"/0": b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone",
        b"/1": OK + b"Content-Length: 50\r\n\r\nshort",
    }

    async def site(peer: Conversation):
        while request := await peer.heard():
            path = request.split()[1]
            await peer.say(answers.get(path, OK + b"Content-Length: 2\r\n\r\nhi"))
            if path == b"/1":
                return

    settings = {
        "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https"), "sharc_crawler.live.wire.handler.WireTapHandler"),
        "DOWNLOADER_MIDDLEWARES": {_Archiver: 990},
        "SHARC_ALLOWED_ADDRESSES": ["127.0.0.0/8"],
        "ROBOTSTXT_OBEY": True,
        "RETRY_ENABLED": False,
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "FOLDER": tmp_path,
        "LOG_ENABLED": False,
    }
    items: list = []
    async with serving(site) as server:
        await AsyncCrawlerRunner(settings).crawl(_Pages, url=server.url, items=items)
    assert (f"{server.url}/home", b"<p>packed</p>") in items
    records = read_all(tmp_path)
    responses = {
        record["WARC-Target-URI"].removeprefix(server.url).encode(): record
        for record in records
        if record.kind in {"response", "revisit"}
    }
    assert set(responses) == {*answers, b"/2", b"/3", b"/4"}
    for path, answer in answers.items():
        assert responses[path].block == answer
    assert responses[b"/1"]["WARC-Truncated"] == "disconnect"
    assert sorted(responses[path].kind for path in (b"/2", b"/3", b"/4")) == ["response", "revisit", "revisit"]
