"""The rules for addresses where they count: at the connection."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from scrapy import Request
from scrapy.exceptions import UnsupportedURLSchemeError
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHostnameResolver
from zope.interface import implementer

from sharc_crawler.live.requests import META_KEY
from sharc_crawler.live.wire.addresses import AddressRefusedError, AddressRules, Opening
from sharc_crawler.live.wire.handler import EXCHANGE_KEY
from sharc_crawler.live.wire.names import _literal
from sharc_crawler.model import NO_VALIDATORS, Fetch, Kind, Plan, Slot
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
            literal = _literal(host_name)
            if not literal:
                asked.append(host_name)
            receiver.resolutionBegan(None)
            for address in literal or left.pop(0):
                kind = IPv6Address if ":" in address else IPv4Address
                receiver.addressResolved(kind("TCP", address, portNumber or port_number))
            receiver.resolutionComplete()

    from twisted.internet import reactor  # that of this process (tests/forked.py)

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
async def test_through_a_proxy_what_our_own_look_up_finds_to_be_private_is_refused(caplog):
    """The proxy itself is the operator's choice."""
    with names(["10.0.0.7"], ["93.184.215.14", "fd00::1"], [], ["93.184.215.14"]):
        async with serving(saying(OK)) as server, handler(SHARC_ALLOWED_ADDRESSES=[]) as tap:

            def through(url: str) -> Request:
                return Request(url, meta={"proxy": server.url})

            with pytest.raises(AddressRefusedError, match=r"127\.0\.0\.1"):
                await tap.download_request(through("http://0x7f.1/"))
            with pytest.raises(AddressRefusedError, match=r"'intranet\.example' is at 10\.0\.0\.7"):
                await tap.download_request(through("http://intranet.example/"))
            with pytest.raises(AddressRefusedError, match=r"at fd00::1"):
                await tap.download_request(through("https://both.example/"))
            assert server.connections == 0
            assert (await tap.download_request(through("http://unknown-here.example/"))).body == b"hi"
            assert (await tap.download_request(through("http://public.example/"))).body == b"hi"
            assert server.connections == 2
    told = [record.message for record in caplog.records if "through a proxy" in record.message]
    assert len(told) == 1
    assert "the guard against private addresses ends there" in told[0]


@in_loop
async def test_a_connection_that_one_site_opened_serves_no_other():
    """A typed seed's connection is kept for reuse: another site's link to it must not go through it."""

    async def script(peer):
        while await peer.heard():
            await peer.say(OK)

    async with serving(script) as server, handler(SHARC_ALLOWED_ADDRESSES=[]) as tap:
        tap._rules = AddressRules.of([], [Opening("own", "127.0.0.1", server.port)])
        own, foreign = (
            Fetch(1, 0, site, server.url, Kind.PAGE, Slot.ONLY, Plan.HOPEFUL, "", 1, NO_VALIDATORS, 0.0)
            for site in ("own", "public.example")
        )
        response = await tap.download_request(Request(server.url, meta={META_KEY: own}))
        assert response.body == b"hi"
        with pytest.raises(AddressRefusedError, match="loopback"):
            await tap.download_request(Request(server.url, meta={META_KEY: foreign}))
        assert server.connections == 1


@in_loop
async def test_other_schemes_are_refused():
    async with handler() as tap:
        with pytest.raises(UnsupportedURLSchemeError):
            await tap.download_request(Request("gopher://127.0.0.1/"))
