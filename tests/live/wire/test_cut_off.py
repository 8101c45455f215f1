"""Answers that break off, never end, or are none: what came is kept, with what was wrong."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)

from sharc_crawler.changes.http import parse_response
from sharc_crawler.live.requests import META_KEY
from sharc_crawler.live.wire.framing import INTERIM
from sharc_crawler.live.wire.handler import EXCHANGE_KEY, MOST
from sharc_crawler.model import NO_VALIDATORS, Fetch, Kind, Plan, Slot
from tests.live.wire_servers import (
    OK,
    PATIENCE,
    SPIDERS,
    Conversation,
    exchange_of,
    failure_of,
    handler,
    in_loop,
    saying,
    serving,
    tls_context,
)


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


@in_loop
async def test_a_reset_in_a_body_without_a_length_is_no_end_of_it():
    async def script(peer: Conversation):
        await peer.heard()
        await peer.say(OK + b"\r\nonly this")
        await asyncio.sleep(0.05)
        peer.reset()

    exchange = await failure_of(ResponseDataLossError, script)
    assert exchange.response == OK + b"\r\nonly this"
    assert exchange.truncated == "disconnect"


@pytest.mark.parametrize("secure", [False, True])
@in_loop
async def test_a_body_that_ends_by_a_reset_where_it_did_before_is_whole(secure, tmp_path: Path):
    """Some servers end all they say so, robots.txt too: nothing on them would be captured."""
    bodies = [b"only", b"only this", b"only this", b"only"]

    async def script(peer: Conversation):
        await peer.heard()
        await peer.say(OK + b"\r\n" + bodies.pop(0))
        await asyncio.sleep(0.05)
        peer.reset()

    async with serving(script, tls_context(tmp_path) if secure else None) as server, handler() as tap:
        for _ in range(2):
            with pytest.raises(ResponseDataLossError):
                await tap.download_request(Request(f"{server.url}/page"))
        request = Request(f"{server.url}/page")
        assert (await tap.download_request(request)).body == b"only this"
        assert request.meta[EXCHANGE_KEY].truncated is None
        with pytest.raises(ResponseDataLossError):
            await tap.download_request(Request(f"{server.url}/other"))


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
