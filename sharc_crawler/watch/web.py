"""| Shows a running crawl, or a fleet, as a page on loopback, for whoever has its address with a random token."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from sharc_crawler.errors import DataError, StoreUnavailable, UsageError

HOST = "127.0.0.1"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:"
_ORDERS = ("pause", "resume", "delay", "stop")
_LONGEST = 100  #: bytes of an order's seconds
_DIGITS = 9  #: of a Content-Length


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Do nothing: the terminal is the crawl's, and the page asks again."""


class WatchServer:
    """Serves the page and its facts until it is closed.

    ``told``: returns the present state, as :func:`~sharc_crawler.watch.facts.facts`; called by one thread at a time.
    ``order``: takes an order (pause, resume, delay, stop) and its seconds; ``None``: the page is read-only.
    """

    def __init__(
        self, told: Callable[[], dict[str, Any]], port: int = 0, order: Callable[[str, str], object] | None = None
    ) -> None:
        self._told, self._give = told, order
        self._token = secrets.token_urlsafe(16)
        self._lock = threading.Lock()
        self._server = _Server((HOST, port), type("Handler", (_Handler,), {"watch": self}))
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        """The page's address."""
        return f"http://{HOST}:{self._server.server_port}/{self._token}/"

    def serve(self) -> None:
        """Answer until another thread calls :meth:`close`."""
        self._server.serve_forever(poll_interval=0.2)

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, path: str, asked_for: str, body: str = "") -> tuple[int, str, bytes]:
        """Status, media type and body. ``asked_for`` is the Host header: other sites' pages must not reach us."""
        if asked_for.rpartition(":")[0] not in (HOST, "localhost"):
            return 403, "text/plain", b"only by its own address"
        start, _, name = path.removeprefix("/").partition("/")
        if not secrets.compare_digest(start.encode(), self._token.encode()):
            return 404, "text/plain", b"not here: the address has a token"
        try:
            return self._about(method, name, body)
        except (DataError, StoreUnavailable, UsageError, OSError) as error:
            return 409, "text/plain; charset=utf-8", str(error).encode(errors="replace")

    def _about(self, method: str, name: str, body: str) -> tuple[int, str, bytes]:
        if method == "GET" and name == "":
            return 200, "text/html; charset=utf-8", self._page()
        if method == "GET" and name == "facts.json":
            return 200, "application/json", self._facts()
        if method == "POST" and name in _ORDERS:
            return self._order(name, body)
        return 404, "text/plain", b"not here"

    def _page(self) -> bytes:
        text = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
        return text.replace("{{ control }}", "true" if self._give else "false").encode()

    def _facts(self) -> bytes:
        with self._lock:
            return json.dumps(self._told(), default=str).encode()

    def _order(self, name: str, seconds: str) -> tuple[int, str, bytes]:
        if not self._give:
            return 403, "text/plain", b"read only: sharc watch --web --control takes orders"
        self._give(name, seconds)
        return 200, "application/json", b"{}"


class _Handler(BaseHTTPRequestHandler):
    watch: WatchServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._say("GET")

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "0")
        size = int(length) if length.isdecimal() and len(length) < _DIGITS else _LONGEST + 1
        if size > _LONGEST:
            self.close_connection = True  # unread bytes must not be taken for another request
            self._send(413, "text/plain", b"an order is short")
        else:
            self._say("POST", self.rfile.read(size).decode(errors="replace"))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Nothing: the terminal is the crawl's."""

    def _say(self, method: str, body: str = "") -> None:
        self._send(*self.watch.answer(method, self.path, self.headers.get("Host", ""), body))

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in self._headers(kind, len(body)):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    @staticmethod
    def _headers(kind: str, length: int) -> Iterator[tuple[str, str]]:
        yield "Content-Type", kind
        yield "Content-Length", str(length)
        yield "Content-Security-Policy", _POLICY
        yield "Referrer-Policy", "no-referrer"
        yield "X-Content-Type-Options", "nosniff"
        yield "Cache-Control", "no-store"
