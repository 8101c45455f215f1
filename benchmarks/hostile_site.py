"""A site that does all that a server can do between a visit and a revisit, and keeps a log of what it showed.

Each kind of page has a folder of its own. A page's *state* is what its origin would send at an instant; the log has,
for each answer, the state that it showed. A claim is false if the state of the visit's answer was not the page's at T.
The kinds in ``SILENT`` change and change back without a word: no crawler can know.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from benchmarks import hostile_answers, hostile_later, hostile_more, hostile_words  # which fill the table of kinds
from benchmarks.hostile_pages import KINDS, SILENT, SPAN, TOLD, TRUTH, Answer, Asked, Page, http
from sharc_crawler.instants import iso

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["KINDS", "SILENT", "HostileSite", "hostile_answers", "hostile_later", "hostile_more", "hostile_words"]


class HostileSite(ThreadingHTTPServer):
    """On loopback; ``log`` has instant, state and request headers of each answer, by path."""

    daemon_threads = True

    def __init__(
        self,
        seed: int,
        count: int = 4,
        every: float = 6.0,
        more: dict[str, int] | None = None,
        only: Collection[str] = (),
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.begun = time.time()
        self.log: dict[str, list[tuple[float, object, dict[str, str]]]] = defaultdict(list)
        self.pages: dict[str, Page] = {}
        for name in only or KINDS:
            for number in range((more or {}).get(name, count)):
                rng = random.Random(f"{seed} {name} {number}")
                page = Page(name, number, self.begun, _changes(rng, self.begun, every))
                self.pages[page.path] = page
        self.url = f"http://127.0.0.1:{self.server_port}/"

    def sitemap(self, now: float) -> bytes:
        """By the kinds' own words, or the truth; pages that are others at each request have no lastmod."""
        rows = []
        for page in self.pages.values():
            told = TOLD.get(page.kind, Page.changed)(page, now)
            lastmod = f"<lastmod>{iso(told)}</lastmod>" if told is not None else ""
            rows.append(f"<url><loc>{self.url}{page.path[1:]}</loc>{lastmod}</url>")
        return f"<urlset>{''.join(rows)}</urlset>".encode()

    def false(self, url: str, visited: float, reference: float) -> bool | None:
        """Is it false to say that what was visited then stood at T? ``None``: no page of these."""
        page = self.pages.get("/" + url.removeprefix(self.url))
        if page is None:
            return None
        _, state, _ = min(self.log[page.path], key=lambda one: abs(one[0] - visited))
        truth = TRUTH.get(page.kind, lambda page, now: {page.version(now)})
        return state not in truth(page, reference)


def _changes(rng: random.Random, begun: float, every: float) -> list[float]:
    found, now = [], begun - 60.0
    while (now := now + rng.expovariate(1 / every)) < begun + SPAN:
        if now > begun:
            found.append(now)
    return found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HostileSite

    def do_GET(self) -> None:
        page = self.server.pages.get(self.path)
        if page is None:
            self._front()
            return
        with page.lock:
            page.asked += 1
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(page, time.time(), headers, page.asked)
            answer = KINDS[page.kind](asked)
            self.server.log[page.path].append((asked.now, answer.state, headers))
        self._send(answer, page.text(answer.state) if answer.body is None else answer.body, asked.now)

    def _front(self) -> None:
        if self.path == "/robots.txt":
            self._send(Answer(0, type="text/plain"), f"Sitemap: {self.server.url}sitemap.xml\n".encode(), time.time())
            return
        if self.path == "/sitemap.xml":
            self._send(Answer(0, type="text/xml"), self.server.sitemap(now := time.time()), now)
            return
        if self.path != "/":
            self._send(Answer(0, status=404), b"no", time.time())
            return
        links = "".join(f"<li><a href={path}>{path}</a>" for path in self.server.pages)
        self._send(Answer(0), f"<!doctype html><title>All</title><ul>{links}</ul>".encode(), time.time())

    def _send(self, answer: Answer, body: bytes, now: float) -> None:
        head = [f"{answer.protocol} {answer.interim[0]}", *answer.interim[1:], ""] if answer.interim else []
        head += [f"{answer.protocol} {answer.status} X"] + ([f"Content-Type: {answer.type}"] if answer.type else [])
        date = now if answer.date is None else answer.date
        head += [f"Date: {http(date)}"] if date >= 0 else []
        head += [f"{name}: {value}" for name, value in answer.headers]
        bare = answer.status in {204, 304} and not answer.bodied
        if answer.trailers:
            head += ["Transfer-Encoding: chunked", f"Trailer: {', '.join(name for name, _ in answer.trailers)}"]
            end = "".join(f"{name}: {value}\r\n" for name, value in answer.trailers).encode()
            body = b"%x\r\n%b\r\n" % (len(body), body) + (b"40\r\nhalf" if answer.cut else b"0\r\n" + end + b"\r\n")
        elif not bare and not answer.bodied:
            head.append(f"Content-Length: {len(body) if answer.length is None else answer.length}")
        lies = answer.length is not None and not answer.kept
        self.close_connection = answer.protocol == "HTTP/1.0" or answer.cut or lies
        head += ["Connection: close"] if self.close_connection else []
        self.wfile.write("\r\n".join([*head, "", ""]).encode() + (b"" if bare else body))

    def log_message(self, *_: object) -> None:
        pass
