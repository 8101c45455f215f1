"""When second looks are worth asking for hints."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from sharc_crawler.frontier.modes import WORTH, before_reference
from sharc_crawler.frontier.modes.before_reference import SecondLooks
from sharc_crawler.frontier.modes.hints import PageHints
from sharc_crawler.model import Phase


@pytest.mark.parametrize(("more", "due"), [(0, False), (1, True)])
def test_hints_are_asked_for_once_more_visits_were_made_than_their_sources_cost(more, due):
    capture = SimpleNamespace(
        spec=SimpleNamespace(hints=0.5),
        phase=Phase.VISIT,
        counts=SimpleNamespace(visits=2 * WORTH + more),
        budget=SimpleNamespace(spare=lambda _: 1e6),
    )
    strategy = SimpleNamespace(first_visits_left=1, first_visits_waiting=1)
    assert SecondLooks(capture).due(strategy, 2, 0.0, hinted=False) is due


def looks(visits=200, hints=0.1, phase=Phase.VISIT, spare=1e6, pages=200) -> SecondLooks:
    return SecondLooks(
        SimpleNamespace(
            spec=SimpleNamespace(hints=hints),
            phase=phase,
            counts=SimpleNamespace(visits=visits, pages=pages),
            budget=SimpleNamespace(spare=lambda _: spare),
        )
    )


def due(some: SecondLooks, left: int = 1, waiting: int = 1, sources: int = 2, hinted: bool = False) -> bool:
    strategy = SimpleNamespace(first_visits_left=left, first_visits_waiting=waiting)
    return some.due(strategy, sources, 0.0, hinted=hinted)


@pytest.mark.parametrize(
    ("given", "asked", "expected"),
    [
        ({}, {}, True),
        ({"hints": 0.0}, {}, False),
        ({}, {"sources": 0}, False),
        ({}, {"sources": 0, "hinted": True}, True),
        ({"phase": Phase.REVISIT}, {}, False),
        ({}, {"waiting": 0}, False),
        ({}, {"left": 200}, True),  # half of the visits are made
        ({}, {"left": 201}, False),
        ({"spare": 7.0}, {}, True),  # the last page twice, two sitemaps now and at T
        ({"spare": 6.0}, {}, False),
        ({"spare": 405.0}, {"left": 200}, True),
        ({"spare": 404.0}, {"left": 200}, False),
        ({"visits": 1, "hints": 1.0}, {"sources": 0, "hinted": True}, True),
        ({"visits": 0, "hints": 1.0}, {"sources": 0, "hinted": True}, False),
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


def said(size, stale=(), spent=(), still=(), by_hub=(), rates=1e-6, visited=0.0, weight=1.0) -> PageHints:
    """Of pages 100, 101, …; the others by their places."""
    masks = [np.isin(np.arange(size), list(some)) for some in (stale, still, spent, by_hub)]
    rates = np.broadcast_to(np.asarray(rates, float), size).copy()
    numbers = [100 + place for place in range(size)]
    return PageHints(
        numbers, rates, rates, np.full(size, weight), np.full(size, np.inf), visited + np.arange(size), *masks
    )


def chosen(found: PageHints, **given) -> SecondLooks:
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
    assert chosen(said(6, stale=range(6)), hints=3 / 400).take() == [], "the sitemaps are to be read at T, too"


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


def test_nobody_is_called_by_no_hint():
    called = looks()._stale
    assert [len(column) for column in called] == [0] * len(called) != []
