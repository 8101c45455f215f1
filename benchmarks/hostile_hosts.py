"""Hosts that mean ill, on addresses of their own: each in one way, on page after page without an end.

    127.0.1.1  bodies that never end              127.0.1.5  gzip of 10 MB of nothing
    127.0.1.2  100,000 attributes, elements       127.0.1.6  heads of 60 kB, 200 cookies
    127.0.1.3  links to 200 pages made up         127.0.1.7  connections reset, answers cut off
    127.0.1.4  a byte every second                127.0.1.8  redirects to further redirects

The next eight addresses do the same.
"""

from __future__ import annotations

import gzip
import random
import socket
import struct
import time
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = 8
NOTHING = gzip.compress(bytes(10_000_000), 9, mtime=0)
ATTRIBUTES = b" ".join(b"a%d=%d" % (number, number) for number in range(100_000))
DEEP = b"<div>" * 100_000


class Hostile(BaseHTTPRequestHandler):
    """Answers as the address asked has it; all but robots.txt and sitemaps, which there are none of."""

    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        if self.path.startswith(("/robots", "/sitemap")):
            return self.answer(404, b"")
        kind = int(self.connection.getsockname()[0].rsplit(".", 1)[1]) % KINDS
        return (
            self.redirects, self.endless, self.costly, self.links, self.slow, self.nothing, self.heads, self.broken
        )[kind]()  # fmt: skip

    def page(self, links: int = 2) -> bytes:
        """Text of its own, and links that lead on."""
        words = b" ".join(b"w%x" % random.getrandbits(40) for _ in range(40))
        return words + b"".join(b"<a href=/p/%x>x</a>" % random.getrandbits(48) for _ in range(links))

    def answer(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (("Content-Type", "text/html"), *headers, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def endless(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.close_connection = True
        while True:
            self.wfile.write(self.page() + bytes(100_000))

    def costly(self) -> None:
        self.answer(200, self.page() + b"<p %b>x</p>" % ATTRIBUTES + DEEP)

    def links(self) -> None:
        self.answer(200, self.page(200))

    def slow(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        for byte in self.page():
            self.wfile.write(bytes([byte]))
            time.sleep(1)

    def nothing(self) -> None:
        self.answer(200, NOTHING + gzip.compress(self.page()), ("Content-Encoding", "gzip"))

    def heads(self) -> None:
        self.answer(200, self.page(), *((f"X-{n}", "y" * 280) for n in range(200)), *([("Set-Cookie", "a=b")] * 200))

    def broken(self) -> None:
        self.close_connection = True
        if random.random() < 0.3:
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            return
        body = self.page()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) * 9))
        self.end_headers()
        self.wfile.write(body)

    def redirects(self) -> None:
        self.answer(302, self.page(), ("Location", f"/r/{random.getrandbits(48):x}"))

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Whoever hangs up has had enough."""


@contextmanager
def hostile_hosts(count: int) -> Iterator[list[str]]:
    """Their URLs."""
    with ExitStack() as servers:
        urls = []
        for number in range(1, count + 1):
            server = servers.enter_context(_Server((f"127.0.1.{number}", 0), Hostile))
            servers.callback(server.shutdown)
            Thread(target=server.serve_forever, daemon=True).start()
            urls.append(f"http://127.0.1.{number}:{server.server_port}/")
        yield urls
