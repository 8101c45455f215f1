"""False claims beside the bound that an audit states: real crawls of sites whose lastmods lie, with a log of the truth.

    python benchmarks/bench_audit.py --runs 10
    python benchmarks/bench_audit.py --runs 8 --worlds cms --beside

``cms``: 60 news pages that tell the truth, 40 listings whose lastmod is their creation date, 50 static pages. ``shop``:
products that tell the truth, offers of which a third never own up to a change, tags that own up to every other one, and
a small folder of liars. ``small``: honest articles, and a folder of eight that lie. ``cold``: liars that hardly change.
``mixed``: ten small kinds, one of which lies. ``stock``: products, a third of which change without a word, and more
slowly than their prices are edited. ``wide``: 900 honest articles, and ten kinds of 8 to 17 pages, of which four lie.
A claim is false if none of the page's downloads shows it as it was at T.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.site_crawl import captured
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.instants import iso, unix

AGES = 1e5, 3e7  #: seconds since pages were made


@dataclass
class Page:
    """A page, and when it changes."""

    changes: list[float] = field(default_factory=list)
    owns_up: int = 1  #: to every so manieth change; 0: to none
    age: float = 0.0  #: seconds, when the site opens

    def version(self, now: float) -> int:
        return bisect_right(self.changes, now)

    def lastmod(self, now: float, begun: float) -> float:
        seen = self.version(now)
        told = seen // self.owns_up * self.owns_up if self.owns_up else 0
        return self.changes[told - 1] if told else begun - self.age


def poisson(rng: random.Random, begun: float, every: float, span: float = 600.0) -> list[float]:
    found, now = [], begun - 300.0
    while (now := now + rng.expovariate(1 / every)) < begun + span:
        found.append(now)
    return found


def cms(rng: random.Random, begun: float) -> dict[str, Page]:
    news = {f"/news/{n}.html": Page(poisson(rng, begun, 60.0)) for n in range(60)}
    listed = list(news.values())
    listings = {
        f"/category/{n}.html": Page(sorted(t for page in listed[n % 12 :: 12] for t in page.changes), owns_up=0)
        for n in range(40)
    }
    return news | listings | {f"/about/{n}.html": Page() for n in range(50)}


def shop(rng: random.Random, begun: float) -> dict[str, Page]:
    pages = {f"/product-{n}": Page(poisson(rng, begun, 90.0)) for n in range(80)}
    pages |= {f"/offer-{n}": Page(poisson(rng, begun, 40.0), owns_up=n % 3 and 1) for n in range(60)}
    pages |= {f"/tags?name=t{n}": Page(poisson(rng, begun, 40.0), owns_up=2) for n in range(40)}
    return pages | {f"/old/{n}": Page(poisson(rng, begun, 60.0), owns_up=0) for n in range(15)}


def small(rng: random.Random, begun: float) -> dict[str, Page]:
    pages = {f"/articles/{n}.html": Page(poisson(rng, begun, 120.0)) for n in range(120)}
    return pages | {f"/index/{n}.html": Page(poisson(rng, begun, 15.0), owns_up=0) for n in range(8)}


def cold(rng: random.Random, begun: float) -> dict[str, Page]:
    pages = {f"/articles/{n}.html": Page(poisson(rng, begun, 60.0)) for n in range(60)}
    return pages | {f"/archive/{n}.html": Page(poisson(rng, begun, 300.0), owns_up=0) for n in range(80)}


def mixed(rng: random.Random, begun: float) -> dict[str, Page]:
    return {
        f"/{'abcdefghij'[kind]}/{n}.html": Page(poisson(rng, begun, 40.0), owns_up=int(kind != 3))
        for kind in range(10)
        for n in range(15)
    }


def stock(rng: random.Random, begun: float) -> dict[str, Page]:
    pages = {f"/product/{n}": Page(poisson(rng, begun, 100.0), owns_up=n % 3 and 1) for n in range(120)}
    return pages | {f"/help/{n}.html": Page() for n in range(40)}


def wide(rng: random.Random, begun: float) -> dict[str, Page]:
    pages = {f"/articles/{n}.html": Page(poisson(rng, begun, 200.0)) for n in range(900)}
    return pages | {
        f"/{'abcdefghij'[kind]}/{n}.html": Page(poisson(rng, begun, 60.0), owns_up=int(kind % 3 > 0))
        for kind in range(10)
        for n in range(8 + kind)
    }


WORLDS = {world.__name__: world for world in (cms, shop, small, cold, mixed, stock, wide)}


class Site(ThreadingHTTPServer):
    """The site, on loopback."""

    daemon_threads = True

    def __init__(self, pages: dict[str, Page], begun: float) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pages, self.begun = pages, begun
        self.url = f"http://127.0.0.1:{self.server_port}"


def words(path: str, count: int = 40) -> str:
    """A text of a page's own: pages that differ in numbers alone look like a trap."""
    rng = random.Random(path)
    return " ".join("".join(rng.choices("abcdefghilmnoprstu", k=rng.randint(3, 9))) for _ in range(count))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Site

    def do_GET(self) -> None:
        now, site = time.time(), self.server
        page = site.pages.get(self.path)
        if self.path == "/robots.txt":
            kind, body = "text/plain", f"Sitemap: {site.url}/sitemap.xml\n"
        elif self.path == "/sitemap.xml":
            entries = (
                f"<url><loc>{site.url}{path.replace('&', '&amp;')}</loc>"
                f"<lastmod>{iso(one.lastmod(now, site.begun))[:19]}Z</lastmod></url>"
                for path, one in site.pages.items()
            )
            kind, body = "text/xml", f"<urlset>{''.join(entries)}</urlset>"
        elif page is not None or self.path == "/":
            shown = "home" if page is None else f"{self.path} in version {page.version(now)}"
            kind, body = "text/html", f"<!doctype html><title>{shown}</title><p>{shown}</p><p>{words(self.path)}</p>"
        else:
            self.send_error(404)
            return
        data = body.encode()
        self.send_response_only(200)
        self.send_header("Date", formatdate(now, usegmt=True))
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def crawl(url: str, folder: Path, options: argparse.Namespace) -> dict:
    given = {"url": f"{url}/", "strategy": "sharc-attested", "delay": options.delay}
    return captured(folder, given | ({"audit": options.audit} if options.audit is not None else {}))


def wrong(page: dict, site: Site, reference: float) -> bool:
    parts = urlsplit(page["url"])
    truth = site.pages.get(parts.path + (f"?{parts.query}" if parts.query else ""))
    if truth is None:
        return False
    seen = [truth.version(unix(visit["started"])) for visit in (page["visit"], page["revisit"]) if visit]
    return truth.version(reference) not in seen


def beside(world: str, seed: int, options: argparse.Namespace) -> tuple[object, ...]:
    """The same site captured at the same time without audits: the requests of both, and false claims without."""
    begun = time.time()
    plain = argparse.Namespace(**{**vars(options), "audit": 0.0})
    with ThreadPoolExecutor(2) as both:
        audited, bare = both.map(lambda one: run(world, seed, one, begun), (options, plain))
    requests, without = audited[-1], bare[-1]
    return *audited, without, f"{requests / without - 1:.1%}", bare[4]


def run(world: str, seed: int, options: argparse.Namespace, begun: float | None = None) -> tuple[int, ...]:
    begun = begun or time.time()
    pages = WORLDS[world](random.Random(seed), begun)
    ages = random.Random(seed + 1_000)
    for page in pages.values():
        page.age = ages.uniform(*AGES)
    with Site(pages, begun) as site, tempfile.TemporaryDirectory() as folder:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        capture = crawl(site.url, Path(folder), options)
        site.shutdown()
        reference = unix(capture["times"]["reference"])
        coherent = [page for page in capture["pages"] if page["verdict"] == "coherent" and page["kind"] == "page"]
        false = [page for page in coherent if wrong(page, site, reference)]
        told = sum(Evidence(page["evidence"]).dated for page in false)
        captured, audit = capture["coherence"]["captured"], capture["audit"]
        return (captured, len(coherent), audit["claimed"], audit["bound"], told, len(false) - told, audit["lies"],
                audit["audited"], capture["exchanges"])  # fmt: skip


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="seed")
    parser.add_argument("--worlds", nargs="*", default=["cms", "shop"], choices=WORLDS)
    parser.add_argument("--delay", type=float, default=0.1)
    parser.add_argument("--audit", type=float, help="default: the product's")
    parser.add_argument("--beside", action="store_true", help="each beside the same crawl without audits")
    options = parser.parse_args()
    one, more = (beside, " without | more | false then |") if options.beside else (run, "")
    print("| site | captured | coherent | by lastmod | bound | false by lastmod | false otherwise | lies | audited |"
          f" requests |{more}\n|---{'|--:' * (9 + more.count('|'))}|", flush=True)  # fmt: skip
    for world in options.worlds:
        for seed in range(options.first, options.first + options.runs):
            print(f"| {world} | {' | '.join(map(str, one(world, seed, options)))} |", flush=True)


if __name__ == "__main__":
    main()
