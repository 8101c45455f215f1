"""Connections that are used again or no more, and those that lead through a proxy."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from scrapy import Request, Spider
from scrapy.exceptions import (
    DownloadFailedError,
)

from sharc_crawler.archive.records import WITHHELD
from sharc_crawler.live.requests import META_KEY
from sharc_crawler.live.wire import client
from sharc_crawler.live.wire.handler import EXCHANGE_KEY
from sharc_crawler.model import NO_VALIDATORS, Fetch, Kind, Plan, Slot
from tests.live.wire_servers import (
    OK,
    SPIDERS,
    Conversation,
    handler,
    in_loop,
    saying,
    serving,
    tls_context,
)

if TYPE_CHECKING:
    from pathlib import Path


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


class Deaf:
    """What a TLS server says that hears of no end: until the connection is no more, it goes on."""

    def __init__(self, *answers: bytes) -> None:
        self.answers, self.gone = answers, asyncio.Event()

    async def __call__(self, peer: Conversation) -> None:
        if peer.server.connections > 1:
            await saying(OK + b"Content-Length: 5\r\n\r\nasked")(peer)
            return
        await peer.heard()
        peer.writer.transport.pause_reading()
        await peer.say(*self.answers)
        while not peer.writer.transport.is_closing():
            peer.writer.write(self.answers[-1])
            await asyncio.sleep(0.001)
        self.gone.set()


ANSWER = OK + b"Content-Length: 3\r\n\r\nyes"
ENDS = {
    "unasked": [ANSWER, ANSWER],
    "closed": [OK + b"Connection: close\r\nContent-Length: 3\r\n\r\nyes", b"more"],
    "cut": [OK + b"\r\n", bytes(100_000)],
}


@pytest.mark.parametrize(
    ("spider", "end"), [(spider, end) for spider in SPIDERS for end in ENDS if (spider, end) != (Spider, "cut")]
)
@in_loop
async def test_a_server_over_tls_cannot_hold_a_connection_nor_answer_what_nobody_asked(spider, end, tmp_path: Path):
    deaf = Deaf(*ENDS[end])
    async with serving(deaf, tls_context(tmp_path)) as server, handler(spider) as tap:
        fetch = Fetch(1, 0, "h", server.url, Kind.ROBOTS, Slot.FIRST, Plan.HOPEFUL, "h", 1, NO_VALIDATORS, 0.0)
        await tap.download_request(Request(server.url, meta={META_KEY: fetch}))
        await asyncio.wait_for(deaf.gone.wait(), 60)
        request = Request(server.url)
        await tap.download_request(request)
        assert server.connections == 2
    assert request.meta[EXCHANGE_KEY].response.endswith(b"asked")


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
async def test_each_of_hundreds_of_hosts_keeps_its_connection():
    async def script(peer: Conversation):
        while await peer.heard():
            await peer.say(OK + b"Content-Length: 1\r\n\r\nx")

    async with serving(script, host="0.0.0.0") as server, handler() as tap:
        for _ in range(2):
            for host in range(300):
                await tap.download_request(Request(f"http://127.0.{host // 250}.{host % 250 + 1}:{server.port}/"))
        assert server.connections == 300


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
    assert exchange.normalised == WITHHELD
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
