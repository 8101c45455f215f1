"""Eight slow pages of one host, by a project's own spider: stock, and with the add-on, in turns.

    python benchmarks/bench_dropin.py [--rounds 5] [--seconds 1]

A server on loopback takes a second for each answer. What is told is the time from its first request to its last answer.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PAGES = 8
ADDON = ('ADDONS={"sharc_crawler.live.addon.SharcAddon": 500}', "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8")
ARCHIVED = (*ADDON, "SHARC_OUTPUT=captures/%(time)s")
WAYS = {
    "stock": (),
    "with the add-on": ADDON,
    "archived": ARCHIVED,
    "archived, with revisits": (*ARCHIVED, "SHARC_STRATEGY=sharc-selective"),
    "archived, CONCURRENT_REQUESTS_PER_DOMAIN=1": (*ARCHIVED, "CONCURRENT_REQUESTS_PER_DOMAIN=1"),
}
SPIDER = f"""
import scrapy


class Slow(scrapy.Spider):
    name = "slow"

    async def start(self):
        for number in range({PAGES}):
            yield scrapy.Request(f"{{self.url}}{{number}}")

    def parse(self, response):
        yield {{"url": response.url}}
"""


class _Slow(BaseHTTPRequestHandler):
    """Says ok in its own time."""

    protocol_version = "HTTP/1.1"
    seconds = 1.0
    times: list[float] = []  # noqa: RUF012 - of one server

    def do_GET(self) -> None:
        self.times.append(time.monotonic())
        time.sleep(self.seconds)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
        self.times.append(time.monotonic())

    def log_message(self, *_: object) -> None:
        pass


def crawl(folder: Path, url: str, settings: tuple[str, ...]) -> float:
    """Seconds from the first request to the last answer."""
    _Slow.times.clear()
    words = ["runspider", "slow.py", "-a", f"url={url}", *(text for one in settings for text in ("-s", one))]
    subprocess.run([sys.executable, "-m", "scrapy", *words], cwd=folder, check=True, capture_output=True)
    time.sleep(1)  # captures are named by the second
    return max(_Slow.times) - min(_Slow.times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    args = parser.parse_args()
    _Slow.seconds = args.seconds
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    took: dict[str, list[float]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "slow.py").write_text(SPIDER)
        for _ in range(args.rounds):
            for way, settings in WAYS.items():
                took[way].append(crawl(Path(name), f"http://127.0.0.1:{server.server_port}/", settings))
    print("| way | s, median | least | most |\n|---|---:|---:|---:|")
    for way, found in took.items():
        print(f"| {way} | {statistics.median(found):.2f} | {min(found):.2f} | {max(found):.2f} |")


if __name__ == "__main__":
    main()
