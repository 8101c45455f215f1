"""Dividing a site: nothing lost, nothing twice, as large as may be, not too many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.subsites.base import KnownPages
from sharc_crawler.subsites.dividing import MOST, divide, fewest_pages
from sharc_crawler.subsites.path import ByPath

LABELS = st.lists(
    st.lists(st.sampled_from("abc"), max_size=3).map(
        lambda names: ByPath().label(f"http://h/{''.join(f'{name}/' for name in names)}x", (), ())
    ),
    min_size=1,
    max_size=60,
)


def by_weight(weights, most):
    return lambda places: sum(weights[place] for place in places) <= most


@pytest.mark.slow
@given(LABELS, st.integers(1, 8), st.integers(0, 40), st.randoms(use_true_random=False))
def test_every_page_is_in_exactly_one_part_which_holds_its_labels(labels, fewest, most, random):
    weights = [random.randrange(4) for _ in labels]
    parts = divide(labels, "site", fewest, by_weight(weights, most))
    assert sorted(place for part in parts for place in part.places.tolist()) == list(range(len(labels)))
    for part in parts:
        for place in range(len(labels)):
            held = any(branch.holds(labels[place]) for branch in part.branches)
            assert held == (place in part.places), f"{part.name} and {labels[place]}"
    assert len({part.name for part in parts}) == len(parts)


@pytest.mark.slow
@given(LABELS, st.integers(1, 8), st.integers(0, 40), st.randoms(use_true_random=False))
def test_what_is_divided_is_not_whole_and_what_is_whole_is_not_divided(labels, fewest, most, random):
    weights = [random.randrange(4) for _ in labels]
    whole = by_weight(weights, most)
    parts = divide(labels, "site", fewest, whole)
    part_of = {place: number for number, part in enumerate(parts) for place in part.places.tolist()}
    for node in {label[:depth] for label in labels for depth in range(len(label) + 1)}:
        places = [place for place, label in enumerate(labels) if label[: len(node)] == node]
        if len({part_of[place] for place in places}) > 1 and len(places) >= fewest:
            assert not whole(np.array(places)), f"{node} would have stood together"


@pytest.mark.slow
@given(LABELS, st.integers(1, 8))
def test_neither_order_nor_repetition_matters(labels, fewest):
    def pages(order):
        parts = divide([labels[place] for place in order], "site", fewest, lambda places: len(places) <= 4)
        return [(part.name, sorted(order[place] for place in part.places)) for part in parts]

    forth, back = list(range(len(labels))), list(reversed(range(len(labels))))
    assert pages(forth) == pages(forth) == pages(back)


def test_a_site_of_many_folders_has_tens_of_parts():
    labels = [
        ByPath().label(f"http://h/{year}/{month}/{day}/page.html", (), ())
        for year in range(1990, 2004)
        for month in range(12)
        for day in range(30)
    ]
    parts = divide(labels, "site", fewest_pages(len(labels)), lambda _: False)
    assert 10 <= len(parts) <= 2 * MOST
    assert parts[0].name.startswith("h/1990/")


def test_neighbours_are_joined_while_they_are_whole_together():
    labels = [("h", f"h/{letter}/", f"h/{letter}/*") for letter in "abcdef" for _ in range(10)]
    parts = divide(labels, "site", 5, lambda places: len(places) <= 20)
    assert [part.name for part in parts] == ["h/a/ … h/b/", "h/c/ … h/d/", "h/e/ … h/f/"]


def test_many_small_folders_are_joined_by_name():
    labels = ByPath().labels(KnownPages([f"http://h/{n:04}/" for n in range(1000)], [()] * 1000))
    parts = divide(labels, "site", 20, lambda places: len(places) <= 100)
    assert [len(part.places) for part in parts] == [100] * 10
    assert parts[0].name == "h/0000/ … h/0099/"
    assert parts[0].branches[0].holds(("h", "h/0007-and-a-half/", "h/0007-and-a-half/*")), "found since"


def test_few_others_go_with_a_part_that_stays_whole():
    labels = [("a",)] * 30 + [("b",)] * 20 + [("c",)] * 2
    parts = divide(labels, "site", 5, lambda places: len(places) <= 22)
    assert [(part.name, len(part.places)) for part in parts] == [("a", 30), ("b", 22)]
    assert [part.name for part in divide(labels, "site", 5, lambda places: len(places) <= 20)] == [
        "a",
        "b",
        "site, others",
    ]


def test_no_two_parts_have_one_name():
    host = [("h", f"h/{folder}/") for folder in "ab" for _ in range(12)] + [
        ("h", f"h/{number}/") for number in range(12)
    ]
    others = [(f"{number}.h", f"{number}.h/") for number in range(12)]
    parts = divide([*host, *others], "h", 10, lambda _: False)
    names = [part.name for part in parts]
    assert len(set(names)) == len(names)
    assert sorted(place for part in parts for place in part.places.tolist()) == list(range(len(host) + len(others)))
