"""An archive on loopback that answers as the Wayback Machine's CDX server does, faults and all."""

from __future__ import annotations

import gzip
import http.server
import json
import threading
import time
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs, urlsplit

from sharc_crawler.archive.surt import surt

if TYPE_CHECKING:
    from collections.abc import Iterator

FIELDS = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]
HTML = b"<!DOCTYPE html><html><body>Sorry, this service is down.</body></html>"
BANNER = b'<!-- BEGIN WAYBACK TOOLBAR INSERT --><a href="/web/2*/x">All captures</a><!-- END WAYBACK TOOLBAR INSERT -->'
#: two of them above 16 MiB, one when it is unpacked
ALWAYS = {
    "html": (HTML, "text/html"),
    "bomb": (gzip.compress(b"[" + b"[]," * 6_000_000 + b"[]]", 1), "application/json"),
    "huge": (b"[" + b" " * 17_000_000 + b"]", "application/json"),
}


class Asked(NamedTuple):
    time: float
    path: str
    query: dict[str, str]
    agent: str


class Archive:
    """Captures by URL as (14 digits, digest, body), a page of ``rows`` at a time, and faults for the next requests."""

    def __init__(self, captures: dict[str, list[tuple[str, str, bytes]]], rows: int = 3) -> None:
        self.captures = captures
        self.rows = rows
        self.faults: deque[str] = deque()
        self.log: list[Asked] = []
        self.url = ""
        self.delay = 0.0

    @property
    def cdx(self) -> str:
        return f"{self.url}cdx/search/cdx"

    def index(self, query: dict[str, str]) -> bytes:
        key, prefix = surt(query["url"]), query.get("matchType") == "prefix"
        rows = [
            [surt(url), stamp, url, "text/html", "200", digest, "9"]
            for url, captures in sorted(self.captures.items())
            for stamp, digest, _ in captures
            if (surt(url).startswith(key) if prefix else surt(url) == key) and stamp >= query.get("from", "")
        ]
        start = int(query.get("resumeKey", "0"))
        page = rows[start : start + self.rows]
        more = [[], [str(start + self.rows)]] if start + self.rows < len(rows) else []
        return json.dumps([FIELDS, *page, *more] if page else []).encode()

    def memento(self, path: str) -> tuple[int, bytes, str]:
        stamp, _, url = path.removeprefix("/web/").partition("/")
        for at, _, body in self.captures.get(url, ()):
            if at == stamp.removesuffix("id_"):
                when = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.strptime(at, "%Y%m%d%H%M%S"))
                return 200, BANNER + body, when
        return 404, b"not archived", ""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    archive: Archive

    def log_message(self, *_):
        pass

    def do_GET(self):
        archive, parts = self.archive, urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        archive.log.append(Asked(time.monotonic(), self.path, query, self.headers["User-Agent"] or ""))
        time.sleep(archive.delay)
        fault = archive.faults.popleft() if archive.faults else ""
        if fault in ALWAYS:
            return self.say(200, *ALWAYS[fault])
        if fault.startswith("429"):
            return self.say(429, HTML, "text/html", **{"Retry-After": fault.partition(" ")[2]})
        if fault in {"404", "500"}:
            return self.say(int(fault), HTML, "text/html")
        if fault == "moved":
            return self.say(302, b"", "text/html", Location=self.path)
        if fault.startswith("to "):
            return self.say(302, b"", "text/html", Location=fault.removeprefix("to "))
        if parts.path.startswith("/web/"):
            status, body, when = archive.memento(self.path)
            return self.say(status, body, "text/html", **({"Memento-Datetime": when} if when else {}))
        body = archive.index(query)
        if fault == "again":
            return self.say(200, json.dumps([FIELDS, [], ["7"]]).encode(), "application/json")
        if fault == "truncated":
            return self.say(200, body[: len(body) // 2], "application/json")
        if fault == "short":
            return self.say(200, body, "application/json", promised=len(body) + 10)
        return self.say(200, body, "application/json")

    def say(self, status: int, body: bytes, media_type: str, promised: int | None = None, **headers: str) -> None:
        self.send_response(status)
        if body.startswith(b"\x1f\x8b"):
            headers["Content-Encoding"] = "gzip"
        for name, value in {"Content-Type": media_type, **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if promised is None else promised))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = promised is not None


@contextmanager
def serving(archive: Archive) -> Iterator[Archive]:
    """The archive, served until the block ends."""
    handler = type("Handler", (_Handler,), {"archive": archive})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        archive.url = f"http://127.0.0.1:{server.server_port}/"
        try:
            yield archive
        finally:
            server.shutdown()
            thread.join(5)
