"""What a capture makes of servers that break HTTP: the outcome of each behaviour, attempts, records, time.

    python benchmarks/broken_http.py [--attempts 2] [--timeout 3]

One site, each of whose pages breaks in a way of its own (`tests/live/test_broken_site.py`, where the outcomes are
tested), captured on loopback by the command that a user types; then every WARC file is checked, and the certificate
verified. The list covers the behaviours of Scrapy's own tests (hang, drop, partial, broken chunk, bad header, …).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sharc_crawler.archive.members import read_at
from sharc_crawler.certificate.verify import verify
from sharc_crawler.instants import unix
from tests.archive.readback import check
from tests.live.test_broken_site import BROKEN, broken_site


def crawl(url: str, folder: Path, attempts: int, timeout: float) -> int:
    settings = ("DOWNLOAD_MAXSIZE=500000", f"DOWNLOAD_TIMEOUT={timeout}", f"SHARC_ATTEMPTS={attempts}")
    given = [f"url={url}", f"output={folder}", "delay=0", "sitemap=off", "strategy=bfs"]
    words = [text for one in given for text in ("-a", one)] + [
        text for one in (*settings, "SHARC_BACK_OFF=0.2", "SHARC_DEDUP=off") for text in ("-s", one)
    ]
    return subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", "site", *words],
        env={**os.environ, "SCRAPY_SETTINGS_MODULE": "sharc_crawler.live.profile"},
        cwd=folder.parent,
        capture_output=True,
        check=False,
    ).returncode


def record(folder: Path, line: dict) -> str:
    """The main record of an exchange, as its kind and why it is truncated."""
    with (folder / line["warc"]).open("rb") as stream:
        found = read_at(stream, line["offset"])
    cut = found.get("WARC-Truncated")
    return f"{found.kind}{f', truncated ({cut})' if cut else ''}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attempts", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=3.0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, broken_site() as url:
        folder = Path(name) / "capture"
        code = crawl(url, folder, args.attempts, args.timeout)
        lines = [json.loads(line) for line in (folder / "crawl.jsonl").read_text().splitlines()]
        visits = defaultdict(list)
        for line in lines:
            case = unquote(urlsplit(line["url"]).path[1:])
            if case in BROKEN and line["slot"] != "second":
                visits[case].append(line)
        print("| behaviour | outcome | attempts | record | seconds each |\n|---|---|---:|---|---:|")
        for case in BROKEN:
            made = visits[case]
            took = max(unix(line["time"]) - unix(line["started"]) for line in made)
            status = f" ({made[-1]['status']})" if made[-1]["status"] else ""
            error = f": {made[-1]['error']}" if made[-1]["error"] else ""
            outcome = made[-1]["result"] + status + error
            print(f"| {case} | {outcome} | {len(made)} | {record(folder, made[-1])} | {took:.1f} |")
        warcs = sorted(folder.glob("*.warc.gz"))
        for warc in warcs:
            check(warc)
        findings = verify(folder).findings
        print(f"\nexit code {code}, {len(lines)} exchanges, {len(warcs)} WARC files valid, {len(findings)} findings")


if __name__ == "__main__":
    main()
