"""Pages told to the rules at once come to what they come to one by one; where they might not, nothing is done."""

from __future__ import annotations

from array import array

import pytest

from sharc_crawler.addresses.known_urls import UNSEEN, SeenUrls
from sharc_crawler.traps import many
from sharc_crawler.traps.rules import Traps
from tests.traps.tables import ROOT, add, table

QUIET = {
    "a folder": [f"a/{number}" for number in range(150)],
    "sessions": [f"s1d2f3g4h5/{number}" for number in range(9)],
    "queries": [f"list?page={number}" for number in range(90)] + [f"{number}/b?c" for number in range(30)],
    "none": ["a"],
}


def state(found):
    """All that something holds, as values: where hashes meet, what a table holds lies as it came."""
    if isinstance(found, SeenUrls):
        return {value: page for value, page in zip(found._hashes, found._pages, strict=True) if page != UNSEEN}
    if isinstance(found, array):
        return found.tolist()
    if isinstance(found, dict):
        return list(found.items())
    return {name: state(value) for name, value in vars(found).items()} if hasattr(found, "__dict__") else found


def site(paths):
    """A seed names the first page, and each page the next."""
    pages = table()
    for number, path in enumerate(paths):
        add(pages, path, number)
    return pages, list(range(1, len(pages))), [ROOT + path for path in paths]


def one_by_one(traps, pages, numbers, urls, contents):
    for page, url, content in zip(numbers, urls, contents, strict=True):
        traps.showed(page, url, content, pages, lambda: False)


@pytest.mark.parametrize("case", QUIET)
def test_at_once_they_come_to_what_they_come_to_one_by_one(case):
    pages, numbers, urls = site(QUIET[case])
    contents = [f"content {number}" for number in numbers]
    expected, found = Traps(), Traps()
    one_by_one(expected, pages, numbers, urls, contents)
    half = len(numbers) // 2
    for some in (slice(half), slice(half, None)):
        if numbers[some]:
            assert many.tell(found, numbers[some], urls[some], contents[some])
    assert state(found) == state(expected)


def test_where_another_rule_has_to_hear_of_one_nothing_is_done():
    _, numbers, urls = site([*(f"a/{number}" for number in range(9)), "2019/05/06"])
    traps = Traps()
    assert not many.tell(traps, numbers, urls, [f"content {number}" for number in numbers])
    assert state(traps) == state(Traps())


@pytest.mark.parametrize("known", [[], ["twice"]])
def test_a_content_shown_twice_is_told_one_by_one(known):
    pages, numbers, urls = site([f"a/{number}" for number in range(4)])
    traps = Traps()
    one_by_one(traps, pages, numbers[: len(known)], urls[: len(known)], known)
    before = state(traps)
    assert not many.tell(traps, numbers[1:], urls[1:], ["twice", "other", "twice" if not known else "third"])
    assert state(traps) == before


def test_after_copies_all_are_told_one_by_one():
    pages, numbers, urls = site([f"a/{number}" for number in range(4)])
    traps = Traps()
    one_by_one(traps, pages, numbers[:2], urls[:2], ["same", "same"])
    assert not many.tell(traps, numbers[2:], urls[2:], ["third", "fourth"])
