"""How fast WARC files are written, and what the wire tap and the archive cost a crawl.

    python benchmarks/bench_warc.py            # a table
    python benchmarks/bench_warc.py --json     # for a program

Crawls of a loopback server by Scrapy's own handler, with the tap, and with tap and WARC take turns, so that a busy
machine slows all of them alike. Seconds of processor time are given beside seconds of the clock for the same reason.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess

from sharc_crawler.archive.options import WarcOptions
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.archive.warcinfo import CaptureInfo
from sharc_crawler.live.wire.handler import EXCHANGE_KEY
from sharc_crawler.model import Exchange

INFO = CaptureInfo("bench", "nobody", "obey", "bfs")
#: zlib: what the tap kept is compressed and thrown away, so that the rest of writing can be told from compressing
VARIANTS = ("stock", "tap", "tap+zlib level 6", "tap+warc level 1", "tap+warc level 6", "tap+warc synced level 6")
PAGE = 20_000


def body_of(number: int, size: int) -> bytes:
    """Text that compresses about as well as a page does."""
    words = [
        b"<p class='n%d'>%d " % (word % 7, number * 7919 + word * word * 31 % 10_007) for word in range(size // 20)
    ]
    return b"".join(words)[:size].ljust(size)


def write_rate(size: int, level: int, count: int) -> dict[str, float]:
    """Exchanges written per second of processor time."""
    made = []
    for number in range(count):
        body = body_of(number, size)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % size
        request = b"GET /%d HTTP/1.1\r\nHost: example.org\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n" % number
        made.append(
            Exchange(f"http://example.org/{number}.html", number, number + 1, request, head + body, "127.0.0.1")
        )
    with tempfile.TemporaryDirectory() as folder:
        with WarcWriter(Path(folder), "bench", "run", INFO, WarcOptions(level=level)) as out:
            started = time.process_time()
            for exchange in made:
                out.write(exchange)
            spent = time.process_time() - started
        written = sum(path.stat().st_size for path in Path(folder).glob("*.warc.gz"))
    return {
        "body bytes": size,
        "level": level,
        "exchanges/s": round(count / spent),
        "WARC bytes": round(written / count),
    }


class _Archiver:
    """Writes what the tap kept, as the last thing before the downloader."""

    def __init__(self, crawler) -> None:
        options = WarcOptions(level=crawler.settings.getint("LEVEL"))
        self.syncs = crawler.settings.getbool("SYNC")
        self.out = WarcWriter(Path(crawler.settings["FOLDER"]), "bench", "run", INFO, options)
        crawler.signals.connect(self.out.close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def process_response(self, request, response):
        self.out.write(request.meta.pop(EXCHANGE_KEY))
        if self.syncs:
            self.out.sync()
        return response


class _Compressor:
    """Compresses what the tap kept, as an archive must, and keeps nothing."""

    def process_response(self, request, response):
        exchange = request.meta.pop(EXCHANGE_KEY)
        for data in (exchange.response, exchange.request):
            packer = zlib.compressobj(6, zlib.DEFLATED, 16 + 15)
            packer.compress(data)
            packer.flush()
        return response


class _Pages(Spider):
    name = "pages"

    async def start(self):
        for number in range(self.count):
            yield Request(f"{self.url}/{number}", callback=self.nothing, dont_filter=True)

    def nothing(self, response):
        pass


def crawl(variant: str, url: str, count: int) -> None:
    """One crawl in this process; prints its seconds."""
    settings = {"LOG_ENABLED": False, "TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False}
    settings |= {"COOKIES_ENABLED": False, "CONCURRENT_REQUESTS_PER_DOMAIN": 16, "DOWNLOAD_DELAY": 0}
    settings |= {"SHARC_ALLOWED_ADDRESSES": ["127.0.0.0/8"]}
    if variant != "stock":
        handler = "sharc_crawler.live.wire.handler.WireTapHandler"
        settings["DOWNLOAD_HANDLERS"] = {"http": handler, "https": handler}
    with tempfile.TemporaryDirectory() as folder:
        if "warc" in variant:
            settings |= {"DOWNLOADER_MIDDLEWARES": {_Archiver: 990}, "FOLDER": folder, "LEVEL": int(variant[-1])}
            settings["SYNC"] = "synced" in variant
        elif "zlib" in variant:
            settings["DOWNLOADER_MIDDLEWARES"] = {_Compressor: 990}
        process = AsyncCrawlerProcess(settings)
        process.crawl(_Pages, url=url, count=count)
        clock, cpu = time.perf_counter(), time.process_time()
        process.start()
        print(json.dumps([time.perf_counter() - clock, time.process_time() - cpu]))


async def serve() -> None:
    """A keep-alive server of distinct pages; prints its port."""
    bodies = [body_of(number, PAGE) for number in range(50)]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            number = int(head.split(b" ", 2)[1][1:])
            body = b"%08d" % number + bodies[number % 50]
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def crawl_rates(rounds: int, count: int) -> list[dict[str, object]]:
    """Pages per second of each variant: medians over the rounds."""
    this = [sys.executable, __file__]
    server = subprocess.Popen([*this, "--serve"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        times: dict[str, list[list[float]]] = {variant: [] for variant in VARIANTS}
        for _ in range(rounds):
            for variant in VARIANTS:
                done = subprocess.run(
                    [*this, "--crawl", variant, "--url", url, "--count", str(count)],
                    capture_output=True, text=True, check=True,
                )  # fmt: skip
                times[variant].append(json.loads(done.stdout))
    finally:
        server.kill()
        server.wait()
    medians = {
        variant: [statistics.median(column) for column in zip(*rows, strict=True)] for variant, rows in times.items()
    }
    return [
        {"handler": variant, "pages/s": round(count / clock), "processor ms/page": round(1000 * cpu / count, 3)}
        for variant, (clock, cpu) in medians.items()
    ]


def table(rows: list[dict[str, object]]) -> str:
    """Rows under their names."""
    lines = ["  ".join(f"{name:>24}" for name in rows[0])]
    return "\n".join(lines + ["  ".join(f"{value!s:>24}" for value in row.values()) for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--rounds", type=int, default=5, help="crawls per variant")
    parser.add_argument("--count", type=int, default=1000, help="pages per crawl")
    parser.add_argument("--part", choices=("writing", "crawling"), help="only this part")
    parser.add_argument("--crawl", choices=VARIANTS, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        asyncio.run(serve())
    elif arguments.crawl:
        crawl(arguments.crawl, arguments.url, arguments.count)
    else:
        parts = {}
        if arguments.part != "crawling":
            parts["writing"] = [write_rate(size, level, 2000) for size in (500, 2_000, PAGE) for level in (1, 6)]
        if arguments.part != "writing":
            parts["crawling"] = crawl_rates(arguments.rounds, arguments.count)
        print(json.dumps(parts, indent=2) if arguments.json else "\n\n".join(map(table, parts.values())))


if __name__ == "__main__":
    main()
