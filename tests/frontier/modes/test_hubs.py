"""An instant crawl's frontier: hubs are polled, what they newly name is fetched first, all else is left."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.modes.instant import LEFT
from sharc_crawler.frontier.sites import Sites
from sharc_crawler.model import Done, Hints, Kind, Outcome, Phase, Result, Sighting, Wait
from sharc_crawler.polling.terms import Terms
from sharc_crawler.report.instant.document import document
from sharc_crawler.report.instant.output import sentence
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.storage.sqlite import SqliteStore
from tests.frontier.modes.hubs import POLITE, A, B, News, begin, fetched, spec


def test_new_pages_are_fetched_and_old_ones_left():
    news = News({A: [-5.0, 700.0, 705.0]})
    frontier = begin(Terms(every=100, duration=1000), A)
    news.run(frontier, 0.0)
    assert fetched(news) == [f"{A}700.html", f"{A}705.html"]
    assert frontier.pages.states[frontier.capture.seen.get(f"{A}-5.html")] == State.LATE
    assert frontier.capture.phase is Phase.DONE


def test_a_new_page_comes_before_the_next_poll():
    news = News({A: [50.0], B: [50.0]})
    frontier = begin(Terms(every=10, duration=100), A, B)
    news.run(frontier, 0.0)
    order = [(fetch.kind, fetch.url) for _, fetch in news.fetches]
    for page in (f"{A}50.html", f"{B}50.html"):
        at = order.index((Kind.PAGE, page))
        assert order[at - 1][0] is Kind.HUB
        assert page.startswith(order[at - 1][1])


def test_dates_tell_what_is_new_at_the_first_poll():
    news = News({A: [-5.0, 0.5]}, dated=True)
    frontier = begin(Terms(every=100, duration=300), A, politeness=Politeness(delay=5.0, obey_robots=False))
    frontier.schedule([], 0.0)
    news.run(frontier, 2.0)
    assert fetched(news) == [f"{A}0.5.html"]
    (row,) = frontier.ledger.novelties.values()
    assert (row.published, row.since) == (0.5, None)


def test_a_page_without_date_is_bounded_by_the_poll_before():
    news = News({A: [250.0]})
    store = MemoryStore()
    news.run(begin(Terms(every=100, duration=400), A, store=store), 0.0)
    (row,) = store.load().novelties.values()
    polls = [now for now, fetch in news.fetches if fetch.kind is Kind.HUB]
    assert row.since == max(now for now in polls if now < 250)
    assert row.seen == pytest.approx(min(now for now in polls if now >= 250) + 0.1)
    assert row.published is None


class Cached(News):
    """News behind a cache that gives one copy of a hub for 130 seconds, and says how old it is."""

    def answer(self, fetch, now):
        made = now - now % 130.0
        outcome, links = super().answer(fetch, made if fetch.kind is Kind.HUB else now)
        age = now - made if fetch.kind is Kind.HUB else None
        return outcome._replace(started=now, ended=now + 0.1, date=made, age=age), links


@pytest.mark.parametrize("cut", [math.inf, 420.0])
def test_a_page_came_to_be_after_the_last_copy_that_lacked_it_was_made_at_the_origin(cut):
    births = [131.0, 250.0, 385.0, 500.0]
    news, store = Cached({A: births}), MemoryStore()
    frontier = begin(Terms(every=20, duration=600), A, store=store)
    now = news.run(frontier, 0.0, until=cut)
    if cut < math.inf:
        went_on = Frontier(POLITE, store, terms=Terms(every=20, duration=600))
        went_on.restore(store.load(), now)
        news.run(went_on, now)
    rows = store.load().novelties.values()
    assert len(rows) == len(births)
    for born, row in zip(births, sorted(rows, key=lambda row: row.seen), strict=True):
        assert row.since is not None
        assert row.since <= born <= row.seen


def test_polls_are_conditional_with_the_latest_validators():
    news = News({A: [250.0]})
    news.run(begin(Terms(every=100, duration=900), A), 0.0)
    sent = [fetch.validators.etag for _, fetch in news.fetches if fetch.kind is Kind.HUB]
    assert sent[0] is None
    assert sent[1] == '"0"'
    assert sent[-1] == '"1"'


def test_feeds_that_a_hub_names_are_hubs_and_date_its_pages():
    feed = "http://h.example/feed.xml"
    news = News({A: [250.0]}, extra={A: [Sighting(feed, Kind.HUB, A), Sighting(feed, Kind.PAGE, A)]})
    news.extra[feed] = [Sighting(f"{A}250.html", Kind.PAGE, feed, Hints(published=250.0))]
    store = MemoryStore()
    news.run(begin(Terms(every=100, duration=600), A, store=store), 0.0)
    assert feed in fetched(news, Kind.HUB)
    assert feed not in fetched(news)


def test_a_page_known_as_such_can_be_a_hub_later():
    news = News({}, extra={A: [Sighting(B, Kind.PAGE, A)]})
    frontier = begin(Terms(every=100, duration=600), A)
    news.run(frontier, 0.0, until=150)
    news.extra[A] = [Sighting(B, Kind.HUB, A), Sighting(B, Kind.PAGE, A)]
    news.run(frontier, 150.0)
    assert B in fetched(news, Kind.HUB)
    assert B not in fetched(news)


def test_what_a_new_page_links_to_stays_unknown_until_a_hub_names_it():
    news = News({A: [140.0], B: [190.0]})
    news.extra[f"{A}140.html"] = [
        Sighting(f"{B}190.html", Kind.PAGE, A),
        Sighting("http://h.example/x.css", Kind.RESOURCE),
    ]
    news.run(begin(Terms(every=100, duration=900), A, B), 0.0)
    assert fetched(news) == [f"{A}140.html", f"{B}190.html"]
    assert fetched(news, Kind.RESOURCE) == ["http://h.example/x.css"]


def leading_to(*urls, count=240, every=50.0):
    """A hub that adds a page every so many seconds, each naming ``urls``."""
    times = [every * (i + 1) for i in range(count)]
    return News({A: times}, extra={f"{A}{t:g}.html": [Sighting(url, Kind.PAGE, A) for url in urls] for t in times})


@pytest.mark.slow
def test_a_page_that_new_pages_lead_back_to_is_polled_and_one_that_shows_more_as_often_as_a_seed():
    news = leading_to(B)
    news.adds[B] = [60.0 * i for i in range(150)]
    store = MemoryStore()
    frontier = begin(Terms(every=60, duration=8_000), A, store=store)
    news.run(frontier, 0.0)
    late = [fetch.url for now, fetch in news.fetches if fetch.kind is Kind.HUB and now > 5_000]
    assert late.count(B) > late.count(A) / 2
    brought = [url for url in fetched(news) if url.startswith(B)]
    assert len(brought) > 80
    went_on = Frontier(POLITE, store, terms=frontier.polls.terms)
    went_on.restore(store.load(), 8_000.0)
    assert len(went_on.polls) == 2


@pytest.mark.slow
def test_a_page_that_new_pages_lead_back_to_and_that_brings_nothing_costs_little_and_is_dropped():
    others = [f"http://h.example/{i}/" for i in range(40)]
    news = leading_to(*others, "http://other.example/")
    news.extra[others[0]] = [Sighting(f"{A}{t:g}.html", Kind.PAGE, A) for t in news.adds[A]]  # all that A shows, later
    frontier = begin(Terms(every=60, duration=12_000), A)
    news.run(frontier, 0.0)
    polls = fetched(news, Kind.HUB)
    tried = set(polls) - {A}
    assert 2 <= len(tried) <= 8
    assert tried < set(others)
    assert len(polls) - polls.count(A) < 0.12 * polls.count(A)
    assert sum("is not polled" in note for note in frontier.capture.notes) >= len(tried) - 1
    assert len(frontier.polls) <= 2


@pytest.mark.slow
def test_what_a_hub_on_trial_redirects_to_is_on_trial():
    news = leading_to("http://h.example/moved/")
    plain = news.answer

    def answer(fetch, now):
        if fetch.url.endswith("/moved/"):
            return Outcome(Result.REDIRECTED, now, now + 0.1, 301, location=B), []
        return plain(fetch, now)

    news.answer = answer
    news.run(begin(Terms(every=60, duration=3_000), A), 0.0)
    polls = fetched(news, Kind.HUB)
    assert 1 <= polls.count(B) < 0.2 * polls.count(A)


def test_a_hub_that_is_not_there_is_dropped_and_one_that_fails_is_not():
    news = News({A: [50.0]}, answers={A: Result.FAILED, B: Result.GONE})
    frontier = begin(Terms(every=10, duration=300), A, B)
    news.run(frontier, 0.0, until=100)
    assert fetched(news, Kind.HUB).count(B) == 1
    assert any(B in note for note in frontier.capture.notes)
    del news.answers[A]
    news.adds[A].append(150.0)
    news.run(frontier, 100.0)
    assert fetched(news) == [f"{A}150.html"]


@dataclass
class Outage(News):
    """This URL answers 503 until then."""

    down: dict[str, float] = field(default_factory=dict)

    def answer(self, fetch, now):
        if now < self.down.get(fetch.url, 0.0):
            return Outcome(Result.FAILED, now, now + 0.1, 503), []
        return super().answer(fetch, now)

    def times(self, url):
        return [now for now, fetch in self.fetches if fetch.url == url]


@pytest.mark.parametrize("until", [90.0, 1000.0])
def test_a_new_page_that_is_busy_is_asked_for_later_each_time_until_the_end(until):
    new = f"{A}50.html"
    news = Outage({A: [50.0], B: [52.0]}, down={new: until})
    frontier = begin(Terms(every=10, duration=300), A, B, store=(store := MemoryStore()))
    news.run(frontier, 0.0)
    assert f"{B}52.html" in fetched(news), "another page of the host"
    assert len(fetched(news, Kind.HUB)) > 40, "polls go on"
    times = news.times(new)
    gaps = [after - before for before, after in pairwise(times)]
    if until < 300:
        assert frontier.pages.having(State.VISITED) or frontier.pages.having(State.JUDGED)
        assert until <= times[-1] < 200
        assert gaps == sorted(gaps)
        assert len(times) < 10
    else:
        assert 300 <= times[-1] < 302, "once more at the end"
        assert gaps[:-1] == sorted(gaps[:-1])
    (page,) = [one for one in document(store.load())["pages"] if one["url"] == new]
    assert (page["captured"] is not None, page["result"]) == ((True, "ok") if until < 300 else (False, "failed"))


@pytest.mark.parametrize("until", [40.0, 1000.0])
def test_a_robots_txt_that_cannot_be_had_is_asked_for_until_the_end(until):
    robots = "http://h.example/robots.txt"
    news = Outage({A: [150.0], "http://i.example/": [30.0]}, down={robots: until})
    politeness, store, other = Politeness(delay=1.0, back_off=1.0), MemoryStore(), "http://i.example/"
    news.run(begin(Terms(every=10, duration=300), A, other, politeness=politeness, store=store), 0.0)
    assert f"{other}30.html" in fetched(news), "another host does not wait"
    assert (news.times(robots)[-1] >= 300) == (until > 300)
    assert (f"{A}150.html" in fetched(news)) == (until < 300)
    said = sentence(document(store.load()))
    assert ("1 hub of 2 could not be read" in said) == (until > 300)


def test_a_redirected_hub_and_a_redirected_page_lead_on():
    news = News({B: [250.0]})
    moved = {A: B, f"{B}250.html": f"{B}there.html"}
    plain = news.answer

    def answer(fetch, now):
        if fetch.url in moved:
            return Outcome(Result.REDIRECTED, now, now + 0.1, 301, location=moved[fetch.url]), []
        return plain(fetch, now)

    news.answer = answer
    frontier = begin(Terms(every=100, duration=600), A)
    news.run(frontier, 0.0)
    assert fetched(news) == [f"{B}250.html", f"{B}there.html"]


@pytest.mark.slow
def test_the_host_is_never_asked_sooner_than_its_delay():
    news = News({A: [10.0 * k for k in range(30)], B: []})
    news.run(begin(Terms(every=5, duration=300), A, B), 0.0)
    starts = [now for now, _ in news.fetches]
    assert min(b - a for a, b in pairwise(starts)) >= 1.0 - 1e-9


@pytest.mark.slow
@given(st.integers(20, 400), st.lists(st.floats(1, 1000), max_size=40))
def test_the_budget_holds_whatever_is_published(requests, times):
    news = News({A: sorted(times), B: []})
    frontier = begin(Terms(every=10, duration=1000, requests=requests), A, B)
    news.run(frontier, 0.0)
    starts = np.array([now for now, _ in news.fetches])
    burst = frontier.polls.budget.burst
    for i in range(0, len(starts), 7):
        sent = np.arange(1, len(starts) - i + 1)
        assert (sent <= (starts[i:] - starts[i]) * requests / 3600 + burst + 1e-6).all()


@pytest.mark.slow
@pytest.mark.matrix
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("cut", [1.0, 130.0, 301.0, 555.0])
def test_a_crawl_goes_on_where_it_was_cut_off(tmp_path, kind, cut):
    """Cut at any moment, a request in flight: what is known stays known, rates are remembered, time stands still."""
    store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path)
    news = News({A: [120.0, 310.0, 500.0, 2000.0], B: [-1.0]})
    terms = Terms(every=50, duration=1000)
    first = begin(terms, A, B, store=store)
    now = news.run(first, 0.0, until=cut)
    first.next(now)  # perhaps a lease that is never answered
    went_on = Frontier(POLITE, store, terms=terms)
    went_on.restore(store.load(), 1500.0)
    assert len(went_on.polls) == 2
    assert went_on.polls._novelty._new == first.polls._novelty._new
    assert [went_on.ledger.polls.last(page) for page in (0, 1)] == [first.ledger.polls.last(page) for page in (0, 1)]
    ended = max(visit.outcome.ended for visit in store.load().visits)
    assert went_on.polls.ends == pytest.approx(1000.0 + 1500.0 - ended)
    news.run(went_on, 1500.0)
    assert sorted(set(fetched(news))) == sorted(
        f"{A}{t:g}.html" for t in (120, 310, 500, 2000) if t < went_on.polls.ends
    )
    assert len(fetched(news)) == len(set(fetched(news)))
    assert f"{B}-1.html" not in fetched(news)


@pytest.mark.slow
@pytest.mark.parametrize("adaptive", [True, False])
def test_restarts_make_no_poll_come_sooner(adaptive):
    """Not even one after each request."""
    made = []
    for restarted in (False, True):
        store, terms, now = MemoryStore(), Terms(every=100, duration=400, adaptive=adaptive), 0.0
        news = News({A: [120.0, 127.0, 310.0], B: [50.0]})
        frontier = begin(terms, A, B, store=store)
        while not isinstance(what := frontier.next(now), Done):
            if isinstance(what, Wait):
                now = what.until
                continue
            outcome, links = news.answer(what, now)
            news.fetches.append((now, what))
            now = outcome.ended
            frontier.finished(what, outcome, links)
            if restarted:
                frontier = Frontier(POLITE, store, terms=terms)
                frontier.restore(store.load(), now)
        made.append(news.fetches)
    through, cut = ([fetch.url for _, fetch in fetches] for fetches in made)
    assert sorted(through) == sorted(cut)
    assert len(through) > 10
    assert all(abs(one - other) < 5.0 for (one, _), (other, _) in zip(*made, strict=True)), "its delay begins anew"


def test_two_sites_do_not_take_each_others_news_for_known():
    other = "http://other.example/"
    news = News({A: [], other: [250.0]}, extra={A: [Sighting(f"{other}250.html", Kind.PAGE, A)]})
    frontier = Sites(POLITE, terms=Terms(every=100, duration=600))
    frontier.open(spec(A), 0.0)
    frontier.open(CaptureSpec("other.example", (other,), "bfs:revisits=none", sitemaps=(), mode="instant"), 0.0)
    news.run(frontier, 0.0)
    assert fetched(news) == [f"{other}250.html"]
    assert LEFT not in "".join(frontier["other.example"].capture.notes)


def test_without_instant_captures_nothing_is_polled(world, impolite):
    frontier = Frontier(impolite)
    frontier.open(CaptureSpec("h", ("http://h.example/",), "bfs", sitemaps=()), world.now)
    world.run(frontier)
    assert frontier.polls is None
    assert {fetch.kind for _, fetch in world.requests} == {Kind.PAGE}
