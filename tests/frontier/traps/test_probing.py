"""In which order waits what looks like a trap's, and what tells that two pages may be one."""

from __future__ import annotations

from itertools import pairwise

import pytest

from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.frontier.traps.probing import Doubted, is_look, names_new, places, under_path
from sharc_crawler.model import Slot, Visit
from tests.frontier.traps.tables import ROOT, add, table


def taken(doubted: Doubted) -> list[int]:
    return [doubted.take().page for _ in range(len(doubted))]


def test_what_waits_comes_by_its_distance_days_first_and_neighbours_apart():
    pages, doubted = table(*(f"page{number}" for number in range(20)), "cal/2026/11", "cal/2026/11/23"), Doubted()
    deep = add(pages, "deep", 1)
    for page in (deep, *range(1, 23), 0):
        doubted.put(Visit(page, Slot.FIRST), pages)
    order = taken(doubted)
    assert set(order[:2]) == {0, 22}, "a seed, and a day"
    assert order[-1] == deep
    assert order[2:-1] != sorted(order[2:-1])
    assert sum(abs(one - other) == 1 for one, other in pairwise(order)) < 5


def test_once_links_stay_what_copies_lead_to_comes_first():
    pages, doubted = table("one", "two"), Doubted()
    below = [add(pages, f"below/{parent}", parent) for parent in (1, 2)]
    seed = add(pages, "seed", NO_PARENT)
    deep = add(pages, "deep", below[0])
    for page in (*below, seed, deep):
        doubted.put(Visit(page, Slot.FIRST), pages)
    doubted.follow({2}, pages)
    doubted.follow({1}, pages)
    later = add(pages, "later", 2)
    doubted.put(Visit(later, Slot.FIRST), pages)
    order = taken(doubted)
    assert set(order[:3]) == {below[1], later, seed}
    assert order[3:] == [below[0], deep]


@pytest.mark.parametrize(
    ("url", "known", "new", "most"),
    [
        ("http://h/a", [], ["http://h/b"], True),
        ("http://h/a", ["http://h/c"], ["http://h/b"], False),  # as many
        ("http://h/a", ["http://h/c"], ["http://h/b", "http://h/d"], True),
        ("http://h/a", [], ["http://g/b"], False),  # another site's
        ("http://h/a", [], ["http://h/b/c"], False),  # of another shape
        ("http://h/a", ["http://h/b/c", "http://g/d"], ["http://h/b"], True),
        ("http://h/a", [], ["mailto:a"], False),
    ],
)
def test_what_a_page_names_of_its_own_shape_is_counted(url, known, new, most):
    assert names_new(url, known, new) is most


def test_parameters_together_are_more_than_one_place():
    assert places(f"{ROOT}p?a=b") & places(f"{ROOT}p?c=d"), "the query is one place"
    assert not places(f"{ROOT}p?a=b&c=d") & places(f"{ROOT}p?e=f&g=h")
    assert places(f"{ROOT}p?a=b&c=d") & places(f"{ROOT}p?a=b&c=e")
    assert not places(f"{ROOT}a") & places(f"{ROOT}b")


def test_a_look_is_told_by_its_own_name():
    assert is_look(f"{ROOT}x?no-such-page-euxmcqqecr")
    assert not is_look(f"{ROOT}x/no-such-page-euxmcqqecr"), "a folder's error page"
    assert not is_look(f"{ROOT}x?no-such-page-aaaaaaaaaa"), "a site's own"
    assert under_path(f"{ROOT}s?a=1", "text", f"{ROOT}s?b=1", set())
