"""What a crawl does not load that uses no fleet, browser, collection, history or object store, and how much it does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks import bench_startup
from sharc_crawler.demo import LivingSite, serve

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).parents[2]

#: of the package, and of the extras (warcio itself loads fsspec where it is installed)
UNUSED = (
    "sharc_crawler.fleet",
    "sharc_crawler.collection",
    "sharc_crawler.lab",
    "sharc_crawler.frontier.modes.rate_tests",
    "sharc_crawler.live.setup.unfinished",
    "sharc_crawler.live.fleet",
    "sharc_crawler.live.browser",
    "psycopg",
    "prometheus_client",
    "s3fs",
    "sklearn",
    "matplotlib",
    "duckdb",
    "sknetwork",
    "rfc3161_client",
    "yaml",
)

#: lines of the package that a plain capture may load, at most: before its end, and with what its end needs
#: (15,728 and 22,583 when this was written)
LINES = 15_360, 21_755

DROP_IN = """
import scrapy
class Chosen(scrapy.Spider):
    name = "own"
    def __init__(self, url):
        self.start_urls = [url]
    def parse(self, response):
        yield from response.follow_all(css="a", callback=self.parse)
settings = {"ADDONS": {"sharc_crawler.live.addon.SharcAddon": 500}, "SHARC_STRATEGY": "sharc-selective",
            "SHARC_OUTPUT": "capture", "SHARC_RESUME": True, "SHARC_ALLOWED_ADDRESSES": "127.0.0.0/8"}
arguments = {"url": url}
"""

RUN = """
from scrapy.crawler import CrawlerProcess
process = CrawlerProcess(settings)
process.crawl(Chosen, **arguments)
process.start()
open("modules.json", "w").write(json.dumps(sorted(sys.modules)))
"""


def unused(loaded: Iterable[str]) -> list[str]:
    return [name for name in loaded if name in UNUSED or name.startswith(tuple(f"{one}." for one in UNUSED))]


@pytest.mark.long
def test_a_project_with_the_add_on_loads_only_what_it_uses(tmp_path):
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "sharc_crawler.live.profile"}
    with serve(LivingSite(seed=3, pages=20)) as server:
        script = f"import json, sys; url = sys.argv[1]\n{DROP_IN}{RUN}"
        command = [sys.executable, "-c", script, server.url]
        subprocess.run(command, env=environment, check=True, timeout=280, cwd=tmp_path, capture_output=True)
    assert (tmp_path / "capture" / "report.html").exists()
    assert unused(json.loads((tmp_path / "modules.json").read_text())) == []


def test_a_plain_capture_loads_only_what_it_uses_and_its_lines_are_bounded():
    """Of a site that says nothing of its changes: no sitemap, no validators."""
    seconds, cpu, loaded = bench_startup.capture(sys.executable, ROOT, "sharc-selective")
    assert unused(one.name for one in loaded) == []
    started = bench_startup.started(seconds, cpu, loaded)
    assert 10_000 < started.lines_before_end <= LINES[0]
    assert started.own_lines <= LINES[1]


def test_processes_beside_a_crawl_load_only_what_they_use():
    """Each starts as often as there are captures."""
    script = (
        "import re, sys; compiled = []; whole = re._compiler.compile\n"
        "re._compiler.compile = lambda words, flags=0: compiled.append(len(words)) or whole(words, flags)\n"
        "import sharc_crawler.live.reading.reader_process, sharc_crawler.live.writing.writer_process\n"
        "print(sum(compiled)); print(*sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", script], check=True, timeout=280, capture_output=True, text=True).stdout
    compiled, loaded = out.splitlines()
    assert int(compiled) < 10_000, "characters of expressions: 2 ms a thousand"
    names = {name.partition(".")[0] for name in loaded.split()}
    assert not names & {"warcio", "fsspec", "numpy", "scipy", "scrapy", "twisted", "asyncio", "jinja2", "rich"}


def test_products_are_made_by_one_thread_unless_somebody_says_otherwise():
    """Its BLAS, which NumPy loads, reads that when it is loaded."""
    script = "import sys, sharc_crawler.live, os; print(os.environ['OPENBLAS_NUM_THREADS'], 'numpy' in sys.modules)"
    for told, expected in ({}, "1 False"), ({"OPENBLAS_NUM_THREADS": "2"}, "2 False"):
        others = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
        done = subprocess.run(
            [sys.executable, "-c", script], env=others | told, check=True, capture_output=True, text=True
        )
        assert done.stdout.strip() == expected
