from __future__ import annotations

import gzip
import time
from typing import TYPE_CHECKING

import pytest
from scrapy import Request
from scrapy.exceptions import (
    DownloadConnectionRefusedError,
)

from sharc_crawler.live.clock import clock_of
from sharc_crawler.live.wire.addresses import AddressRefusedError
from sharc_crawler.live.wire.client import WireConnection
from sharc_crawler.live.wire.handler import EXCHANGE_KEY
from tests.live.wire_servers import (
    OK,
    SPIDERS,
    Conversation,
    exchange_of,
    handler,
    in_loop,
    saying,
    serving,
    tls_context,
)

if TYPE_CHECKING:
    from pathlib import Path


# (what the server says, the scripted segments): each must be kept to the byte
WELL_FORMED = {
    "length": [OK + b"content-LENGTH: 5\r\nX-Odd:  two  spaces \r\n\r\n", b"hello"],
    "one segment": [OK + b"Content-Length: 5\r\n\r\nhello"],
    "byte by byte": [bytes([c]) for c in OK + b"Content-Length: 2\r\n\r\nhi"],
    "chunked": [
        OK + b"Transfer-Encoding: chunked\r\n\r\n",
        b"3;x=y\r\nabc\r\n",
        b"02\r\nde\r\n0\r\nTrailer: t\r\n\r\n",
    ],
    "padded chunk sizes": [
        OK + b"Transfer-Encoding: chunked\r\n\r\n3  \r\nabc\r\n2 ;x=y\r",
        b"\nde\r\n0     \r\n\r\n",
    ],
    "close-delimited": [OK + b"\r\n", b"until ", b"the end"],
    "http/1.0": [b"HTTP/1.0 200 Fine\r\nContent-Length: 2\r\n\r\nhi"],
    "early hints": [b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", OK + b"Content-Length: 2\r\n\r\nhi"],
    "no content": [b"HTTP/1.1 204 No Content\r\nA: b\r\n\r\n"],
    "not modified": [b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Length: 900\r\n\r\n'],
    "redirect": [b"HTTP/1.1 301 Moved\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n"],
    "not utf-8": [OK + b"X-Name: \xff\xfe\xe9\r\nContent-Length: 0\r\n\r\n"],
    "no reason": [b"HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx"],
    "folded, repeated": [OK + b"A: 1\r\n folded\r\nA: 2\r\nContent-Length: 1\r\n\r\nx"],
    "line feeds": [b"HTTP/1.1 200 OK\nContent-Length: 1\n\nx"],
    "content-encoded": [OK + b"Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + gzip.compress(b"page")],
    "huge headers": [
        OK + b"".join(b"X-%d: %s\r\n" % (n, b"v" * 8000) for n in range(60)) + b"Content-Length: 0\r\n\r\n"
    ],
    "one huge header": [OK + b"Content-Security-Policy: " + b"s" * 300_000, b"\r\nContent-Length: 2\r\n\r\nhi"],
    "no colon": [OK + b"nonsense\r\nContent-Length: 1\r\n\r\nx"],
    "identity as transfer coding": [OK + b"Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi"],
    "identity, then chunks": [OK + b"Transfer-Encoding: Identity , chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"],
    "large body": [OK + b"Content-Length: 3000000\r\n\r\n" + bytes(3_000_000)],
}


@pytest.mark.parametrize("spider", SPIDERS)
@pytest.mark.parametrize("parts", WELL_FORMED.values(), ids=WELL_FORMED)
@in_loop
async def test_keeps_what_was_received_to_the_byte(parts, spider):
    exchange = await exchange_of(saying(*parts), spider=spider)
    assert exchange.response == b"".join(parts)
    assert exchange.truncated is None
    assert exchange.error is None
    assert not exchange.normalised


@in_loop
async def test_keeps_what_was_sent_to_the_byte_with_times_address_and_url():
    heard = []

    async def script(peer: Conversation):
        heard.append(await peer.heard() + await peer.reader.readexactly(7))
        await peer.say(OK + b"Content-Length: 0\r\n\r\n")

    before = time.time()
    exchange = await exchange_of(script, method="POST", body=b"a=1&b=2")
    assert heard == [exchange.request]
    assert exchange.request.startswith(b"POST /page?q=1 HTTP/1.1\r\n")
    assert exchange.url.endswith("/page?q=1")
    assert exchange.ip == "127.0.0.1"
    assert before <= exchange.started <= exchange.ended <= time.time()


@in_loop
async def test_the_clock_is_the_crawls():
    async with serving(saying(OK + b"Content-Length: 0\r\n\r\n")) as server, handler() as tap:
        clock = clock_of(tap._crawler)
        request = Request(server.url)
        before = clock.now()
        await tap.download_request(request)
        exchange = request.meta[EXCHANGE_KEY]
        assert before <= exchange.started <= exchange.ended <= clock.now()


@pytest.mark.parametrize("secure", [False, True])
@in_loop
async def test_a_request_leaves_at_once_and_over_tls_after_its_turn(secure, tmp_path: Path, monkeypatch):
    """TLS writes in the reactor's next turn: whatever else a turn has to do delays what was begun in it."""
    ask = WireConnection.ask

    def slow(connection, asked):
        answered = ask(connection, asked)
        clock.set(clock.now() + 50)  # the rest of the turn
        return answered

    monkeypatch.setattr(WireConnection, "ask", slow)
    tls = tls_context(tmp_path, ("http/1.1",)) if secure else None
    async with serving(saying(OK + b"Content-Length: 0\r\n\r\n"), tls) as server, handler() as tap:
        clock, request = clock_of(tap._crawler), Request(server.url)
        await tap.download_request(request)
        exchange = request.meta[EXCHANGE_KEY]
        turn = exchange.started + 50
        assert turn <= exchange.sent <= exchange.ended if secure else exchange.started <= exchange.sent < turn


@in_loop
async def test_head_has_headers_alone():
    exchange = await exchange_of(saying(OK + b"Content-Length: 900\r\n\r\n", hang=True), method="HEAD")
    assert exchange.request.startswith(b"HEAD ")
    assert exchange.response == OK + b"Content-Length: 900\r\n\r\n"


@in_loop
async def test_tls_is_taken_off_and_http_2_is_not_offered(tmp_path: Path):
    chosen = []

    async def script(peer: Conversation):
        chosen.append(peer.writer.get_extra_info("ssl_object").selected_alpn_protocol())
        await peer.heard()
        await peer.say(OK + b"Content-Length: 6\r\n\r\n", b"secret")

    exchange = await exchange_of(script, tls=tls_context(tmp_path, ("h2", "http/1.1")))
    assert exchange.response == OK + b"Content-Length: 6\r\n\r\nsecret"
    assert exchange.request.startswith(b"GET /page?q=1 HTTP/1.1\r\n")
    assert exchange.ip == "127.0.0.1"
    assert chosen[0] != "h2"


@in_loop
async def test_bytes_beyond_the_announced_end_are_dropped_and_the_connection_with_them(caplog):
    async def script(peer: Conversation):
        while await peer.heard():
            await peer.say(OK + b"Content-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")

    async with serving(script) as server, handler() as tap:
        for _ in range(2):
            request = Request(server.url)
            await tap.download_request(request)
            assert request.meta[EXCHANGE_KEY].response == OK + b"Content-Length: 2\r\n\r\nhi"
        assert server.connections == 2
        assert f"{server.url}: 42 bytes after the end of the response" in caplog.text


@pytest.mark.parametrize("parts", [[b"\r\n\r\n"], [b"\r", b"\n"], [b"\n"]])
@in_loop
async def test_blank_lines_before_an_answer_are_no_part_of_it_and_kept_beside_it(parts):
    exchange = await exchange_of(saying(*parts, OK + b"Content-Length: 2\r\n\r\nhi there"))
    assert exchange.response == OK + b"Content-Length: 2\r\n\r\nhi"
    assert exchange.surplus == b"".join(parts) + b" there"


@in_loop
async def test_nobody_listening():
    async with serving(saying()) as server:
        pass
    async with handler() as tap:
        request = Request(server.url)
        with pytest.raises(DownloadConnectionRefusedError):
            await tap.download_request(request)
    exchange = request.meta[EXCHANGE_KEY]
    assert (exchange.request, exchange.response, exchange.ip, exchange.truncated) == (b"", b"", None, None)
    assert exchange.error


@in_loop
async def test_a_former_exchange_does_not_linger_in_meta():
    async with handler(SHARC_ALLOWED_ADDRESSES=[]) as tap:
        request = Request("http://127.0.0.1:9/", meta={EXCHANGE_KEY: "old"})
        with pytest.raises(AddressRefusedError):
            await tap.download_request(request)
    assert request.meta[EXCHANGE_KEY].error.startswith("AddressRefusedError: host '127.0.0.1' is at 127.0.0.1")
