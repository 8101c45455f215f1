"""| Serves the demo site: a small HTTP/1.1 server with keep-alive and pipelining, in a thread."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import NamedTuple

from sharc_crawler.demo.answers import Response
from sharc_crawler.demo.site import LivingSite
from sharc_crawler.errors import UsageError
from sharc_crawler.model import Instant

LOGGED = 1_000_000  #: latest requests kept in the log
LARGEST = 65_536  #: bytes of a request's head, and of its body


class Request(NamedTuple):
    """A line of the request log."""

    time: Instant  #: when it arrived, for which the answer holds
    method: str
    target: str
    status: int
    conditional: bool  #: whether it had If-None-Match or If-Modified-Since


class BadRequestError(Exception):
    """A request that this server does not understand."""


class DemoServer:
    """A site being served, made by :func:`serve`."""

    def __init__(self, site: LivingSite, listener: socket.socket, clock: Callable[[], Instant]) -> None:
        self.site = site
        self.url = "http://{}:{}/".format(*listener.getsockname())
        self.log: deque[Request] = deque(maxlen=LOGGED)  #: in order of arrival
        self.started = threading.Event()
        self._stopped = asyncio.Event()
        self._listener = listener
        self._clock = clock

    async def run(self) -> None:
        """Serve until :meth:`stop`; open connections are then cancelled with the loop."""
        self._loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._connection, sock=self._listener, limit=LARGEST)
        self.started.set()
        await self._stopped.wait()
        server.close()

    def stop(self) -> None:
        """End :meth:`run`, from any thread."""
        self._loop.call_soon_threadsafe(self._stopped.set)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (BadRequestError, asyncio.LimitOverrunError) as error:
            reason = f"{error}\n".encode()
            head = f"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: {len(reason)}\r\n\r\n"
            writer.write(head.encode() + reason)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client hung up
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Read and answer a request; returns whether another may follow."""
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, version, headers = parse_head(head)
        await reader.readexactly(_body_length(headers))
        now = self._clock()
        answer = self.site.respond(method, target, headers, now)
        conditional = "if-none-match" in headers or "if-modified-since" in headers
        self.log.append(Request(now, method, target, answer.status, conditional))
        await asyncio.sleep(answer.delay)
        keep = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
        writer.write(encode(answer, keep))
        await writer.drain()
        return keep


def parse_head(head: bytes) -> tuple[str, str, str, dict[str, str]]:
    r"""Method, target, version and headers (lower-case names) of a request's head.

    >>> parse_head(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    ('GET', '/', 'HTTP/1.1', {'host': 'localhost'})
    """
    first, *lines = head.decode("latin-1").strip("\r\n").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or parts[2] not in ("HTTP/1.0", "HTTP/1.1") or not parts[1].startswith("/"):
        raise BadRequestError(f"not a request line: {first[:80]!r}")
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise BadRequestError(f"not a header: {line[:80]!r}")
        headers[name.lower()] = value.strip()
    if parts[2] == "HTTP/1.1" and "host" not in headers:
        raise BadRequestError("no Host header")
    return parts[0], parts[1], parts[2], headers


def _body_length(headers: dict[str, str]) -> int:
    """Bytes of a body to skip."""
    length = headers.get("content-length", "0")
    if "transfer-encoding" in headers or not (length.isascii() and length.isdigit() and int(length) <= LARGEST):
        raise BadRequestError("a body that this server does not read")
    return int(length)


def encode(answer: Response, keep: bool) -> bytes:
    """A response as sent."""
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in answer.headers]
    lines += [] if keep else ["Connection: close"]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + answer.body


@contextmanager
def serve(
    site: LivingSite, host: str = "127.0.0.1", port: int = 0, clock: Callable[[], Instant] = time.time
) -> Iterator[DemoServer]:
    """Serve a site for the duration of the ``with`` block; port 0 takes a free one.

    ``clock`` is read once per request: with a virtual clock, time stands still between its steps.

    >>> from urllib.request import urlopen
    >>> from sharc_crawler.demo.site import LivingSite
    >>> with serve(LivingSite(pages=50)) as server, urlopen(server.url + "robots.txt") as answer:
    ...     answer.status, [(request.target, request.status) for request in server.log]
    (200, [('/robots.txt', 200)])
    """
    try:
        listener = socket.create_server((host, port))
    except (OSError, OverflowError) as error:
        raise UsageError(f"port={port} cannot be served on {host}: {error}; port 0 takes a free one") from error
    server = DemoServer(site, listener, clock)
    thread = threading.Thread(target=asyncio.run, args=(server.run(),), name="living-site", daemon=True)
    thread.start()
    server.started.wait()
    try:
        yield server
    finally:
        server.stop()
        thread.join()
