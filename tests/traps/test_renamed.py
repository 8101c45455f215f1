"""Pages that each answer names by other words, and that say something else each time."""

from __future__ import annotations

import re
from dataclasses import replace
from zlib import crc32

import pytest

from benchmarks import bench_traps
from benchmarks.trap_sites import NOUNS, Answer, Numbered, linked, story
from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.addresses.unlikely import look_again_at, look_at
from sharc_crawler.traps.lasting_words import LastingWords
from sharc_crawler.traps.renamed import MOST_SAID, ROUNDS, SEVERAL, STAYS, SURE, Renamed
from tests.traps.tables import add, table

SIZE = 30


class Renaming(Numbered):
    """Each link has something made up in it, wherever; texts end with words by chance."""

    def __init__(self, form: str, links: str, *, size: int = SIZE, strict: bool = False) -> None:
        super().__init__(7, size, links)
        self.form, self.strict = form, strict
        made_up = (
            re.escape(form).replace(r"\{P\}", "(?P<page>[a-z0-9-]+?)").replace(r"\{R\}", "(?:[a-z]+|no-such[a-z-]+)")
        )
        self.of = re.compile(made_up + r"\Z")

    def answer(self, path: str) -> Answer:
        return self.document(path) if self.strict and "?no-such" in path else super().answer(path)

    def document(self, path: str) -> Answer:
        found = self.of.match(path)
        at = 0 if path == "/" else self.number_of.get(found["page"]) if found else None
        if at is None:
            return Answer("There is no such page.", ["/"], status=404)
        links = [self.form.replace("{P}", self.names[one]) for one in linked(self.links, at, self.size)]
        while any("{R}" in one for one in links):
            links = [one.replace("{R}", self.name("letters"), 1) for one in links]
        return Answer(f"{story(at)} Read also about {self.said()}.", links, at)

    def said(self) -> str:
        return f"a {self.dice.choice(NOUNS)}, {self.dice.choice(NOUNS)} and {self.name('letters')}"


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
@pytest.mark.parametrize("form", ["/s/{R}/{P}", "/{P}?a={R}&b={R}"])
def test_a_crawl_that_is_cut_off_again_and_again_knows_what_it_had_asked(form, strategy):
    run = bench_traps.Run(site := Renaming(form, "all", size=5), strategy, every=3)
    assert not site.lost
    assert len(run.visited) <= 3 * 5


class Tickets(Renaming):
    """A chain: each answer gives all of its links one number, and names the next page alone."""

    def __init__(self, form: str, size: int) -> None:
        super().__init__(form, "chain", size=size)
        self.names = [f"p{number}" for number in range(size)]
        self.number_of = {name: number for number, name in enumerate(self.names)}
        self.of = re.compile(self.of.pattern.replace("[a-z]+", "[0-9]+"))

    def document(self, path: str) -> Answer:
        self.ticket = str(self.dice.randrange(10**5, 10**6))
        return super().document(path)

    def name(self, kind: str) -> str:
        return self.ticket


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
@pytest.mark.parametrize("form", ["/index.php?id={P}&sid={R}", "/view?x={R}&doc={P}&y={R}"])
def test_a_chain_of_which_each_page_names_the_next_alone_is_followed_to_its_end(form, strategy):
    site = Tickets(form, 45)
    run = bench_traps.Run(site, strategy)
    assert not run.lost
    assert len(run.visited) <= 2 * 45


class Errors(Renaming):
    """True pages keep their addresses, and name what is answered by an error page, which names more."""

    def document(self, path: str) -> Answer:
        at = 0 if path == "/" else self.number_of.get(path.removeprefix("/stories/"))
        made_up = [self.form.replace("{R}", self.name("letters")) for _ in range(2)]
        if at is None:
            return Answer(f"This page was not found. Read also about {self.said()}.", made_up)
        links = [f"/stories/{self.names[one]}" if one else "/" for one in linked(self.links, at, self.size)]
        return Answer(f"{story(at)} Read also about {self.said()}.", links + made_up, at)


class Teasers(Renaming):
    """No trap: each page names one story of each section by chance, and a list names all."""

    def document(self, path: str) -> Answer:
        at = 0 if path == "/" else self.number_of.get(path.rpartition("/")[2])
        if at is None:
            return Answer("There is no such page.", ["/"], status=404)
        links = [self.address(at + 1)] if at + 1 < self.size else []
        teasers = [self.address(self.dice.randrange(one, self.size, 3)) for one in range(3)]
        return Answer(f"{story(at)} Read also about {self.said()}.", links + teasers, at)

    def address(self, at: int) -> str:
        return f"/{('arts', 'sport', 'towns')[at % 3]}/{self.names[at]}"


class Staying(Renaming):
    """Every second link stays within the session that its page's own address has: two answers name that."""

    def document(self, path: str) -> Answer:
        found = super().document(path)
        own = self.of.match(path)
        folder, within = path.rpartition("/")[0], len(self.names) % 2
        links = [
            f"{folder}/{link.rpartition('/')[2]}" if own and number % 2 == within else link
            for number, link in enumerate(found.links)
        ]
        return replace(found, links=links)


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
@pytest.mark.parametrize("links", ["all", "near", "star"])
def test_pages_of_sessions_that_are_kept_by_some_links_are_visited_about_once(links, strategy):
    site = Staying("/v/{R}/{P}", links, size=12)
    run = bench_traps.Run(site, strategy)
    assert not run.lost
    assert run.ended
    assert len(run.visited) <= 3 * 12


@pytest.mark.matrix
@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
@pytest.mark.parametrize(
    ("form", "links"),
    [("/s/{R}/{P}", "all"), ("/{P},{R}.htm", "tree"), ("/{P}/s/{R}", "near"), ("/{P}?a={R}&b={R}", "chain")],
)
@pytest.mark.parametrize("size", [5, SIZE])
def test_each_page_is_visited_about_once_wherever_its_address_has_something_made_up(form, links, strategy, size):
    site = Renaming(form, links, size=size)
    run = bench_traps.Run(site, strategy)
    assert not run.lost
    assert len(run.visited) <= 2 * size
    assert any("same lasting words" in why for why in run.reasons)


@pytest.mark.parametrize("form", ["/{R}", "/x/{R}.html", "/stories/{R}"])
def test_error_pages_end_that_say_something_else_each_time(form):
    site = Errors(form, "near")
    run = bench_traps.Run(site, "sharc-selective")
    assert not run.lost
    assert len(run.visited) <= 2 * SIZE


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
def test_stories_that_are_named_by_chance_are_captured(strategy):
    site = Teasers("", "near")
    run = bench_traps.Run(site, strategy)
    assert not run.lost
    assert len(run.visited) <= SIZE + 1, "the front page has two addresses"


class Looked:
    """A page that named two pages, one of which was visited, and is asked for once more."""

    def __init__(self) -> None:
        self.pages = table()
        self.hub = add(self.pages, "hub", 0)
        self.one, self.other = (add(self.pages, f"x/{name}", self.hub) for name in ("kqzv", "wmdk"))
        self.words = LastingWords(self.pages, bytearray(10))
        self.renamed = Renamed(self.pages, self.words)
        self.renamed.saw(self.one, [])

    def look(self, page: int, named: list[str], said: set[int], again: bool = False) -> None:
        url = self.pages.urls[page]
        self.renamed._looked.add(page)
        look = (look_again_at if again else look_at)(url)
        self.renamed.looked(page, look, named, frozenset(said), same=not again)


def test_what_is_named_again_is_no_suspect():
    site = Looked()
    site.look(site.hub, [site.pages.urls[site.one], site.pages.urls[site.other]], {1})
    assert not site.renamed.found
    assert not site.renamed.doubts(site.other)


def test_what_is_named_no_more_waits_and_is_compared():
    site = Looked()
    site.look(site.hub, ["http://h/x/qjxe", "http://h/x/bnwt"], {1})
    assert site.renamed.doubts(site.other)
    first = site.pages.urls[site.one]
    assert {look_at(first), look_again_at(first)} < {*site.renamed.asks(site.other)}


@pytest.mark.parametrize(("shown", "same"), [({5, 6, 9}, True), ({5, 9}, False), ({5, 6, 9, 10, 11, 12}, False)])
def test_one_page_shows_what_the_other_shows_each_time_and_no_more_changes(shown, same):
    site = Looked()
    site.look(site.one, [], {5, 6, 7})
    site.look(site.one, [], {5, 6, 8}, again=True)
    site.look(site.other, [], shown)
    assert site.renamed._shows_same(site.one, site.other) is same


def test_words_of_links_that_are_made_up_are_not_said():
    """x lasts: the hub named it, too."""
    site = Looked()
    site.look(site.one, ["http://h/x/qjxe"], {crc32(b"qjxe"), crc32(b"x"), 5})
    assert site.renamed._says(look_at(site.pages.urls[site.one])) == {crc32(b"x"), 5}


@pytest.mark.parametrize(
    ("named", "again", "gone"),
    [("x/qjxe", False, True), ("x/qjxe", True, False), ("y/z/qjxe", False, False), ("", False, False)],
)
def test_a_link_is_gone_where_who_named_it_names_its_like_by_other_words(named, again, gone):
    site = Looked()
    site.look(site.hub, [f"http://h/{named}"] * bool(named), {5}, again=again)
    assert site.renamed._is_gone(site.pages.urls[site.other], site.hub) is gone


@pytest.mark.parametrize(("field", "number"), [("differ", ROUNDS), ("stays", STAYS)])
def test_what_is_several_pages_is_released(field, number):
    site = Looked()
    site.look(site.hub, ["http://h/x/qjxe"], {1})
    alike = site.renamed._suspects(site.other)
    setattr(alike, field, number)
    assert not site.renamed.doubts(site.other)


def test_texts_of_the_latest_answers_are_kept_and_which_words_last_of_all():
    site = Looked()
    site.look(site.one, [], {5})
    for number in range(MOST_SAID):
        page = add(site.pages, f"y/{number}", site.hub)
        site.look(page, [f"http://h/z/word{number // 2}x"], {number})
    assert len(site.renamed._said) == len(site.renamed._links) == MOST_SAID
    assert look_at(site.pages.urls[site.one]) not in site.renamed._said
    assert site.words.bare("http://h/z/word7x") == "/z/word7x", "two answers named it"


@pytest.mark.parametrize("number", [STAYS - 1, STAYS])
def test_pages_are_no_suspects_where_enough_like_them_were_named_again(number):
    site = Looked()
    add(site.pages, "x/front", 0)  # x lasts
    again = [add(site.pages, f"x/story{one}", site.hub) for one in range(number)]
    site.look(site.hub, [site.pages.urls[one] for one in again], {1})
    assert site.renamed.doubts(site.other) is (number < STAYS)


@pytest.mark.parametrize(
    ("contents", "asks"), [("a" * SEVERAL, False), ("a" * (SEVERAL - 1), True), ("a" * SEVERAL + "b", True)]
)
def test_visited_pages_that_are_alike_and_show_the_same_are_not_compared(contents, asks):
    site = Looked()
    visited = [site.one, *(add(site.pages, f"x/n{one}", site.hub) for one in range(1, len(contents)))]
    for page, content in zip(visited, contents, strict=True):
        site.renamed.saw(page, [])
        site.renamed.showed(page, content)
    site.look(site.hub, ["http://h/x/qjxe"], {1})
    assert bool(site.renamed.asks(site.other)) is asks


@pytest.mark.parametrize("helps", [True, False])
def test_where_alike_is_one_page_what_is_like_no_visited_page_is_taken_and_anew_as_long_as_words_help(helps):
    site = Looked()
    new = add(site.pages, "y/z/bnwt", site.hub)
    fresh, url, other = site.renamed.is_fresh, site.pages.urls[new], site.pages.urls[site.other]
    site.renamed._one, site.words.help = SURE - 1, helps
    assert not fresh(url, new)
    assert not fresh(url, UNSEEN)
    site.renamed._one = SURE
    assert fresh(url, new)
    assert not fresh(other, site.other), "it is like a visited one"
    assert fresh(url, UNSEEN) is helps
