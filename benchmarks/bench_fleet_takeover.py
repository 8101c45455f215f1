"""A worker takes over a site of so many pages, all of them visited once, and keeps its other sites meanwhile.

    python benchmarks/bench_fleet_takeover.py [--pages 1000000]

Takes PostgreSQL's programs (Debian: postgresql), 5 GB of memory and three minutes for a million pages. The site is at
the turn to its revisits, when its next page takes longest to decide. What it journalled is made here, not crawled.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).resolve().parents[1]))

from benchmarks.bench_fleet import TERM, _cpu, _memory, _until, work
from sharc_crawler.fleet.journal import SMALL, packed
from sharc_crawler.fleet.ledger import JournalStep, SiteOrder, Wish
from sharc_crawler.fleet.opening import open_fleet
from sharc_crawler.model import Phase
from sharc_crawler.state.rows import Batch, CaptureRow, HostRow
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.plain import joined, to_json
from tests.fleet.database import Database
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

OTHERS, SETTLED = 8, 4  #: small sites; requests to each before the large one comes
ASKED: list[tuple[float, str]] = []  #: when, and which address


class Site(StreamRequestHandler):
    """Any page of any site."""

    def handle(self) -> None:
        while line := self.rfile.readline().decode():
            ASKED.append((time.monotonic(), self.connection.getsockname()[0]))
            while self.rfile.readline().strip():
                pass
            target = line.split()[1]
            links = "".join(f'<a href="/p{n}">{n}</a>' for n in range(500)) if target == "/" else ""
            body = b"" if target == "/robots.txt" else f"<p>{target}</p>{links}".encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
            self.wfile.write(head.encode() + body)


class Sites(ThreadingTCPServer):
    allow_reuse_address, daemon_threads, request_queue_size = True, True, 100


def rows(host: str, pages: int) -> Iterator[list[str]]:
    """The lines of each row of a journal, as a worker has merged them."""

    def url(page: int) -> str:
        return f"http://{host}/archive/2009/department/page-{page:08d}"

    def found(page: int) -> list[object]:
        place = ["page", host, page.bit_length(), (page - 1) // 2]
        return [page, 0, url(page), url(page), *place, "seed", 0, 1e-6, "history", None, 1.0, None, ""]

    spec = CaptureSpec(host, (url(0),), "sharc-selective", sitemaps=(), size=pages, resources=False)
    capture = CaptureRow(0, spec, Phase.VISIT, 0.0, None, None, ())
    begun = Batch(captures={0: capture}, hosts={host: HostRow(host, "", 1.0)})
    yield [json.dumps({"pages": [found(0)]}), to_json(begun)]
    for first in range(0, pages, 1_000):
        told: dict[str, list[list[object]]] = {"pages": [], "visits": [], "links": []}
        for page in range(first, min(first + 1_000, pages)):
            names = [one for one in (2 * page + 1, 2 * page + 2) if one < pages]
            told["pages"] += map(found, names)
            now, digest, file = page * 0.05, f"sha1:{page:032}", "site-20260101000000-00000-epoch-0001.warc.gz"
            seen = [now, now, now + 0.01, "ok", 200, digest, None, None, f'"{page:x}"', None, None, 20_000, "text/html"]
            written = [None] * 6 + [file, page * 9_000, 9_000, None, None, None, None, False]
            told["visits"].append([page, "first", "hopeful", 1, True, page + 1, *seen, *written])
            told["links"].append([page, now, [*range(5), *names, page // 3, page * 2 // 3]])
        yield [joined([json.dumps(told)])]


def run(pages: int, database: Database, folder: Path) -> dict[str, object]:
    port = free_port()
    host, dsn = f"127.9.99.1:{port}", database.new()
    ledger = open_fleet(dsn, make=True)
    ledger.add([SiteOrder(host, {"url": f"http://{host}/"})])
    [tenure] = ledger.claim("w1", 1, 3_600.0)
    size = 0
    for seq, lines in enumerate(rows(host, pages), 1):
        body = packed(lines, SMALL)
        size += len(body)
        assert ledger.step([JournalStep(host, tenure.epoch, seq, body, pages, pages, pages)], 3_600.0)
    ledger.release(host, tenure.epoch)
    ledger.wish(Wish.PAUSE, [host])
    ledger.add(SiteOrder(f"127.9.98.{n}:{port}", {"url": f"http://127.9.98.{n}:{port}/"}) for n in range(1, OTHERS + 1))
    sites = Sites(("", port), Site)
    Thread(target=sites.serve_forever, daemon=True).start()
    worker = subprocess.Popen(work(dsn, folder, "-s", "DOWNLOAD_DELAY=1"), stderr=subprocess.DEVNULL)
    try:
        _until(lambda: len(ASKED) > OTHERS * SETTLED)
        cpu, memory, began, load = _cpu(worker.pid), _memory(worker.pid), time.monotonic(), os.getloadavg()[0]
        ledger.wish(Wish.RUN, [host])
        _until(lambda: any(place == "127.9.99.1" for _, place in ASKED), 0.05)
        told = {"processor s until its first request": round(_cpu(worker.pid) - cpu, 1), "load": round(load, 1)}
        told["s by the clock"] = round(next(at for at, place in ASKED if place == "127.9.99.1") - began, 1)
        time.sleep(TERM)  # for its copy, and for what would be lost
        told["MB, with the copy made"] = round((_memory(worker.pid) - memory) / 1e6)
    finally:
        worker.kill()
        worker.wait()
    others = [sorted(at for at, place in ASKED if place == f"127.9.98.{n}") for n in range(1, OTHERS + 1)]
    gaps = [b - a for at in others for a, b in pairwise(at) if b > began]
    held = [one for one in ledger.sites() if one.site != host]
    return {
        **told, "bytes of journal a page": round(size / pages), "longest pause of another site, s": round(max(gaps), 1),
        "other sites lost": sum(one.epoch > 1 for one in held),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=1_000_000)
    pages = parser.parse_args().pages
    database = Database(Path(tempfile.mkdtemp()))
    try:
        with tempfile.TemporaryDirectory() as name:
            print(json.dumps({f"{pages:,} pages": run(pages, database, Path(name))}, indent=1))
    finally:
        database.stop()


if __name__ == "__main__":
    main()
