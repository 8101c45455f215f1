"""What sitemaps and hubs say of pages while a capture visits them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from sharc_crawler.frontier.modes.hints import ChangeHints


def test_early_is_what_changed_between_the_capture_s_start_and_the_first_reading_as_that_reading_said():
    said = ChangeHints(SimpleNamespace(started=100.0), None, None)
    before, early, unsaid = range(3)
    said.ingest(before, 200.0, 90.0, 91.0)
    said.ingest(early, 200.0, 150.0, 151.0)
    for page in (before, unsaid):
        said.ingest(page, 300.0, 250.0, 251.0)
    said.ingest(before, 400.0, 150.0, 151.0)  # a word that is taken back
    assert said._early == {early}


def test_rates_are_told_by_the_time_until_the_first_reading_and_from_then_until_the_last(monkeypatch):
    told = []

    def corrected(rates, shapes, early, late, periods, *_):
        told.append((rates.tolist(), early.tolist(), late.tolist(), periods))
        return rates * 2, shapes

    monkeypatch.setattr("sharc_crawler.frontier.modes.hints.corrected", corrected)
    pages = SimpleNamespace(
        rates=[1.0, 2.0, 3.0], weights=[1.0] * 3, shapes=[np.inf] * 3, started=[110.0] * 3, urls=["http://h/"] * 3
    )
    said = ChangeHints(SimpleNamespace(started=100.0), pages, SimpleNamespace(learned=lambda _, rates: rates))
    for page, change in ((0, 150.0), (2, 90.0)):
        said.ingest(page, 200.0, change, change + 1)
    assert said.of(range(3)).rates.tolist() == [1.0, 2.0, 3.0], "read once"
    said.ingest(2, 330.0, 250.0, 251.0)
    assert said.of(range(3)).rates.tolist() == [2.0, 2.0, 6.0], "nothing is said of one"
    assert told == [([1.0, 3.0], [True, False], [False, True], (100.0, 130.0))]


def test_where_sitemaps_were_read_twice_and_no_page_is_visited_yet_nothing_stands():
    pages = SimpleNamespace(rates=[1.0], weights=[1.0], shapes=[np.inf], started=[110.0], urls=["http://h/"])
    said = ChangeHints(SimpleNamespace(started=100.0), pages, SimpleNamespace(learned=lambda _, rates: rates))
    for read in (200.0, 330.0):
        said.ingest(0, read, 150.0, 151.0)
    assert said.of(()).pages == []


def test_what_is_said_of_a_page_is_held_against_its_visit_by_two_seconds():
    visited = 1_000.0
    pages = SimpleNamespace(rates=[1.0] * 8, weights=[1.0] * 8, shapes=[np.inf] * 8, started=[visited] * 8)
    said = ChangeHints(SimpleNamespace(started=900.0), pages, SimpleNamespace(learned=lambda _, rates: rates))
    unsaid, before, after, near_before, near_after, by_hub, hub_before, both = range(8)
    for page, last in ((before, 997.9), (after, 1_002.1), (near_before, 998.0), (near_after, 1_002.0), (both, 900.0)):
        said.ingest(page, 1_100.0, last, last)
    for page, when in ((by_hub, 1_002.1), (hub_before, 990.0), (both, 1_050.0), (both, 950.0)):
        said.changed(page, when)
    found = said.of(range(8))
    assert set(np.flatnonzero(found.stale)) == {after, by_hub, both}
    assert set(np.flatnonzero(found.still)) == {before}
    assert set(np.flatnonzero(found.by_hub)) == {by_hub, both}
    assert not found.spent[[after, by_hub, both]].any()
    said.spent(both)
    assert said.of(range(8)).spent[both]
    said.changed(both, 1_060.0)
    assert not said.of(range(8)).spent[both], "a later word"
    assert unsaid not in said
    assert before in said


def test_something_was_said_where_a_sitemap_or_a_hub_has_spoken():
    said = [ChangeHints(SimpleNamespace(started=100.0), None, None) for _ in range(3)]
    said[1].ingest(4, 200.0, 150.0, 151.0)
    said[2].changed(4, 150.0)
    assert [bool(one) for one in said] == [False, True, True]
    assert [4 in one for one in said] == [False, True, False], "a sitemap alone tells of each page"


def test_periods_count_where_they_differ_by_more_than_the_clocks_and_pages_of_one_kind_are_corrected_together(
    monkeypatch,
):
    told = []

    def corrected(rates, shapes, early, late, periods, classes, said, read):
        told.append((early.tolist(), late.tolist(), classes.tolist(), said.tolist(), read))
        return rates * 2, shapes * 3

    monkeypatch.setattr("sharc_crawler.frontier.modes.hints.corrected", corrected)
    pages = SimpleNamespace(
        rates=[1.0] * 4, weights=[5.0] * 4, shapes=[7.0] * 4, started=[110.0] * 4,
        urls=["http://h/a/1.html", "http://h/b/2.html", "http://h/a/3.html", "http://h/c/4.html"],
    )  # fmt: skip
    said = ChangeHints(SimpleNamespace(started=100.0), pages, SimpleNamespace(learned=lambda _, rates: rates + 0.5))
    for page, change in ((0, 100.0), (1, 100.5), (2, 200.0)):
        said.ingest(page, 200.0, change, change + 1)
    said.ingest(2, 202.0, 200.5, 201.0)
    assert said.of(range(4)).rates.tolist() == [1.5] * 4, "two seconds apart"
    said.ingest(1, 202.5, 200.0, 201.0)
    found = said.of(range(4))
    assert told == [([False, True, True], [False, False, True], [0, 1, 0], [100.0, 200.0, 200.5], 202.5)]
    assert found.rates.tolist() == [3.0, 3.0, 3.0, 1.5]
    assert found.shapes.tolist() == [21.0, 21.0, 21.0, 7.0]
    assert (found.planned.tolist(), found.weights.tolist()) == ([1.0] * 4, [5.0] * 4)
    assert (found.visited.tolist(), found.pages) == ([110.0] * 4, [0, 1, 2, 3])


def test_a_hub_alone_speaks_where_no_sitemap_says_for_certain_that_the_page_changed_after_its_visit():
    """A word is an interval, and clocks differ by two seconds."""
    pages = SimpleNamespace(rates=[1.0] * 5, weights=[1.0] * 5, shapes=[np.inf] * 5, started=[1_000.0] * 5)
    said = ChangeHints(SimpleNamespace(started=900.0), pages, SimpleNamespace(learned=lambda _, rates: rates))
    for page, (earliest, latest) in enumerate([(1_003.0, 1_004.0), (1_002.0, 1_002.0), (1_001.0, 1_009.0)]):
        said.ingest(page, 1_100.0, earliest, latest)
    for page in range(4):
        said.changed(page, 1_050.0)
    said.ingest(4, 1_100.0, 990.0, 1_009.0)
    found = said.of(range(5))
    assert set(np.flatnonzero(found.stale)) == {0, 1, 2, 3}, "it may have changed before its visit"
    assert set(np.flatnonzero(found.by_hub)) == {1, 2, 3}
    assert not found.still.any()
