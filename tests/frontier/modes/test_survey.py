"""A survey reads robots.txt and sitemaps, and visits no page."""

from __future__ import annotations

from dataclasses import replace

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.modes.by_lastmods import Surveyed
from sharc_crawler.model import Kind, Phase
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.modes.stubs import bare
from tests.frontier.small import ROOT, page, spec

MAP = ROOT + "sitemap.xml"


def test_a_survey_ends_with_the_pages_that_a_capture_would_begin_with(world, impolite):
    world.links = {MAP: [page("1", lastmod=10.0), page("2")]}
    store = MemoryStore()
    frontier = Frontier(replace(impolite, obey_robots=True), store)
    capture = frontier.open(spec(mode="survey", sitemaps=(MAP,), strategy="sharc-attested"), world.now)
    world.run(frontier)
    assert {fetch.kind for _, fetch in world.requests} == {Kind.ROBOTS, Kind.SITEMAP}
    assert capture.phase is Phase.DONE
    assert frontier.done
    state = store.load()
    assert sorted(row.url.removeprefix(ROOT) for row in state.pages if row.kind is Kind.PAGE) == ["", "1", "2"]
    assert state.judgements == []
    assert (capture.counts.visits, capture.counts.pages) == (0, 3)


def test_nothing_is_waited_for_visited_audited_or_judged():
    survey = bare(Surveyed)
    assert survey.waits("door", 9.0) is survey.owes_more(9.0) is False
    assert survey.next("door", 9.0) is None
    assert survey.judge([1]) == {}
