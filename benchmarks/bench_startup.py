"""What a capture needs to be installed and loaded, and how long it takes to ask its first question.

    python benchmarks/bench_startup.py [--checkout FOLDER] [--beside PYTHON] [--strategy NAME] [--rounds 7] [--json]
    python benchmarks/bench_startup.py --install [--checkout FOLDER]

A server on loopback, in this process, has a site of a few pages. `scrapy crawl site` captures it, with WARC, in a
process of its own that runs from a checkout (this one) under an interpreter (this one), and notes at its end which
modules it had loaded: those of ours with their lines. The server notes, at the first request, the time since the
process was begun and the processor time that it had taken by then (/proc). `--beside PYTHON` measures another
environment's installed package, turn by turn with the first, so that a busy machine slows both alike. Both have their
modules compiled by a round that does not count. With `--install`
a wheel is built and installed into a fresh environment, without extras: its size, and that of all that came with it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import venv
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

PAGES = 5
PATIENCE = 280  #: seconds for a start, and for the rest: on a busy machine all modules may have to be compiled
#: what loads the parts that a capture's end needs: its name, and the one it had before
ENDINGS = "sharc_crawler.live.closing", "sharc_crawler.live.ending"
TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
SETTINGS = """\
from sharc_crawler.live.profile import *
DOWNLOAD_DELAY = 0
SHARC_ALLOWED_ADDRESSES = ["127.0.0.0/8"]
SHARC_OPERATOR = "bench@example.org"
LOG_LEVEL = "WARNING"
"""
#: what runs in the crawl's process: Scrapy as from its command line, then what was loaded
CRAWL = """\
import sys
out, endings, *arguments = sys.argv[1:]
class Watch:
    before = set()
    def find_spec(self, name, path=None, target=None):
        if name in endings.split(",") and not self.before:
            self.before = set(sys.modules)
sys.meta_path.insert(0, watch := Watch())
from scrapy.cmdline import execute
try:
    execute(["scrapy", *arguments])
finally:
    with open(out, "w") as file:
        for name, module in list(sys.modules.items()):
            file.write(f"{name}\\t{name in watch.before}\\t{getattr(module, '__file__', None) or ''}\\n")
"""


@dataclass(frozen=True, slots=True)
class Started:
    """One crawl's start: seconds to the first request, processor seconds by then, what was loaded by the end."""

    seconds: float
    cpu: float
    modules: int
    own_modules: int
    own_lines: int
    lines_before_end: int  #: of these, what was loaded before the capture ended


class Site(BaseHTTPRequestHandler):
    """A page that names the others; robots.txt and sitemaps are not there."""

    protocol_version = "HTTP/1.1"
    asked: threading.Event

    def do_GET(self) -> None:
        self.server.first.set()  # type: ignore[attr-defined]
        found = not self.path.endswith((".txt", ".xml", ".gz"))
        links = "".join(f"<a href='/{page}'>{page}</a>" for page in range(PAGES))
        body = f"<!doctype html><title>{self.path}</title>{links}".encode() if found else b""
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def processor(pid: int) -> float:
    """Processor seconds of a process so far, without its children's."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


class Loaded(NamedTuple):
    """A module at a capture's end."""

    name: str
    early: bool  #: loaded before the capture ended
    file: str


def start(python: str, checkout: Path | None, strategy: str) -> Started:
    """One capture: of a checkout's package, or of the package that the interpreter has installed."""
    return started(*capture(python, checkout, strategy))


def started(seconds: float, cpu: float, loaded: list[Loaded]) -> Started:
    """The figures of a capture."""
    own = {one.file: one.early for one in loaded if one.name.partition(".")[0] == "sharc_crawler" and one.file}
    lines = {file: len(Path(file).read_bytes().splitlines()) for file in own}
    early = sum(lines[file] for file in own if own[file])
    return Started(seconds, cpu, len(loaded), len(own), sum(lines.values()), early)


def capture(python: str, checkout: Path | None, strategy: str) -> tuple[float, float, list[Loaded]]:
    """One capture: seconds to the first request, processor seconds by then, modules at its end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.first = threading.Event()  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "startup_settings.py").write_text(SETTINGS)
        path = os.pathsep.join([name, *([str(checkout)] if checkout else [])])
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPATH": path, "SCRAPY_SETTINGS_MODULE": "startup_settings"}
        arguments = [
            "crawl",
            "site",
            "-a",
            f"url=http://127.0.0.1:{server.server_port}/0",
            "-a",
            f"strategy={strategy}",
            "-s",
            f"SHARC_OUTPUT={name}/c",
        ]
        begun = time.perf_counter()
        with subprocess.Popen(
            [python, "-c", CRAWL, f"{name}/modules", ",".join(ENDINGS), *arguments],
            cwd=name,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as crawl:
            if not server.first.wait(PATIENCE):  # type: ignore[attr-defined]
                crawl.kill()
                raise SystemExit(f"no request came: {crawl.stderr.read().decode()}")  # type: ignore[union-attr]
            seconds, cpu = time.perf_counter() - begun, processor(crawl.pid)
            _, said = crawl.communicate(timeout=PATIENCE)
        server.shutdown()
        server.server_close()
        if crawl.returncode or not (folder / "modules").exists():
            raise SystemExit(f"the capture ended with {crawl.returncode}: {said.decode()}")
        rows = [line.split("\t") for line in (folder / "modules").read_text().splitlines()]
    return seconds, cpu, [Loaded(name, before == "True", file) for name, before, file in rows]


def size(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def installed(checkout: Path) -> dict[str, int]:
    """Bytes of the wheel, of what a fresh environment holds with it (less pip), and how many distributions that is."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        python = folder / "env" / "bin" / "python"
        packages = next((folder / "env" / "lib").glob("python*/site-packages"))
        empty = size(packages)
        pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]
        environment = {**os.environ, "PIP_CONSTRAINT": str(checkout / "constraints.txt")}
        subprocess.run([*pip, "wheel", "--no-deps", "-w", folder, checkout], check=True, env=environment)
        wheel = next(folder.glob("*.whl"))
        subprocess.run([*pip, "install", "--no-compile", wheel], check=True, env=environment)
        distributions = len(list(packages.glob("*.dist-info")))
        return {"wheel": wheel.stat().st_size, "installed": size(packages) - empty, "distributions": distributions}


def median(started: list[Started]) -> dict[str, float]:
    return {name: statistics.median(asdict(one)[name] for one in started) for name in asdict(started[0])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--python", default=sys.executable, help="the interpreter that runs the checkout")
    parser.add_argument("--beside", help="an interpreter with another version of the package installed")
    parser.add_argument("--strategy", default="sharc-selective")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    checkout = args.checkout.absolute()
    if args.install:
        found: dict[str, Any] = installed(checkout)
    else:
        runs: dict[str, list[Started]] = {"checkout": []} | ({"beside": []} if args.beside else {})
        for warm in range(args.rounds + 1):
            runs["checkout"].append(start(args.python, checkout, args.strategy))
            if args.beside:
                runs["beside"].append(start(args.beside, None, args.strategy))
            if not warm:
                for started in runs.values():
                    started.clear()
        found = {name: median(started) for name, started in runs.items()}
        if args.beside:
            ratios = [a.cpu / b.cpu for a, b in zip(runs["checkout"], runs["beside"], strict=True)]
            found["processor, ratio"] = statistics.median(ratios)
            found["seconds, ratio"] = statistics.median(
                a.seconds / b.seconds for a, b in zip(runs["checkout"], runs["beside"], strict=True)
            )
    print(json.dumps(found) if args.json else "\n".join(f"{name}: {value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
