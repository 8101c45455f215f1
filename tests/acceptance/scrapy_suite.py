"""Scrapy's own tests under our scheduler: those of crawl, engine, scheduler, spider middlewares, end and slots.

From the source distribution of the Scrapy that is installed, each test in a process of its own, with the add-on in
Scrapy's default settings. One that fails is run again alone, then without the add-on: what fails there, too, is no
difference of ours. Every difference is in :data:`DIFFERENCES`, with why it is meant; docs/drop-in.md has the same.

    python tests/acceptance/scrapy_suite.py [FOLDER WITH THE SOURCE] [-k WORD]

Exit code 0: no difference that is not listed, none listed that is none. 77: the source is not to be had.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import NamedTuple

import scrapy

FILES = (
    "test_crawl", "test_engine", "test_engine_close_spider", "test_engine_download", "test_engine_loop",
    "test_engine_stop_download_bytes", "test_engine_stop_download_headers", "test_scheduler", "test_scheduler_base",
    "test_spidermiddleware", "test_spidermiddleware_output_chain", "test_spidermiddleware_process_start",
    "test_closespider", "test_downloaderslotssettings", "test_spider_start", "test_request_cb_kwargs",
    "test_request_left",
)  # fmt: skip
PATIENCE = 180  #: seconds for one test: a busy machine takes a minute to start a server
SKIPPED = 77

SCHEDULERS = "another SCHEDULER beside the add-on is refused: two cannot order one crawl"
ORDER = "the strategy decides the order, not a request's priority or Scrapy's queues"
JOBDIR = "JOBDIR has no effect, so nothing is serialised for it; SHARC_RESUME reports what it cannot keep"
QUEUES = "it breaks Scrapy's scheduler by removing its disk queues, and ours has none"
#: tests that end otherwise with the add-on, and why that is meant
DIFFERENCES = {
    "tests/test_engine.py::TestMisuse::test_invalid_scheduler_class": SCHEDULERS,
    "tests/test_engine_loop.py::TestMain::test_close_during_start_iteration": SCHEDULERS,
    "tests/test_engine_loop.py::TestMain::test_close_spider_from_start": SCHEDULERS,
    "tests/test_engine_loop.py::TestMain::test_sleep": SCHEDULERS,
    "tests/test_engine_loop.py::TestMain::test_start_error": SCHEDULERS,
    "tests/test_scheduler_base.py::TestMinimalSchedulerCrawl::test_crawl": SCHEDULERS,
    "tests/test_scheduler_base.py::TestSimpleSchedulerCrawl::test_crawl": SCHEDULERS,
    "tests/test_engine_loop.py::TestRequestSendOrder::test_default": ORDER,
    "tests/test_engine_loop.py::TestRequestSendOrder::test_lifo_start": ORDER,
    "tests/test_engine_loop.py::TestRequestSendOrder::test_shared_queues": ORDER,
    "tests/test_scheduler.py::test_unserializable_requests": JOBDIR,
    "tests/test_engine_close_spider.py::test_exception_scheduler": QUEUES,
}


class Result(NamedTuple):
    """How one test ended."""

    test: str
    code: int
    text: str


def source(folder: Path) -> Path | None:
    """The source of the Scrapy that is installed; ``None``: it is not to be had."""
    name = f"scrapy-{scrapy.__version__}"
    given = ["--no-deps", "--no-binary", "scrapy", "--no-build-isolation", "-q", "-d", str(folder)]
    with contextlib.suppress(subprocess.SubprocessError):
        subprocess.run(
            [sys.executable, "-m", "pip", "download", f"scrapy=={scrapy.__version__}", *given],
            check=True,
            timeout=120,
            capture_output=True,
        )
    for archive in folder.glob("*.tar.gz"):
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
    return folder / name if (folder / name / "tests" / "test_crawl.py").exists() else None


def add_on() -> None:
    """In Scrapy's default settings: every crawler of a test has it."""
    from scrapy.settings import default_settings

    default_settings.ADDONS = {"sharc_crawler.live.addon.SharcAddon": 500}
    default_settings.SHARC_ALLOWED_ADDRESSES = ["127.0.0.0/8", "::1/128"]
    default_settings.SHARC_WARC = False


def one(folder: str, test: str, ours: bool) -> Result:
    """Run a test here, in a process that runs no other."""
    import pytest

    os.chdir(folder)
    sys.path.insert(0, folder)
    if ours:
        add_on()
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        given = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--timeout={PATIENCE}", "--tb=short"]
        code = pytest.main([*given, "-W", "ignore::pytest.PytestUnraisableExceptionWarning", test])
        sys.stdout.flush()
        file.seek(0)
        return Result(test, int(code), file.read().decode(errors="replace"))


def run(folder: Path, tests: list[str], *, ours: bool, at_once: int) -> list[Result]:
    """Each in a process of its own."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["scrapy.cmdline", "scrapy.core.downloader.handlers.http11", "pytest"])
    results = []
    with ProcessPoolExecutor(at_once, mp_context=context, max_tasks_per_child=1) as pool:
        waiting = {pool.submit(one, str(folder), test, ours): test for test in tests}
        for future in as_completed(waiting):
            try:
                results.append(future.result())
            except BrokenProcessPool as error:
                results.append(Result(waiting[future], 99, str(error)))
    return results


def collected(folder: Path, word: str) -> list[str]:
    """The tests, by name."""
    files = [f"tests/{name}.py" for name in FILES if (folder / "tests" / f"{name}.py").exists()]
    listed = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *files],
        cwd=folder, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    tests = re.findall(r"^tests/\S.*::.*$", listed.stdout, re.MULTILINE)
    if not tests:
        print(listed.stdout[-2000:], listed.stderr[-2000:])
    return [test for test in tests if word in test]


def main(arguments: list[str]) -> int:
    """Run, compare, say."""
    word = arguments.pop(arguments.index("-k") + 1) if "-k" in arguments else ""
    given = [Path(text) for text in arguments if text != "-k"]
    with tempfile.TemporaryDirectory() as folder:
        found = given[0] if given else source(Path(folder))
        if found is None:
            print(f"Scrapy's tests are not run: the source of Scrapy {scrapy.__version__} is not to be had")
            return SKIPPED
        return compared(found.resolve(), word)


def compared(folder: Path, word: str) -> int:
    """All tests with the add-on; those that fail again, and without."""
    tests = collected(folder, word)
    first = run(folder, tests, ours=True, at_once=os.cpu_count() or 1)
    failed = sorted(result.test for result in first if result.code)
    again = [result for result in run(folder, failed, ours=True, at_once=1) if result.code]
    stock = {r.test for r in run(folder, [result.test for result in again], ours=False, at_once=1) if r.code}
    different = {result.test: result for result in again if result.test not in stock}
    for test in sorted(different.keys() & DIFFERENCES.keys()):
        print(f"meant     {test}: {DIFFERENCES[test]}")
    for test in sorted(stock):
        print(f"stock too {test}")
    unlisted = sorted(different.keys() - DIFFERENCES.keys())
    for test in unlisted:
        print(f"DIFFERENT {test}\n{different[test].text}")
    stale = sorted(DIFFERENCES.keys() & {*tests} - different.keys())
    for test in stale:
        print(f"LISTED, but no difference: {test}")
    passed = len(tests) - len(different) - len(stock)
    print(f"Scrapy {scrapy.__version__}: {len(tests)} tests, {passed} pass, {len(different)} differ", end=" ")
    print(f"({len(unlisted)} of them not listed), {len(stock)} fail without the add-on, too")
    return int(bool(unlisted or stale or not tests))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
