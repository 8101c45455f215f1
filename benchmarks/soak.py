"""Does a long crawl grow? Resident memory of one, every minute, as it goes.

    python benchmarks/soak.py [--minutes 30] [--pages 8000] [--delay 0.1]

A capture (sharc-selective, state and WARC on disk) of a living site on loopback, in processes of their own, ended by
Ctrl-C after the time given. Its pages are known from the sitemap soon, so that what grows later grows by request. While
pages are visited, their digests and validators wait for the revisit (some 0.1 kB each); revisits let them go. By
default visits take about half of the time.
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


def site(pages: int, tell: Connection) -> None:
    """Serve until told to stop; how many requests there were, whenever asked."""
    with serve(LivingSite(seed=1, pages=pages, scale=10.0, slow=0.05)) as server:
        tell.send(server.url)
        while tell.recv() == "requests":
            tell.send(len(server.log))


def resident_mb(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def crawl(url: str, delay: float, folder: Path) -> subprocess.Popen[bytes]:
    arguments = ("-a", f"url={url}", "-a", f"delay={delay}", "-a", f"output={folder / 'capture'}")
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", "crawl", "site", *arguments, "-s", "LOG_LEVEL=WARNING"],
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
    args = parser.parse_args()
    ask, tell = multiprocessing.Pipe()
    server = multiprocessing.Process(target=site, args=(args.pages, tell), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory() as folder:
        process = crawl(ask.recv(), args.delay, Path(folder))
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
