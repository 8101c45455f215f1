"""What a capture costs before its first page: sitemaps read, rates learned, the order made.

    python benchmarks/bench_opening.py [--urls 10000] [--files 10] [--captures 0,1,12] [--checkout FOLDER]

A server on loopback, in this process, has an index of sitemap files, whose pages all have a lastmod. `scrapy crawl
site` captures it, with WARC, in a process of its own that runs from a checkout (this one), with a history of none, one
and twelve weekly captures that knows all pages, a tenth of them changing between two. At the first request for a page
the crawl's processor time and the most memory that it has held are noted (/proc), and it is stopped.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

from sharc_crawler.model import Change, Result, Url
from sharc_crawler.observation import Observation
from sharc_crawler.storage.observations import ObservationStore

DAY = 86_400.0
SITE = "127.0.0.1"
TICK = os.sysconf("SC_CLK_TCK")
SETTINGS = """\
from sharc_crawler.live.profile import *
DOWNLOAD_DELAY = 0
SHARC_ALLOWED_ADDRESSES = ["127.0.0.0/8"]
SHARC_OPERATOR = "bench@example.org"
LOG_LEVEL = "WARNING"
"""


def path(page: int) -> str:
    return f"/archive/{page % 40}/department-{page % 7}/page-{page:07}.html"


class Server(ThreadingHTTPServer):
    """Sitemaps, and the moment at which a page was asked for first."""

    def __init__(self, urls: int, files: int) -> None:
        super().__init__((SITE, 0), Handler)
        self.first = threading.Event()
        root, now = f"http://{SITE}:{self.server_port}", time.time()
        ages = np.random.default_rng(0).lognormal(np.log(30), 1.5, urls) * DAY
        self.answers = {
            "/robots.txt": f"Sitemap: {root}/index.xml\n".encode(),
            "/index.xml": "<sitemapindex>{}</sitemapindex>".format(
                "".join(f"<sitemap><loc>{root}/map-{file}.xml.gz</loc></sitemap>" for file in range(files))
            ).encode(),
        }
        size = -(-urls // files)
        for file in range(files):
            entries = (
                f"<url><loc>{root}{path(page)}</loc><lastmod>{stamp(now - float(ages[page]))}</lastmod></url>"
                for page in range(file * size, min(urls, (file + 1) * size))
            )
            self.answers[f"/map-{file}.xml.gz"] = gzip.compress(f"<urlset>{''.join(entries)}</urlset>".encode())


def stamp(instant: float) -> str:
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Handler(BaseHTTPRequestHandler):
    """What the server has; any other URL is a page."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        body = self.server.answers.get(self.path)
        if body is None:
            self.server.first.set()
            time.sleep(2)  # until the crawl has been looked at
            body = b"<!doctype html><title>page</title>"
        self.send_response(200)
        self.send_header("Content-Type", "application/xml" if ".xml" in self.path else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):  # it has been killed
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def remember(file: Path, site: str, root: str, urls: int, captures: int) -> None:
    """A history of weekly captures."""
    rng, now = np.random.default_rng(1), time.time()
    with ObservationStore(file) as store:
        for capture in range(captures):
            start = now - (captures - capture) * 7 * DAY
            changed = rng.random(urls) < 0.1
            store.append(
                Observation(
                    site,
                    Url(root + path(page)),
                    start + page * 0.01,
                    Result.OK,
                    Change.UNKNOWN if not capture else Change.CHANGED if changed[page] else Change.UNCHANGED,
                )
                for page in range(urls)
            )


def cost(pid: int) -> tuple[float, float]:
    """Processor seconds of a process so far, and the most memory that it has held, MB."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    peak = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return (int(fields[11]) + int(fields[12])) / TICK, int(peak.split()[1]) / 1e3


def run(urls: int, files: int, captures: int, checkout: Path) -> tuple[float, float]:
    server = Server(urls, files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "opening_settings.py").write_text(SETTINGS)
        root = f"http://{SITE}:{server.server_port}"
        arguments = ["crawl", "site", "-a", f"url={root}/", "-s", f"SHARC_OUTPUT={name}/c"]
        if captures:
            remember(Path(name) / "history.sqlite", f"{SITE}:{server.server_port}", root, urls, captures)
            arguments += ["-a", f"history={name}/history.sqlite"]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([name, str(checkout)]),
            "SCRAPY_SETTINGS_MODULE": "opening_settings",
        }
        with subprocess.Popen(
            [sys.executable, "-m", "scrapy", *arguments],
            cwd=name,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as crawl:
            if not server.first.wait(900):
                crawl.kill()
                raise SystemExit(f"no page was asked for: {crawl.stderr.read().decode()}")  # type: ignore[union-attr]
            found = cost(crawl.pid)
            crawl.kill()
        server.shutdown()
        server.server_close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--urls", type=int, default=10_000)
    parser.add_argument("--files", type=int, default=10)
    parser.add_argument("--captures", default="0,1,12")
    parser.add_argument("--checkout", type=Path, default=Path(__file__).parents[1])
    args = parser.parse_args()
    print(f"{'captures before':>16} {'CPU s':>8} {'MB':>8}")
    for captures in map(int, args.captures.split(",")):
        seconds, memory = run(args.urls, args.files, captures, args.checkout.absolute())
        print(f"{captures:16} {seconds:8.1f} {memory:8.0f}")


if __name__ == "__main__":
    main()
