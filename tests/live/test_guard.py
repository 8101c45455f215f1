"""The rules for addresses where they count: at the connection."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from scrapy import Request
from scrapy.exceptions import UnsupportedURLSchemeError
from twisted.internet import reactor
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHostnameResolver
from zope.interface import implementer

from sharc_crawler.live.addresses import AddressRefusedError
from sharc_crawler.live.wire import EXCHANGE_KEY
from tests.live.wire_servers import handler, in_loop, saying, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


@contextmanager
def names(*answers: list[str]) -> Iterator[list[str]]:
    """Name resolution under the test's control: each look-up takes the next answer. Yields the names looked up."""
    asked, left = [], list(answers)

    @implementer(IHostnameResolver)
    class Resolver:
        def resolveHostName(self, receiver, host_name, port_number=0, *args, portNumber=0, **kwargs):  # noqa: N802
            asked.append(host_name)
            receiver.resolutionBegan(None)
            for address in left.pop(0):
                kind = IPv6Address if ":" in address else IPv4Address
                receiver.addressResolved(kind("TCP", address, portNumber or port_number))
            receiver.resolutionComplete()

    former = reactor.installNameResolver(Resolver())
    try:
        yield asked
    finally:
        reactor.installNameResolver(former)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.0.0.9", "2130706433", "0x7f000001", "0x7f.1", "017700000001", "127.1", "[::ffff:127.0.0.1]"],
)
@in_loop
async def test_loopback_in_any_spelling_is_refused_and_never_connected_to(host):
    async with serving(saying(OK), host="127.0.0.1") as server, handler(SHARC_ALLOWED_ADDRESSES=[]) as tap:
        request = Request(f"http://{host}:{server.port}/")
        with pytest.raises(AddressRefusedError, match=r"a loopback address.*SHARC_ALLOWED_ADDRESSES"):
            await tap.download_request(request)
        assert server.connections == 0
    assert "AddressRefusedError" in request.meta[EXCHANGE_KEY].error
    assert request.meta[EXCHANGE_KEY].request == b""


@in_loop
async def test_a_name_is_judged_by_the_address_it_resolves_to():
    with names(["127.0.0.1"]):
        async with serving(saying(OK)) as server, handler(SHARC_ALLOWED_ADDRESSES=[]) as tap:
            with pytest.raises(AddressRefusedError, match=r"host 'public\.example' is at 127\.0\.0\.1"):
                await tap.download_request(Request(f"http://public.example:{server.port}/"))
            assert server.connections == 0


@in_loop
async def test_a_name_that_changes_its_address_is_looked_up_once_and_judged_again():
    """DNS rebinding: the first answer is harmless, the second is not."""
    with names(["127.0.0.1"], ["127.0.0.2"]) as asked:
        async with (
            serving(saying(OK), host="127.0.0.1") as server,
            handler(SHARC_ALLOWED_ADDRESSES=["127.0.0.1/32"]) as tap,
        ):
            request = Request(f"http://rebound.example:{server.port}/")
            await tap.download_request(request)
            assert asked == ["rebound.example"]
            assert request.meta[EXCHANGE_KEY].ip == "127.0.0.1"
            with pytest.raises(AddressRefusedError, match=r"at 127\.0\.0\.2"):
                await tap.download_request(Request(f"http://rebound.example:{server.port}/"))
            assert server.connections == 1


@in_loop
async def test_of_several_addresses_only_allowed_ones_are_tried():
    with names(["10.0.0.1", "fe80::1", "127.0.0.1"]):
        async with serving(saying(OK)) as server, handler() as tap:
            request = Request(f"http://both.example:{server.port}/")
            response = await tap.download_request(request)
    assert response.body == b"hi"
    assert request.meta[EXCHANGE_KEY].ip == "127.0.0.1"


@in_loop
async def test_tls_connections_are_guarded_too():
    async with handler(SHARC_ALLOWED_ADDRESSES=[]) as tap:
        with pytest.raises(AddressRefusedError):
            await tap.download_request(Request("https://127.0.0.1:9/"))


@in_loop
async def test_through_a_proxy_hosts_written_as_an_address_are_refused():
    async with serving(saying(OK)) as server, handler(SHARC_ALLOWED_ADDRESSES=[]) as tap:
        with pytest.raises(AddressRefusedError, match=r"127\.0\.0\.1"):
            await tap.download_request(Request("http://0x7f.1/", meta={"proxy": server.url}))
        assert server.connections == 0
        assert (await tap.download_request(Request("http://a.example/", meta={"proxy": server.url}))).body == b"hi"


@in_loop
async def test_other_schemes_are_refused():
    async with handler() as tap:
        with pytest.raises(UnsupportedURLSchemeError):
            await tap.download_request(Request("gopher://127.0.0.1/"))
