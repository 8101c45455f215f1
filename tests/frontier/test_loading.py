"""What a page loads while its visit is under way, in a browser."""

from __future__ import annotations

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.model import Fetch, Kind, Result
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.small import ROOT, page, spec


@pytest.fixture
def begun(world, impolite):
    """A crawl whose seed has answered, and whose visit is not over."""
    frontier = Frontier(impolite, MemoryStore())
    frontier.open(spec(strategy="bfs"), world.now)
    fetch = frontier.next(world.now)
    frontier.loads.answered(fetch, world.answer(fetch))
    return frontier, fetch


def test_what_a_page_loads_is_owed_at_once_and_no_other_page_is_visited_meanwhile(world, begun):
    frontier, fetch = begun
    frontier.schedule([page("other")], world.now)
    style = frontier.loads.load(fetch, ROOT + "a.css", Kind.RESOURCE, world.now)
    asked = frontier.next(world.now)
    assert (asked.page, asked.url, asked.kind) == (style, ROOT + "a.css", Kind.RESOURCE)
    frontier.finished(asked, world.answer(asked))
    assert not isinstance(frontier.next(world.now), Fetch)
    frontier.loads.go_on(fetch)
    assert frontier.next(world.now).url == ROOT + "other"
    assert frontier.pages.parents[style] == fetch.page
    assert frontier.pages.depths[style] == 1


def test_what_was_loaded_is_known_by_url_mark_and_kind(world, begun):
    frontier, fetch = begun
    loads = frontier.loads
    api = loads.load(fetch, ROOT + "api", Kind.DATA, world.now)
    marked = loads.load(fetch, ROOT + "api", Kind.DATA, world.now, mark="body-1")
    assert marked is not None
    assert loads.loaded(ROOT + "api", Kind.DATA) == api != marked == loads.loaded(ROOT + "api", Kind.DATA, "body-1")
    assert loads.loaded(ROOT + "api", Kind.DATA, "body-2") is None
    assert loads.load(fetch, ROOT + "api#part", Kind.DATA, world.now) == api, "again: it is there"
    assert loads.load(fetch, ROOT + "api", Kind.RESOURCE, world.now) == api, "as data it is a part of the state"
    style = loads.load(fetch, ROOT + "style", Kind.RESOURCE, world.now)
    both = loads.load(fetch, ROOT + "style", Kind.DATA, world.now)
    assert both not in (None, style), "what was a resource is data beside it"
    frontier.schedule([page("other")], world.now)
    beside = loads.load(fetch, ROOT + "other", Kind.RESOURCE, world.now)
    assert frontier.pages.kinds[beside] is Kind.RESOURCE, "a page of the site, too"
    assert loads.load(fetch, "data:text/plain,x", Kind.RESOURCE, world.now) is None
    assert loads.loaded("data:text/plain,x", Kind.RESOURCE) is None
    unknown = fetch._replace(page=len(frontier.pages))
    assert loads.load(unknown, ROOT + "x", Kind.RESOURCE, world.now) is None


def test_what_a_page_loads_is_written_at_once(world, impolite):
    frontier = Frontier(impolite, store := MemoryStore())
    frontier.open(spec(strategy="bfs"), world.now)
    fetch = frontier.next(world.now)
    frontier.loads.load(fetch, ROOT + "a.css", Kind.RESOURCE, world.now)
    assert store.load().pages[-1].url == ROOT + "a.css"


def test_what_is_not_wanted_is_not_loaded(world, impolite):
    frontier = Frontier(impolite)
    frontier.open(spec(strategy="bfs", resources=False), world.now)
    fetch = frontier.next(world.now)
    assert frontier.loads.load(fetch, ROOT + "a.css", Kind.RESOURCE, world.now) is None


def test_once_the_visit_is_over_others_are_made(world, begun):
    frontier, fetch = begun
    frontier.schedule([page("other")], world.now)
    assert not isinstance(frontier.next(world.now), Fetch)
    frontier.finished(fetch, world.answer(fetch))
    assert frontier.next(world.now).url == ROOT + "other"


def test_a_visit_that_fails_after_others_went_on_is_made_again(world, begun):
    frontier, fetch = begun
    frontier.loads.go_on(fetch)
    assert not isinstance(frontier.next(world.now), Fetch)
    frontier.finished(fetch, world.answer(fetch)._replace(result=Result.FAILED, status=500))
    world.now += 5.0
    again = frontier.next(world.now)
    assert (again.page, again.attempt) == (fetch.page, 2)
