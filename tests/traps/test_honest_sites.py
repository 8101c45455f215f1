"""Honest sites lose no page, whatever many of their pages have in common."""

from __future__ import annotations

import random
import re
import string

import pytest

from benchmarks import bench_traps
from benchmarks.trap_sites import Answer, Site, story
from sharc_crawler.live.reading.word_digest import words
from sharc_crawler.model import Kind, Outcome, Result
from sharc_crawler.traps.probing import looked_at
from tests.traps.made_sites import (
    LOWER,
    MIXED,
    ROOT,
    Made,
    crawl,
    run_through,
)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["bfs", "dfs"])
def test_links_of_an_honest_site_that_show_its_error_page_cost_no_page(impolite, strategy):
    """Dead links stay: the pages beside them are captured, and so are the dead links."""
    world = Made("{}", LOWER)
    true, dead = [world.made() for _ in range(60)], [world.made() for _ in range(60)]
    links = [one for pair in zip(dead, true, strict=True) for one in pair]
    world.content = lambda url: (url, [ROOT, *links]) if url in true or url == ROOT else ("Sorry", [ROOT, world.made()])
    visited, _ = crawl(world, impolite, strategy)
    assert set(true) | set(dead) <= set(visited)


class Documents(Made):
    """Each has three addresses under its own long name; two of them ask to log in, as all of their kind do."""

    def __init__(self) -> None:
        super().__init__("d/{}/", "0123456789abcdef")
        self.true = [self.made() + "0123456789/" for _ in range(90)]

    def content(self, url):
        own = re.match(r".*/d/\w+/\w+/", url)
        if own is None or not url.endswith("view"):
            return ("please log in" if own else "front"), [ROOT, self.true[0] + "view"]
        at = self.true.index(own[0])
        more = [self.true[other] + "view" for other in (2 * at + 1, 2 * at + 2) if other < len(self.true)]
        return url, [ROOT, own[0] + "edit", own[0] + "share", *more]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
def test_documents_beside_pages_that_all_ask_to_log_in_are_captured(impolite, strategy):
    world = Documents()
    visited, _ = crawl(world, impolite, strategy)
    assert {one + "view" for one in world.true} <= set(visited)


class Honest(Made):
    """``true`` pages with opaque addresses; others show one text, and name what is known or of another kind."""

    def __init__(self, kind: str) -> None:
        super().__init__("{}", MIXED + string.digits + "-_")
        self.kind = kind
        self.true = [self.made() for _ in range(120)]
        self.alike = [self.made() for _ in range(200)]

    def content(self, url):
        if url == ROOT:
            return url, [*self.alike[:150], self.true[0]]
        if url in self.true:
            at = self.true.index(url)
            return url, [ROOT, *self.true[at + 1 : at + 3], self.alike[at], self.alike[-at - 1]]
        if url in self.alike:
            own = url.removeprefix(ROOT)
            at = self.alike.index(url)
            return "one text", {
                "sold out": [ROOT, *self.alike[at + 1 : at + 2], *self.true[:3]],
                "wiki": [ROOT, f"{ROOT}index?title={own}&action=edit", f"{ROOT}index?title={own}&action=history"],
                "log in": [f"{ROOT}login?next={own}", *self.true[:1]],
                "next": [*self.alike[at + 1 : at + 2], *self.alike[max(at - 1, 0) : at]],
            }[self.kind]
        return "another text", [ROOT]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["bfs", pytest.param("dfs", marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["sold out", "wiki", "log in", "next"])
def test_honest_pages_are_all_captured_beside_many_that_show_one_text(impolite, kind, strategy):
    world = Honest(kind)
    visited, _ = crawl(world, impolite, f"{strategy}:revisits=none")
    assert set(world.true) <= set(visited)
    assert set(world.alike) <= set(visited)


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
def test_lists_that_all_show_one_text_are_followed_to_their_end(impolite, strategy):
    """Each names three pages of its own and the next list: nothing else does."""
    world = Made("{}", LOWER)
    pages = [world.made() for _ in range(100)]

    def content(url):
        if url not in pages:
            return url, pages[:1]
        at = pages.index(url)
        return ("a list", pages[at + 1 : at + 5]) if at % 4 == 0 else (url, [pages[at - at % 4]])

    world.content = content
    visited, capture = crawl(world, impolite, strategy)
    assert set(pages) <= set(visited)
    assert not capture.left_out.reasons


@pytest.mark.matrix
@pytest.mark.parametrize("strategy", ["bfs", pytest.param("sharc-selective", marks=pytest.mark.slow), "dfs"])
@pytest.mark.parametrize("empty", [1, 6])
def test_pages_that_others_with_one_text_alone_name_are_captured(impolite, empty, strategy):
    """Links that have expired name the new ones; terms that nobody has explained yet, the terms beside them."""
    world = Made("{}", LOWER)
    pages = [world.made() for _ in range(80)]

    def content(url):
        if url == ROOT:
            return url, pages[: empty + 1]
        if url not in pages:
            return "not found", [ROOT]
        at = pages.index(url)
        return ("nothing yet" if at % (empty + 1) < empty else url), [ROOT, *pages[at + 1 : at + 3]]

    world.content = content
    visited, _ = crawl(world, impolite, strategy)
    assert set(pages) <= set(visited)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("address", ["watch?v={}", "{}", "{}/{}", "sku-{}.html"])
def test_no_page_with_a_content_of_its_own_is_left(impolite, address):
    world = Made(address, MIXED + string.digits + "-_")
    pages = [world.made() for _ in range(300)]
    world.content = lambda url: (url, pages[:10] if url == ROOT else pages[(at := pages.index(url)) : at + 12])
    visited, capture = crawl(world, impolite)
    assert set(pages) <= set(visited)
    assert not capture.left_out.reasons


@pytest.mark.slow
def test_a_mirror_whose_pages_are_translated_in_part_is_captured_whole(impolite):
    """Its copies are of the same names in another folder: one place of the address explains them."""
    world = Made("{}", LOWER)
    names = [world.made().removeprefix(ROOT) for _ in range(90)]

    def content(url):
        if url == ROOT:
            return url, [f"{ROOT}{tongue}/{names[0]}" for tongue in ("en", "de")]
        tongue, name = url.removeprefix(ROOT).split("/")
        if name not in names:
            return "no such page", []
        at = names.index(name)
        children = [f"{ROOT}{tongue}/{one}" for one in names[3 * at + 1 : 3 * at + 4]]
        return (url if at % 40 == 39 else name), children

    world.content = content
    visited, _ = crawl(world, impolite)
    assert {f"{ROOT}{tongue}/{name}" for tongue in ("en", "de") for name in names} <= set(visited)


class Bounded(Made):
    """A site whose pages say nearly the same, and are all there before they are named: others are not found."""

    def __init__(self, kind: str) -> None:
        super().__init__("photo/{}", MIXED)
        self.pages: dict[str, tuple[str, list[str]]] = {}
        getattr(self, kind)()

    def content(self, url):
        return self.pages[url]

    def answer(self, fetch):
        known = fetch.kind not in {Kind.PAGE, Kind.PROBE} or (looked_at(fetch.url) or fetch.url) in self.pages
        return super().answer(fetch) if known else Outcome(Result.GONE, self.now, self.now, 404)

    def add(self, url: str, text: str, *links: str) -> None:
        self.pages[url] = text, [ROOT, *links]

    def gallery(self) -> None:
        """Each photo is named by the one before it alone; one in twelve has a caption."""
        albums = [f"{ROOT}album/{at}" for at in range(3)]
        self.add(ROOT, "our albums", *albums)
        for album in albums:
            photos = [self.made() for _ in range(40)]
            self.add(album, f"Album {album}", photos[0])
            for at, photo in enumerate(photos):
                self.add(photo, f"Caption {photo}" if at % 12 == 11 else "Photo", album, *photos[at + 1 : at + 2])

    def mail(self) -> None:
        """Numbered messages of six texts; months name their first, and messages the next; few say something else."""
        months = [f"{ROOT}month/{at}" for at in range(4)]
        self.add(ROOT, "all months", *months)
        for at in range(240):
            text = f"story {at}" if at % 20 == 0 else ("+1", "Thanks!", "I agree", "me too", "ack", "done")[at % 6]
            more = [f"{ROOT}msg{at + 1:05}.html"] * (at % 60 < 59)
            self.add(f"{ROOT}msg{at:05}.html", text, months[at // 60], *more)
        for at, month in enumerate(months):
            self.add(month, f"Messages of month {at}", f"{ROOT}msg{at * 60:05}.html")

    def tree(self) -> None:
        """Years, months and days say "Archive"; one day in fifteen names an article that nothing else names."""
        years = [f"{ROOT}archive/{2000 + at}" for at in range(4)]
        self.add(ROOT, "our archive", *years)
        for year in years:
            months = [f"{year}/v{month}" for month in range(1, 7)]
            self.add(year, "Archive", *months)
            for month in months:
                days = [f"{month}/n{day}" for day in range(1, 11)]
                self.add(month, "Archive", year, *days)
                for day in days:
                    named = [f"{ROOT}article{len(self.pages)}"] * (len(self.pages) % 15 == 0)
                    self.add(day, "Archive", month, *named)
                    for one in named:
                        self.add(one, f"story {one}", day)


@pytest.mark.slow
def test_such_a_site_is_known_again_after_restarts(impolite):
    world = Bounded("gallery")
    run_through(world, impolite, "bfs", 23)
    assert set(world.pages) <= {fetch.url for _, fetch in world.requests}


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
@pytest.mark.parametrize("kind", ["gallery", "mail", "tree"])
def test_sites_that_have_what_they_name_are_captured_whole_though_most_pages_say_the_same(impolite, kind, strategy):
    world = Bounded(kind)
    visited, capture = crawl(world, impolite, strategy)
    assert set(world.pages) <= set(visited)
    assert not capture.left_out.reasons
    assert len(visited) <= len(world.pages) + 15, "what is asked for besides"


class Named(Bounded):
    """Its pages differ in what their own addresses have alone, as they are read."""

    def content(self, url):
        text, links = super().content(url)
        by_chance = [self.dice.choice([*self.pages])] * (self.kind == "dictionary")
        return words(text, (), url) or text, [*links, *by_chance]

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind

    def register(self) -> None:
        """Names by their letters: each page names those with one letter more."""

        def add(url: str, depth: int) -> None:
            more = [f"{url}{letter}/" for letter in "klmno"] if depth < 3 else []
            self.add(url, f"All names of our register with {url.removeprefix(ROOT)}", *more)
            for one in more:
                add(one, depth + 1)

        add(ROOT, 0)

    def dictionary(self) -> None:
        """A word a page; each names the next, and another by chance at each answer."""
        names = [f"{a}{b}{c}" for a in "bdfg" for b in "aei" for c in ("nor", "tim", "sel", "rup", "gan", "vik")]
        self.add(ROOT, "a dictionary of this tongue", *(f"{ROOT}w/{name}" for name in names[::18]))
        for name, after in zip(names, [*names[1:], ""], strict=True):
            self.add(f"{ROOT}w/{name}", f"{name}: a word of this tongue", *[f"{ROOT}w/{after}"] * bool(after))


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
@pytest.mark.parametrize("kind", ["register", "dictionary"])
def test_pages_that_differ_in_their_own_names_alone_are_pages(impolite, kind, strategy):
    world = Named(kind)
    visited, _ = crawl(world, impolite, strategy)
    assert set(world.pages) <= set(visited)


@pytest.mark.slow
def test_they_are_after_restarts_too(impolite):
    world = Named("dictionary")
    run_through(world, impolite, "bfs", 23)
    assert set(world.pages) <= {fetch.url for _, fetch in world.requests}


class Catalogue(Site):
    """Thin entries, twenty a list; each names others by chance, and a server has no other queries than its own."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        setup = random.Random(f"catalogue {seed}")
        self.names = [f"{setup.choice('ABC')}{setup.randrange(10**5)}x{number}" for number in range(120)]
        self.true, self.noisy = set(self.names), seed % 2

    def answer(self, path: str) -> Answer:
        return self.document(path) if "no-such-page" in path else super().answer(path)

    def document(self, path: str) -> Answer:
        if path.rpartition("/")[2] not in {"", *map(str, range(6)), *self.names}:
            return Answer("There is no such page.", ["/"], status=404)
        if path == "/":
            return Answer("Catalogue.", [f"/list/{number}" for number in range(6)])
        if path.startswith("/list/"):
            number = int(path.rpartition("/")[2])
            return Answer(f"List {number}", ["/", *(f"/item/{name}" for name in self.names[number * 20 :][:20])])
        name, said = path.rpartition("/")[2], story(self.dice.randrange(900))[:60] * self.noisy
        beside = [f"/item/{other}" for other in self.dice.sample(self.names, 4)]
        own = f"Signature {name}. One leaf. Parchment. Not digitized. {said}"
        return Answer(own, ["/", f"/list/{self.names.index(name) // 20}", *beside], name)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
@pytest.mark.parametrize("seed", [8, 10, 16, 46, 47])
def test_thin_entries_of_a_catalogue_that_name_each_other_by_chance_are_captured(seed, strategy):
    assert not bench_traps.Run(Catalogue(seed), strategy).lost
