"""The log files of a running crawl: each exchange once, whatever happens to the file and the crawl."""

from __future__ import annotations

import json
import logging
import resource
from contextlib import contextmanager

import pytest
from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from sharc_crawler.live.monitoring.crawl_log import CrawlLog, QuietFormatter
from sharc_crawler.state.rows import Batch
from sharc_crawler.storage.sqlite import SqliteStore
from sharc_crawler.testing.stores import capture_row, page_row, visit_row

LARGE = 10**9


@pytest.fixture
def store(tmp_path):
    store = SqliteStore(tmp_path)
    store.commit(Batch([page_row(page) for page in range(50)], captures={0: capture_row()}))
    return store


def visit(store, *pages):
    store.commit(Batch(visits=[visit_row(page) for page in pages]))


def numbers(folder, name="crawl*.jsonl"):
    paths = sorted(folder.glob(name), key=lambda path: (path.stem == "crawl", path.stem))
    return [json.loads(line)["number"] for path in paths for line in path.read_text().splitlines()]


def test_what_is_new_is_appended(tmp_path, store):
    log = CrawlLog(tmp_path, store, ["json", "heritrix"], LARGE)
    log.catch_up()
    assert not list(tmp_path.glob("crawl*"))
    visit(store, 0, 1)
    log.catch_up()
    visit(store, 2)
    log.catch_up()
    log.catch_up()
    assert numbers(tmp_path) == [1, 2, 3]
    assert (tmp_path / "crawl.log").read_text().count("\n") == 3


@pytest.mark.parametrize("torn", [b"", b'{"number": 3, "time": "20', b"\xff"])
def test_a_crawl_that_goes_on_goes_on_with_its_log(tmp_path, store, torn):
    visit(store, 0, 1)
    CrawlLog(tmp_path, store, ["json", "heritrix"], LARGE).catch_up()
    for name in ("crawl.jsonl", "crawl.log"):
        with (tmp_path / name).open("ab") as file:
            file.write(torn)
    visit(store, 2, 3)
    CrawlLog(tmp_path, store, ["json", "heritrix"], LARGE).catch_up()
    assert numbers(tmp_path) == [1, 2, 3, 4]
    assert [line.rpartition("number:")[2] for line in (tmp_path / "crawl.log").read_text().splitlines()] == [*"1234"]


def test_full_files_are_put_aside(tmp_path, store):
    log = CrawlLog(tmp_path, store, ["json"], 2_000)
    for page in range(0, 50, 2):
        visit(store, page, page + 1)
        log.catch_up()
    full = sorted(tmp_path.glob("crawl-*.jsonl"))
    assert len(full) > 5
    assert full[0].name == "crawl-00001.jsonl"
    assert numbers(tmp_path) == list(range(1, 51))
    for path in tmp_path.glob("crawl.jsonl"):
        path.unlink()
    visit(store, 7)
    after = numbers(tmp_path)[-1]
    CrawlLog(tmp_path, store, ["json"], 2_000).catch_up()
    assert numbers(tmp_path)[-1] == 51, "goes on after the newest of the full ones"
    assert after <= 50


@contextmanager
def no_file_larger_than(size):
    """Writing beyond it fails half-way, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("room", [0, 100, 1_500])
def test_where_there_is_no_room_the_log_waits(tmp_path, store, room):
    log = CrawlLog(tmp_path, store, ["json"], LARGE)
    visit(store, *range(50))
    visit(store, *range(50))
    log.catch_up()
    visit(store, *range(5))
    with no_file_larger_than((tmp_path / "crawl.jsonl").stat().st_size + room):
        log.catch_up()
        log.catch_up()
        with pytest.raises(OSError, match="File too large"):
            log.finish()
    assert numbers(tmp_path) == list(range(1, 101)), "whole lines only, all the time"
    visit(store, 5)
    log.catch_up()
    assert numbers(tmp_path) == list(range(1, 107))


def test_a_url_does_not_tell_the_number_of_a_line(tmp_path, store):
    visit(store, 0)
    CrawlLog(tmp_path, store, ["json", "heritrix"], LARGE).catch_up()
    for name in ("crawl.jsonl", "crawl.log"):
        path = tmp_path / name
        path.write_bytes(path.read_bytes().replace(b"/0", b"/?,number:77"))
        assert b"number:77" in path.read_bytes()
    visit(store, 1)
    CrawlLog(tmp_path, store, ["json", "heritrix"], LARGE).catch_up()
    assert numbers(tmp_path) == [1, 2]
    assert (tmp_path / "crawl.log").read_text().count("\n") == 2


def test_a_crawl_logs_and_lists_what_it_left(tmp_path, crawl, static):
    (tmp_path / "site").mkdir()
    links = (
        "b.html",
        "http://elsewhere.example/x",
        "/b.html?print=1",
        "http://elsewhere.example/x#y",
        "javascript:f()",
    )
    page = "".join(f"<a href='{link}'>x</a>" for link in links)
    (tmp_path / "site" / "index.html").write_text(page)
    (tmp_path / "site" / "b.html").write_text(page)
    with static(tmp_path / "site") as url:
        done = crawl(url=url, exclude="print=", delay="0.01", settings=["SHARC_LOG=json,heritrix"])
    assert done.code == 0, done.err
    left = done.capture["not_followed"]
    assert [(one["url"], one["reason"], one["via"]) for one in left["urls"]] == [
        ("http://elsewhere.example/x", "another host", url),
        (f"{url}b.html?print=1", "excluded by 'print='", url),
    ]
    assert left["sightings"] == {"another host": 2, "excluded by 'print='": 2}
    logged = [json.loads(line) for line in (done.folder / "crawl.jsonl").read_text().splitlines()]
    assert [line["number"] for line in logged] == list(range(1, len(logged) + 1))
    assert len(logged) == done.capture["exchanges"]
    last = {line["url"]: line["verdict"] for line in logged if line["slot"] == "second"}  # after a 304 that is tested
    assert set(last.values()) == {"coherent"}
    assert (done.folder / "crawl.log").read_text().count("\n") == len(logged)
    assert "Not followed" in (done.folder / "report.html").read_text()


@pytest.mark.parametrize(
    ("level", "told"), [("DEBUG", True), (logging.DEBUG, True), ("WARNING", False), (logging.INFO, False)]
)
def test_a_page_is_told_of_at_debug_level(level: str | int, told: bool) -> None:
    formatter = QuietFormatter.from_crawler(get_crawler(settings_dict={"LOG_LEVEL": level}))
    url = "http://h.example/"
    line = formatter.crawled(Request(url), Response(url), Spider(name="any"))
    assert (line is not None) == told
