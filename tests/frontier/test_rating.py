"""Rates are asked for once, of all pages that are known when the sitemaps are read."""

from __future__ import annotations

import sys
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.opening import Parts
from sharc_crawler.model import Done, Fetch, Hints, Kind, RateEstimate, Sighting, Url, Wait
from sharc_crawler.rates.chain import Chain, default_chain
from sharc_crawler.rates.sources import HistoryRates
from sharc_crawler.rates.swings import Swings
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.strategies.door import Door

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sharc_crawler.frontier.hosts import Politeness
    from tests.frontier.conftest import World

SITEMAPS, PAGES = 10, 40  #: files, and pages in each
ROOT = "http://h.example/"
INDEX = f"{ROOT}sitemap.xml"
DAY = 86_400.0


@dataclass
class Asked:
    """A source that knows lastmods alone, and keeps what it was asked."""

    questions: list[list[Sighting]] = field(default_factory=list)

    def rates(self, sightings: Sequence[Sighting], now: float) -> list[RateEstimate]:
        self.questions.append(list(sightings))
        return [RateEstimate(abs(one.hints.lastmod) if one.hints else 0.5, "asked", shape=3.0) for one in sightings]

    def swings(self):
        return Swings.usual()

    def weight(self, sighting: Sighting) -> float:
        return 1.0


class Counted(HistoryRates):
    """The real one, which counts how often it learns."""

    learned = 0

    def _estimate(self, now: float) -> None:
        self.learned += 1
        super()._estimate(now)


def page(number: int) -> Url:
    return Url(f"{ROOT}{number}")


@pytest.fixture
def listed(world: World) -> World:
    """Ten sitemap files behind an index; the later page, the older."""
    world.links[INDEX] = [Sighting(Url(f"{ROOT}map{number}.xml"), Kind.SITEMAP, INDEX) for number in range(SITEMAPS)]
    for number in range(SITEMAPS):
        world.links[f"{ROOT}map{number}.xml"] = [
            Sighting(page(at), hints=Hints(lastmod=-DAY * (at + 1)))
            for at in range(number * PAGES, (number + 1) * PAGES)
        ]
    return world


def opened(politeness: Politeness, rates: object, store: MemoryStore | None = None) -> Frontier:
    """The site's pages are known from captures before, as the second capture of it knows them."""
    frontier = Frontier(politeness, store, Parts(rates=lambda _: rates))
    frontier.open(CaptureSpec("h", (ROOT,), strategy="bfs", sitemaps=(INDEX,)), 1000.0)
    frontier.schedule([Sighting(page(at), via="history") for at in range(SITEMAPS * PAGES)], 1000.0)
    return frontier


def until_first_page(world: World, frontier: Frontier) -> Fetch:
    while True:
        decision = frontier.next(world.now)
        assert not isinstance(decision, Done)
        if isinstance(decision, Fetch):
            if decision.kind is Kind.PAGE:
                return decision
            frontier.finished(decision, world.answer(decision), world.links.get(decision.url, ()))
        world.now += 1.0


def test_one_question_before_the_first_page(listed: World, impolite: Politeness):
    rates = Asked()
    frontier = opened(impolite, rates)
    until_first_page(listed, frontier)
    (question,) = rates.questions
    assert {one.url for one in question} == {ROOT, *(page(at) for at in range(SITEMAPS * PAGES))}
    assert [one.hints.lastmod for one in question if one.url == page(7)] == [-DAY * 8]
    rated = dict(zip(frontier.pages.urls, frontier.pages.rates, strict=True))
    assert (rated[page(7)], rated[ROOT]) == (DAY * 8, 0.5)
    assert set(frontier.pages.shapes) == {3.0, float("inf")}  # sitemaps have none


@pytest.mark.parametrize("known", [None, Swings((0.1, 0.2))])
def test_how_far_a_sites_changes_swing_together_is_asked_once(listed: World, impolite: Politeness, known):
    frontier = opened(impolite, Asked())
    frontier.capture.swings = known
    until_first_page(listed, frontier)
    assert frontier.capture.swings == (known or Swings.usual())


def test_a_second_capture_learns_once_before_its_first_page(listed: World, impolite: Politeness):
    source = Counted()
    until_first_page(listed, opened(impolite, Chain([source])))
    assert source.learned == 1


def calls_before_the_first_page(world: World, politeness: Politeness, pages: int) -> int:
    """Functions of Python that are called until the first page of a site whose sitemap names so many is fetched."""
    world.links[INDEX] = [Sighting(page(at), hints=Hints(lastmod=-DAY * (at + 1))) for at in range(pages)]
    frontier = Frontier(politeness, MemoryStore(), Parts(rates=lambda _: default_chain()))
    frontier.open(CaptureSpec("h", (ROOT,), strategy="sharc-selective", sitemaps=(INDEX,)), 1000.0)
    called = 0

    def count(_: object, event: str, __: object) -> None:
        nonlocal called
        called += event == "call"

    sys.setprofile(count)
    try:
        until_first_page(world, frontier)
    finally:
        sys.setprofile(None)
    return called


@pytest.mark.slow
def test_what_a_page_of_a_sitemap_costs_before_the_first_page(world: World, impolite: Politeness):
    """What one document names is taken in together; what is left is what each address is asked for."""
    # The first of the three loads what is needed.
    _, few, many = (calls_before_the_first_page(world, impolite, pages) for pages in (600, 600, 3_000))
    assert (many - few) / 2_400 < 55


class Slow:
    """Work that others do: it is over when that is said."""

    def __init__(self) -> None:
        self.works: list[tuple[Future[object], Callable[[], object]]] = []

    def __call__(self, work: Callable[[], object], _: int) -> Future[object]:
        self.works.append((Future(), work))
        return self.works[-1][0]

    def end(self) -> None:
        done, work = self.works.pop(0)
        done.set_result(work())


@pytest.mark.parametrize("strategy", ["bfs", "sharc-attested"])
def test_while_rates_are_made_the_frontier_waits_and_takes_in_what_is_found(listed: World, impolite, strategy):
    rates, slow = Asked(), Slow()
    frontier = Frontier(impolite, MemoryStore(), Parts(rates=lambda _: rates, aside=slow))
    frontier.open(CaptureSpec("h", (ROOT,), strategy=strategy, sitemaps=(INDEX,)), 1000.0)
    while not slow.works:
        decision = frontier.next(listed.now)
        if isinstance(decision, Fetch):
            frontier.finished(decision, listed.answer(decision), listed.links.get(decision.url, ()))
        listed.now += 1.0
    late = Url(f"{ROOT}late")
    frontier.schedule([Sighting(late, via="another site")], listed.now)
    for _ in range(2):  # rates, then what the mode makes of them
        waits = frontier.next(listed.now)
        assert isinstance(waits, Wait)
        assert listed.now < waits.until < listed.now + 1.0
        slow.end()
        listed.now += 1.0
    assert isinstance(frontier.next(listed.now), Fetch)
    assert [len(question) for question in rates.questions] == [SITEMAPS * PAGES + 1, 1]
    assert frontier.pages.rates[frontier.capture.seen.get(late)] == 0.5
    assert frontier.capture.strategy.first_visits_left == SITEMAPS * PAGES + 2


@pytest.mark.parametrize("over", [0, 1], ids=["rates", "what the mode makes of them"])
def test_what_raises_while_rates_are_made_is_raised_at_the_next_decision(listed: World, impolite, over):
    slow = Slow()
    frontier = Frontier(impolite, None, Parts(rates=lambda _: Asked(), aside=slow))
    frontier.open(CaptureSpec("h", (ROOT,), strategy="bfs", sitemaps=()), 1000.0)
    while not slow.works:
        decision = frontier.next(listed.now)
        if isinstance(decision, Fetch):
            frontier.finished(decision, listed.answer(decision))
        listed.now += 1.0
    for _ in range(over):
        slow.end()
        frontier.next(listed.now)
    slow.works.pop()[0].set_exception(OSError("the disk is gone"))
    with pytest.raises(OSError, match="the disk is gone"):
        frontier.next(listed.now + 1.0)


def test_a_sitemap_read_later_is_one_question(listed: World, impolite: Politeness):
    """Its pages that were known and wait get better rates, and the strategy hears of them."""
    rates = Asked()
    frontier = opened(impolite, rates)
    fetch = until_first_page(listed, frontier)
    told = [Sighting(page(at), hints=Hints(lastmod=1.0 + at)) for at in range(50) if page(at) != fetch.url]
    frontier.finished(fetch, listed.answer(fetch), told)
    assert rates.questions[1:] == [told]
    assert dict(zip(frontier.pages.urls, frontier.pages.rates, strict=True))[page(9)] == 10.0


def test_pages_that_are_found_on_the_way_are_rated_at_once(listed: World, impolite: Politeness):
    rates = Asked()
    frontier = opened(impolite, rates)
    fetch = until_first_page(listed, frontier)
    found = [Sighting(Url(f"{ROOT}new{number}"), hints=Hints(lastmod=float(number + 2))) for number in range(2)]
    frontier.finished(fetch, listed.answer(fetch), found)
    assert rates.questions[-1] == found
    assert [frontier.pages.rates[frontier.capture.seen.get(one.url)] for one in found] == [2.0, 3.0]
    assert len(frontier.capture.front.unrated) == 0


def test_a_strategy_hears_of_rates_that_are_new_of_pages_that_wait_and_of_nothing_else(listed, impolite, monkeypatch):
    rates, heard = Asked(), []
    frontier = opened(impolite, rates)
    visited, image = until_first_page(listed, frontier), Sighting(f"{ROOT}i.png", Kind.RESOURCE)
    frontier.finished(visited, listed.answer(visited), [image])
    fetch = until_first_page(listed, frontier)
    monkeypatch.setattr(Door, "reprice", lambda _, page, rate: heard.append((page, rate)))
    told = [
        Sighting(visited.url, hints=Hints(lastmod=1.0)),
        image._replace(hints=Hints(lastmod=2.0)),
        Sighting(page(90), hints=Hints(lastmod=3.0)),
        Sighting(page(91), hints=Hints(lastmod=92 * DAY)),
        Sighting(page(92)),
    ]
    frontier.finished(fetch, listed.answer(fetch), told)
    assert rates.questions[-1] == told[2:4]
    assert heard == [(frontier.capture.seen.get(page(90)), 3.0)]


def test_after_a_crash_before_the_first_page_all_hints_are_asked_again(listed: World, impolite: Politeness):
    """What the sitemaps said that had been read is not fetched again: it is in the store."""
    store = MemoryStore()
    first = opened(impolite, Asked(), store)
    for _ in range(1 + SITEMAPS // 2):  # the index and some of its files
        fetch = first.next(listed.now)
        assert isinstance(fetch, Fetch)
        first.finished(fetch, listed.answer(fetch), listed.links.get(fetch.url, ()))
        listed.now += 1.0
    rates = Asked()
    second = Frontier(impolite, store, Parts(rates=lambda _: rates))
    second.restore(store.load(), listed.now)
    fetch = until_first_page(listed, second)
    second.finished(fetch, listed.answer(fetch))
    (question,) = rates.questions
    assert {one.url: one.hints and one.hints.lastmod for one in question} == {
        ROOT: None,
        **{page(at): -DAY * (at + 1) for at in range(SITEMAPS * PAGES)},
    }
    assert store.load().pages[second.capture.seen.get(page(7))].rate == DAY * 8
