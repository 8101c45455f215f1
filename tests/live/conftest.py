"""Real crawls: the command a user types, in a process of its own, against servers on loopback."""

from __future__ import annotations

import http.server
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

from sharc_crawler.demo import LivingSite, serve
from tests.live import warm
from tests.live.serving import serving

# Scrapy looks through the whole stack for each name that it calls deprecated: pytest's is deep, a thread's is short.
with ThreadPoolExecutor(1) as alone:
    alone.submit(import_module, "scrapy.core.downloader.contextfactory").result()


@dataclass(frozen=True)
class Crawl:
    """What a finished ``scrapy crawl`` left behind."""

    code: int
    out: str
    err: str
    folder: Path

    @property
    def report(self) -> dict:
        """report.json of the only capture."""
        return json.loads((self.folder / "report.json").read_text())

    @property
    def capture(self) -> dict:
        (capture,) = captures_of(self.folder)
        return capture

    @property
    def index(self) -> dict:
        """index.json of several sites."""
        return json.loads((self.folder / "index.json").read_text())

    @property
    def captures(self) -> list[dict]:
        """Those of several sites, as they were named."""
        return [capture for site in self.index["sites"] for capture in captures_of(self.folder / site["folder"])]

    @property
    def warcs(self) -> list[Path]:
        return sorted(self.folder.rglob("*.warc.gz"))


def captures_of(folder: Path) -> list[dict]:
    """The captures of a report, each with its pages."""
    captures = json.loads((folder / "report.json").read_text())["captures"]
    pages = [json.loads(line) for line in (folder / "report-pages.jsonl").read_text().splitlines()]
    return [{**one, "pages": [page for page in pages if page["site"] == one["site"]]} for one in captures]


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and keeps the access log to itself."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def static():
    """``with static(folder) as url``: files of a folder, served on loopback until the block ends."""

    def serve_files(folder, host="127.0.0.1"):
        return serving(partial(_Quiet, directory=str(folder)), host)

    return serve_files


@pytest.fixture(scope="session")
def run_crawl():
    """Run ``scrapy crawl site -a …`` in a folder and wait for its end."""

    def run(base, *, settings=(), timeout=560, **arguments) -> Crawl:
        folder = Path(arguments.setdefault("output", str(base / "capture")))
        done = warm.finished(warm.site_words(*settings, **arguments), base, timeout=timeout)
        return Crawl(done.returncode, done.stdout, done.stderr, folder)

    return run


@pytest.fixture
def crawl(run_crawl, tmp_path):
    """The same, in this test's folder."""
    return partial(run_crawl, tmp_path)


@pytest.fixture
def living_site():
    """A small living site, served; it lives fast enough to change during a crawl of seconds."""
    site = LivingSite(seed=7, pages=30, scale=3000.0, slow=0.05)
    with serve(site) as server:
        yield server
