"""Sites whose made-up addresses lead to true pages, each of which says something else at each answer."""

from __future__ import annotations

import pytest

from tests.frontier.traps.made_sites import LOWER, ROOT, Made, captured, crawl

NOISE = {
    "nothing": lambda world, url: "",
    "time": lambda world, url: f"it is {world.dice.randrange(24):02}:{world.dice.randrange(60):02}:07",
    "visitor": lambda world, url: f"you are visitor {world.dice.randrange(1_000, 90_000)}",
    "session": lambda world, url: f"your session is {url}",
}


class Noisy(Made):
    """``form``: of an address, of a page and what is made up; ``near``: a page names the next ones."""

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
