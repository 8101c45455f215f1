"""Raw loopback servers that say exactly the bytes a test wants said."""

from __future__ import annotations

import asyncio
import functools
import socket
import ssl
import struct
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from scrapy import Request
from scrapy.spiders import Spider
from scrapy.utils.test import get_crawler
from twisted.internet.defer import Deferred

from sharc_crawler.live.reading.memory import memory_of
from sharc_crawler.live.wire.handler import EXCHANGE_KEY, WireTapHandler

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from scrapy.http import Response

    from sharc_crawler.model import Exchange

    Script = Callable[["Conversation"], Awaitable[None]]

PATIENCE = 200.0  #: seconds
OK = b"HTTP/1.1 200 OK\r\n"


def in_loop(test: Callable[..., Any]) -> Callable[..., Any]:
    """Run an asynchronous test in the reactor's asyncio loop."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> Deferred[None]:
        return Deferred.fromFuture(asyncio.ensure_future(asyncio.wait_for(test(*args, **kwargs), 240)))

    return run


class Conversation:
    """One connection, on the server's side."""

    def __init__(self, server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.server, self.reader, self.writer = server, reader, writer

    async def heard(self) -> bytes:
        """The next request's head; empty when the client is gone."""
        try:
            request = await self.reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""
        self.server.heard += 1
        return request

    async def say(self, *parts: bytes) -> None:
        """Send the parts, each as a segment of its own as far as that can be had."""
        for part in parts:
            self.writer.write(part)
            await self.writer.drain()
            await asyncio.sleep(0)

    def reset(self) -> None:
        """Close with a TCP reset: nothing lingers."""
        connection = self.writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


class Server:
    """A listening server and what it has seen."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.connections = 0
        self.heard = 0  #: requests
        self.url = ""
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(ConnectionError, ssl.SSLError):
            await self.script(Conversation(self, reader, writer))
            writer.close()


@asynccontextmanager
async def serving(script: Script, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> AsyncIterator[Server]:
    """A server that runs the script for each connection."""
    server = Server(script)
    listener = await asyncio.start_server(server.serve, host, 0, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    server.url = f"{'https' if tls else 'http'}://{host}:{server.port}"
    try:
        yield server
    finally:
        listener.close()


def saying(*parts: bytes, hang: bool = False) -> Script:
    """A script: hear one request, say the parts, close (or say nothing more)."""

    async def script(peer: Conversation) -> None:
        await peer.heard()
        await peer.say(*parts)
        while hang and await peer.reader.read(1):
            pass

    return script


class _Patient(WireTapHandler):
    """A time-out is what is tested, or it is none: without one Scrapy's handler gives up after ten seconds."""

    async def download_request(self, request: Request) -> Response:
        request.meta.setdefault("download_timeout", PATIENCE)
        return await super().download_request(request)


class Capturing(Spider):
    """As the handler knows them: it reads no body."""

    name = "capturing"
    capture_specs = ()


SPIDERS = (Capturing, Spider)  #: whose answers our client brings, and those that Scrapy's does


@asynccontextmanager
async def handler(spider: type[Spider] = Capturing, **settings: Any) -> AsyncIterator[WireTapHandler]:
    """A wire tap that may connect to loopback addresses."""
    crawler = get_crawler(spider, {"SHARC_ALLOWED_ADDRESSES": ["127.0.0.0/8"], **settings})
    crawler.spider = crawler._create_spider("test")
    tap = _Patient(crawler)
    try:
        yield tap
    finally:
        await tap.close()


async def run_out_of_time(server: Server, tap: WireTapHandler, received: int) -> None:
    """Time is over for a request that was sent, once so many bytes of its answer have been received."""
    from twisted.internet import reactor

    taken = memory_of(tap._crawler)
    while not server.heard or taken.taken < received:
        await asyncio.sleep(0.005)
    for call in reactor.getDelayedCalls():
        if call.getTime() - reactor.seconds() > PATIENCE / 2:
            call.reset(0)


def tls_context(
    folder: Path, protocols: tuple[str, ...] = (), names: x509.ExtensionType | None = None
) -> ssl.SSLContext:
    """A server's TLS context with a certificate of its own; ``names``: its alternative names, if not the address."""
    names = names or x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = folder / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    pem.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


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
