"""What a site says of its changes: who is asked, what is heard, what a restart knows of it."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import pytest

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.modes.two_visits import TwoVisits
from sharc_crawler.model import Hints, Kind, Outcome, Phase, Result, Sighting, Slot, Visit
from sharc_crawler.polling.hint_hubs import HintHubs
from sharc_crawler.rates.base import MODIFIED
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.pages import NO_PARENT
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.conftest import World
from tests.frontier.modes import stubs
from tests.frontier.modes.stubs import YES_OR_NO, Noted

bare = partial(stubs.bare, TwoVisits)
OK = Outcome(Result.OK, 5.0, 6.0, 200)


def spec(**given) -> SimpleNamespace:
    return SimpleNamespace(**{"hints": 0.1} | given)


@pytest.mark.parametrize("reading", YES_OR_NO)
def test_lastmods_are_wanted_while_sitemaps_are_read_again(reading):
    assert bare(_hints=SimpleNamespace(reading=reading)).listens is reading


@pytest.mark.parametrize(
    ("compares", "hints", "takes"), [(True, 0.1, True), (True, 0.0, False), (False, 0.1, False), (True, 1.0, True)]
)
def test_hubs_are_polled_where_pages_are_compared_and_hints_are_to_be_used(compares, hints, takes):
    assert bare(compares=compares, _capture=SimpleNamespace(spec=spec(hints=hints))).takes_hubs is takes


def test_what_a_sitemap_says_is_an_interval():
    noted = Noted()
    mode = bare(_hints=SimpleNamespace(changes=SimpleNamespace(ingest=noted.one("said"))))
    mode.ingest(3, 7.0, Hints(lastmod=100.0, lastmod_precision=60.0))
    assert noted.calls == [("said", 3, 7.0, 100.0, 160.0)]


FEED, STORY = "http://h/feed.xml", "http://h/story"


def naming(depth: int = 1, url: str = FEED, **more):
    """A mode that knows one page, and what it is told."""
    noted = Noted()
    given = {
        "_tests": SimpleNamespace(stated=noted.one("stated")),
        "_hints": SimpleNamespace(may_be_hub=noted.one("hub")),
        "compares": True,
        "_capture": SimpleNamespace(spec=spec()),
        "_ledger": SimpleNamespace(pages=SimpleNamespace(depths={4: depth}, urls={4: url})),
    }
    return bare(**given | more), noted


@pytest.mark.parametrize(
    ("depth", "url", "compares", "hub"),
    [(0, FEED, True, True), (1, FEED, True, True), (2, FEED, True, False), (1, STORY, True, False),
     (1, FEED, False, False)],
)  # fmt: skip
def test_a_page_that_the_front_names_may_be_a_hub_by_its_name(depth, url, compares, hub):
    mode, noted = naming(depth, url, compares=compares)
    mode.queued([4], 0, [Sighting(url, hints="said")], 9.0)
    assert noted.calls == [("stated", 4, "said"), *[("hub", 4)] * hub]


def test_what_is_said_later_of_a_known_page_tests_its_rate():
    mode, noted = naming()
    mode.dated(4, Sighting(FEED, hints="said"))
    assert noted.calls == [("stated", 4, "said")]


def test_sitemaps_that_tell_of_changes_are_known_with_their_last_reading():
    mode = TwoVisits(SimpleNamespace(pages=None), SimpleNamespace(spec=spec()), None, compares=True)
    mode.sitemap_read(1, Slot.FIRST, OK)
    assert mode._hints is None, "it did not tell of any"
    mode.lastmods_in(1, 3.0)
    hints = mode._hints
    mode.sitemap_read(2, Slot.FIRST, OK)
    assert hints.sitemaps == {1: 3.0}
    mode.sitemap_read(1, Slot.SECOND, OK)
    assert hints.sitemaps == {1: 5.0}
    mode.lastmods_in(2, 6.0)
    assert mode._hints is hints
    assert hints.sitemaps == {1: 5.0, 2: 6.0}


def telling(**more):
    """A mode with hints that note what they are told."""
    noted = Noted()
    names = ("linked", "polled", "visited_again", "may_be_hub", "replans", "order_again")
    hints = SimpleNamespace(
        hubs=SimpleNamespace(add=noted.one("add"), drop=noted.one("drop")),
        **{name: noted.one(name) for name in names},
        sitemaps={},
        replanned=False,
        changes=SimpleNamespace(ingest=noted.one("said")),
        answer=None,
    )
    return bare(**{"_hints": hints, "compares": True} | more), noted


@pytest.mark.parametrize(("pages", "hints", "asked"), [(200, 0.1, True), (199, 0.1, False), (900, 0.0, False)])
def test_seeds_are_visited_early_where_many_pages_wait_and_a_feed_may_be_a_hub_in_any_case(pages, hints, asked):
    seen = SimpleNamespace(find=lambda urls: [3, UNSEEN, 8][: len(urls)])
    mode, noted = telling(
        _capture=SimpleNamespace(spec=spec(hints=hints, seeds=("a", "b", "c")), seen=seen),
        _ledger=SimpleNamespace(pages=SimpleNamespace(depths={4: 1}, urls={4: FEED})),
        _tests=SimpleNamespace(stated=lambda page, hints: None),
    )
    mode.begun(range(pages), 9.0)
    mode.queued([4], 3, [Sighting(FEED)], 9.0)
    assert noted.calls == [("add", 3), ("add", 8)] * asked + [("may_be_hub", 4)] * (hints > 0)


def test_what_is_called_a_hub_is_one_for_certain_and_its_host_has_something_to_visit():
    asked: list[int] = []
    mode, noted = telling(_ledger=SimpleNamespace(pages=SimpleNamespace(hosts={4: 1}), may_have_pages=asked.append))
    mode.hub(4)
    assert noted.calls == [("add", 4, True)]
    assert asked == [1]


LINKS = [
    Sighting(FEED, hints=Hints(lastmod=3.0)),
    Sighting(STORY, hints=Hints(published=5.0)),
    Sighting("http://h/both", hints=Hints(lastmod=6.0, published=4.0)),
    Sighting("http://h/often", hints=Hints(changefreq="daily")),
    Sighting("http://h/plain"),
]


@pytest.mark.parametrize(
    ("depth", "links", "hub"), [(0, LINKS, True), (1, LINKS, True), (2, LINKS, False), (1, LINKS[3:], False)]
)
def test_a_document_near_the_front_whose_links_have_dates_is_a_hub(depth, links, hub):
    mode, noted = telling(
        _capture=SimpleNamespace(spec=spec()), _ledger=SimpleNamespace(pages=SimpleNamespace(depths={7: depth}))
    )
    assert mode.named(SimpleNamespace(kind=Kind.PAGE, page=7, url=FEED), OK, links) is links
    dates = {FEED: 3.0, STORY: 5.0, "http://h/both": 6.0} if links is LINKS else {}
    assert mode._hints.answer == (5.0, dates)
    assert noted.calls == [("add", 7, True)] * hub


@pytest.mark.parametrize(
    ("hints", "news"),
    [
        ([Hints(published=5.0)], True),
        ([None, Hints(published=5.0)], True),
        ([Hints(published=5.0, lastmod=6.0)], False),
        ([Hints(lastmod=6.0)], False),
        ([None], False),
    ],
)
def test_a_sitemap_that_says_when_pages_came_to_be_and_not_when_they_changed_is_a_hub(hints, news):
    mode, noted = telling(_capture=SimpleNamespace(spec=spec()))
    links = [Sighting(STORY, hints=one) for one in hints]
    fetch = SimpleNamespace(kind=Kind.SITEMAP, page=7, url=FEED)
    found = mode.named(fetch, OK, links)
    assert found == [*links, *[Sighting(FEED, Kind.HUB)] * news]
    assert mode._hints.answer is None
    assert not noted.calls
    mode.compares = False
    assert mode.named(fetch, OK, links) is links


def test_who_says_nothing_of_changes_is_asked_for_nothing():
    mode = bare(_hints=None, compares=True, _capture=SimpleNamespace(spec=spec()))
    fetch = SimpleNamespace(kind=Kind.PAGE, page=7, url=FEED)
    assert mode.named(fetch, OK, LINKS[3:]) == LINKS[3:]
    mode.linked(7, [8])
    mode.closed(7, "gone")
    assert mode._hints is None
    assert mode.next(SimpleNamespace(next=lambda now: ("the strategy's", now)), 3.0) == ("the strategy's", 3.0)


def test_what_hubs_and_second_looks_bring_is_handed_on():
    mode, noted = telling()
    mode.captured = noted.one("captured")
    mode.linked(7, [8])
    mode.polled(7, OK, [8])
    failed = OK._replace(result=Result.FAILED)
    mode.visited_again(7, OK, failed)
    assert noted.calls == [("linked", 7, [8]), ("polled", 7, OK, [8]), ("visited_again", 7, OK, failed)]
    mode.visited_again(7, failed, OK)
    assert noted.calls[3:] == [("captured", [(7, Slot.FIRST, OK)]), ("visited_again", 7, failed, OK)]


def test_hubs_come_before_what_the_strategy_says():
    for early in (None, Visit(3, Slot.FIRST)):
        mode = bare(_hints=SimpleNamespace(early=lambda strategy, found=early: found))
        assert mode.next(SimpleNamespace(next=lambda now: "the strategy's"), 3.0) == (early or "the strategy's")


@pytest.mark.parametrize("reference", [None, 0.0, 5.0])
@pytest.mark.parametrize("ahead", [[], [1, 2]])
@pytest.mark.parametrize(
    ("hints", "failed", "modified", "told"),
    [(True, False, None, True), (False, True, None, True), (False, False, "a date", True), (False, False, None, False)],
)
def test_at_the_turn_the_revisits_are_ordered_by_what_is_said(reference, ahead, hints, failed, modified, told):
    noted = Noted()
    speaks = SimpleNamespace(replans=noted.one("replans", "waits"))
    mode = bare(
        _hints=speaks if hints else None,
        _site_hints=lambda: speaks,
        _tests=SimpleNamespace(failed=failed),
        _capture=SimpleNamespace(life=SimpleNamespace(reference=reference)),
        _ledger=SimpleNamespace(pages=SimpleNamespace(last_modified=lambda page: modified if page == 2 else None)),
        turn=noted.one("turn"),
    )
    strategy = SimpleNamespace(revisits_ahead=lambda: ahead)
    asks = told and (hints or failed or bool(ahead))
    assert mode._replans(strategy, 9.0) == ("waits" if asks else False)
    turns = [("turn", 9.0)] * (bool(ahead) and reference is None)
    assert noted.calls == turns + [("replans", strategy, ahead)] * asks


# -- after a restart ------------------------------------------------------------------------------------------------


def row(page: int, url: str = STORY, **more) -> SimpleNamespace:
    given = {
        "depth": 1,
        "kind": Kind.PAGE,
        "state": State.VISITED,
        "hints": None,
        "source": "prior",
        "parent": NO_PARENT,
    }
    return SimpleNamespace(page=page, url=url, **given | more)


@pytest.mark.parametrize(
    ("more", "hub"),
    [
        ({}, True),
        ({"depth": 0}, True),
        ({"depth": 2}, False),
        ({"kind": Kind.HUB}, False),
        ({"state": State.LATE}, False),
        ({"url": "http://h/FEED"}, True),
        ({"url": STORY}, False),
    ],
)
def test_after_a_restart_a_page_near_the_front_may_be_a_hub_by_its_name(more, hub):
    found, mode = [], telling()[0]
    mode._may_be_hubs = found.extend
    mode.recall_pages([row(4, **{"url": FEED} | more)])
    assert found == [4] * hub


def test_after_a_restart_it_is_known_which_sitemaps_tell_of_changes():
    mode, noted = telling()
    mode._tests = SimpleNamespace(stated=noted.one("stated"))
    mode._ledger = SimpleNamespace(pages=SimpleNamespace(kinds=[Kind.SITEMAP, Kind.SITEMAP, Kind.SITEMAP, Kind.PAGE]))
    rows = [
        row(9, hints=Hints(lastmod=3.0), parent=3),  # of a feed that is a page
        row(4, hints=Hints(lastmod=3.0), parent=1),
        row(5, hints=Hints(lastmod=3.0), parent=0),
        row(6, hints=Hints(changefreq="daily"), parent=2),
        row(7, hints=Hints(lastmod=3.0)),
        row(8, parent=3),
    ]
    mode.recall_pages(rows)
    assert mode._hints.sitemaps == {1: 0.0, 0: 0.0}
    assert noted.calls == [("stated", one.page, one.hints) for one in rows[:5]]
    assert mode._hints.replanned is False


def test_what_a_sitemap_had_said_before_t_is_known_again_as_an_interval():
    mode, noted = telling()
    mode.recall_lastmod(SimpleNamespace(page=3, read=7.0, lastmod=100.0, precision=60.0))
    assert noted.calls == [("said", 3, 7.0, 100.0, 160.0)]
    assert mode._hints.replanned is True


def test_t_is_that_of_the_site():
    assert bare(_capture=SimpleNamespace(reference=5.0)).reference_of(None) == 5.0


@pytest.mark.parametrize("drew", YES_OR_NO)
@pytest.mark.parametrize("hints", YES_OR_NO)
@pytest.mark.parametrize(("pages", "made"), [([0, 1], True), ([0, 2], True), ([0], False), ([], False)])
def test_after_a_restart_among_the_revisits_their_order_is_made_again(drew, hints, pages, made):
    """1 is judged, 2 is left open by a 304."""
    states = [State.VISITED, State.JUDGED, State.VISITED]
    for phase in (Phase.REVISIT, Phase.VISIT):
        mode, noted = telling(
            _capture=SimpleNamespace(phase=phase),
            _drew=drew,
            _by_304=SimpleNamespace(open={2}),
            _ledger=SimpleNamespace(pages=SimpleNamespace(states=states)),
        )
        mode._draw = noted.one("draw")
        mode._hints = mode._hints if hints else None
        assert mode.rebuilt("door", [Visit(page, Slot.FIRST) for page in pages]) == {2}
        calls = [("draw",)] * (not drew) + [("order_again", "door", made)] * hints
        assert noted.calls == calls * (phase is Phase.REVISIT)


def test_a_hub_that_is_refused_is_polled_no_more():
    hubs = HintHubs()
    for page in (0, 1):
        hubs.add(page)
    TwoVisits.closed(SimpleNamespace(_hints=SimpleNamespace(hubs=hubs)), 0, "robots.txt disallows it")
    assert [page in hubs for page in (0, 1)] == [False, True]
    TwoVisits.closed(SimpleNamespace(_hints=None), 0, "robots.txt disallows it")  # nothing was said of changes so far


@pytest.mark.parametrize(("source", "replanned"), [(MODIFIED, True), ("prior", False)])
def test_who_was_repriced_by_what_the_server_said_was_so_at_t(source, replanned):
    hints, mode = SimpleNamespace(replanned=False), TwoVisits.__new__(TwoVisits)
    mode._site_hints = lambda: hints
    rows = [SimpleNamespace(source=one, depth=2, hints=None) for one in ("prior", source, "prior")]
    for row in rows:
        row.kind, row.state = Kind.PAGE, State.VISITED
    mode.recall_pages(rows)
    assert hints.replanned is replanned


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
def test_a_feed_that_is_a_page_is_no_sitemap_after_a_restart_and_the_capture_ends(impolite, strategy):
    """An Atom feed dates changes, and was the first to name its pages."""
    root, pages = "http://a.example/", [f"http://a.example/{number}" for number in range(80)]
    dated = [Sighting(page, hints=Hints(lastmod=900.0 - number)) for number, page in enumerate(pages)]
    world = World({root: [Sighting(f"{root}feed.atom")], f"{root}feed.atom": dated})
    frontier = Frontier(impolite, store := MemoryStore())
    frontier.open(CaptureSpec("a.example", (root,), strategy, sitemaps=()), world.now)
    world.run_restarted(frontier, impolite, store, every=40)
    fetched = [fetch.url for _, fetch in world.requests if fetch.slot is not Slot.SECOND]
    assert {root, f"{root}feed.atom", *pages} == set(fetched)
