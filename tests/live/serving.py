"""Sites of one handler, served on loopback as long as a test needs them."""

from __future__ import annotations

import threading
from contextlib import ExitStack, contextmanager
from http.server import ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from http.server import BaseHTTPRequestHandler


POLLING = 0.05  #: seconds until a server hears that it is to end


class Answering:
    """Before :class:`~http.server.BaseHTTPRequestHandler`: its ``do_GET`` has only to say what the answer is."""

    protocol_version = "HTTP/1.1"  #: connections are kept

    def answer(self, body: bytes, kind: str = "text/html", status: int = 200, **headers: str) -> None:
        """The whole answer; ``Retry_After="1"`` is a further header."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving_at(hosts: Iterable[str], handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[list[str]]:
    """One site at several addresses; its URLs."""
    with ExitStack() as servers:
        yield [servers.enter_context(serving(handler, host)) for host in hosts]


@contextmanager
def serving(handler: Callable[..., BaseHTTPRequestHandler], host: str = "127.0.0.1") -> Iterator[str]:
    """The site's URL."""
    server = ThreadingHTTPServer((host, 0), handler)
    threading.Thread(target=server.serve_forever, args=(POLLING,), daemon=True).start()
    try:
        yield f"http://{host}:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
