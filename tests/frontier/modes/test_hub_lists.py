"""What counts as new on a hub: what lists lacked, what dates say, what a new page leads to."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import pytest

from sharc_crawler.addresses.known_urls import SeenUrls
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.modes.instant import LEFT, PERHAPS_NEW, Instantly
from sharc_crawler.model import Hints, Kind, Result, Sighting
from sharc_crawler.polling.terms import Terms
from sharc_crawler.state.pages import HUB_KEY, NO_PARENT
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.modes.hubs import A, B, News, begin, fetched


def test_what_another_hub_showed_when_it_was_first_polled_is_new_on_a_hub_that_lacked_it():
    """B's first poll comes after A's: a page of the time between them is on both, and new on A alone."""
    news = News({A: [], B: []})
    between = [Sighting(f"{A}between.html", Kind.PAGE)]
    old = [Sighting(f"{B}old.html", Kind.PAGE)]
    plain, news.names = news.names, lambda url, now: [
        *plain(url, now), *(between if now > 2 and (url == B or now > 40) else []), *(old if url == B else [])
    ]  # fmt: skip
    store = MemoryStore()
    politeness = Politeness(delay=5.0, obey_robots=False)
    terms = Terms(every=100, duration=500)
    frontier = begin(terms, A, B, store=store, politeness=politeness)
    news.answers |= {f"{A}between.html": Result.FAILED}
    now = news.run(frontier, 0.0, until=106.0)
    assert frontier.capture.counts.late == 1
    (row,) = store.load().novelties.values()
    assert (row.hub, row.published) == (0, None)
    assert row.since < 40 < row.seen
    news.answers.clear()
    went_on = Frontier(politeness, store, terms=terms)
    went_on.restore(store.load(), now)
    news.run(went_on, now)
    assert set(fetched(news)) == {f"{A}between.html"}
    assert went_on.capture.counts.late == 1


@pytest.mark.parametrize("early", [0.0, 60.0])
def test_a_sitemap_of_news_that_was_read_is_a_list_that_lacked_what_it_names_as_a_hub(early):
    """A page appears after the reading, is on another hub first, whose first poll it is, and then on the sitemap."""
    listed = "http://h.example/list.xml"
    news = News({})

    def names(url, now):
        pages = [("old", -5.0), ("between", 3.0)] if now > 3 else [("old", -5.0)]
        hints = [Hints(published=born - early, published_precision=1.0) if url == listed else None for _, born in pages]
        shown = [Sighting(f"{A}{name}", Kind.PAGE, url, each) for (name, _), each in zip(pages, hints, strict=True)]
        return [Sighting(listed, Kind.HUB, url), *shown] if url == listed else shown if url == A else []

    news.names = names
    frontier = Frontier(Politeness(delay=5.0, obey_robots=False), terms=Terms(every=100, duration=40))
    frontier.open(CaptureSpec("h.example", (A,), "bfs:revisits=none", sitemaps=(listed,), mode="instant"), 0.0)
    news.run(frontier, 0.0)
    assert fetched(news) == [f"{A}between"]


@pytest.mark.parametrize("early", [0.0, 3600.0])
def test_after_a_hubs_first_poll_dates_do_not_decide(early):
    news = News({A: [-5.0, 150.0]}, dated=True)
    plain = news.names

    def told(one):
        return one._replace(hints=Hints(published=one.hints.published - early, published_precision=1.0))

    news.names = lambda url, now: [told(one) if one.hints else one for one in plain(url, now)]
    news.run(frontier := begin(Terms(every=100, duration=400), A), 0.0)
    assert fetched(news) == [f"{A}150.html"]
    (row,) = frontier.ledger.novelties.values()
    assert (row.published, row.latest) == (150.0 - early, 151.0 - early)
    assert row.since < 150 < row.seen


def test_dates_are_the_servers_and_a_day_that_may_be_before_the_crawl_is_named():
    behind, day = 600.0, 86_400.0
    news = News({A: [-5.0, 0.5]})
    hints = {
        -5.0: Hints(published=-605.0, published_precision=1.0),
        0.5: Hints(published=-599.5, published_precision=1.0),
    }
    news.extra[A] = [Sighting(f"{A}today.html", Kind.PAGE, A, Hints(published=-day / 2, published_precision=day))]
    plain, answer = news.names, news.answer

    def stated(one):
        return one if one.hints else one._replace(hints=hints[float(one.url[len(A) : -5])])

    news.names = lambda url, now: [stated(one) for one in plain(url, now)]
    news.answer = lambda fetch, now: ((told := answer(fetch, now))[0]._replace(date=now // 1 - behind), told[1])
    store = MemoryStore()
    news.run(begin(Terms(every=100, duration=90), A, store=store), 2.0)
    assert fetched(news) == [f"{A}0.5.html"]
    reasons = {row.url: row.reason for row in store.load().pages}
    assert (reasons[f"{A}today.html"], reasons[f"{A}-5.html"]) == (PERHAPS_NEW, LEFT)


def test_a_list_that_names_new_pages_alone_may_have_dropped_some():
    news = News({})
    news.names = lambda url, now: [
        Sighting(f"{A}{int(now / 10) - i}.html", Kind.PAGE) for i in range(3 + int(now) // 10 % 3)
    ]
    news.run(frontier := begin(Terms(every=20, duration=100), A), 0.0)
    assert not frontier.capture.notes
    news.run(frontier := begin(Terms(every=100, duration=300), A), 0.0)
    assert any("listed only new pages" in note for note in frontier.capture.notes)


def test_new_is_what_a_hub_lacked_and_what_a_new_page_redirects_to():
    kinds = [Kind.PAGE, Kind.PAGE, Kind.HUB, Kind.HUB]
    mode = Instantly.__new__(Instantly)
    mode._ledger = SimpleNamespace(pages=SimpleNamespace(kinds=kinds), novelties={1: "new"})
    mode._lacked = lambda hub: 90.0 if hub == 2 else None
    mode._span, mode._answer, mode._capture = lambda sighting: None, None, SimpleNamespace(started=100.0)
    assert [mode.why_left(Sighting(A), parent) for parent in (NO_PARENT, 0, 1, 2, 3)] == [LEFT, LEFT, "", "", LEFT]
    mode._answer = SimpleNamespace(ended=200.0)
    for share, why in ((0.0, LEFT), (0.49, PERHAPS_NEW), (0.5, ""), (1.0, "")):
        mode._span = lambda sighting, found=share: SimpleNamespace(
            after=lambda *given: found * (given == (100.0, 200.0))
        )
        assert mode.why_left(Sighting(A), 3) == why


def test_what_a_new_page_names_is_a_hub_on_trial_where_there_is_room_and_it_is_none_yet():
    urls = [f"http://h/{name}" for name in ("page", "hub", "polled", "outside", "new", "more")]
    for room, rest in product(range(5), (True, False)):
        seen, named = SeenUrls(), []
        for number, url in enumerate((urls[0], urls[1], HUB_KEY + urls[2])):
            seen.add(url, number)
        mode = Instantly.__new__(Instantly)
        mode._ledger = SimpleNamespace(pages=SimpleNamespace(kinds=[Kind.PAGE, Kind.HUB, Kind.HUB]))
        scope = SimpleNamespace(why_not=lambda url: "another host" if "outside" in url else None)
        mode._capture = SimpleNamespace(seen=seen, scope=scope)
        mode._polls = SimpleNamespace(room=room)
        mode._candidates = SimpleNamespace(named=named.extend, taken=lambda left=rest: iter(urls * left))
        links = [Sighting(urls[4]), Sighting(urls[5], key="a key"), Sighting(urls[0], Kind.RESOURCE)]
        wanted = [urls[0], urls[4], urls[5]][:room] * rest
        assert mode._hubs_among(links) == [Sighting(url, Kind.HUB, "new pages") for url in wanted]
        assert named == [urls[4], "a key"]


def test_no_delay_rests_on_what_a_hub_lacked_that_is_behind_at_every_other_poll():
    """Two machines answer, one of which is 25 s behind and says nothing of that; another hub is as it is."""
    news = News({A: [15.0, 35.0, 55.0, 75.0], B: [35.0, 75.0]})
    plain, asked = news.names, []

    def names(url, now):
        asked.append(url)
        return [Sighting("http://h.example/old", Kind.PAGE), *plain(url, now - 25 * (url == A and asked.count(A) % 2))]

    news.names = names
    store = MemoryStore()
    frontier = begin(Terms(every=10, duration=120, adaptive=False), A, B, store=store)
    news.run(frontier, 0.0)
    state = store.load()
    urls = [page.url for page in state.pages]
    rows = {urls[row.page]: row for row in state.novelties.values()}
    assert len(rows) == 6
    for url, row in rows.items():
        born = float(url.rpartition("/")[2].removesuffix(".html"))
        assert row.since is None or row.since <= born <= row.seen
        assert (row.since is None) == url.startswith(A)
    (note,) = frontier.capture.notes
    assert note == f"{A} listed pages again that it had dropped: what it lacked shows no delay"
