"""Folders that have whatever page is asked for end, whatever it says; sites that seem to be such lose nothing."""

from __future__ import annotations

import random
import re

import pytest

from benchmarks import bench_traps, trap_sites
from sharc_crawler.addresses.unlikely import is_nobodys
from sharc_crawler.model import Kind, Outcome, Result
from sharc_crawler.traps.bottomless import (
    ALONE,
)
from sharc_crawler.traps.probing import looked_at
from sharc_crawler.traps.renamed import WHY
from tests.traps.made_sites import LOWER, ROOT, Beside, Made, captured, crawl, run_through

STRATEGIES = pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])


def asked(visited: list[str]) -> list[str]:
    return [url for url in visited if is_nobodys(url)]


class ErrorPages(Beside):
    """Whatever is no page is an error page of status 200 that says another number each time, and names new ones."""

    def __init__(self, pattern: str = "{}", links: int = 3) -> None:
        super().__init__(pattern, LOWER, links)

    def content(self, url):
        content, links = super().content(url)
        return (f"Error {self.dice.random()}", links) if content == "the trap" else (content, links)


class Wordless(ErrorPages):
    """The same, in a folder; elsewhere what is no page is not there."""

    def __init__(self) -> None:
        super().__init__("x/{}", 4)

    def answer(self, fetch):
        """What nobody names is held against nothing, so there is no fingerprint, and no text either."""
        outcome = super().answer(fetch)
        return outcome._replace(fingerprint=None) if fetch.kind is Kind.PROBE else outcome


class NamingTrueOnes(ErrorPages):
    """They name a true page by chance, too."""

    def content(self, url):
        content, links = super().content(url)
        return (content, [*links, self.dice.choice(self.true)]) if content.startswith("Error") else (content, links)


class NamingParents(ErrorPages):
    """They name the folder that they lie in, another page of it and one within themselves."""

    def content(self, url):
        content, links = super().content(url)
        folder = url.rpartition("/")[0]
        if content.startswith("Error"):
            within = [f"{one}{self.made().removeprefix(ROOT)}" for one in (f"{folder}/", f"{url}/")]
            links = [ROOT, folder if folder.count("/") > 2 else ROOT, *within]
        return content, links


class ForEachAddress(Made):
    """Each made-up address always shows and names the same, and names five further ones."""

    true = Beside.true

    def content(self, url):
        if url == ROOT:
            return url, [self.made(), *self.true[:6]]
        if url in self.true:
            at = self.true.index(url)
            return url, [ROOT, *[self.made()] * (at % 5 == 0), *self.true[at * 2 : at * 2 + 6]]
        former, self.dice = self.dice, random.Random(url)
        links = [self.made() for _ in range(5)]
        self.dice = former
        return f"about {url}", links

    def __init__(self) -> None:
        super().__init__("garden/{}/{}", LOWER)


class LeadingNoFurther(ErrorPages):
    """A third of them."""

    def content(self, url):
        content, links = super().content(url)
        return content, links if self.dice.random() < 2 / 3 or not content.startswith("Error") else [ROOT]


class Growing(ErrorPages):
    """They name what lies within themselves, by three names."""

    def content(self, url):
        content, links = super().content(url)
        if content.startswith("Error"):
            within = [f"{url.rstrip('/')}/{name}/" for name in ("about", "contact", "news")]
            links = [one for one in within if max(map(one.count, ("about", "contact", "news"))) <= 3]
        return content, links

    def made(self):
        return f"{ROOT}{self.dice.choice(['about', 'contact', 'news'])}/"


@pytest.mark.matrix
@STRATEGIES
@pytest.mark.parametrize(
    ("site", "times"),
    [(NamingTrueOnes, 3), (NamingParents, 5), (ForEachAddress, 3), (LeadingNoFurther, 4), (Growing, 5)],
)
def test_so_they_do_whatever_else_they_name_and_where_their_links_stay(impolite, site, times, strategy):
    world = site()
    visited, _ = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(world.true)
    again = [url for url in visited if "no-such-page" in url]  # one more for each true page that leads there
    assert len(visited) - len(again) <= times * len(world.true)
    assert len(again) <= 1.2 * len(world.true)


@STRATEGIES
@pytest.mark.parametrize("site", [ErrorPages, Wordless])
def test_pages_made_for_whoever_asks_end_though_each_says_something_else(impolite, site, strategy):
    world = site()
    visited, capture = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(world.true)
    assert len(visited) <= 3 * len(world.true)
    assert len(asked(visited)) == 2
    assert any("as made-up addresses do" in why for why in capture.left_out.reasons)
    assert any("addresses that nobody names were asked for" in note for note in capture.notes)


@pytest.mark.parametrize("strategy", ["bfs:revisits=none", "sharc-selective"])
def test_a_crawl_that_is_cut_off_ends_too_and_asks_no_more(impolite, strategy):
    for every in (0, 7, 16):
        world = ErrorPages()
        run_through(world, impolite, strategy, every)
        visited = [fetch.url for _, fetch in world.requests]
        assert captured(world, visited) == set(world.true)
        assert len(set(visited)) <= 3 * len(world.true) + 2
        assert len(set(asked(visited))) == 2


class Tree(Made):
    """Each page names the three below it alone; what there is not, is ``gone``."""

    size = 364

    def __init__(self) -> None:
        super().__init__("{}", LOWER)
        self.true = [ROOT, *(self.made() for _ in range(self.size - 1))]

    def content(self, url):
        if url not in self.true:
            return self.gone(url)
        at = self.true.index(url)
        return url, [self.true[one] for one in range(3 * at + 1, 3 * at + 4) if one < self.size]

    def gone(self, url):
        return "Not found", [ROOT]


class Suggesting(Tree):
    """Its error page, of status 200, names true pages by chance."""

    def gone(self, _):
        return "Not found", [ROOT, *self.dice.sample(self.true, 5)]


class SuggestingWithTitles(Suggesting):
    """It says something else each time."""

    def gone(self, url):
        return f"Not found {self.dice.random()}", super().gone(url)[1]


class SuggestingInABigTree(Suggesting):
    size = 1093


class SuggestingTheSame(Tree):
    """It names three that nobody else does."""

    def gone(self, _):
        return "Not found", [ROOT, *(f"{ROOT}{name}" for name in ("help", "search", "contact"))]


class Writing(Tree):
    """Whoever asks for what is not there may write it."""

    def gone(self, url):
        return "Write this page!", [ROOT, f"{url}-edit", f"{url}-history", f"{ROOT}edit-{url.rpartition('/')[2]}"]


@pytest.mark.matrix
@STRATEGIES
@pytest.mark.parametrize(
    "site", [Tree, Suggesting, SuggestingWithTitles, SuggestingInABigTree, SuggestingTheSame, Writing]
)
def test_a_tree_whose_pages_name_new_ones_alone_is_captured_whatever_its_error_page_names(impolite, site, strategy):
    world = site()
    visited, _ = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(world.true)


class Tokens(Made):
    """Each link has another token, and each page says something else at each answer."""

    says = True

    def __init__(self, pages: int = 40) -> None:
        super().__init__("", "")
        self.true = [f"{ROOT}page/{number}" * bool(number) or ROOT for number in range(pages)]

    def content(self, url):
        bare = url.partition("?")[0]
        at = self.true.index(bare)
        others = [
            other for other in (*range(3 * at + 1, 3 * at + 4), at + 7, (at - 1) // 3) if 0 <= other < len(self.true)
        ]
        return f"{bare} {self.dice.random()}", [f"{self.true[other]}?r={self.dice.random()}" for other in others]

    def answer(self, fetch):
        gone = fetch.kind in {Kind.PAGE, Kind.PROBE} and fetch.url.partition("?")[0] not in self.true
        return Outcome(Result.GONE, self.now, self.now, 404) if gone else super().answer(fetch)


def test_pages_whose_links_have_other_tokens_each_time_are_captured_though_they_say_something_else(impolite):
    world = Tokens()
    visited, capture = crawl(world, impolite)
    assert {url.partition("?")[0] for url in visited} >= set(world.true)
    assert len(visited) <= 2 * len(world.true)
    assert any(WHY in why for why in capture.left_out.reasons)


class Numbered(Made):
    """Pages by number name the next two; whatever number is asked for, there is an empty one that names the next."""

    true = tuple(f"{ROOT}item/{number}" for number in range(1, 91))

    def content(self, url):
        number = int(found[1]) if (found := re.search(r"item/(\d+)", url)) else 0
        named = [f"{ROOT}item/{number + step}" for step in (1, 2)]
        return (url, [one for one in named if one in self.true]) if number <= len(self.true) else ("Empty", named)


@STRATEGIES
def test_numbered_pages_are_captured_though_each_number_has_a_page(impolite, strategy):
    world = Numbered("", "")
    visited, _ = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(Numbered.true)


class Signed(Made):
    """Made-up pages tell their own names. One of their links stays, three are others at each answer; what was not named
    is not there.
    """

    true = Beside.true

    def __init__(self) -> None:
        super().__init__("x/{}", LOWER)
        self.named = {ROOT, *self.true}

    def made(self):
        self.named.add(url := super().made())
        return url

    def content(self, url):
        if url in self.true or url == ROOT:
            at = self.true.index(url) if url in self.true else 0
            return url, [ROOT, *self.true[at * 2 : at * 2 + 6], *[self.made()] * (at % 5 == 0)]
        self.named.add(stays := f"{ROOT}x/{url.rpartition('/')[2][::-1][:9]}y")
        return f"a word of our tongue: {url}\na word of our tongue", [ROOT, stays, *(self.made() for _ in range(3))]

    def answer(self, fetch):
        if fetch.kind in {Kind.PAGE, Kind.PROBE} and (looked_at(fetch.url) or fetch.url) not in self.named:
            return Outcome(Result.GONE, self.now, self.now, 404)
        return super().answer(fetch)


class Prefixed(Tokens):
    """Letters before each path, and no answer under a query that nobody names."""

    def content(self, url):
        path = url.removeprefix(ROOT).partition("/")[2] or "page/0"
        content, links = super().content(ROOT + path if path != "page/0" else ROOT)
        paths = [link.removeprefix(ROOT).partition("?")[0] or "page/0" for link in links]
        return content, [f"{ROOT}{''.join(self.dice.choices(LOWER, k=9))}/{one}" for one in paths]

    def answer(self, fetch):
        path = fetch.url.partition("#")[0].removeprefix(ROOT)
        bare = path.partition("/")[2]
        if fetch.kind not in {Kind.PAGE, Kind.PROBE} or not path or ROOT + bare in self.true or bare == "page/0":
            return Made.answer(self, fetch._replace(url=fetch.url.partition("#")[0]))
        return Outcome(Result.GONE, self.now, self.now, 404)


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
def test_a_trap_ends_that_gives_signed_names_though_some_links_stay(impolite, strategy):
    world = Signed()
    visited, _ = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(world.true)
    assert len(visited) <= 1 + len(world.true) + 2 * ALONE + 20


def test_letters_before_each_path_end_though_unknown_queries_are_not_answered(impolite):
    world = Prefixed()
    visited, _ = crawl(world, impolite)
    assert {"/".join(url.split("/")[4:]) for url in visited if "page" in url} >= {f"page/{one}" for one in range(40)}
    assert len(visited) <= 5 * len(world.true)


class Months(trap_sites.Numbered):
    """Beside true pages: months without end, each of which names those beside it, and says something else each time."""

    def __init__(self) -> None:
        super().__init__(7, 12, "star")

    def document(self, path: str) -> trap_sites.Answer:
        at = 0 if path == "/" else self.number_of.get(path.removeprefix("/stories/"))
        if at is not None:
            others = trap_sites.linked(self.links, at, self.size)
            stories = [f"/stories/{self.names[one]}" if one else "/" for one in others]
            return trap_sites.Answer(trap_sites.story(at), [*stories, "/programme/month-500"], at)
        if not (month := re.fullmatch(r"/programme/month-(\d{1,4})", path)):
            return trap_sites.Answer("There is no such page.", ["/"], status=404)
        beside = [f"/programme/month-{int(month[1]) + one}" for one in (-1, 1)]
        return trap_sites.Answer(f"Nothing is planned. Ticket {self.name('letters')}", ["/", *beside])


@STRATEGIES
def test_what_a_series_without_end_leads_to_waits_until_nothing_else_is_left(monkeypatch, strategy):
    site = Months()
    monkeypatch.setattr(bench_traps, "MOST", 300)
    run = bench_traps.Run(site, strategy)
    assert not run.lost
    assert not run.ended


class Facets(trap_sites.Site):
    """Lists by features in any order of steps; each names the items that have them, and what narrows it further."""

    def __init__(self) -> None:
        super().__init__(7)
        self.features = [f"{kind}-{one}" for kind in ("color", "size", "brand") for one in "abc"]
        self.true = set(range(12))

    def document(self, path: str) -> trap_sites.Answer:
        if path.startswith("/item/"):
            at = int(path.rpartition("/")[2])
            return trap_sites.Answer(trap_sites.story(at), ["/", "/list"], at)
        chosen = path.split("/")[2:]
        if path != "/" and not path.startswith("/list"):
            return trap_sites.Answer("There is no such page.", ["/"], status=404)
        if {*chosen} - {*self.features}:
            return trap_sites.Answer("There is no such page.", ["/"], status=404)
        items = [one for one in range(12) if all(random.Random(f"{one} {by}").random() < 0.5 for by in chosen)]
        narrower = [f"{path}/{one}" for one in self.features if one not in chosen]
        said = f"Our items: {' '.join(chosen)}. Ticket {self.name('letters')}."
        return trap_sites.Answer(said, ["/list"] if path == "/" else [*(f"/item/{one}" for one in items), *narrower])


@STRATEGIES
def test_items_are_captured_before_all_lists_of_them_by_features_in_any_order_which_end(monkeypatch, strategy):
    site = Facets()
    monkeypatch.setattr(bench_traps, "MOST", 300)
    run = bench_traps.Run(site, strategy)
    assert not run.lost
    assert run.ended
