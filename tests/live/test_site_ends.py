"""The ends of many sites: some at once, and each as if it were alone."""

from __future__ import annotations

import json
import shutil
import threading
from collections import Counter
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
from scrapy.settings import Settings

from benchmarks.made_capture import Maker
from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.live import site_ends
from sharc_crawler.live.closing import _left
from sharc_crawler.live.config import Config
from sharc_crawler.live.ending import _tried, leave
from sharc_crawler.live.monitoring.stopping import StoppedError
from sharc_crawler.live.setup.places import open_stores
from sharc_crawler.live.site_ends import AT_ONCE, at_once_next, in_threads, in_turn
from sharc_crawler.storage.folders import SITES
from sharc_crawler.storage.gathered import folders_text
from sharc_crawler.storage.sqlite import SqliteStore

CONFIG = Config.from_settings(Settings())


SEVERAL = partial(in_threads, at_once=lambda *_: AT_ONCE)


@pytest.mark.parametrize("together", [in_turn, in_threads, SEVERAL])
def test_ends_are_begun_here_and_come_in_their_order_with_what_was_in_the_way_of_some(together):
    begun, told = [], []

    def begin(number):
        begun.append((number, threading.current_thread() is threading.main_thread()))
        if number == 2:
            raise StoreUnavailable("its disk is gone")
        return partial(end, number)

    def end(number, _):
        if number == 5:
            raise OSError("no room")
        return str(number), False, Counter()

    found = list(together((partial(begin, number) for number in range(10)), _tried, told.append))
    assert begun == [(number, True) for number in range(10)]
    assert told == list(range(10))
    assert [one[0] if isinstance(one, tuple) else str(one) for one in found] == [
        *"01",
        "its disk is gone",
        *"34",
        "no room",
        *"6789",
    ]


def test_no_store_is_suspended_for_another_that_is_in_use():
    """A turn's ends are over before another store is opened; as many may always be open."""
    in_use, most = set(), []

    def begin(number):
        if number % AT_ONCE == 1:  # the first was alone
            assert not in_use
        in_use.add(number)
        most.append(len(in_use))
        return lambda _: in_use.remove(number) or ("", False, Counter())

    list(SEVERAL((partial(begin, number) for number in range(3 * AT_ONCE)), _tried, lambda _: None))
    assert max(most) <= AT_ONCE <= open_stores(10**9)._most


class Site:
    folder, state = None, "at rest"

    def begin(self):
        self.state = "in use"
        return self.end

    def end(self, _):
        self.state = "written"
        return "", False, Counter()

    def suspend(self):
        assert self.state == "written"
        self.state = "let go"


def test_a_store_is_let_go_once_the_end_of_its_site_is_written():
    """What was read for it takes memory: a thousand may be open."""
    sites = [Site() for _ in range(3 * AT_ONCE)]
    left = _left(SimpleNamespace(places=dict(enumerate(sites)), history=None))
    list(SEVERAL((site.begin for site, _ in zip(sites, left, strict=True)), _tried, lambda _: None))
    assert [site.state for site in sites] == ["let go"] * 2 * AT_ONCE + ["written"] * AT_ONCE


def test_ctrl_c_stops_those_that_are_being_written():
    running, left = threading.Event(), []

    def end(share):
        running.set()
        try:
            while True:
                share(1, 2, part="writing the report")
        finally:
            left.append("stopped")

    def told(begun):
        if begun == 2:
            assert running.wait(60)
            raise StoppedError("stopped by SIGINT")

    with pytest.raises(StoppedError, match="SIGINT"):
        list(SEVERAL([lambda: lambda _: ("", False, Counter()), *[lambda: end] * 2], _tried, told))
    assert left == ["stopped"]


def test_several_are_written_at_once_where_they_wait_for_more_than_the_processor():
    assert [at_once_next(clock, 0.01) for clock in (0.01, 0.012, 0.02, 0.06)] == [1, 1, AT_ONCE, AT_ONCE]


def made(folder):
    """Six captures of different sizes, none of which has its end."""
    folder.mkdir()
    names = [f"{name}.example" for name in "abcdef"]
    (folder / SITES).write_text(folders_text({name: name for name in names}))
    for number, name in enumerate(names, 3):
        (folder / name).mkdir()
        Maker(folder / name, number, 2).make()
    return folder


def ended(folder, config):
    """What a crawl leaves of them, without what is by chance or by the clock."""
    sites = sorted(path for path in folder.iterdir() if path.is_dir())
    stores = [SqliteStore(site) for site in sites]
    threads = set()

    def asked(store):
        threads.add(threading.current_thread())
        return store

    left = leave(
        [(site, partial(asked, store)) for site, store in zip(sites, stores, strict=True)],
        folder,
        "",
        config,
        lambda *_: None,
    )
    for store in stores:
        store.close()
    assert threads == {threading.main_thread()}
    written = {
        path.relative_to(folder): path.read_text()
        for path in folder.rglob("*")
        if path.name.startswith(("report", "index", "certificate-pages"))
    }
    claims = {}
    for path in folder.rglob("certificate.json"):
        certificate = json.loads(path.read_text())
        claims[path.relative_to(folder)] = {
            name: part for name, part in certificate.items() if name not in ("digest", "kept_in", "files", "reports")
        }
    return left, written, claims


@pytest.mark.slow
def test_what_several_threads_write_is_what_one_writes(tmp_path, monkeypatch):
    monkeypatch.setattr(site_ends, "in_threads", SEVERAL)
    shutil.copytree(made(tmp_path / "one"), tmp_path / "many")
    in_one = ended(tmp_path / "one", replace(CONFIG, store="of.others.Store"))
    in_many = ended(tmp_path / "many", CONFIG)
    assert in_many[0]._replace(summary="") == in_one[0]._replace(summary="")
    assert in_many[1:] == in_one[1:]
    assert len(in_many[2]) == 6
