"""A plug-in that never returns, or a pattern, is stopped and named, as nothing else could end its crawl but a kill."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

#: in a process of its own: the signal is pytest-timeout's here
SCRIPT = """
import time
from sharc_crawler.errors import SharcError, StrategyError
from sharc_crawler.addresses.scope import Scope
from sharc_crawler.live.in_thread import by_thread
from sharc_crawler.live.failures.watchdog import Watch
from sharc_crawler.rates.guarded import checked
from sharc_crawler.storage.guarded import Guarded
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.door import Door
from sharc_crawler.subsites.base import KnownPages
from sharc_crawler.subsites.make import GuardedPartition
from tests.strategies.bad import Good

class Loops(Good):
    def bad(self):
        while True:
            pass

class Sleeps(Good):
    def bad(self):
        time.sleep(1_000_000)

Watch(looks=3, every=0.03).begin()
for strategy in (Loops, Sleeps):
    door = Door(strategy(Setting()), strategy.__name__)
    door.add(Candidates.of(range(9), [0.1] * 9))
    try:
        while True:
            door.next(0.0)
    except StrategyError as error:
        print(error)
class Endless:
    by_links = False
    def rates(self, sightings, now):
        while True:
            pass
    def labels(self, known):
        while True:
            yield from known.urls and ()
    def urls(self):
        while True:
            pass

for ask in (
    lambda: checked(Endless())(["a page"], 0.0),
    lambda: GuardedPartition("Endless", Endless()).labels(KnownPages(["http://h/"], [()])),
    lambda: list(Guarded("Endless", Endless()).urls()),
):
    try:
        ask()
    except SharcError as error:
        print(error)
by_thread(lambda: print("ours take as long as they need", sum(range(10_000_000)) > 0), 3, 0.03).result()
try:
    by_thread(lambda: checked(Endless())(["a page"], 0.0), 3, 0.03).result()
except SharcError as error:
    print(error)
for name in ("exclude", "include"):
    try:
        Scope(["http://h/"], **{name: ["^no", r"^http://(([a-z0-9.:]+/?)+)+[.]php$"]}).why_not("http://h/" + 40 * "a/")
    except SharcError as error:
        print(error)
for _ in range(10_000):
    time.sleep(1e-5)  # nobody else is disturbed
"""


def test_a_strategy_that_never_returns_is_stopped():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *strategies, rates, partition, store, ours, aside, exclude, include = done.stdout.splitlines()
    said = "UnansweredError: no answer at 3 looks"
    assert rates.startswith(f"SHARC_RATES: the rate source Endless raised {said}")
    assert ours == "ours take as long as they need True"
    assert aside.startswith(f"SHARC_RATES: the rate source Endless raised {said}"), "of many pages"
    assert partition.startswith(f"subsites='Endless' raised {said}")
    assert store.startswith(f"SHARC_STORE='Endless' raised {said}")
    for line, name in zip(strategies, ("Loops", "Sleeps"), strict=True):
        assert line.startswith(f"strategy={name!r} is stopped: it raised UnansweredError: no answer at 3 looks")
        assert line.endswith("when it was asked for the next visit")
    assert exclude.startswith(
        "exclude='^http://(([a-z0-9.:]+/?)+)+[.]php$' does not end: it was tried for 0.005 s at h"
    )
    assert include.startswith("include='^http://(([a-z0-9.:]+/?)+)+[.]php$' does not end: ")


PROFILE = {"SCRAPY_SETTINGS_MODULE": "sharc_crawler.live.profile"}
CRAWL = """
import sys
from scrapy.cmdline import execute
from sharc_crawler.live.failures.watchdog import Watch

Watch.__init__.__defaults__ = 9, 3.0
execute(["scrapy", "crawl", "site", *sys.argv[1:]])
"""


@pytest.mark.long
def test_a_crawl_under_a_pattern_without_an_end_stops_and_goes_on_under_a_plainer_one(tmp_path, static, crawl):
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text(f'<a href="a.html">a</a> <a href="{40 * "b"}.html">b</a>')
    (site / "a.html").write_text("a")
    (site / f"{40 * 'b'}.html").write_text("b")
    with static(site) as url:
        words = ["-a", f"url={url}", "-a", r"exclude=/(([a-z]+/?)+)+\.php$", "-a", "output=capture", "-a", "delay=0.01"]
        own = [sys.executable, "-c", CRAWL, *words, "-s", "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8"]
        done = subprocess.run(own, cwd=tmp_path, env={**os.environ, **PROFILE}, capture_output=True, text=True)
        assert done.returncode == 5, done.stderr
        assert "/(([a-z]+/?)+)+\\\\.php$' does not end: it was tried for 0.5 s at http" in done.stderr
        assert "Traceback" not in done.stderr
        again = crawl(url=url, exclude=r"\.php$", delay="0.01")
        assert again.code == 0, again.err
    assert "All 3 pages were in this state together" in again.out
