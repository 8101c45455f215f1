"""Sites whose made-up addresses lead to true pages, each of which says something else at each answer."""

from __future__ import annotations

import pytest

from tests.traps.made_sites import LOWER, ROOT, Made, captured, crawl

NOISE = {
    "nothing": lambda world, url: "",
    "time": lambda world, url: f"it is {world.dice.randrange(24):02}:{world.dice.randrange(60):02}:07",
    "visitor": lambda world, url: f"you are visitor {world.dice.randrange(1_000, 90_000)}",
    "session": lambda world, url: f"your session is {url}",
}


class Noisy(Made):
    """``form``: of an address, of a page and what is made up; ``near``: a page names the next ones."""

    says = True

    def __init__(self, form: str, noise: str, pages: int, near: int) -> None:
        super().__init__("{}", LOWER)
        self.form, self.noise, self.near = form, noise, near
        self.of: dict[str, int] = {ROOT: 0}
        self.true = tuple(range(pages))

    def address(self, number: int) -> str:
        made = self.made().removeprefix(ROOT)
        url = ROOT + self.form.format(page=f"page-{number}", made=made)
        self.of[url] = number
        return url

    def content(self, url):
        name = url.removeprefix(ROOT)
        before, _, after = self.form.partition("{page}")
        found = [number for number in self.true if f"page-{number}" in _words(name)]
        number = self.of.get(url, found[0] if found and (before or after) else 0)
        others = [0, *range(number + 1, min(number + 1 + self.near, len(self.true)))]
        noise = NOISE[self.noise](self, url)
        said = f"{number} is a story"
        text = f"{said}, {noise}\n{said}" if noise else said
        return text, [self.address(other) for other in others if other != number]


def _words(name: str) -> set[str]:
    for sign in "/?=&.,":
        name = name.replace(sign, " ")
    return set(name.split())


FORMS = ["s/{made}/{page}", "{made}/view/{page}", "{page}?r={made}", "view?p={page}&r={made}"]


@pytest.mark.matrix
@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
@pytest.mark.parametrize("noise", [*NOISE])
@pytest.mark.parametrize("form", FORMS)
def test_they_end_and_no_page_is_lost_whatever_changes_in_their_texts(impolite, form, noise, strategy):
    world = Noisy(form, noise, 12, 5)
    visited, _ = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(world.true)
    assert len([url for url in visited if "no-such-page" not in url]) <= 3 * len(world.true)


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
def test_names_that_are_known_by_words_they_share_are_all_captured(impolite, strategy):
    """What was shown before there was suspicion is counted once, so it is not taken for new."""
    world = Noisy("{page},{made}.htm", "nothing", 30, 5)
    visited, _ = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(world.true)


class Lists(Noisy):
    """Honest: a list's pages say the same but for numbers, also beyond its end; each names items and the next ones."""

    def __init__(self) -> None:
        super().__init__("{page}", "nothing", 0, 0)
        self.items = [f"{ROOT}item-{a}{b}" for a in LOWER for b in "xyz"]
        self.true = (ROOT, *self.items)

    def content(self, url):
        if url in self.items:
            return url, [ROOT]
        number = int(url.partition("page=")[2]) if url.partition("page=")[2].isdecimal() else 0
        some = self.items[3 * number : 3 * number + 3]
        steps = [f"{ROOT}list?page={number + step}" for step in (1, 2) if some]
        return f"List {number * 100} of 3000\nList of", [ROOT, *some, *steps]


class Members(Lists):
    """Honest: of most members there is nothing to be seen but the time; whoever is asked for is one."""

    def __init__(self) -> None:
        super().__init__()
        self.names = [f"{a}{b}rus" for a in LOWER for b in "lmn"]
        self.true = tuple(f"{ROOT}user/{name}/{what}" for name in self.names[::6] for what in ("photos", "posts"))

    def content(self, url):
        if url == ROOT:
            return "members", [f"{ROOT}user/{name}/{what}" for name in self.names for what in ("photos", "posts")]
        if url.count("/") != ROOT.count("/") + 2:
            return "not here", []
        _, name, what = url.removeprefix(ROOT).split("/")
        if url in self.true:
            return f"{name} has {what}", [ROOT]
        text = f"has no {what}, at {self.dice.randrange(10_000)}"
        at = self.names.index(name) if name in self.names else 0
        return f"{name} {text}\nhas no {what}", [ROOT, f"{ROOT}user/{self.names[at - 1]}/{what}"]


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
@pytest.mark.parametrize("site", [Lists, Members])
def test_honest_sites_whose_pages_say_the_same_but_for_numbers_lose_nothing(impolite, site, strategy):
    world = site()
    visited, _ = crawl(world, impolite, strategy)
    assert set(world.true) <= set(visited)
