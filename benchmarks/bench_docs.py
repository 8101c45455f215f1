"""The Python documentation into WARC: files per second and processor time per file, beside wget.

    python benchmarks/bench_docs.py [--folder /usr/share/doc/python3/html] [--rounds 3]

Needs wget and the documentation as files (Debian: python3-doc). A server on loopback, in a process of its own, answers
from memory. In turns: `wget -r -p --warc-file`, which asks one after the other, and `scrapy crawl site` with single
visits (`bfs:revisits=none`), state and WARC on disk, with one request at a time and with 16. Files are answers with
status 200; the clock runs from the first request to the last, processor time is the whole process's, start-up and
report included.
"""

from __future__ import annotations

import argparse
import asyncio
import mimetypes
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

MISSING = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


def answers(folder: Path) -> dict[str, bytes]:
    """What is sent for each path."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            kind, body = mimetypes.guess_type(path.name)[0] or "application/octet-stream", path.read_bytes()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
            found[f"/{path.relative_to(folder)}"] = head.encode() + body
    return found | {"/": found["/index.html"]}


def serve(folder: Path, line: Connection) -> None:
    """Tell the port, then, whenever asked, the files sent since and the seconds between the first and the last."""
    ready, sent = answers(folder), [0, 0.0, 0.0]

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            answer = ready.get(head.split(b" ", 2)[1].decode().partition("?")[0], MISSING)
            writer.write(answer)
            await writer.drain()
            sent[0] += answer is not MISSING
            sent[1] = sent[1] or time.perf_counter()
            sent[2] = time.perf_counter()

    def asked() -> None:
        line.recv()
        line.send((sent[0], sent[2] - sent[1]))
        sent[:] = [0, 0.0, 0.0]

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)  # connections end when they end
        server = await asyncio.start_server(talk, "127.0.0.1", 0)
        asyncio.get_running_loop().add_reader(line.fileno(), asked)
        line.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


def wget(url: str, folder: str) -> list[str]:
    return ["wget", "-q", "-r", "-l", "inf", "-p", "-e", "robots=off", "-P", folder, f"--warc-file={folder}/wget", url]


def ours(url: str, folder: str, at_once: int) -> list[str]:
    given = {"url": url, "strategy": "bfs:revisits=none", "sitemap": "off", "delay": "0", "output": f"{folder}/capture"}
    return [
        *(sys.executable, "-m", "scrapy", "crawl", "site", "-s", "LOG_LEVEL=ERROR"),
        *("-s", f"CONCURRENT_REQUESTS_PER_DOMAIN={at_once}"),
        *(text for name, value in given.items() for text in ("-a", f"{name}={value}")),
    ]


VARIANTS = {
    "wget": wget,
    "ours, 1 at once": lambda url, folder: ours(url, folder, 1),
    "ours, 16 at once": lambda url, folder: ours(url, folder, 16),
}


def measure(command: list[str], line: Connection, folder: str) -> tuple[int, float, float]:
    """Files, files per second, milliseconds of processor time per file."""
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "sharc_crawler.live.profile"}
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    _, _, used = os.wait4(process.pid, 0)
    line.send("figures")
    files, seconds = line.recv()
    return files, files / seconds, 1000 * (used.ru_utime + used.ru_stime) / files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("/usr/share/doc/python3/html"))
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    line, other = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(args.folder, other), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{line.recv()}/"
    rounds: dict[str, list[Any]] = {name: [] for name in VARIANTS}
    for _ in range(args.rounds):
        for name, command in VARIANTS.items():
            with tempfile.TemporaryDirectory() as folder:
                rounds[name].append(measure(command(url, folder), line, folder))
    for name, results in rounds.items():
        files, pace, cost = (statistics.median(column) for column in zip(*results, strict=True))
        beside = pace / statistics.median(result[1] for result in rounds["wget"])
        print(f"{name:18} {files:5.0f} files {pace:6.1f} files/s ({beside:.2f} times wget) {cost:6.2f} ms CPU a file")


if __name__ == "__main__":
    main()
