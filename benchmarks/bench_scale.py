"""What a capture costs as it grows: the crawl, its end, the second capture, going on, and each tool.

    python benchmarks/bench_scale.py                       # 1,000, 10,000 and 50,000 pages
    python benchmarks/bench_scale.py --pages 200000 --known 1000000 --tools

Pages of 5 KB with 20 links, on loopback, 16 at once, no delay. Of each size, in one run: `wget -r` and stock Scrapy
(neither archives), then `scrapy crawl site` with WARC and every page once (`bfs:revisits=none`), the same with the
history that the first wrote, and one that is killed (-9) halfway and goes on, up to its first request. The tools work
on a capture whose pages were all visited twice, made by `made_capture.py` with the code that a crawl writes with;
`--known` makes it know more pages than it visited. Processor time is that of a process and of those it waited for,
memory the most that one of them held. A capture is told apart: the crawl until its last page is asked for, the
processes beside it (the writer), and what comes after (report, certificate). `--json` prints rows, of which
`scale_curves.py` makes a picture and tables. `--cut` goes on with a capture that such code made, as it is left by a
kill when so many pages were visited, up to the first request. `--sites` spreads the pages over so many sites of one
machine, beside one site of as many pages, to the end; ``--files`` bounds the files that the crawl has open, and not
those of the server, which has a connection for each site.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_crawl import Server
from made_capture import SITE, answer, path_of
from running import Running, Spent, told_apart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).parent
PROFILE = "scale_settings"
SHARC = [sys.executable, "-c", "from sharc_crawler.cli import main; main()"]
SETTINGS = """\
from sharc_crawler.live.profile import *
SHARC_ALLOWED_ADDRESSES = ["127.0.0.0/8"]
SHARC_OPERATOR = "bench@example.org"
LOG_LEVEL = "ERROR"
CONCURRENT_REQUESTS = CONCURRENT_REQUESTS_PER_DOMAIN = 16
"""
STOCK = """\
import scrapy

class Stock(scrapy.Spider):
    name = "stock"
    custom_settings = {"CONCURRENT_REQUESTS": 16, "CONCURRENT_REQUESTS_PER_DOMAIN": 16, "LOG_LEVEL": "ERROR"}

    def __init__(self, url):
        self.start_urls = [url]

    def parse(self, response):
        for link in response.xpath("//a/@href").getall():
            yield scrapy.Request(response.urljoin(link))
"""


class Counting(Server):
    """Counts the pages that are asked for."""

    def __init__(self, answers: Any, asked: Any) -> None:
        super().__init__(answers)
        self._count = asked

    def data_received(self, data: bytes) -> None:
        self._count.value += data.count(b"GET /archive")
        super().data_received(data)


class Made:
    """Answers, made when they are asked for."""

    def __init__(self, pages: int) -> None:
        self._pages = pages

    def __len__(self) -> int:
        return self._pages

    def __getitem__(self, number: int) -> bytes:
        return answer(number, self._pages)


def serve(pages: int, port: Any, asked: Any) -> None:
    answers = [answer(number, pages) for number in range(pages)] if pages <= 50_000 else Made(pages)

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(
            lambda: Counting(answers, asked), "0.0.0.0", 0, backlog=1_000
        )
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


@contextmanager
def served(pages: int) -> Iterator[tuple[str, Any]]:
    """The first page's URL, and how many were asked for."""
    here, there = multiprocessing.Pipe()
    asked = multiprocessing.Value("q", 0, lock=False)
    server = multiprocessing.Process(target=serve, args=(pages, there, asked), daemon=True)
    server.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}{path_of(0)}", asked
    finally:
        server.terminate()
        server.join()


def spent(command: Sequence[str], folder: Path, codes: Sequence[int] = (0,), profile: str = PROFILE) -> Spent:
    """Run a command to its end."""
    return Running(command, folder, profile).whole(codes)


def ours(url: str, output: str, *more: str) -> list[str]:
    arguments = {"url": url, "strategy": "bfs:revisits=none", "sitemap": "off", "delay": "0", "output": output}
    given = [word for name, value in arguments.items() for word in ("-a", f"{name}={value}")]
    return [sys.executable, "-m", "scrapy", "crawl", "site", *given, *more]


def crawls(pages: int, folder: Path) -> Iterator[tuple[str, Spent]]:
    """Each crawl of a site of so many pages."""
    (folder / "scale_settings.py").write_text(SETTINGS)
    (folder / "stock.py").write_text(STOCK)
    with served(pages) as (url, asked):
        if wget := shutil.which("wget"):
            files = ["-r", "-l", "inf", "-q", "-nH", "-P", str(folder / "wget"), "-e", "robots=off"]
            yield "wget", spent([wget, *files, url], folder, (0, 8))
            shutil.rmtree(folder / "wget", ignore_errors=True)
        yield (
            "stock Scrapy",
            spent([sys.executable, "-m", "scrapy", "runspider", "stock.py", "-a", f"url={url}"], folder, profile=""),
        )
        history = ["-a", f"history={folder / 'history.sqlite'}"]
        for name in ("first capture", "second capture"):
            crawl = Running(ours(url, name.replace(" ", "-"), *history), folder, PROFILE)
            last = asked.value + pages
            for part, used in told_apart(crawl, lambda last=last: asked.value >= last):
                yield name if part == "whole" else f"{name}: {part}", used
            shutil.rmtree(folder / name.replace(" ", "-"))
        yield "going on", _gone_on(url, asked, pages // 2, folder)


def _gone_on(url: str, asked: Any, half: int, folder: Path) -> Spent:
    """A crawl that is killed when half is asked for, and one that goes on, up to its first request."""
    _until_asked(ours(url, "cut"), asked, half, folder)
    return _until_asked(ours(url, "cut"), asked, 1, folder)


def _until_asked(command: Sequence[str], asked: Any, wanted: int, folder: Path) -> Spent:
    """What a crawl took until so many pages were asked for; then it is killed."""
    crawl, wanted = Running(command, folder, PROFILE), asked.value + wanted
    found = crawl.until(lambda: asked.value >= wanted)
    crawl.kill()
    return found


def cut_off(pages: int, folder: Path) -> Iterator[tuple[str, Spent]]:
    """Going on where so many pages were visited, up to the first request for a page."""
    (folder / "scale_settings.py").write_text(SETTINGS)
    known = pages * 21 // 20
    with served(known) as (url, asked):
        made = [
            sys.executable,
            str(HERE / "made_capture.py"),
            str(folder / "cut"),
            "--cut",
            "--site",
            url[: url.index("/archive")],
        ]
        spent([*made, "--known", str(known), "--visited", str(pages)], folder)
        arguments = [
            word for one in (f"url={url}", "strategy=bfs", "hops=0", "delay=0", "output=cut") for word in ("-a", one)
        ]
        yield "going on", _until_asked([sys.executable, "-m", "scrapy", "crawl", "site", *arguments], asked, 1, folder)


def many_sites(pages: int, sites: int, files: int, folder: Path) -> Iterator[tuple[str, Spent]]:
    """So many pages on one site, then on many."""
    (folder / "scale_settings.py").write_text(SETTINGS)
    for number, name in ((1, "one site"), (sites, f"{sites:,} sites")):
        with served(pages // number) as (url, _):
            hosts = [f"127.0.{one // 250}.{one % 250 + 1}" for one in range(number)]
            seeds = "".join(url.replace("127.0.0.1", host) + "\n" for host in hosts)
            (folder / "seeds.txt").write_text(seeds)
            command = [word for word in ours(url, f"out-{number}") if word != f"url={url}"]
            command[command.index("-a") + 1 : command.index("-a") + 1] = ["seeds=seeds.txt"]
            yield name, spent([*(["prlimit", f"--nofile={files}:{files}"] if files else []), *command], folder)


def tools(pages: int, known: int, folder: Path) -> Iterator[tuple[str, Spent]]:
    """Each tool on a capture of so many pages."""
    (folder / "scale_settings.py").write_text(SETTINGS)
    capture = folder / "made"
    made = [sys.executable, str(HERE / "made_capture.py"), str(capture), "--known", str(known), "--visited", str(pages)]
    yield "made", spent(made, folder)
    yield "report and certificate", spent([*SHARC, "report", str(capture)], folder)
    yield "verify", spent([*SHARC, "verify", str(capture)], folder)
    yield "package", spent([*SHARC, "package", str(capture), "-o", "made.wacz"], folder)
    yield "verify the WACZ", spent([*SHARC, "verify", "made.wacz"], folder)
    yield "plan", spent([*SHARC, "plan", str(capture), "--strategy", "bfs"], folder)
    yield "diff", spent([*SHARC, "diff", str(capture), str(capture), f"{SITE}{path_of(1)}"], folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", default="1000,10000,50000", help="sizes, comma-separated")
    parser.add_argument("--known", type=int, default=0, help="pages that the tools' capture knows, if more")
    parser.add_argument("--tools", action="store_true", help="no crawls")
    parser.add_argument("--crawls", action="store_true", help="no tools")
    parser.add_argument("--cut", action="store_true", help="neither: going on alone, with that many pages visited")
    parser.add_argument("--sites", type=int, default=0, help="the pages on so many sites, beside one of as many, alone")
    parser.add_argument("--files", type=int, default=0, help="that a crawl of --sites may have open at once")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    for pages in map(int, args.pages.split(",")):
        known = max(pages, args.known)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            parts = [(cut_off(pages, folder), pages)] if args.cut else []
            parts += [(many_sites(pages, args.sites, args.files, folder), pages)] if args.sites else []
            alone = bool(parts)
            parts += [] if alone or args.tools else [(crawls(pages, folder), pages)]
            parts += [] if alone or args.crawls else [(tools(pages, known, folder), known)]
            for found, number in parts:
                for what, used in found:
                    tell(what, number, used, as_json=args.json)


def tell(what: str, pages: int, used: Spent, *, as_json: bool) -> None:
    each = 1000 * used.seconds / pages
    if as_json:
        print(json.dumps({"what": what, "pages": pages, **used._asdict(), "ms_per_page": each}), flush=True)
    else:
        print(f"{what:26} {pages:9,} pages {used.seconds:8.1f} s {each:8.3f} ms {used.megabytes:7.0f} MB", flush=True)


if __name__ == "__main__":
    main()
