"""Does a long crawl grow? Resident memory of one, every minute, as it goes.

    python benchmarks/soak.py [--minutes 30] [--pages 8000] [--delay 0.1]
    python benchmarks/soak.py --hubs 200 [--news 600]
    python benchmarks/soak.py --hostile 16 --pages 3000 --delay 0.5

A crawl (state and WARC on disk) of a living site on loopback, in processes of their own, ended by Ctrl-C after the time
given. A capture (sharc-selective): its pages are known from the sitemap soon, so that what grows later grows by visit;
by default visits take about half of the time, then revisits let go of what they were compared with. With `--hubs` an
instant crawl: so many pages are asked for again and again, about as often as the delay lets it, and of the newsroom's
articles (`--news`, so many an hour) each is found and captured once. With `--hostile` so many hosts of
`hostile_hosts.py`, which never come to an end, are captured beside the living site, in the same crawl. Memory is of the
crawl alone, then of it and its children, then the most that all of them had at once (looked at every second).
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.hostile_hosts import hostile_hosts
from sharc_crawler.demo import LivingSite, serve

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

EVERY = 60.0  #: seconds
AGAINST = ("-s", "DOWNLOAD_TIMEOUT=20", "-s", "DOWNLOAD_MAXSIZE=8000000", "-s", "DOWNLOAD_WARNSIZE=0")
SETTINGS = ("-s", "LOG_LEVEL=WARNING", "-s", "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8")


def site(living: LivingSite, hostile: int, tell: Connection) -> None:
    """Serve until told to stop; how many requests of the living site there were, whenever asked."""
    with serve(living) as server, hostile_hosts(hostile) as others:
        tell.send([server.url, *others])
        while tell.recv() == "requests":
            tell.send(len(server.log))


def resident_mb(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def family(process: int) -> list[int]:
    """A process and its children."""
    return [process, *map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())]


def together_mb(process: int) -> float:
    with suppress(OSError):  # one of them has just ended
        return sum(map(resident_mb, family(process)))
    return 0.0


def orders(urls: list[str], args: argparse.Namespace, living: LivingSite, folder: Path) -> dict[str, object]:
    """What `scrapy crawl site` is given."""
    given = {"delay": args.delay, "output": folder / "capture"}
    url, *hostile = urls
    if hostile:
        (seeds := folder / "seeds.txt").write_text("\n".join(urls))
        return {"seeds": seeds, **given}
    if not args.hubs:
        return {"url": url, **given}
    hubs = folder / "hubs.txt"
    fronts = ("/news/",) if args.news else ()
    hubs.write_text("".join(f"{url}{path[1:]}\n" for path in (*fronts, *living.paths[: args.hubs])))
    return {"seeds": hubs, "mode": "instant", "every": 2 * args.delay * args.hubs, **given}


def crawl(given: dict[str, object], folder: Path, hostile: bool) -> subprocess.Popen[bytes]:
    arguments = [text for name, value in given.items() for text in ("-a", f"{name}={value}")]
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", "crawl", "site", *arguments, *SETTINGS, *(AGAINST if hostile else ())],
        env={**os.environ, "SCRAPY_SETTINGS_MODULE": "sharc_crawler.live.profile"},
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--pages", type=int, default=8_000)
    parser.add_argument("--delay", type=float, default=0.1)
    parser.add_argument("--hubs", type=int, default=0, help="pages that an instant crawl polls; 0: a capture")
    parser.add_argument("--news", type=float, default=0, help="articles an hour")
    parser.add_argument("--hostile", type=int, default=0, help="hosts that mean ill, in the same crawl")
    args = parser.parse_args()
    living = LivingSite(seed=1, pages=args.pages, scale=10.0, slow=0.05, news=args.news)
    ask, tell = multiprocessing.Pipe()
    server = multiprocessing.Process(target=site, args=(living, args.hostile, tell), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory() as folder:
        process = crawl(orders(ask.recv(), args, living, Path(folder)), Path(folder), bool(args.hostile))
        began = told = time.monotonic()
        most = 0.0
        while process.poll() is None and time.monotonic() - began < 60 * args.minutes:
            time.sleep(1)
            most = max(most, together := together_mb(process.pid))
            if process.poll() is None and time.monotonic() - told >= EVERY:
                told += EVERY
                ask.send("requests")
                minutes, crawler = (time.monotonic() - began) / 60, resident_mb(process.pid)
                print(f"{minutes:5.1f} min {ask.recv():7,} requests", end="")
                print(f" {crawler:7.1f} MB, {together:7.1f} in all, at most {most:7.1f}", flush=True)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        print(f"exit code {process.wait(600)}")
    ask.send("stop")
    server.join(10)


if __name__ == "__main__":
    main()
