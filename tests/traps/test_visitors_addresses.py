"""Pages behind addresses that are made up for each visitor are captured, and few twice."""

from __future__ import annotations

import random
import re
import string

import pytest

from sharc_crawler.addresses.unlikely import is_nobodys
from tests.traps.made_sites import (
    BASE36,
    LOWER,
    Made,
    crawl,
)


def made(visited: list[str]) -> set[str]:
    """What was visited, without what was asked for that nobody names."""
    return {url for url in visited if "no-such-page" not in url and not is_nobodys(url)}


def numbers(visited: list[str]) -> set[int]:
    return {int(found[1]) for url in made(visited) if (found := re.search(r"page(\d+)", url))}


class Sessions(Made):
    """Each link to one of twelve pages has something in its address that is made up at each answer."""

    says = True
    true = range(12)

    def content(self, url):
        found = re.search(r"page(\d+)", url)
        at = int(found[1]) if found else 0
        near = [0, *self.true[max(at - 2, 0) : at], *self.true[at + 1 : at + 6]]
        return f"story {at}", [self.made().replace("PAGE", f"page{other}") for other in near]


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("pattern", "names", "strategy"),
    [
        ("PAGE?a={}&b={}", LOWER, "bfs"),
        ("PAGE?a={}&b={}", LOWER, "sharc-selective"),
        ("PAGE?a=7{}7&b=7{}7", string.digits, "bfs"),
        ("PAGE?a=7{}7&b=7{}7", string.digits, "sharc-selective"),
        ("s/{}/PAGE", LOWER, "bfs"),
        ("s/{}/PAGE", LOWER, "sharc-selective"),
        ("s/{}/PAGE", LOWER, "dfs"),
        ("{}/PAGE/{}", LOWER, "bfs"),
        ("{}/PAGE/{}", LOWER, "sharc-selective"),
        ("{}/PAGE/{}", LOWER, "dfs"),
        ("PAGE/{}/{}", BASE36, "sharc-selective"),
        ("{}/{}/PAGE", "0123456789abcdef", "sharc-selective"),
    ],
)
def test_pages_behind_addresses_made_up_for_each_visitor_are_all_captured(impolite, pattern, names, strategy):
    world = Sessions(pattern, names)
    visited, _ = crawl(world, impolite, strategy)
    assert numbers(visited) == set(world.true)
    assert len(made(visited)) <= 3 * len(world.true)


class Chain(Sessions):
    """Each page names the next one alone, by a parameter between others."""

    def content(self, url):
        content, (home, *_) = super().content(url)
        after = int(content.rpartition(" ")[2]) + 1
        return content, [home, *([self.made().replace("PAGE", f"page{after}")] if after in self.true else [])]


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
def test_a_parameter_that_tells_pages_apart_is_known_beside_those_that_do_not(impolite, strategy):
    visited, _ = crawl(Chain("p?id=PAGE&s={}&t={}", LOWER), impolite, strategy)
    assert numbers(visited) == set(Chain.true)
    assert len(made(visited)) <= 3 * len(Chain.true)


class SmallSessions(Sessions):
    true = range(6)


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
@pytest.mark.parametrize("pattern", ["s/{}/PAGE", "PAGE?a={}&b={}", "{}/PAGE/{}"])
def test_six_pages_behind_such_addresses_take_eighteen_visits(impolite, pattern, strategy):
    world = SmallSessions(pattern, LOWER)
    visited, _ = crawl(world, impolite, strategy)
    assert numbers(visited) == set(world.true)
    assert len(made(visited)) <= 3 * len(world.true)


class SessionTree(Sessions):
    """Each page names the one above and two below: half of them are named by one page alone."""

    true = range(8)

    def content(self, url):
        content, _ = super().content(url)
        at = int(content.rpartition(" ")[2])
        near = [other for other in dict.fromkeys((0, (at - 1) // 2, 2 * at + 1, 2 * at + 2)) if other in self.true]
        return content, [self.made().replace("PAGE", f"page{other}") for other in near if other != at]


@pytest.mark.matrix
@pytest.mark.parametrize(
    "seed", [0, 1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
@pytest.mark.parametrize("pattern", ["{}/PAGE/{}", "PAGE?a={}&b={}", "s/{}/PAGE"])
def test_pages_that_one_page_alone_names_are_captured_behind_such_addresses(impolite, pattern, strategy, seed):
    """Some names look made up, others do not: both tell that their place means nothing."""
    world = SessionTree(pattern, BASE36)
    world.dice = random.Random(seed)
    visited, _ = crawl(world, impolite, strategy)
    assert numbers(visited) == set(world.true) | {0}
    assert len(made(visited)) <= 3 * len(world.true)
