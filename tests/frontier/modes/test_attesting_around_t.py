"""Captures on the server's word: when sitemaps are read, when T is, and what is downloaded after it."""

from __future__ import annotations

import math
from collections import Counter
from concurrent.futures import Future

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.model import Fetch, Hints, Kind, Outcome, RateEstimate, Sighting, Slot, Verdict
from sharc_crawler.rates.chain import Chain
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.storage.sqlite import SqliteStore
from tests.frontier.conftest import World
from tests.frontier.cut_off import run_answered
from tests.frontier.modes.attesting import MAP, ROOT, SKEW, START, STEP, Site, capture, check


def test_t_is_the_start_of_the_sitemaps_download_after_all_visits():
    site = Site(5, rate=1e-3)
    state = capture(site)
    (row,) = state.captures.values()
    fetched = [(v.outcome.started, state.pages[v.page].kind, v.slot) for v in state.visits if v.finished]
    maps = [time for time, kind, _ in fetched if kind is Kind.SITEMAP]
    assert len(maps) == 4, "at the start, at T, after what was downloaded again, at the end"
    assert row.reference == maps[1]
    pages = [time for time, kind, slot in fetched if kind is Kind.PAGE]
    once = [time for time, kind, slot in fetched if kind is Kind.PAGE and slot is Slot.ONLY]
    assert len(once) >= site.pages - 3, "hardly any page is of this very moment"
    visits = [
        v for v in state.visits if v.finished and state.pages[v.page].kind is Kind.PAGE and v.slot is not Slot.SECOND
    ]
    assert all(visit.outcome.ended <= row.reference for visit in visits)
    assert maps[-1] == max(time for time, *_ in fetched) > max(pages), "the last thing that is done"


@pytest.mark.slow
def test_sitemaps_are_read_on_the_way_and_pages_that_have_changed_by_then_come_last_cut_off_or_not():
    site = Site(5, pages=140, rate=2e-3)
    for url in list(site.changes)[::2]:
        del site.changes[url][1:]  # these never change
    for cuts in ((), (70,)):
        state = capture(site, cuts=cuts, rate=2e-3)
        (row,) = state.captures.values()
        done = sorted((v.outcome.started, v.page) for v in state.visits if v.finished)
        maps = [time for time, page in done if state.pages[page].kind is Kind.SITEMAP and time <= row.reference]
        assert len(maps) == 3, "at the start, after two fifths of the visits, at T: the last fifth is not worth another"
        assert row.reference == maps[-1]
        assert max(time for time, _ in done) > row.reference
        check(site, state)
    state = capture(site, rate=2e-3, hints=0.0)
    (row,) = state.captures.values()
    maps = [v.outcome.started for v in state.visits if state.pages[v.page].kind is Kind.SITEMAP]
    assert sum(time <= row.reference for time in maps) == 2, "without hints at the start and at T alone"


@pytest.mark.slow
def test_rates_follow_what_sitemaps_say_on_the_way_and_at_t():
    asked = []

    class Ages:
        def rates(self, sightings, now):
            asked.append((now, {one.url: one.hints and one.hints.lastmod for one in sightings}))
            ages = [math.inf if one.hints is None else 1e3 + now + SKEW - one.hints.lastmod for one in sightings]
            return [RateEstimate(1e-6 + 1 / age, "age") for age in ages]

    site = Site(5, pages=200, rate=2e-3)
    state = capture(site, audit=0.0, rates=lambda _: Chain([Ages()]))
    (row,) = state.captures.values()
    visited = {}
    for visit in sorted(state.visits, key=lambda one: one.outcome.started if one.finished else math.inf):
        visited.setdefault(state.pages[visit.page].url, visit.outcome.started)
    last = [(now, told) for now, told in asked if now < row.reference][-1]
    assert len(last[1]) == pytest.approx(0.6 * site.pages, abs=2), "of those that wait"
    order = sorted(last[1], key=visited.get)
    ages = [last[0] + SKEW - last[1][url] for url in order]
    assert ages == sorted(ages, reverse=True), "what has changed of late comes last"
    again, told = asked[-1]
    assert again == row.reference
    assert told, "what is downloaded again is rated by what the sitemaps say at T"
    assert set(told) <= set(site.changes)


@pytest.mark.slow
def test_what_changed_before_t_is_downloaded_again_right_after_it_the_hottest_first_and_cut_off_or_not():
    site = Site(7, pages=60, rate=5e-3)
    for cuts in ((), (45,), (50,)):
        state = capture(site, audit=0.0, cuts=cuts, rate=1e-3)
        (row,) = state.captures.values()
        visits = sorted((v.outcome.started, v.slot, v.page) for v in state.visits if v.finished)
        pages = [one for one in visits if state.pages[one[2]].url in site.changes]
        lost = {
            page
            for time, _, page in pages
            if time < row.reference and not site.still(state.pages[page].url, time, row.reference)
        }
        again = [page for time, slot, page in pages if slot is Slot.SECOND and page in lost]
        assert len(lost) > 5
        assert len(again) == len(set(again)) > 0.7 * len(lost), "but for those that change too often"
        after = [page for time, _, page in pages if time > row.reference]
        assert cuts or after[: len(again)] == again
        won = {one.page for one in state.judgements if one.verdict is Verdict.COHERENT}.intersection(again)
        assert len(won) > len(again) / 2
        check(site, state)


class Halves(Site):
    """Each folder has a sitemap of its own."""

    def answer(self, fetch: Fetch, now: float) -> tuple[Outcome, list[Sighting]]:
        outcome, links = super().answer(fetch, now)
        if fetch.kind is Kind.ROBOTS:
            return outcome._replace(robots=f"Sitemap: {ROOT}a.xml\nSitemap: {ROOT}b.xml"), []
        return outcome, [one for one in links if fetch.kind is not Kind.SITEMAP or one.url[len(ROOT)] == fetch.url[-5]]


@pytest.mark.slow
def test_cut_off_between_two_sitemaps_at_t_the_other_one_is_read_before_all_else():
    site, store = Halves(3, pages=60, rate=1e-3), MemoryStore()
    asked = [state.pages[visit.page].url for state in (capture(site),) for visit in state.visits if visit.finished]
    second = [number for number, url in enumerate(asked, 1) if url.endswith(".xml")][3]
    frontier = Frontier(Politeness(delay=STEP), store)
    frontier.open(CaptureSpec("a", (ROOT,), "sharc-attested", audit=0.1, lag=0.0), START)
    now = run_answered(frontier, START, second, site.answer)
    went_on = Frontier(Politeness(delay=STEP), store)
    went_on.restore(store.load(), now)
    after: list[str] = []

    def answered(fetch: Fetch, now: float) -> tuple[Outcome, list[Sighting]]:
        after.append(fetch.url)
        return site.answer(fetch, now)

    run_answered(went_on, now, 3, answered)
    assert after[0] == asked[second - 1]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("cut", range(2, 48, 3))
def test_t_never_moves(cut, tmp_path):
    site = Site(2, rate=1e-3)
    store = SqliteStore(tmp_path)
    state = capture(site, cuts=(cut,), store=store)
    check(site, state)
    (row,) = state.captures.values()
    before = [v for v in state.visits if v.finished and state.pages[v.page].kind is Kind.PAGE]
    last = max(v.outcome.ended for v in before if v.outcome.started < row.reference)
    assert last <= row.reference
    assert {word.read for word in state.lastmods} >= {row.reference}
    finished = Counter(v.page for v in before)
    assert max(finished.values()) <= 2
    store.close()


class Later(Future):
    """Work of a large site, done by others: it is over when it has been asked for twice."""

    def __init__(self, work) -> None:
        super().__init__()
        self.work, self.looks = work, 0

    def done(self) -> bool:
        self.looks += 1
        if self.looks == 2:
            self.set_result(self.work())
        return super().done()


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("visits", [1, 2])
@pytest.mark.parametrize("cuts", [(), (9, 32, 38, 3)])
def test_words_are_weighed_beside_the_crawl_at_t_and_at_the_end(visits, cuts):
    works = []

    def aside(work, pages):
        works.append((work.func.__name__, pages))
        return Later(work)

    site = Site(seed=3, rate=1e-4)
    beside = check(site, capture(site, visits, cuts=cuts, aside=aside))
    assert beside == check(site, capture(site, visits, cuts=cuts))
    assert [name for name, _ in works[-2:]] == ["_weigh", "judge"]
    assert works[-1][1] >= beside["coherent", "attested", True] + (visits == 1) * 5, "all of them, and the audited"
    assert works[-2][1] >= 30


@pytest.mark.parametrize(("strategy", "visited"), [("sharc-attested", True), ("sharc-attested:visits=2", False)])
def test_a_page_that_the_sitemaps_of_t_are_the_first_to_name_comes_after_it(impolite, strategy, visited):
    class Growing(World):
        def step(self, frontier):
            if sum(fetch.kind is Kind.SITEMAP for _, fetch in self.requests) == 1:
                self.links[MAP] = [*dated, Sighting(f"{ROOT}new", hints=Hints(500.0, 1.0), via=MAP)]
            return super().step(frontier)

    dated = [Sighting(f"{ROOT}{number}", hints=Hints(100.0 * number, 1.0), via=MAP) for number in range(7)]
    world = Growing()
    world.links[MAP] = dated
    frontier = Frontier(impolite, store := MemoryStore())
    frontier.open(CaptureSpec("a.example", (ROOT,), strategy, sitemaps=(MAP,)), world.now)
    world.run(frontier)
    assert frontier.done
    assert any(fetch.url == f"{ROOT}new" for _, fetch in world.requests) == visited
    (new,) = (row for row in store.load().pages if row.url == f"{ROOT}new")
    assert (new.state == State.LATE) == (not visited)
