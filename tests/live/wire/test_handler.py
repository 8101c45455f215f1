from __future__ import annotations

import asyncio
import gzip
import time
from typing import TYPE_CHECKING

import pytest
from scrapy import Request, Spider
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)

from sharc_crawler.changes.http import parse_response
from sharc_crawler.live.clock import clock_of
from sharc_crawler.live.requests import META_KEY
from sharc_crawler.live.wire import client
from sharc_crawler.live.wire.addresses import AddressRefusedError
from sharc_crawler.live.wire.client import WireConnection
from sharc_crawler.live.wire.framing import INTERIM
from sharc_crawler.live.wire.handler import EXCHANGE_KEY, MOST
from sharc_crawler.model import NO_VALIDATORS, Fetch, Kind, Plan, Slot
from tests.live.wire_servers import (
    PATIENCE,
    Capturing,
    Conversation,
    handler,
    in_loop,
    run_out_of_time,
    saying,
    serving,
    tls_context,
)

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.model import Exchange

OK = b"HTTP/1.1 200 OK\r\n"
SPIDERS = (Capturing, Spider)  #: whose answers our client brings, and those that Scrapy's does


async def exchange_of(script, method="GET", body=b"", meta=None, tls=None, **settings) -> Exchange:
    """What the tap kept of one download that must succeed."""
    async with serving(script, tls) as server, handler(**settings) as tap:
        request = Request(f"{server.url}/page?q=1#part", method=method, body=body, meta=meta)
        await tap.download_request(request)
        return request.meta[EXCHANGE_KEY]


async def failure_of(error, script, stalls: int | None = None, **settings) -> Exchange:
    """What the tap kept of one download that must fail with ``error``; ``stalls``: bytes after which time is over."""
    async with serving(script) as server, handler(**settings) as tap:
        request = Request(f"{server.url}/page")
        over = [] if stalls is None else [run_out_of_time(server, tap, stalls)]
        with pytest.raises(error):
            await asyncio.gather(tap.download_request(request), *over)
        return request.meta[EXCHANGE_KEY]


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
async def test_a_request_has_left_when_its_turn_of_the_reactor_is_over(secure, tmp_path: Path, monkeypatch):
    """Transports write in their next turn: whatever else a turn has to do delays what was begun in it."""
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
        assert exchange.started + 50 <= exchange.sent <= exchange.ended


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
async def test_a_reused_connection_gives_each_exchange_its_own_bytes():
    async def script(peer: Conversation):
        while request := await peer.heard():
            body = request.split()[1]
            await peer.say(OK + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async with serving(script) as server, handler() as tap:
        requests = [Request(f"{server.url}/{number}") for number in range(5)]
        for request in requests:
            await tap.download_request(request)
        assert server.connections == 1
    for number, request in enumerate(requests):
        exchange = request.meta[EXCHANGE_KEY]
        assert exchange.request.startswith(b"GET /%d " % number)
        assert exchange.response == OK + b"Content-Length: 2\r\n\r\n/%d" % number


@in_loop
async def test_concurrent_exchanges_are_not_mixed():
    async def script(peer: Conversation):
        body = (await peer.heard()).split()[1]
        for part in (OK, b"Content-Length: %d\r\n\r\n" % len(body), body):
            await peer.say(part)
            await asyncio.sleep(0.001)

    async with serving(script) as server, handler() as tap:
        requests = [Request(f"{server.url}/{number}") for number in range(20)]
        await asyncio.gather(*map(tap.download_request, requests))
    for number, request in enumerate(requests):
        assert request.meta[EXCHANGE_KEY].response.endswith(b"\r\n\r\n/%d" % number)


@pytest.mark.parametrize("spider", SPIDERS)
@in_loop
async def test_an_idle_connection_that_was_closed_is_replaced_and_only_the_answered_try_is_kept(spider):
    async def script(peer: Conversation):
        await peer.heard()
        await peer.say(OK + b"Content-Length: 1\r\n\r\nx")
        if await peer.heard():
            peer.reset()

    async with serving(script) as server, handler(spider) as tap:
        for _ in range(2):
            request = Request(server.url)
            await tap.download_request(request)
            assert request.meta[EXCHANGE_KEY].before == server.connections - 1, "the server has heard two, then"
        assert server.connections == 2
    assert request.meta[EXCHANGE_KEY].request.count(b"GET ") == 1
    assert request.meta[EXCHANGE_KEY].response == OK + b"Content-Length: 1\r\n\r\nx"


@in_loop
async def test_what_may_have_been_done_is_not_asked_for_again():
    async def script(peer: Conversation):
        await peer.heard()
        await peer.say(OK + b"Content-Length: 1\r\n\r\nx")
        if await peer.heard():
            peer.reset()

    async with serving(script) as server, handler() as tap:
        await tap.download_request(Request(server.url))
        with pytest.raises(DownloadFailedError):
            await tap.download_request(Request(server.url, method="POST"))
        assert server.connections == 1


@in_loop
async def test_a_connection_whose_end_was_an_answers_is_not_used_again():
    async with serving(saying(OK + b"\r\nuntil the end")) as server, handler() as tap:
        for _ in range(3):
            request = Request(server.url)
            await tap.download_request(request)
            assert request.meta[EXCHANGE_KEY].response.endswith(b"until the end")
        assert server.connections == 3


@in_loop
async def test_a_connection_that_waited_long_is_used_no_more(monkeypatch):
    async with serving(saying(OK + b"Content-Length: 1\r\n\r\nx", hang=True)) as server, handler() as tap:
        await tap.download_request(Request(server.url))
        monkeypatch.setattr(client, "IDLE", 0.0)
        await tap.download_request(Request(server.url))
        assert server.connections == 2


@in_loop
async def test_where_too_many_are_open_none_waits():
    async with serving(saying(OK + b"Content-Length: 1\r\n\r\nx", hang=True)) as server, handler() as tap:
        tap._client._most = 0
        for _ in range(2):
            await tap.download_request(Request(server.url))
        assert server.connections == 2


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


@pytest.mark.parametrize("spider", SPIDERS)
@in_loop
async def test_a_body_cut_short_is_kept_and_said_to_be_cut(spider):
    exchange = await failure_of(
        ResponseDataLossError, saying(OK + b"Content-Length: 90\r\n\r\nonly this"), spider=spider
    )
    assert exchange.response == OK + b"Content-Length: 90\r\n\r\nonly this"
    assert exchange.truncated == "disconnect"
    assert "ResponseDataLossError" in exchange.error


@in_loop
async def test_a_body_cut_short_that_scrapy_accepts_is_still_said_to_be_cut():
    exchange = await exchange_of(saying(OK + b"Content-Length: 90\r\n\r\nonly"), DOWNLOAD_FAIL_ON_DATALOSS=False)
    assert exchange.truncated == "disconnect"
    assert exchange.error is None


BROKEN = {
    "bad chunk": OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n",
    "chunks without end": OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
}


@pytest.mark.parametrize("said", BROKEN.values(), ids=BROKEN)
@in_loop
async def test_broken_chunks_keep_what_came(said):
    exchange = await failure_of(ResponseDataLossError, saying(said))
    assert exchange.response == said
    assert exchange.truncated == "disconnect"
    assert bytes(parse_response(exchange.response).payload) == b"abc"


@in_loop
async def test_a_reset_in_the_headers_keeps_what_came():
    async def script(peer: Conversation):
        await peer.heard()
        await peer.say(OK + b"Content-Ty")
        await asyncio.sleep(0.05)
        peer.reset()

    exchange = await failure_of(DownloadFailedError, script)
    assert exchange.response == OK + b"Content-Ty"
    assert exchange.request.startswith(b"GET /page ")
    assert exchange.error.startswith("DownloadFailedError: Connection")


@pytest.mark.parametrize("spider", SPIDERS)
@in_loop
async def test_what_is_not_http_is_kept_as_it_came(spider):
    exchange = await failure_of(DownloadFailedError, saying(b"SSH-2.0-OpenSSH_9.2\r\n"), spider=spider)
    assert exchange.response == b"SSH-2.0-OpenSSH_9.2\r\n"
    assert "SSH" in exchange.error


@in_loop
async def test_silence_ends_with_the_timeout():
    exchange = await failure_of(DownloadTimeoutError, saying(hang=True), stalls=0)
    assert exchange.response == b""
    assert exchange.truncated is None
    assert f"{PATIENCE} seconds" in exchange.error


@in_loop
async def test_an_endless_body_is_cut_by_time():
    async def script(peer: Conversation):
        await peer.heard()
        await peer.say(OK + b"\r\n")
        while True:
            await peer.say(b"tick ")
            await asyncio.sleep(0.01)

    exchange = await failure_of(DownloadTimeoutError, script, stalls=len(OK + b"\r\ntick tick "))
    assert exchange.response.startswith(OK + b"\r\ntick tick ")
    assert exchange.truncated == "time"


@pytest.mark.parametrize("announced", [b"Content-Length: 100000\r\n", b""], ids=["announced", "found out"])
@in_loop
async def test_a_body_over_the_limit_is_cut_by_length(announced):
    exchange = await failure_of(
        DownloadCancelledError, saying(OK + announced + b"\r\n", bytes(100_000)), DOWNLOAD_MAXSIZE=5_000
    )
    assert exchange.response.startswith(OK + announced)
    assert exchange.truncated == "length"


ENDLESS = {
    "no end announced": OK + b"\r\n",
    "chunks": OK + b"Transfer-Encoding: chunked\r\n\r\n",
    "a length that nobody has room for": OK + b"Content-Length: 999999999999\r\n\r\n",
    "HTTP/1.0, connection kept": b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n",
}


@pytest.mark.parametrize("head", ENDLESS.values(), ids=ENDLESS)
@in_loop
async def test_of_a_robots_txt_without_end_a_part_is_taken_and_the_connection_is_closed(head):
    line = b"Disallow: /x\n" * 1000

    async def script(peer: Conversation):
        while await peer.heard():
            await peer.say(head)
            while True:
                await peer.say(b"%x\r\n%b\r\n" % (len(line), line) if b"chunked" in head else line)

    async with serving(script) as server, handler(DOWNLOAD_MAXSIZE=10_000_000) as tap:
        url = f"{server.url}/robots.txt"
        fetch = Fetch(1, 0, "h", url, Kind.ROBOTS, Slot.FIRST, Plan.HOPEFUL, "h", 1, NO_VALIDATORS, 0.0)
        for _ in range(2):  # the second one over another connection
            request = Request(url, meta={META_KEY: fetch})
            response = await tap.download_request(request)
            exchange = request.meta[EXCHANGE_KEY]
            assert response.status == 200
            assert (exchange.truncated, exchange.error) == ("length", None)
            assert exchange.response.startswith(head)
            assert MOST[Kind.ROBOTS] < len(exchange.response) < MOST[Kind.ROBOTS] + (1 << 18)
            assert bytes(parse_response(exchange.response).payload).startswith(line)
        assert server.connections == 2


@pytest.mark.parametrize("spider", SPIDERS)
@in_loop
async def test_endless_headers_are_hung_up_on(spider):
    async def script(peer: Conversation):
        await peer.heard()
        await peer.say(OK)
        while True:
            await peer.say(b"X-Again: " + b"and again " * 500 + b"\r\n")

    exchange = await failure_of(DownloadFailedError, script, spider=spider)
    assert (1 << 20) < len(exchange.response) < (1 << 20) + (1 << 18)


@in_loop
async def test_interim_answers_without_end_are_hung_up_on_long_before_their_bytes_are_too_many():
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * (INTERIM + 1)

    async def script(peer: Conversation):
        await peer.heard()
        await peer.say(early)
        await peer.reader.read()  # until the other side hangs up

    exchange = await failure_of(DownloadFailedError, script)
    assert exchange.response == early


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


@in_loop
async def test_through_a_proxy_without_its_credentials():
    heard = []

    async def proxy(peer: Conversation):
        heard.append(await peer.heard())
        await peer.say(OK + b"Content-Length: 5\r\n\r\nproxy")

    async with serving(proxy) as server, handler() as tap:
        request = Request(
            "http://example.org/x", meta={"proxy": server.url}, headers={"Proxy-Authorization": "Basic c2VjcmV0"}
        )
        await tap.download_request(request)
    exchange = request.meta[EXCHANGE_KEY]
    assert b"c2VjcmV0" in heard[0]
    assert b"c2VjcmV0" not in exchange.request
    assert exchange.request.startswith(b"GET http://example.org/x HTTP/1.1\r\n")
    assert exchange.normalised
    assert exchange.ip is None
    assert exchange.response.endswith(b"proxy")


@in_loop
async def test_through_a_tunnel_the_exchange_is_that_with_the_site(tmp_path: Path):
    async def site(peer: Conversation):
        await peer.heard()
        await peer.say(OK + b"Content-Length: 4\r\n\r\nsite")

    async with serving(site, tls_context(tmp_path)) as target:

        async def proxy(peer: Conversation):
            assert (await peer.heard()).startswith(b"CONNECT example.org:443 ")
            await peer.say(b"HTTP/1.1 200 Connection established\r\n\r\n")
            reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
            await asyncio.gather(_pump(peer.reader, writer), _pump(reader, peer.writer))

        async with serving(proxy) as server, handler() as tap:
            request = Request("https://example.org/x", meta={"proxy": server.url})
            await tap.download_request(request)
    exchange = request.meta[EXCHANGE_KEY]
    assert exchange.request.startswith(b"GET /x HTTP/1.1\r\n")
    assert exchange.response == OK + b"Content-Length: 4\r\n\r\nsite"


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()
