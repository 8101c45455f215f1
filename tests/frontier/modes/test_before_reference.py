"""When second looks are worth asking for hints."""

from __future__ import annotations

from array import array
from types import SimpleNamespace

import numpy as np
import pytest

from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.modes import before_reference
from sharc_crawler.frontier.modes.before_reference import SecondLooks
from sharc_crawler.frontier.modes.hint_hubs import HintHubs
from sharc_crawler.frontier.modes.hint_signs import MODIFIED, WORTH
from sharc_crawler.frontier.modes.hints import SiteHints
from sharc_crawler.frontier.modes.said import SaidOfPages
from sharc_crawler.frontier.modes.two_visits import TwoVisits
from sharc_crawler.model import Kind, Outcome, Phase, RateEstimate, Result


@pytest.mark.parametrize(("more", "due"), [(0, False), (1, True)])
def test_hints_are_asked_for_once_more_visits_were_made_than_their_sources_cost(more, due):
    capture = SimpleNamespace(
        spec=SimpleNamespace(hints=0.5),
        phase=Phase.VISIT,
        counts=SimpleNamespace(visits=2 * WORTH + more),
        budget=SimpleNamespace(spare=lambda _: 1e6),
    )
    strategy = SimpleNamespace(first_visits_left=1, first_visits_waiting=1)
    assert SecondLooks(capture).due(strategy, 2, 0.0) is due


@pytest.mark.parametrize(("visits", "asked"), [(10, 1), (39, 1), (40, 2), (1_000, 5)])
def test_one_in_twenty_pages_at_most_is_asked_for_its_neighbours(visits, asked):
    owed = []
    hints = SimpleNamespace(
        _edited=lambda stale: None,
        _worth_a_slot=lambda probes, step, now: probes,
        _owe_hubs=lambda pages: owed.extend(pages) or len(pages),
        _capture=SimpleNamespace(counts=SimpleNamespace(visits=visits)),
        _probes=set(),
        looks=SimpleNamespace(affords=lambda *_: True, polled=lambda hubs: None),
    )
    strategy = SimpleNamespace(setting=SimpleNamespace(step=1.0), first_visits_left=1)
    SiteHints.surmised(hints, SimpleNamespace(stale={}, probes=[1, 2, 3, 4, 5]), strategy, 0.0)
    assert owed == [1, 2, 3, 4, 5][:asked]
    assert hints._probes == set(owed)


def test_a_probe_is_worth_its_slot_where_nothing_was_said_of_it_and_it_finds_more_than_the_others_lose():
    """The cost: what all visited pages lose in one step."""
    pages = SimpleNamespace(rates=[0.01] * 4, started=[0.0, 50.0, 90.0, 99.0], pages_in=lambda state: range(4))
    hints = SimpleNamespace(_ledger=SimpleNamespace(pages=pages), said={3})
    kept = [np.exp(-0.01 * (100.0 - started)) for started in pages.started]
    cost = 5.0 * 0.01 * sum(kept)
    dear = {page: cost / (one - cost) for page, one in enumerate(kept)}
    worth = SiteHints._worth_a_slot
    assert worth(hints, {page: 1.001 * found for page, found in dear.items()}, 5.0, 100.0) == [0, 1, 2]
    assert worth(hints, {page: 0.999 * found for page, found in dear.items()}, 5.0, 100.0) == []


def looks(visits=200, hints=0.1, phase=Phase.VISIT, spare=1e6, pages=200) -> SecondLooks:
    return SecondLooks(
        SimpleNamespace(
            spec=SimpleNamespace(hints=hints),
            phase=phase,
            counts=SimpleNamespace(visits=visits, pages=pages),
            budget=SimpleNamespace(spare=lambda _: spare),
        )
    )


def due(some: SecondLooks, left: int = 1, waiting: int = 1, sources: int = 2, said: bool = False) -> bool:
    strategy = SimpleNamespace(first_visits_left=left, first_visits_waiting=waiting)
    return some.due(strategy, sources, 0.0, said=said)


@pytest.mark.parametrize(
    ("given", "asked", "expected"),
    [
        ({}, {}, True),
        ({"hints": 0.0}, {}, False),
        ({}, {"sources": 0}, False),
        ({}, {"sources": 0, "said": True}, True),
        ({"phase": Phase.REVISIT}, {}, False),
        ({}, {"waiting": 0}, False),
        ({}, {"left": 200}, True),  # half of the visits are made
        ({}, {"left": 201}, False),
        ({"spare": 7.0}, {}, True),  # the last page twice, two sitemaps now and at T
        ({"spare": 6.0}, {}, False),
        ({"spare": 405.0}, {"left": 200}, True),
        ({"spare": 404.0}, {"left": 200}, False),
        ({"visits": 1, "hints": 1.0}, {"sources": 0, "said": True}, True),
        ({"visits": 0, "hints": 1.0}, {"sources": 0, "said": True}, False),
        ({"hints": 3 / 400}, {}, True),  # a share of all requests
        ({"hints": 2 / 400}, {}, False),
    ],
)
def test_hints_are_read_when_half_of_the_visits_or_all_but_one_are_made_and_there_is_room(given, asked, expected):
    assert due(looks(**given), **asked) is expected


def test_in_the_midst_of_the_visits_hints_are_read_once():
    some = looks()
    some.asked(2)
    assert some.begun
    some.half_way()
    assert not some.begun
    assert not due(some, left=200)
    assert not due(some, left=2)
    assert due(some, left=1)


@pytest.mark.parametrize(("visits", "again"), [(202, False), (203, True)])
def test_after_a_round_none_begins_before_more_than_one_page_in_a_hundred_was_visited(visits, again):
    some = looks()
    some.over()
    some._capture.counts.visits = visits
    assert due(some) is again


def test_twenty_rounds_are_made():
    some = looks()
    for _ in range(19):
        some.asked(0)
    some._round = None
    assert due(some)
    some.asked(0)
    assert due(some, waiting=0), "the twentieth is under way"
    some._round = None
    assert not due(some)


@pytest.mark.parametrize(
    "spend", [lambda some: some.looked(0, 1e-6, True), lambda some: some.polled(1), lambda some: some.asked(1)]
)
def test_what_was_asked_for_and_looked_at_counts_against_the_share(spend):
    some = looks(hints=10 / 400)
    for _ in range(7):
        assert due(some)
        spend(some)
    assert due(some)
    spend(some)
    assert not due(some)


@pytest.mark.parametrize(
    ("given", "made", "requests", "hubs", "left", "expected"),
    [
        ({"pages": 100, "visits": 5_000}, 0, 0, 20, 10, True),  # a share of twenty
        ({"pages": 100, "visits": 5_000}, 0, 0, 21, 10, False),
        ({"pages": 100, "visits": 5_000}, 12, 0, 8, 10, True),
        ({"pages": 100, "visits": 5_000}, 13, 0, 8, 10, False),
        ({"pages": 100, "visits": 5_000}, 0, 12, 8, 10, True),
        ({"pages": 100, "visits": 5_000}, 0, 13, 8, 10, False),
        ({"pages": 9_000, "visits": 0}, 0, 0, 1, 10, True),  # each once
        ({"pages": 9_000, "visits": 0}, 0, 1, 1, 10, False),
        ({"pages": 9_000, "visits": 49}, 0, 2, 2, 10, False),
        ({"pages": 9_000, "visits": 50}, 0, 2, 2, 10, True),  # then one for fifty visits
        ({"pages": 9_000, "visits": 50}, 0, 3, 2, 10, False),
        ({"spare": 22.0}, 0, 0, 2, 10, True),  # beside two downloads of all that is left
        ({"spare": 21.0}, 0, 0, 2, 10, False),
    ],
)
def test_hubs_are_polled_where_the_share_the_visits_and_the_budget_allow_it(
    given, made, requests, hubs, left, expected
):
    some = looks(**given)
    some.polled(requests)
    for _ in range(made):
        some.looked(0, 1e-6, True)
    assert some.affords(hubs, left, 0.0) is expected


def said(size, stale=(), spent=(), still=(), by_hub=(), rates=1e-6, visited=0.0, weight=1.0) -> SaidOfPages:
    """Of pages 100, 101, …; the others by their places."""
    masks = [np.isin(np.arange(size), list(some)) for some in (stale, still, spent, by_hub)]
    rates = np.broadcast_to(np.asarray(rates, float), size).copy()
    numbers = [100 + place for place in range(size)]
    return SaidOfPages(
        numbers, rates, rates, np.full(size, weight), np.full(size, np.inf), visited + np.arange(size), *masks
    )


def chosen(found: SaidOfPages, **given) -> SecondLooks:
    some = looks(**given)
    assert due(some)
    some.asked(2)
    some.choose(found, 2, 1.0, 0.0)
    return some


def test_what_is_said_to_have_changed_is_looked_at_unless_a_look_by_that_word_brought_nothing():
    assert chosen(said(6, stale=(1, 3, 4), spent=(3,))).take() == [101, 104]


def test_the_coldest_are_looked_at_as_many_as_there_is_room_for():
    rates = [1e-6 * (7 - place) for place in range(6)]
    some = chosen(said(6, stale=range(6), rates=rates), hints=7 / 400)
    assert some.take() == [105, 104, 103]
    assert some.take() == []


@pytest.mark.parametrize(("others", "made"), [(100, True), (400, False)])
def test_a_look_that_costs_the_others_more_than_it_brings_is_not_made(others, made):
    """Each of them has to wait a second longer."""
    assert chosen(said(1 + others, stale=(0,), rates=[1e-6, *[0.02] * others])).take() == [100] * made


def test_looks_come_twenty_at_first_then_twice_as_many_as_were_made():
    some = chosen(said(200, stale=range(100)), visits=2_000)
    sizes = []
    for _ in range(4):
        taken = some.take()
        sizes.append(len(taken))
        for page in taken:
            some.looked(page, 1e-6, True)
    assert sizes == [20, 20, 40, 20]


def test_where_hints_were_wrong_again_and_again_no_more_looks_are_made_by_them():
    for of_hubs in ((), range(100)):
        some = chosen(said(200, stale=range(100), by_hub=of_hubs), visits=2_000)
        for page in some.take():
            some.looked(page, 1e-6, False)
        assert some.take() == []
    mixed = chosen(said(200, stale=range(100), by_hub=range(50)), visits=2_000)
    for page in mixed.take():
        mixed.looked(page, 1e-6, False)
    assert mixed.take()[0] == 150, "hubs were wrong, sitemaps were not asked"


@pytest.mark.parametrize(("sources", "over"), [(1, False), (2, True), (3, True)])
def test_another_round_is_made_where_the_last_one_looked_at_more_pages_than_it_asked_sources(sources, over):
    some = chosen(said(9, stale=(1, 2)))
    some.take()
    assert some.ended(sources) is over
    assert some.begun is not over


def test_after_twenty_readings_no_round_is_made_whatever_the_last_one_found():
    for readings in (19, 20):
        some = chosen(said(9, stale=(1, 2)))
        some._polls = readings
        some.take()
        assert some.ended(1) is (readings == 20)


def test_a_round_that_looked_at_nobody_is_the_last():
    some = looks()
    some.asked(0)
    assert some.ended(0) is True


@pytest.mark.parametrize(("truth", "weight", "looked"), [(0.2, 1.0, True), (0.19, 1.0, False), (0.2, 0.0, False)])
def test_a_hint_is_followed_where_one_in_five_is_true_and_its_page_is_worth_something(truth, weight, looked):
    some = chosen(said(1, stale=(0,), weight=weight))
    some._truth[False] = SimpleNamespace(probability=lambda rates: np.full(len(rates), truth))
    assert some.take() == [100] * looked


def test_who_waits_for_looks_is_held_by_its_visit_unless_something_is_said_of_it(monkeypatch):
    given = []

    def order(*told):
        given.extend(told)
        return np.arange(len(told[0]))

    monkeypatch.setattr(before_reference, "revisit_order", order)
    found = said(5, stale=(0,), still=(1,), visited=40.0)._replace(visited=np.array([40.0, 41.0, 42.0, 43.0, 51.0]))
    looks().choose(found, 2, 3.0, 50.0)
    rates, weights, _, elapsed, step = given
    assert elapsed.tolist() == [0.0, 0.0, 8.0, 7.0, 0.0]
    assert (rates.tolist(), weights.tolist(), step) == ([1e-6] * 5, [1.0] * 5, 3.0)


def test_the_note_counts_looks():
    some = looks()
    assert some.note() == ""
    some.looked(0, 1e-6, True)
    assert some.note().startswith("1 page was visited again before")
    assert some.note().endswith("said that it had changed: 1 had")
    some.looked(0, 1e-6, False)
    assert some.note().endswith("said that they had changed: 1 had")


@pytest.mark.parametrize(
    ("ahead", "read", "owed"),
    [
        (150, (50.0, 100.0, 99.0), [0, 2]),  # since T
        (149, (50.0, 100.0, 99.0), []),  # fifty revisits a sitemap at least
        (500, (100.0, 101.0), []),
        (500, (), []),
    ],
)
def test_at_t_sitemaps_are_read_that_were_not_read_since_where_many_revisits_follow(ahead, read, owed):
    asked = []
    hints = SimpleNamespace(
        _capture=SimpleNamespace(reference=100.0), sitemaps=dict(enumerate(read)), _owe_sitemaps=asked.extend
    )
    assert SiteHints._read_again(hints, ahead) is bool(owed)
    assert asked == owed


def ordered(found: SaidOfPages) -> list[int]:
    """The order of the revisits that it is turned into."""
    made = []
    hints = SimpleNamespace(_capture=SimpleNamespace(reference=100.0), said=SimpleNamespace(standing=lambda _: found))
    strategy = SimpleNamespace(setting=SimpleNamespace(step=1.0), reorder=made.extend)
    SiteHints._replan(hints, strategy, list(range(len(found.pages))))
    return made


def test_at_t_what_is_said_to_have_changed_is_revisited_last_unless_that_is_said_of_most():
    assert ordered(said(4, stale=(0, 1), rates=0.01))[2:] == [0, 1]
    assert ordered(said(4, stale=(0, 1, 2), rates=0.01)) == ordered(said(4, rates=0.01))
    assert ordered(said(1, stale=(0,))) == [0]


@pytest.mark.parametrize(
    ("modified", "source", "told", "named"),
    [
        (89.0, "sitemap", True, "last-modified"),
        (89.0, "lastmod", True, "last-modified"),
        (89.0, "history", True, "history"),
        (89.0, "prior", True, None),  # it is not believed
        (98.0, "sitemap", False, None),  # it only repeats the time of the answer
        (97.0, "sitemap", True, "last-modified"),
    ],
)
def test_rates_are_told_by_last_modified_where_no_sitemap_told_them(modified, source, told, named):
    from email.utils import formatdate

    asked, rated = [], []

    def rates(sightings, now):
        asked.extend(one.hints.lastmod for one in sightings)
        return [RateEstimate(0.5, source) for _ in sightings]

    pages = SimpleNamespace(
        urls=["http://h/0", "http://h/1", "http://h/2"], started=[100.0] * 3,
        last_modified=lambda page: None if page == 1 else formatdate(modified, usegmt=True),
    )  # fmt: skip
    hints = SimpleNamespace(
        _ledger=SimpleNamespace(pages=pages, rated=lambda page, one: rated.append((page, one.source))),
        _capture=SimpleNamespace(reference=200.0, rates=SimpleNamespace(rates=rates)),
        said={2},
    )
    assert SiteHints._reprice(hints, [0, 1, 2]) is bool(named)
    assert asked == [modified] * told
    assert rated == ([(0, named)] if named else [])


@pytest.mark.parametrize(
    ("result", "state", "polled"),
    [
        (Result.OK, State.VISITED, "later"),
        (Result.NOT_MODIFIED, State.VISITED, "later"),
        (Result.GONE, State.LOST, "dropped"),
        (Result.FAILED, State.VISITED, "never"),
    ],
)
def test_a_hub_that_names_nothing_is_asked_later_and_one_that_is_gone_or_fails_not_again(result, state, polled):
    hubs = HintHubs()
    for page in (0, 1):
        hubs.add(page)
        hubs.polled(page, 100.0, [5, 6], {})
    before = dict(hubs._due)
    hints = SimpleNamespace(
        hubs=hubs,
        _capture=SimpleNamespace(strategy=object()),
        _ledger=SimpleNamespace(pages=SimpleNamespace(states=[state, state])),
    )
    for started in (100.0, 200.0):
        SiteHints.silent(hints, 0, Outcome(result, started, started))
        SiteHints.silent(hints, 2, Outcome(result, started, started))
        if started == 100.0:
            assert hubs._due == before, "its answer is known"
    assert (0 in hubs) is (polled != "dropped")
    assert hubs._due[1] == before[1]
    assert hubs._due.get(0, 0.0) == np.inf if polled == "never" else hubs._due.get(0) != before[0]
    hints._capture.strategy = None
    after = dict(hubs._due)
    SiteHints.silent(hints, 1, Outcome(result, 300.0, 300.0))
    assert hubs._due == after


def test_a_hub_that_is_refused_is_polled_no_more():
    hubs = HintHubs()
    for page in (0, 1):
        hubs.add(page)
    TwoVisits.closed(SimpleNamespace(_hints=SimpleNamespace(hubs=hubs)), 0, "robots.txt disallows it")
    assert [page in hubs for page in (0, 1)] == [False, True]
    TwoVisits.closed(SimpleNamespace(_hints=None), 0, "robots.txt disallows it")  # nothing was said of changes so far


def test_a_revisit_is_alike_where_it_shows_what_the_visit_did():
    mode = TwoVisits.__new__(TwoVisits)
    mode._contents = array("q")
    for page, content in ((2, "a story"), (0, None)):
        mode._shown(page, Outcome(Result.OK, 1.0, 2.0, fingerprint=content))
    alike = [
        page
        for page in range(5)
        for content in ("a story", "another", None)
        if mode._alike(page, Outcome(Result.OK, 5.0, 6.0, fingerprint=content))
    ]
    assert alike == [2], "that two have no fingerprint tells nothing"


@pytest.mark.parametrize(("source", "replanned"), [(MODIFIED, True), ("prior", False)])
def test_who_was_repriced_by_what_the_server_said_was_so_at_t(source, replanned):
    hints, mode = SimpleNamespace(replanned=False), TwoVisits.__new__(TwoVisits)
    mode._site_hints = lambda: hints
    rows = [SimpleNamespace(source=one, depth=2, hints=None) for one in ("prior", source, "prior")]
    for row in rows:
        row.kind, row.state = Kind.PAGE, State.VISITED
    mode.recall_pages(rows)
    assert hints.replanned is replanned


def test_nobody_is_called_by_no_hint():
    called = looks()._called
    assert [len(column) for column in called] == [0] * len(called) != []
