"""What documents that are made to cost time cost, and whom they keep waiting.

    python benchmarks/bench_documents.py [--size 1000000] [--mixes 60]
    python benchmarks/bench_documents.py --crawl [--pages 600]
    python benchmarks/bench_documents.py --inside

The first reads documents of one size as a capture does (links, text, fingerprint, digests): a shape each, then shapes
in mixes from a fixed seed, and says the processor time of the worst. With `--crawl` one host on loopback serves a page
of each shape and another one small pages, in one capture: how long does the second host wait between two requests,
beside the same crawl in which the first host's documents are small, too?
With `--inside` what the crawl's own process does with a long sitemap, with a page of odd queries and with long
robots.txt files, step by step.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import gc
import itertools
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.leasing import SOON
from sharc_crawler.frontier.opening import Parts
from sharc_crawler.frontier.sites import Sites
from sharc_crawler.links.robots_rules import RobotsRules
from sharc_crawler.links.sitemap import MOST_ENTRIES
from sharc_crawler.live.extension import OBJECTS
from sharc_crawler.live.former.history import aside
from sharc_crawler.live.reading.document import detector_of, read
from sharc_crawler.live.reading.portions import PORTION, Portions
from sharc_crawler.live.reading.reader_process import packed
from sharc_crawler.live.reading.readings import Order, Wants, unpacked_reading
from sharc_crawler.live.requests import Lease
from sharc_crawler.model import Fetch, Hints, Outcome, Result, Sighting, Url
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
#: a beginning, and what follows it again and again (%d counts)
SHAPES = {
    "attributes of one tag": (b"<p ", b"a%d=1 "),
    "attributes without values": (b"<p ", b"a%d "),
    "attributes, quoted": (b"<p ", b"a%d='<p>' "),
    "tags of 200 attributes": (b"", b"<p " + b"".join(b"a%d=1 " % number for number in range(200)) + b">"),
    "one huge attribute": (b"<a href='", b"/%d"),
    "one huge name": (b"<", b"x%d"),
    "nesting": (b"", b"<div>"),
    "nesting of inline elements": (b"", b"<b><i><a href=/%d>"),
    "misnested tables": (b"", b"<table><tr><td><p><table>"),
    "open forms and lists": (b"", b"<form><ul><li><select><option>%d"),
    "ends without beginnings": (b"", b"</p></div></a>"),
    "entities": (b"", b"&amp;&#%d;&notanentity%d"),
    "one long entity": (b"&", b"x%d"),
    "comments": (b"", b"<!-- %d -->"),
    "a comment without end": (b"<!--", b"-- -%d"),
    "bogus comments": (b"", b"<?%d?><!%d><//%d>"),
    "doctypes": (b"", b"<!DOCTYPE a%d [<!ENTITY b 'c'>]>"),
    "CDATA": (b"", b"<![CDATA[%d]]>"),
    "one huge text": (b"<p>", b"word%d "),
    "one huge word": (b"<p>", b"%d"),
    "300,000 tags": (b"", b"<b>"),
    "links": (b"", b"<a href=/page-%d>"),
    "relative links": (b"<base href=//////>", b"<a href=../%d/../>"),
    "links to session paths": (b"", b"<a href=/%032d/a>"),
    "odd queries": (b"", b"<a href='/?" + b"b%d=%zz&a=\xc3\xa4;c[]=|&&" * 75 + b"'>"),
    "images": (b"", b"<img srcset='a%d.png 1x, b%d.png 2x' style='background:url(%d)'>"),
    "one srcset": (b"<img srcset='", b"a%d.png %dx, "),
    "scripts": (b"", b"<script>%d</script>"),
    "a script without end": (b"<script>", b"<!--<script>%d"),
    "styles": (b"", b"<style>@import url(%d);a{b:url(</style>"),
    "one style": (b"<style>", b"@import 'a%d';b{c:url( d )}/*"),
    "data addresses": (b"<img src='data:image/png;base64,", base64.b64encode(bytes(range(255)))),
    "NULs": (b"<p>", b"\0%d\0"),
    "what looks made up": (b"<p>", b"a1b2c3d4e%d deadbeef%08d "),
    "times that look made": (b"<p>", b"generated on mon mon mon 1 1 1 at 1:1%d "),
    "iframes with documents": (b"", b"<iframe srcdoc='<p>%d'>"),
    "frames without frames": (b"<noframes>", b"<a href=%d>"),
    "plaintext": (b"<plaintext>", b"<p>%d"),
    "ad slots": (b"", b"<div class='ad-slot-%d' id='a%d'><h2>%d</h2>"),
    "templates": (b"", b"<template><noscript>%d"),
    "headings that name": (b"<div class=ad id=ad>", b"<h2>ad%d</h2>"),
    "meta refresh": (b"", b"<meta http-equiv=refresh content='%d;url=,url=,url='>"),
    "not UTF-8": (b"<meta charset=shift_jis>", b"\x81\x82\xff%d"),
    "UTF-16": (b"\xff\xfe", b"<\0p\0>\0"),
}


def document(shape: tuple[bytes, bytes], size: int) -> bytes:
    """A document of one shape."""
    start, unit = shape
    parts, length, number = [start], len(start), 0
    while length < size:
        parts.append(
            unit.replace(b"%032d", b"%032x" % number).replace(b"%08d", b"%08d" % number).replace(b"%d", b"%d" % number)
        )
        length += len(parts[-1])
        number += 1
    return b"".join(parts)[:size]


def mixed(dice: random.Random, size: int) -> tuple[str, bytes]:
    """Shapes one within the other, whatever state the parser is in."""
    names = dice.sample(list(SHAPES), dice.randint(2, 4))
    share = size // len(names)
    return " + ".join(names), b"".join(document(SHAPES[name], share) for name in names)


def seconds(body: bytes) -> float:
    order = Order("http://h.example/a/b?c=1", Wants.DOCUMENT, compared=True, words=True)
    before = time.process_time()
    read(HEAD + body, order, detector_of("content", None))
    return time.process_time() - before


def costs(size: int, mixes: int) -> Iterator[tuple[float, str]]:
    """Seconds of processor time, and of what."""
    dice = random.Random(1)
    for name, shape in SHAPES.items():
        yield seconds(document(shape, size)), name
    for _ in range(mixes):
        name, body = mixed(dice, size)
        yield seconds(body), name


async def answer(
    pages: dict[bytes, bytes], asked: list[float], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    try:
        while True:
            request = await reader.readuntil(b"\r\n\r\n")
            asked.append(time.monotonic())
            body = pages.get(request.split(b" ")[1])
            status = b"404 Not Found" if body is None else b"200 OK"
            head = b"HTTP/1.1 %b\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % (status, len(body or b""))
            writer.write(head + (body or b""))
            await writer.drain()
    except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
        writer.close()


def serve(pages: dict[bytes, bytes], told: Connection) -> None:
    async def run() -> None:
        asked: list[float] = []
        server = await asyncio.start_server(lambda *both: answer(pages, asked, *both), "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        while len(asked) < len(pages):
            await asyncio.sleep(0.1)
        told.send(asked)

    asyncio.run(run())


def site(bodies: list[bytes]) -> dict[bytes, bytes]:
    """A front page, and what it links to."""
    links = b"".join(b"<a href=/%d>%d</a>" % (number, number) for number in range(len(bodies)))
    return {b"/": links, **{b"/%d" % number: body for number, body in enumerate(bodies)}}


def waits(costly: list[bytes], pages: int) -> list[float]:
    """Seconds between two requests to the good host, longest first, as long as the other host is asked, too.

    Each is served by a process of its own: to send what is large keeps the good host waiting for nothing of ours.
    """
    good = [b"page %d" % number for number in range(pages)]
    ends, servers = [], []
    for bodies in (costly, good):
        here, there = multiprocessing.Pipe()
        ends.append(here)
        servers.append(multiprocessing.Process(target=serve, args=(site(bodies), there), daemon=True))
        servers[-1].start()
    urls = ",".join(f"http://127.0.0.1:{end.recv()}/" for end in ends)
    with tempfile.TemporaryDirectory() as folder:
        arguments = f"url={urls} sitemap=off delay=0.05 strategy=bfs:revisits=none".split()
        arguments.append(f"output={folder}/c")
        command = [str(Path(sys.executable).with_name("scrapy")), "crawl", "site", "-s", "LOG_LEVEL=ERROR"]
        command += [word for one in arguments for word in ("-a", one)]
        crawl = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        asked = ends[-1].recv()
        crawl.kill()  # the costly host's documents may be read for long yet
        crawl.wait()
    for server in servers:
        server.terminate()
    return sorted((after - before for before, after in itertools.pairwise(asked)), reverse=True)


@contextmanager
def timed(what: str) -> Iterator[None]:
    before = time.thread_time()
    yield
    print(f"{time.thread_time() - before:7.3f} s  {what}", flush=True)


def sitemap_inside(entries: int = 50_000) -> None:
    """A sitemap of as many addresses as are read: its reading as it comes, taken in, and what rates cost then."""
    url = "http://h.example/sitemap.xml"
    listed = "".join(f"<url><loc>http://h.example/p/{number}</loc></url>" for number in range(entries))
    raw = f"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n\r\n<urlset>{listed}</urlset>".encode()
    said = json.dumps(packed(read(raw, Order(url, Wants.SITEMAP), detector_of("content", None))))
    with timed(f"a sitemap of {entries:,} addresses: unpacked"):
        links = unpacked_reading(json.loads(said), url).links
    with tempfile.TemporaryDirectory() as folder:
        sites = Sites(Politeness(delay=0.0, obey_robots=False))
        spec = CaptureSpec("h.example", ("http://h.example/",), strategy="bfs:revisits=none", sitemaps=(url,))
        sites.open(spec, 0.0, SqliteStore(Path(folder)))
        fetch = sites.next(0.0)
        assert isinstance(fetch, Fetch), "the sitemap is asked for first"
        outcome = Outcome(Result.OK, 0.0, 0.0, status=200)
        portions = Portions(sites, lambda lease: sites.finished(lease.fetch, outcome, lease.links))
        portions.add(Lease(fetch, outcome=outcome, links=links))
        while portions:
            with timed(f"a turn that takes in up to {PORTION:,}, and writes them"):
                portions.take()


def queries_inside(size: int = 12_000_000) -> None:
    """A page of as many odd query links as it can hold: its reading, as it comes from its reader, taken in."""
    url = "http://h.example/"
    order = Order(url, Wants.DOCUMENT, compared=True, words=True)
    before = time.process_time()
    reading = read(HEAD + document(SHAPES["odd queries"], size), order, detector_of("content", None))
    print(f"{time.process_time() - before:7.3f} s  {size:,} bytes of odd query links: read, in a process of its own")
    said = json.dumps(packed(reading))
    with timed(f"{len(reading.links):,} links, in {len(said):,} bytes: unpacked"):
        links = unpacked_reading(json.loads(said), url).links
    with tempfile.TemporaryDirectory() as folder:
        sites = Sites(Politeness(delay=0.0, obey_robots=False))
        spec = CaptureSpec("h.example", (url,), strategy="bfs:revisits=none", sitemaps=())
        sites.open(spec, 0.0, SqliteStore(Path(folder)))
        fetch = sites.next(0.0)
        assert isinstance(fetch, Fetch), "the seed is asked for first"
        with timed("taken in, and written"):
            sites.finished(fetch, Outcome(Result.OK, 0.0, 0.0, status=200), links)


def beginning_inside(strategy: str, sitemaps: int) -> None:
    """The longest turn of the reactor from the last sitemap to the first page, and what a thread does beside it."""
    urls = tuple(f"http://h.example/{number}.xml" for number in range(sitemaps))
    sites = Sites(Politeness(delay=0.0, obey_robots=False), Parts(aside=aside))
    sites.open(CaptureSpec("h.example", ("http://h.example/",), strategy=strategy, sitemaps=urls), 0.0)
    for at in range(sitemaps):
        fetch = sites.next(0.0)
        assert isinstance(fetch, Fetch), "the sitemaps are asked for first"
        links = [
            Sighting(Url(f"http://h.example/p/{at}/{number}"), via=fetch.url, hints=Hints(lastmod=-86_400.0 * number))
            for number in range(MOST_ENTRIES)
        ]
        sites.finished(fetch, Outcome(Result.OK, 0.0, 0.0, status=200), links)
    now = longest = 0.0
    whole, decision = time.process_time(), None
    while not isinstance(decision, Fetch):
        before = time.thread_time()
        decision = sites.next(now)
        longest = max(longest, time.thread_time() - before)
        now += SOON
        time.sleep(SOON)
    print(f"{longest:7.3f} s  {strategy}, {sitemaps * MOST_ENTRIES:,} addresses: the longest turn until the first page")
    print(f"{time.process_time() - whole:7.3f} s  in all, with what a thread did", flush=True)


def robots_inside(size: int = 500_000) -> None:
    """Rules of robots.txt, read and asked about an address that is as long as it may be."""
    address = "http://h.example/" + "a" * 2_000
    rules = ("/x%d", "/*a*b%d$", "/" + "*a" * 10 + "%d$", "/" + "*a" * 20 + "*c%d$", "/" + "*a" * 900 + "*c%d$")
    for rule in rules:
        text = document((b"User-agent: *\n", f"Disallow: {rule}\n".encode()), size).decode()
        with timed(f"robots.txt of {size:,} bytes, of rules like {rule[:40]}: read"):
            parsed = RobotsRules(text, "sharc-crawler", address)
        with timed("asked about one address"):
            parsed.allows(address)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--mixes", type=int, default=60)
    parser.add_argument("--crawl", action="store_true")
    parser.add_argument("--only", choices=SHAPES, help="with --crawl: ten documents of this shape alone")
    parser.add_argument("--inside", action="store_true")
    parser.add_argument("--pages", type=int, default=600)
    args = parser.parse_args()
    if args.inside:
        gc.set_threshold(OBJECTS)  # as captures do
        sitemap_inside()
        queries_inside()
        for strategy, sitemaps in itertools.product(("bfs", "sharc-online", "sharc-attested"), (1, 4)):
            beginning_inside(strategy, sitemaps)
        robots_inside()
        return
    if args.crawl:
        shapes = [SHAPES[args.only]] * 10 if args.only else list(SHAPES.values())
        costly = [document(shape, args.size) for shape in shapes]
        for name, bodies in (("small documents", [b"small"] * len(costly)), ("costly documents", costly)):
            found = waits(bodies, args.pages)
            print(
                f"{name}: longest waits {', '.join(f'{one:.2f}' for one in found[:5])} s; load {os.getloadavg()[0]:.0f}"
            )
        return
    found = sorted(costs(args.size, args.mixes), reverse=True)
    print(f"{len(found)} documents of {args.size:,} bytes; processor time, the worst first:")
    for cost, name in found[:12]:
        print(f"{cost:7.2f} s  {name}")


if __name__ == "__main__":
    main()
