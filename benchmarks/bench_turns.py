"""The longest turn of the reactor in a crawl that runs: nothing else is heard meanwhile.

    python benchmarks/bench_turns.py [--pages 20000] [--strategy sharc-attested]

A site of small pages on loopback, all named and dated by one sitemap or more, is captured without delay. In the crawl's
process something is called each hundredth of a second, and notes how late it is, and how much processor time the
reactor's thread has spent since the last call: that is what its turns since then cost, whatever else the machine does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

INTERVAL = 0.01  #: seconds
PER_SITEMAP = 50_000
LASTMOD = "2026-01-%02dT03:04:05Z"


class Lag:
    """A Scrapy extension: the worst turns, with the phase that the capture was in."""

    def __init__(self, crawler: Any) -> None:
        from scrapy import signals
        from twisted.internet.task import LoopingCall

        self._loop = LoopingCall(self._look)
        self._last = (time.monotonic(), time.thread_time())
        self._worst: list[tuple[float, float, float]] = []
        self._began = self._answered = time.monotonic()
        crawler.signals.connect(self._answer, signals.response_received)
        crawler.signals.connect(self._opened, signals.engine_started)
        crawler.signals.connect(self._closed, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Any) -> Lag:
        """Scrapy's way to make it."""
        return cls(crawler)

    def _opened(self) -> None:
        self._last = (time.monotonic(), time.thread_time())
        self._loop.start(INTERVAL, now=False)

    def _answer(self) -> None:
        self._answered = time.monotonic()

    def _look(self) -> None:
        clock, spent = time.monotonic(), time.thread_time()
        self._worst.append((spent - self._last[1], clock - self._last[0], clock - self._began))
        self._worst = sorted(self._worst, reverse=True)[:12]
        self._last = (clock, spent)

    def _closed(self) -> None:
        if self._loop.running:
            self._loop.stop()
        Path(os.environ["TURNS"]).write_text(
            json.dumps(
                {"worst": self._worst, "last": self._answered - self._began, "took": time.monotonic() - self._began}
            )
        )


class Server(asyncio.Protocol):
    """Pages of a line, and what names them."""

    def __init__(self, answers: dict[bytes, bytes]) -> None:
        self._answers, self._read = answers, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A connection is kept."""
        self._transport: Any = transport

    def data_received(self, data: bytes) -> None:
        """Requests come one after the other."""
        self._read += data
        while (end := self._read.find(b"\r\n\r\n")) >= 0:
            path, self._read = self._read.split(b" ", 2)[1], self._read[end + 4 :]
            body = self._answers.get(path) or b"<title>%b</title><p>What %b says." % (path, path)
            kind = b"text/xml" if path.endswith(b".xml") else b"text/html"
            self._transport.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n%b" % (kind, len(body), body)
            )


def answers(pages: int) -> dict[bytes, bytes]:
    """robots.txt and sitemaps."""
    found = {}
    for first in range(0, pages, PER_SITEMAP):
        urls = "".join(
            f"<url><loc>ROOT/p/{number}</loc><lastmod>{LASTMOD % (number % 28 + 1)}</lastmod></url>"
            for number in range(first, min(pages, first + PER_SITEMAP))
        )
        found[b"/%d.xml" % first] = f"<urlset>{urls}</urlset>".encode()
    named = b"".join(b"Sitemap: ROOT%b\n" % path for path in found)
    return {b"/robots.txt": b"User-agent: *\nAllow: /\n" + named, **found}


def serve(pages: int, told: Connection) -> None:
    """Until it is ended."""

    async def run() -> None:
        known: dict[bytes, bytes] = {}
        server = await asyncio.get_running_loop().create_server(lambda: Server(known), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        root = b"http://127.0.0.1:%d" % port
        known.update({path: body.replace(b"ROOT", root) for path, body in answers(pages).items()})
        told.send(port)
        await server.serve_forever()

    asyncio.run(run())


def crawl(port: int, strategy: str, folder: Path) -> dict[str, Any]:
    """Capture it; what the meter found."""
    given = [f"url=http://127.0.0.1:{port}/", f"output={folder / 'capture'}", "delay=0", f"strategy={strategy}"]
    settings = ["LOG_LEVEL=ERROR", "CONCURRENT_REQUESTS=16", "CONCURRENT_REQUESTS_PER_DOMAIN=16"]
    settings.append('EXTENSIONS={"benchmarks.bench_turns.Lag": 0}')
    command = [sys.executable, "-m", "scrapy", "crawl", "site"]
    command += [word for one in given for word in ("-a", one)] + [word for one in settings for word in ("-s", one)]
    root = str(Path(__file__).resolve().parent.parent)
    environment = {"SCRAPY_SETTINGS_MODULE": "sharc_crawler.live.profile", "TURNS": str(folder / "turns")}
    environment["PYTHONPATH"] = os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])
    subprocess.run(command, env={**os.environ, **environment}, check=True, stdout=subprocess.DEVNULL, cwd=folder)
    return json.loads((folder / "turns").read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--strategy", default="sharc-attested")
    args = parser.parse_args()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(args.pages, there), daemon=True)
    server.start()
    port = here.recv()
    with tempfile.TemporaryDirectory() as folder:
        found = crawl(port, args.strategy, Path(folder))
    server.terminate()
    print(f"{args.pages:,} pages, {args.strategy}, {found['took']:.0f} s, load {os.getloadavg()[0]:.0f}: longest turns")
    for spent, late, when in found["worst"]:
        after = ", after the last answer" if when - late > found["last"] else ""
        print(f"{spent:7.3f} s of processor time, {late:6.3f} s by the clock, {when:6.1f} s after the beginning{after}")


if __name__ == "__main__":
    main()
