"""Pages per second and processor time per page, beside stock Scrapy, without any delay.

    python benchmarks/bench_crawl.py [--pages 2000] [--rounds 5] [--json]
    python benchmarks/bench_crawl.py --levels
    python benchmarks/bench_crawl.py --beside FOLDER [--pages 600]

A server on loopback, in a process of its own, answers with pages of 20 KB that name 50 others each. Four crawls take
turns, each in a process of its own, so that a busy machine slows all alike: stock Scrapy with its queue in memory and
with JOBDIR (a spider that yields a Request for each link), and ``scrapy crawl site`` with its durable frontier, without
and with WARC. The clock runs from the first response to the last: neither start-up nor report count. With `--levels`
the crawls are ours: without WARC (with and without the log; with every request and response compressed, level 6, in the
crawl's process, and nothing kept: what the compression alone costs), and with WARC at several levels (0: stored). Every
record is on the disk before its visit counts. The ratio of each round is taken by itself; beside the median ratio
stands the interval that holds it in 95 % of resampled rounds. The processes that read and write are told apart: their
processor time, from the first response to the last, is not the crawl's. Memory is the most that each of them held
before the last response (VmHWM; what they share counts for each). A first round counts for nothing: it writes the
bytecode, without which each process of a fresh checkout would compile its modules anew.

With `--beside` another checkout, with an environment in its `.venv`, takes turns with this one, which brings the
benchmark for both.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import multiprocessing
import os
import pstats
import random
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections import deque
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings

from sharc_crawler.live.spiders.site import SiteSpider

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

EXCHANGE_KEY = "sharc_exchange"  #: of a request's meta (an older commit has it in another module)
VARIANTS = {"stock": "stock", "stock, JOBDIR": "jobdir", "ours": "ours", "ours, WARC": "warc-6"}
LEVELS = {
    "ours": "ours",
    "ours, no log": "unlogged",
    "compression alone": "zlib",
    **{f"ours, WARC, level {level}": f"warc-{level}" for level in (0, 1, 6, 9)},
}
BESIDE = {
    "stock": "stock",
    "theirs": "theirs/ours",
    "ours": "ours",
    "theirs, WARC": "theirs/warc-6",
    "ours, WARC": "warc-6",
}
LINKS = 50
SIZE = 20_000
CONCURRENCY = 16


def page(number: int, pages: int) -> bytes:
    """A page and its head: the next page, pages spread over the site, and text."""
    others = [number + 1, *(number * 7919 + other * 104_729 for other in range(LINKS - 1))]
    links = "".join(f"<li><a href='/archive/2009/department/page-{other % pages:07}'>{other}</a>\n" for other in others)
    text = "".join(f"<p class=n{word % 7}>{word * word * 31 % 10_007} words on {number}\n" for word in range(600))
    body = f"<!doctype html><title>{number}</title><ul>{links}</ul>{text}".encode()[:SIZE].ljust(SIZE)
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n" % SIZE + body


class Server(asyncio.Protocol):
    """Answers what is asked for by number; anything else is not found."""

    def __init__(self, answers: list[bytes]) -> None:
        self._answers = answers
        self._asked = b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *requests, self._asked = (self._asked + data).split(b"\r\n\r\n")
        for request in requests:
            number = request.partition(b" HTTP/")[0].rpartition(b"page-")[2]
            missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
            known = number.isdigit() and int(number) < len(self._answers)
            self._transport.write(self._answers[int(number)] if known else missing)


def serve(pages: int, port: Connection) -> None:
    answers = [page(number, pages) for number in range(pages)]

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(lambda: Server(answers), "127.0.0.1", 0)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


class StockSpider(Spider):
    """Follows links the way Scrapy's tutorial does."""

    name = "stock"

    def __init__(self, url: str) -> None:
        super().__init__()
        self.start_urls = [url]

    def parse(self, response: Any) -> Any:
        for link in response.xpath("//a/@href").getall():
            yield Request(response.urljoin(link))


def others() -> list[str]:
    """The processes that read and write for this one (Linux)."""
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def others_seconds() -> float:
    """Their processor time."""
    ticks = 0
    for child in others():
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])  # in user and in system mode
    return ticks / os.sysconf("SC_CLK_TCK")


def most_memory(process: str) -> float:
    """MB that a process held at once, at most."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000


class Compressor:
    """Compresses what was exchanged, as an archive must, and keeps nothing."""

    def process_response(self, request: Request, response: Any) -> Any:
        exchange = request.meta[EXCHANGE_KEY]
        for data in (exchange.response, exchange.request):
            packer = zlib.compressobj(6, zlib.DEFLATED, 31)
            packer.compress(data)
            packer.flush()
        return response


class Watch:
    """When responses come."""

    def __init__(self) -> None:
        self.pages = 0
        self.looks: list[tuple[int, float]] = []  # at the other processes: a look costs as much as a tenth of a page

    def response(self) -> None:
        self.last = time.perf_counter(), time.process_time()
        if not self.pages:
            self.first = self.last
        if not self.pages % 50:
            self.looks.append((self.pages, others_seconds()))
            self.memory = most_memory("self"), sum(map(most_memory, others()))
        self.pages += 1

    def figures(self) -> dict[str, float]:
        wall, cpu = (last - first for first, last in zip(self.first, self.last, strict=True))
        (before, first), (after, last) = self.looks[0], self.looks[-1]
        pages = self.pages - 1
        return {
            "pages": self.pages,
            "per_second": pages / wall,
            "cpu_ms": 1000 * cpu / pages,
            "writer_ms": 1000 * (last - first) / max(1, after - before),
            "mb": self.memory[0],
            "writer_mb": self.memory[1],
        }


def crawl(variant: str, url: str, folder: str) -> dict[str, float]:
    """One crawl in this process."""
    settings = Settings({"LOG_LEVEL": "WARNING"})
    arguments = {"url": url}
    kind, _, level = variant.partition("-")
    ours = kind in ("ours", "unlogged", "zlib", "warc")
    if ours:
        settings.setmodule("sharc_crawler.live.profile")
        settings.setdict({"SHARC_WARC": kind == "warc", "SHARC_WARC_LEVEL": level or 6, "SHARC_PROGRESS": False})
        if kind == "zlib":
            settings.set("DOWNLOADER_MIDDLEWARES", {**settings.getdict("DOWNLOADER_MIDDLEWARES"), Compressor: 9999})
        settings.set("SHARC_LOG", "off" if kind == "unlogged" else "json")
        arguments |= {"strategy": "bfs:revisits=none", "sitemap": "off", "delay": "0", "output": folder}
    elif variant == "jobdir":
        settings.set("JOBDIR", folder)
    settings.setdict({"CONCURRENT_REQUESTS": CONCURRENCY, "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY})
    if ours:
        SiteSpider.prepare(settings, arguments)
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(SiteSpider if ours else StockSpider)
    watch = Watch()
    crawler.signals.connect(watch.response, signals.response_received)
    process.crawl(crawler, **arguments)
    process.start()
    return watch.figures()


def run(variant: str, url: str, beside: Path | None = None) -> dict[str, float]:
    """One crawl in a process of its own; ``theirs/…``: of the checkout ``beside``."""
    whose, _, kind = variant.rpartition("/")
    place = beside if whose == "theirs" and beside else Path(__file__).parents[1]
    python = str(place / ".venv" / "bin" / "python") if whose == "theirs" else sys.executable
    environment = {**os.environ, "PYTHONPATH": str(place)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        command = [python, __file__, "--variant", kind, "--url", url, "--folder", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def profiled(variant: str, url: str, folder: str) -> None:
    profile = cProfile.Profile()
    figures = profile.runcall(crawl, variant, url, folder)
    pstats.Stats(profile).sort_stats("tottime").print_stats(60)
    print(figures)


@contextmanager
def served(pages: int) -> Iterator[str]:
    """The first page's URL."""
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(pages, there), daemon=True)
    server.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}/archive/2009/department/page-0000000"
    finally:
        server.terminate()


def compare(
    url: str, pages: int, rounds: int, variants: dict[str, str], beside: Path | None
) -> dict[str, dict[str, Any]]:
    """Medians over the rounds; pages/s beside the first variant's of the same round, least to most."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in variants}
    for variant in variants.values():
        run(variant, url, beside)
    for number in range(rounds):
        turns = deque(variants)
        turns.rotate(number)  # nobody always follows the same one, whose files may still be on their way to the disk
        for name in turns:
            figures = run(variants[name], url, beside)
            assert figures["pages"] in (pages, pages + 1), f"{name}: {figures} (ours asks for robots.txt too)"
            found[name].append(figures)
    first = next(iter(found.values()))
    return {name: medians(runs) | {"ratios": ratios(runs, first)} for name, runs in found.items()}


def medians(runs: list[dict[str, float]]) -> dict[str, Any]:
    return {what: statistics.median(one[what] for one in runs) for what in runs[0]}


def ratios(runs: list[dict[str, float]], beside: list[dict[str, float]]) -> list[float]:
    return sorted(one["per_second"] / other["per_second"] for one, other in zip(runs, beside, strict=True))


def interval(ratios: list[float]) -> tuple[float, float]:
    """Where the median lies in 95 % of resampled rounds."""
    dice = random.Random(1)
    found = sorted(statistics.median(dice.choices(ratios, k=len(ratios))) for _ in range(4000))
    return found[100], found[-101]


def told(name: str, one: dict[str, Any], peer: str, beside: dict[str, Any]) -> str:
    """One line of the table."""
    low, high = interval(one["ratios"])
    writer = f" and {one['writer_ms']:.2f} ms of its other processes" if one["writer_ms"] else ""
    memory = f"{one['mb']:.0f} + {one['writer_mb']:.0f} MB" if one["writer_mb"] else f"{one['mb']:.0f} MB"
    return (
        f"{name:19} {one['per_second']:7.0f} pages/s ({one['per_second'] / beside['per_second']:.2f} times {peer})"
        f" {one['cpu_ms']:6.2f} ms CPU per page ({beside['cpu_ms'] / one['cpu_ms']:.2f} times less){writer}; {memory};"
        f" round by round {statistics.median(one['ratios']):.2f} ({one['ratios'][0]:.2f}-{one['ratios'][-1]:.2f};"
        f" median, 95 %: {low:.2f}-{high:.2f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--levels", action="store_true", help="what WARC costs at several levels of compression")
    parser.add_argument("--beside", type=Path, help="another checkout, whose .venv runs it, beside this one")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--variant", help="one crawl only, of --url into --folder")
    parser.add_argument("--url")
    parser.add_argument("--folder")
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    if args.variant:
        if args.profile:
            profiled(args.variant, args.url, args.folder)
        else:
            print(json.dumps(crawl(args.variant, args.url, args.folder)))
        return
    with served(args.pages) as url:
        variants = LEVELS if args.levels else BESIDE if args.beside else VARIANTS
        figures = compare(url, args.pages, args.rounds, variants, args.beside)
    if args.json:
        print(json.dumps(figures))
        return
    peer = next(iter(figures))
    beside = figures[peer]
    print(f"{args.pages:,} pages, medians of {args.rounds} rounds")
    for name, one in figures.items():
        print(told(name, one, peer, beside))


if __name__ == "__main__":
    main()
