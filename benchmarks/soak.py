"""Does a long crawl grow? Resident memory of one, every minute, as it goes.

    python benchmarks/soak.py [--minutes 30] [--pages 8000] [--delay 0.1]
    python benchmarks/soak.py --hubs 200 [--news 600]

A crawl (state and WARC on disk) of a living site on loopback, in processes of their own, ended by Ctrl-C after the time
given. A capture (sharc-selective): its pages are known from the sitemap soon, so that what grows later grows by visit;
by default visits take about half of the time, then revisits let go of what they were compared with. With `--hubs` an
instant crawl: so many pages are asked for again and again, about as often as the delay lets it, and of the newsroom's
articles (`--news`, so many an hour) each is found and captured once.
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
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.demo import LivingSite, serve

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

EVERY = 60.0  #: seconds
SETTINGS = ("-s", "LOG_LEVEL=WARNING", "-s", "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8")


def site(living: LivingSite, tell: Connection) -> None:
    """Serve until told to stop; how many requests there were, whenever asked."""
    with serve(living) as server:
        tell.send(server.url)
        while tell.recv() == "requests":
            tell.send(len(server.log))


def resident_mb(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def orders(url: str, args: argparse.Namespace, living: LivingSite, folder: Path) -> dict[str, object]:
    """What `scrapy crawl site` is given."""
    given = {"delay": args.delay, "output": folder / "capture"}
    if not args.hubs:
        return {"url": url, **given}
    hubs = folder / "hubs.txt"
    fronts = ("/news/",) if args.news else ()
    hubs.write_text("".join(f"{url}{path[1:]}\n" for path in (*fronts, *living.paths[: args.hubs])))
    return {"seeds": hubs, "mode": "instant", "every": 2 * args.delay * args.hubs, **given}


def crawl(given: dict[str, object], folder: Path) -> subprocess.Popen[bytes]:
    arguments = [text for name, value in given.items() for text in ("-a", f"{name}={value}")]
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", "crawl", "site", *arguments, *SETTINGS],
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
    args = parser.parse_args()
    living = LivingSite(seed=1, pages=args.pages, scale=10.0, slow=0.05, news=args.news)
    ask, tell = multiprocessing.Pipe()
    server = multiprocessing.Process(target=site, args=(living, tell), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory() as folder:
        process = crawl(orders(ask.recv(), args, living, Path(folder)), Path(folder))
        began = time.monotonic()
        while process.poll() is None and time.monotonic() - began < 60 * args.minutes:
            time.sleep(EVERY)
            if process.poll() is None:
                ask.send("requests")
                minutes = (time.monotonic() - began) / 60
                print(f"{minutes:5.1f} min {ask.recv():7,} requests {resident_mb(process.pid):7.1f} MB", flush=True)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        print(f"exit code {process.wait(120)}")
    ask.send("stop")
    server.join(10)


if __name__ == "__main__":
    main()
