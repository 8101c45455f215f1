"""Memory of a crawl and its processes while large bodies come in.

    python benchmarks/bench_memory.py endless [--hosts 16]
    python benchmarks/bench_memory.py file [--gigabytes 4]
    python benchmarks/bench_memory.py links [--links 1200000]

A server on loopback sends bodies without end, from as many hosts at once, until ``DOWNLOAD_MAXSIZE`` (256 MiB); or one
file; or one page of links. The memory of `scrapy crawl site` and of each of its processes is looked at ten times a
second: its own, and what is mapped from files, which the system takes back whenever it wants it. Then the WARC file is
verified, by `sharc verify`, and the memory that takes is told, too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from warcio.archiveiterator import ArchiveIterator

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

BLOCK = os.urandom(1 << 16)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nConnection: close\r\n%b\r\n"


def links(count: int) -> bytes:
    return b"".join(b"<a href=/page-%07d>%d</a>\n" % (number, number) for number in range(count))


async def answer(what: str, amount: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    asked = await reader.readuntil(b"\r\n\r\n")
    try:
        if not asked.startswith(b"GET / "):
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        elif what == "links":
            body = links(amount)
            writer.write(HEAD % (b"text/html", b"Content-Length: %d\r\n" % len(body)) + body)
        else:
            size = amount << 30
            length = b"Content-Length: %d\r\n" % size if what == "file" else b""
            writer.write(HEAD % (b"application/octet-stream", length))
            while size > 0 or what == "endless":
                writer.write(BLOCK)
                size -= len(BLOCK)
                await writer.drain()
        await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


def serve(what: str, amount: int, hosts: int, told: Connection) -> None:
    async def run() -> None:
        servers = [
            await asyncio.start_server(lambda *both: answer(what, amount, *both), f"127.0.0.{number + 1}", 0)
            for number in range(hosts)
        ]
        told.send([server.sockets[0].getsockname() for server in servers])
        await asyncio.Event().wait()

    asyncio.run(run())


def resident(pid: int) -> tuple[str, int, int] | None:
    """A process's name, its own memory, and that which is mapped from files."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    found = {name: int(size) << 10 for name, size in re.findall(r"^(Rss\w+):\s+(\d+) kB", status, re.MULTILINE)}
    if not found:
        return None
    name = next((word for word in ("writer_process", "reader_process", "verify") if word in command), "crawl")
    return name, found["RssAnon"] + found["RssShmem"], found["RssFile"]


def tree(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(one for child in children for one in tree(int(child)))]


def watched(command: list[str]) -> dict[str, list[int]]:
    """The most that each kind of process, and all but those that read, had at once; megabytes, own and mapped."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    most: dict[str, list[int]] = {}
    while process.poll() is None:
        now: dict[str, list[int]] = {}
        for pid in tree(process.pid):
            if one := resident(pid):
                for name in (one[0], *(["crawl and writer"] if one[0] != "reader_process" else [])):
                    own, mapped = now.get(name, [0, 0])
                    now[name] = [own + one[1], mapped + one[2]]
        for name, sizes in now.items():
            most[name] = [max(both) for both in zip(sizes, most.get(name, [0, 0]), strict=True)]
        time.sleep(0.1)
    print(f"exit code {process.returncode}")
    return {name: [size >> 20 for size in sizes] for name, sizes in most.items()}


def bodies(folder: Path) -> list[tuple[int, str | None]]:
    """Size and WARC-Truncated of each answer."""
    return [
        (record.length, record.rec_headers.get_header("WARC-Truncated"))
        for path in sorted(folder.rglob("*.warc.gz"))
        for record in ArchiveIterator(path.open("rb"))
        if record.rec_type == "response" and record.length > 100_000
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("endless", "file", "links"))
    parser.add_argument("--hosts", type=int, default=16)
    parser.add_argument("--gigabytes", type=int, default=4)
    parser.add_argument("--links", type=int, default=1_200_000)
    args = parser.parse_args()
    hosts = args.hosts if args.what == "endless" else 1
    amount = {"endless": 0, "file": args.gigabytes, "links": args.links}[args.what]
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(args.what, amount, hosts, there), daemon=True)
    server.start()
    urls = ",".join(f"http://{host}:{port}/" for host, port in here.recv())
    scrapy, sharc = (Path(sys.executable).with_name(name) for name in ("scrapy", "sharc"))
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        capture = Path(folder) / "capture"
        arguments = f"url={urls} sitemap=off delay=0 strategy=bfs:revisits=none output={capture}".split()
        settings = ["LOG_LEVEL=ERROR", "SHARC_ATTEMPTS=1", "CONCURRENT_REQUESTS=32", "DOWNLOAD_TIMEOUT=3600"]
        settings.append("SHARC_ALLOWED_ADDRESSES=127.0.0.0/8")
        if args.what == "file":
            settings.append(f"DOWNLOAD_MAXSIZE={8 << 30}")
        given = [word for flag, words in (("-a", arguments), ("-s", settings)) for one in words for word in (flag, one)]
        start = time.perf_counter()
        print(json.dumps(watched([str(scrapy), "crawl", "site", *given])))
        print(f"{time.perf_counter() - start:.0f} s; answers: {bodies(capture)}")
        print("left over:", [path.name for path in capture.rglob(".bodies-*")])
        print(json.dumps(watched([str(sharc), "verify", str(capture)])))
    server.terminate()


if __name__ == "__main__":
    main()
