"""Look-ups in both address families, and crawls over IPv6."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError

from sharc_crawler.live.wire import names
from sharc_crawler.live.wire.addresses import AddressRefusedError
from sharc_crawler.live.wire.names import DualStackResolver
from sharc_crawler.live.wire.proxied import addresses_of
from tests.live.serving import Answering
from tests.live.wire_servers import handler, in_loop, saying, serving

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6 loopback address")


@contextmanager
def resolving(monkeypatch, answers, timeout=20.0, size=100):
    """Our resolver, over a ``getaddrinfo`` that answers so; yields the names it was asked."""
    asked = []

    real = socket.getaddrinfo

    def getaddrinfo(name, port, family=0, kind=0, *more):
        if ":" in name:  # Twisted looks at IPv6 literals once more
            return real(name, port, family, kind, *more)
        asked.append(name)
        answer = answers[name]
        if callable(answer):
            answer = answer()
        if isinstance(answer, Exception):
            raise answer
        kinds = {True: socket.AF_INET6, False: socket.AF_INET}
        return [(kinds[":" in address], kind, 6, "", (address, port or 0)) for address in answer]

    monkeypatch.setattr(names.socket, "getaddrinfo", getaddrinfo)
    from twisted.internet import reactor  # that of this process (tests/forked.py)

    former = reactor.installNameResolver(DualStackResolver(reactor, size, timeout))
    try:
        yield asked
    finally:
        reactor.installNameResolver(former)


@needs_ipv6
@in_loop
async def test_a_host_with_aaaa_records_alone_is_reached(monkeypatch):
    with resolving(monkeypatch, {"six.example": ["::1"]}):
        async with serving(saying(OK), host="::1") as server, handler(SHARC_ALLOWED_ADDRESSES=["::1/128"]) as tap:
            request = Request(f"http://six.example:{server.port}/")
            assert (await tap.download_request(request)).body == b"hi"
            assert request.meta["sharc_exchange"].ip == "::1"


@in_loop
async def test_where_one_family_does_not_answer_the_other_is_tried(monkeypatch):
    with resolving(monkeypatch, {"both.example": ["::1", "127.0.0.1"]}):
        async with serving(saying(OK)) as server, handler(SHARC_ALLOWED_ADDRESSES=["::1/128", "127.0.0.0/8"]) as tap:
            response = await tap.download_request(Request(f"http://both.example:{server.port}/"))
            assert response.body == b"hi"


@in_loop
async def test_both_families_are_guarded(monkeypatch):
    with resolving(monkeypatch, {"both.example": ["::1", "127.0.0.1"]}):
        async with serving(saying(OK)) as server, handler(SHARC_ALLOWED_ADDRESSES=[]) as tap:
            with pytest.raises(AddressRefusedError, match="a loopback address"):
                await tap.download_request(Request(f"http://both.example:{server.port}/"))
            assert server.connections == 0


@pytest.mark.parametrize(
    "failing",
    [
        socket.gaierror(-2, "Name or service not known"),
        UnicodeError("label too long"),
        ValueError("embedded null character"),
        OSError("out of files"),
        [],
    ],
    ids=lambda failing: type(failing).__name__,
)
@in_loop
async def test_every_look_up_ends_whatever_goes_wrong(monkeypatch, failing):
    with resolving(monkeypatch, {"bad.example": failing}):
        assert await addresses_of("bad.example") == ()
        async with handler() as tap:
            with pytest.raises(CannotResolveHostError):
                await tap.download_request(Request("http://bad.example/"))


@in_loop
async def test_a_look_up_that_takes_too_long_ends(monkeypatch):
    go_on = threading.Event()

    def silent():
        go_on.wait(240)
        return ["127.0.0.1"]

    with resolving(monkeypatch, {"silent.example": silent}, timeout=0.05):
        try:
            assert await addresses_of("silent.example") == ()
        finally:
            go_on.set()


@in_loop
async def test_requests_to_one_host_share_a_look_up_and_failures_are_not_kept(monkeypatch):
    answers = {"host.example": socket.gaierror(-3, "again"), "other.example": ["127.0.0.2", "127.0.0.2", "::1"]}
    with resolving(monkeypatch, answers) as asked:
        many = await asyncio.gather(*(addresses_of("other.example") for _ in range(20)))
        assert set(many) == {("127.0.0.2", "::1")}
        assert await addresses_of("other.example") == ("127.0.0.2", "::1")
        assert asked == ["other.example"]
        assert await addresses_of("host.example") == ()
        answers["host.example"] = ["127.0.0.9"]
        assert await addresses_of("host.example") == ("127.0.0.9",)


@in_loop
async def test_spellings_of_an_address_need_no_look_up(monkeypatch):
    with resolving(monkeypatch, {}) as asked:
        for spelling in ("::1", "0:0:0:0:0:0:0:1", "0000:0000::0001", "::0001", "::0.0.0.1"):
            assert await addresses_of(spelling) == ("::1",)
        assert asked == []


SPELLINGS = ["[::1]", "[0:0:0:0:0:0:0:1]", "[0000:0000::0001]", "[::0001]", "[::0.0.0.1]", "[0::1]"]
ODD = ["[::1%25lo]", "[::1%00]", "[::]", "[v1.x]", "[::1", "[::1]]", "[::1.]", "[::ffff:127.0.0.1]"]


class ManySpellings(Answering, BaseHTTPRequestHandler):
    """A front page that names this server in many ways."""

    def do_GET(self):
        port = self.server.server_port
        links = "".join(
            f'<img src="http://{host}:{port}/{n}.png"><a href="http://{host}:{port}/{n}">{n}</a>'
            for n, host in enumerate((*SPELLINGS, *ODD))
        )
        body = links.encode() if self.path == "/" else self.path.encode()
        kind = "image/png" if self.path.endswith("png") else "text/html"
        self.answer(body, kind, 404 if self.path in ("/robots.txt", "/sitemap.xml") else 200)


class SixServer(ThreadingHTTPServer):
    address_family = socket.AF_INET6


@pytest.mark.matrix
@needs_ipv6
@pytest.mark.parametrize("resolver", ["", "scrapy.resolver.CachingHostnameResolver"])
def test_a_page_with_many_spellings_of_an_ipv6_address_is_captured(crawl, resolver):
    server = SixServer(("::1", 0), ManySpellings)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    chosen = [f"TWISTED_DNS_RESOLVER={resolver}"] if resolver else []
    try:
        done = crawl(
            url=f"http://[::1]:{server.server_port}/",
            delay="0",
            settings=["SHARC_ALLOWED_ADDRESSES=::1/128,127.0.0.0/8", "DOWNLOAD_TIMEOUT=20", *chosen],
        )
    finally:
        server.shutdown()
        server.server_close()
    assert done.code == 0, done.err
    verdicts = {page["url"]: page["verdict"] for page in done.capture["pages"]}
    assert verdicts[f"http://[::1]:{server.server_port}/"] == "coherent"
