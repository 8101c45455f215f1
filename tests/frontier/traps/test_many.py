"""Pages told to the rules at once come to what they come to one by one; where they might not, nothing is done."""

from __future__ import annotations

from array import array

import pytest

from sharc_crawler.frontier.traps import many, repeats, rules
from sharc_crawler.frontier.traps.rules import Traps
from tests.frontier.traps.tables import ROOT, add, table

QUIET = {
    "a folder": [f"a/{number}" for number in range(150)],
    "two folders, whose pages name each other's": [f"{'ab'[number % 2]}/{number}" for number in range(60)],
    "no numbers": [f"a/{'x' * number}" for number in range(1, 15)],
    "queries": [f"list?page={number}" for number in range(90)] + [f"{number}/b?c" for number in range(30)],
    "queries of letters": [f"list?from={letter}&page={number}" for number, letter in enumerate("abcdefghij")],
    "more templates than are watched": [f"{'x' * number}/1" for number in range(1, 15)],
    "a line's end": ["a/1\n2", "a/3"],
    "dashes": ["a-b-c-d-e", "long-words-with-some-dash"],
    "none": ["a"],
}
OTHERS = {
    "a date": [*(f"a/{number}" for number in range(9)), "2019/05/06"],
    "a session": [*(f"a/{number}" for number in range(9)), "s1d2f3g4h5/a"],
    "a long word": ["a/1", "antidisestablishmentarian"],
    "a long number": ["a/1", "a/12345678"],
    "a uuid of letters": ["abcdefab-abcd-abcd-abcd-abcdefabcdef"],
}


def state(found):
    """All that something holds, as values."""
    if isinstance(found, array):
        return found.tolist()
    if isinstance(found, dict):
        return list(found.items())
    return {name: state(value) for name, value in vars(found).items()} if hasattr(found, "__dict__") else found


WORDS = (
    *(
        "index",
        "a1b2c3",
        "a1b2c",
        "123456",
        "1234567",
        "12345678",
        "abcdefghijklmno",
        "abcdefghijklmnop",
        "page-0000123",
    ),
    *(
        "2ndpage",
        "page.html",
        "ümlaut1",
        "größenordnungen",
        "a_b_c_d",
        "%41%42%43",
        "\udcff12345",
        "x" * 6,
        "7" * 9,
        "",
    ),
)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("place", ["", "/", "?a=", ".", "1"])
def test_words_and_templates_of_many_addresses_are_those_of_each(word, place):
    urls = [f"http://h/plain{place}{word}", f"http://h/{word}/1"]
    assert many._has_odd_word("\n".join(urls)) == any(map(rules.has_odd_word, urls))
    assert many._templates(urls) == list(map(rules.template, urls))


def site(paths):
    """A seed names the first page, and each page the next."""
    pages = table()
    for number, path in enumerate(paths):
        add(pages, path, number)
    return pages, list(range(1, len(pages))), [ROOT + path for path in paths]


def one_by_one(traps, pages, numbers, urls, contents):
    for page, url, content in zip(numbers, urls, contents, strict=True):
        traps.saw(url, content, pages.parent_url(page), listed=pages.listed(page))
        traps.showed(page, url, content, pages, lambda: False)


@pytest.mark.parametrize("case", QUIET)
def test_at_once_they_come_to_what_they_come_to_one_by_one(case, monkeypatch):
    monkeypatch.setattr(rules, "HONEST", 40)
    monkeypatch.setattr(rules, "MOST_SHOWN", 30)
    monkeypatch.setattr(repeats, "MOST", 10)
    pages, numbers, urls = site(QUIET[case])
    contents = [f"content {number}" for number in numbers]
    expected, found = Traps(), Traps()
    one_by_one(expected, pages, numbers, urls, contents)
    half = len(numbers) // 2
    for some in (slice(half), slice(half, None)):
        if numbers[some]:
            assert many.tell(found, numbers[some], urls[some], contents[some], pages)
    assert state(found) == state(expected)


@pytest.mark.parametrize("case", OTHERS)
def test_where_another_rule_has_to_hear_of_one_nothing_is_done(case):
    pages, numbers, urls = site(OTHERS[case])
    traps = Traps()
    assert not many.tell(traps, numbers, urls, [f"content {number}" for number in numbers], pages)
    assert state(traps) == state(Traps())


@pytest.mark.parametrize("known", [[], ["twice"]])
def test_a_content_shown_twice_is_told_one_by_one(known):
    pages, numbers, urls = site([f"a/{number}" for number in range(4)])
    traps = Traps()
    one_by_one(traps, pages, numbers[: len(known)], urls[: len(known)], known)
    before = state(traps)
    assert not many.tell(traps, numbers[1:], urls[1:], ["twice", "other", "twice" if not known else "third"], pages)
    assert state(traps) == before


def test_after_copies_all_are_told_one_by_one():
    pages, numbers, urls = site([f"a/{number}" for number in range(4)])
    traps = Traps()
    one_by_one(traps, pages, numbers[:2], urls[:2], ["same", "same"])
    assert not many.tell(traps, numbers[2:], urls[2:], ["third", "fourth"], pages)
