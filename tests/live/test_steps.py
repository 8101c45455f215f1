"""Visits that end one shortly after the other are written together: a step of the frontier costs a sync."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from types import SimpleNamespace

import pytest

from sharc_crawler.live.scheduler import MOMENT, SharcScheduler
from tests.live.serving import Answering, serving

PAGES = 60
#: a store that notes how many visits each step has, in a crawl where none is written for having waited long enough
_STORE = """
from sharc_crawler.live import scheduler
from sharc_crawler.storage.sqlite import SqliteStore
scheduler.MOMENT = 1e9
class Noting(SqliteStore):
    def commit(self, batch):
        super().commit(batch)
        with open("steps", "a") as file:
            print(len(batch.visits), file=file)
"""


class _Tree(Answering, BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        name = self.path.strip("/")
        number = int(name) if name.isdigit() else 0
        links = "".join(f"<a href=/{child}>" for child in range(8 * number + 1, 8 * number + 9) if child < PAGES)
        self.answer(f"<p>{number * 'a'}{links}".encode(), status=404 if name and not name.isdigit() else 200)


@pytest.fixture
def waits():
    """Does what has ended wait, of so many that the engine is through with, at an instant?"""
    scheduler = object.__new__(SharcScheduler)
    scheduler._until, scheduler._at_once = 0.0, 16
    scheduler._moment = SimpleNamespace(set=lambda seconds: None)

    def at(ended, through, instant):
        scheduler._session = SimpleNamespace(clock=SimpleNamespace(now=lambda: instant))
        return scheduler._waits_for_more(ended, through)

    return at


def test_what_ended_waits_for_what_is_being_read_a_moment_long(waits):
    assert waits(1, 5, 100.0)
    assert waits(3, 5, 100.0 + MOMENT / 2)
    assert not waits(4, 6, 100.0 + MOMENT * 1.01), "one document may take its reader seconds"
    assert waits(1, 2, 100.0 + MOMENT * 1.02), "anew"


def test_at_the_end_of_a_crawl_nothing_waits_for_a_page_that_a_browser_shows():
    """Else what was downloaded is downloaded again when the crawl goes on."""
    scheduler, over = object.__new__(SharcScheduler), []

    async def finish():
        pass

    scheduler._until, scheduler._at_once = 0.0, 16
    ends = SimpleNamespace(finish=finish)
    scheduler._session = SimpleNamespace(archivist=ends, readers=ends, clock=SimpleNamespace(now=lambda: 100.0))
    scheduler._note_pause = scheduler._note_writer_failures = lambda: None
    scheduler._finish_what_can_be = lambda: over.append(scheduler._waits_for_more(1, 2))
    with pytest.raises(StopIteration):  # it awaits nothing here
        scheduler._finish_all().send(None)
    assert over == [False]


def test_nothing_waits_for_nobody_nor_where_half_of_what_is_asked_at_once_has_ended(waits):
    assert not waits(3, 3, 100.0)
    assert not waits(8, 15, 100.0)
    assert waits(7, 15, 100.0)


@pytest.mark.slow
def test_a_crawl_whose_visits_wait_for_each_other_goes_on_and_is_whole(crawl, tmp_path):
    (tmp_path / "mine.py").write_text(_STORE)
    with serving(_Tree) as url:
        at_once = ["CONCURRENT_REQUESTS=8", "CONCURRENT_REQUESTS_PER_DOMAIN=8"]
        done = crawl(url=url, sitemap="off", delay=0, strategy="bfs", settings=["SHARC_STORE=mine.Noting", *at_once])
    assert done.code == 0, done.err
    assert len(done.capture["pages"]) == PAGES
    visits = [steps for steps in map(int, (tmp_path / "steps").read_text().split()) if steps]
    assert sum(visits) == 1 + 2 * PAGES, "robots.txt, and each page twice"
    assert max(visits) > 1
