"""A long sitemap is taken in by portions, and none of it is lost where the crawl is killed between two."""

from __future__ import annotations

import gc
import signal

import pytest

from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.sites import Sites
from sharc_crawler.live.reading import portions as portioned
from sharc_crawler.live.reading.portions import PORTION, TEXT, Portions
from sharc_crawler.live.requests import Lease
from sharc_crawler.model import Done, Fetch, Hints, Kind, Outcome, Result, Sighting
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.beside import load_state
from sharc_crawler.storage.memory import MemoryStore
from tests.live import warm

ROOT = "http://a.example/"
SITEMAP = ROOT + "sitemap.xml"
SPEC = CaptureSpec("a.example", (ROOT,), strategy="bfs", sitemaps=(SITEMAP,))
LISTED = [Sighting(f"{ROOT}{n}", via=SITEMAP, hints=Hints(lastmod=float(n))) for n in range(2 * PORTION + 7)]


class Counting(MemoryStore):
    """Counts the pages of each transaction."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: list[int] = []

    def commit(self, batch):
        self.counts.append(len(batch.pages))
        super().commit(batch)


def capture(store, saved=None):
    """Its sites and their portions."""
    sites = Sites(Politeness(delay=0.0, obey_robots=False))
    sites.restore(saved, 2000.0, store) if saved else sites.open(SPEC, 1000.0, store)
    return sites, Portions(sites, lambda lease: sites.finished(lease.fetch, lease.outcome, lease.links))


def asked(sites, now):
    fetch = sites.next(now)
    assert isinstance(fetch, Fetch)
    return fetch


def read(sites, portions, now, links=LISTED):
    """The sitemap was fetched, and waits to be taken in."""
    fetch = asked(sites, now)
    assert fetch.kind is Kind.SITEMAP
    assert portions.add(Lease(fetch, outcome=Outcome(Result.OK, now, now + 0.01, 200, "sha1:A"), links=links))


def known(store):
    return [row.url for row in store.load().pages if row.kind is Kind.PAGE]


@pytest.mark.slow
def test_no_turn_takes_in_more_than_a_portion():
    sites, portions = capture(store := Counting())
    read(sites, portions, 1000.0)
    store.counts.clear()
    turns = 0
    while portions:
        portions.take()
        turns += 1
        if portions:
            assert not isinstance(sites.next(1001.0), Fetch), "no visit is decided before all is known"
    assert turns == 3
    assert [count for count in store.counts if count] == [PORTION, PORTION, 7]
    assert set(known(store)) == {ROOT, *(one.url for one in LISTED)}
    assert asked(sites, 1002.0).kind is Kind.PAGE


@pytest.mark.slow
def test_no_search_for_garbage_while_a_portion_is_taken_in():
    class Watched(Counting):
        def commit(self, batch):
            assert len(batch.pages) < PORTION or not gc.isenabled()
            super().commit(batch)

    sites, portions = capture(store := Watched())
    read(sites, portions, 1000.0, LISTED[: PORTION + 1])
    while portions:
        portions.take()
    assert sum(store.counts) > PORTION
    assert gc.isenabled()


@pytest.mark.slow
def test_of_long_addresses_a_portion_has_fewer(monkeypatch):
    """A million of unusual characters take seconds: no turn of the reactor makes more than so many canonical."""
    portion, text = PORTION // 10, TEXT // 10
    monkeypatch.setattr(portioned, "PORTION", portion)
    monkeypatch.setattr(portioned, "TEXT", text)
    sites, portions = capture(store := Counting())
    read(sites, portions, 1000.0, [Sighting(f"{ROOT}?{'a' * 800}{n}", via=SITEMAP) for n in range(portion + 1)])
    store.counts.clear()
    while portions:
        portions.take()
    assert sum(store.counts) == portion + 1
    assert max(store.counts) * 800 <= text


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("turns", [0, 1, 2])
def test_cut_off_between_two_portions_it_is_read_again_and_each_page_is_known_once(turns):
    sites, portions = capture(store := Counting())
    read(sites, portions, 1000.0)
    for _ in range(turns):
        portions.take()
    assert len(known(store)) == 1 + turns * PORTION
    sites, portions = capture(store, store.load())
    read(sites, portions, 2001.0)
    while portions:
        portions.take()
    assert sorted(known(store)) == sorted([ROOT, *(one.url for one in LISTED)])
    visited = set()
    while not isinstance(fetch := sites.next(3000.0), Done) and len(visited) < 3:
        assert fetch.kind is Kind.PAGE
        visited.add(fetch.url)
        sites.finished(fetch, Outcome(Result.OK, 3000.0, 3000.1, 200, f"sha1:{fetch.url}"))
    assert len(visited) == 3


def test_a_site_that_was_lost_meanwhile_is_left_alone():
    sites, portions = capture(store := Counting())
    read(sites, portions, 1000.0)
    portions.take()
    sites.remove("a.example")
    portions.take()
    assert not portions
    assert len(known(store)) == 1 + PORTION


def test_what_is_short_or_no_sitemap_is_not_kept_for_later():
    sites, portions = capture(MemoryStore())
    fetch = asked(sites, 1000.0)
    assert not portions.add(Lease(fetch, links=LISTED[:PORTION]))
    assert not portions.add(Lease(fetch._replace(kind=Kind.PAGE), links=LISTED))


SMALL = 200
#: the command with small portions
SHORT = f"""
from scrapy.cmdline import execute
from sharc_crawler.live.reading import portions

portions.PORTION = {SMALL}
execute()
"""
KILLED = f"""
import os, signal
from scrapy.cmdline import execute
from sharc_crawler.live.reading import portions
from sharc_crawler.live.reading.portions import Portions

portions.PORTION = {SMALL}
take, taken = Portions.take, []

def counted(portions):
    take(portions)
    taken.append(1)
    if len(taken) == 2:
        os.kill(os.getpid(), signal.SIGKILL)

Portions.take = counted
execute()
"""


def test_a_crawl_that_is_killed_between_two_portions_goes_on_with_all_of_them(tmp_path, static):
    (site := tmp_path / "site").mkdir()
    (site / "index.html").write_text("<title>home</title>")
    (tmp_path / "killed.py").write_text(KILLED)
    (tmp_path / "short.py").write_text(SHORT)
    with static(site) as url:
        urls = [f"{url}page-{number}" for number in range(2 * SMALL + 7)]
        listed = "".join(f"<url><loc>{one}</loc></url>" for one in urls)
        (site / "sitemap.xml").write_text(
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>'
        )
        words = warm.site_words(
            url=url, output=str(folder := tmp_path / "out"), delay="0", strategy="bfs", max_requests="9"
        )
        killed = warm.Scrapy(words, tmp_path, program="killed.py")
        assert killed.wait(200) == -signal.SIGKILL
        assert sum(row.kind == "page" for row in load_state(folder).pages) == 1 + 2 * SMALL
        done = warm.finished(words, tmp_path, timeout=280, program="short.py")
    assert done.returncode == 0, done.stderr
    pages = [row.url for row in load_state(folder).pages if row.kind == "page"]
    assert sorted(pages) == sorted([url, *urls])
