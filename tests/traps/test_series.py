"""Series without an end: each page leads to the next number, and shows what a number shows that nobody names."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from benchmarks import bench_traps
from benchmarks.trap_sites import Answer, Site, story
from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.addresses.unlikely import look_again_at, look_at
from sharc_crawler.traps.lasting_words import LastingWords
from sharc_crawler.traps.renamed import Renamed
from sharc_crawler.traps.series import LATE, ROW, SAME
from tests.traps.made_sites import Made, run_through
from tests.traps.tables import ROOT, add, table

PAGES, EACH = 20, 4
MORE = 6  # parts, until answers have come
STRATEGIES = pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])


class Pager(Site):
    """A list of pages by four, and no end: behind its last part comes that again, or the first, or an empty one."""

    def __init__(self, form: str = "/list?page={}", behind: str = "last", step: int = 1) -> None:
        super().__init__(7)
        self.form, self.step = form, step
        self.parts = PAGES // EACH
        self.behind = {"last": self.parts, "first": 1, "empty": self.parts + 1}[behind]
        self.true = set(range(PAGES))

    def noise(self) -> str:
        return f"Ticket {self.name('letters')}, {self.dice.randrange(10**6)} visits."

    def part(self, path: str) -> int | None:
        found = re.fullmatch(re.escape(self.form).replace(r"\{\}", "([0-9]+)"), path)
        return int(found[1]) // self.step if found else None

    def document(self, path: str) -> Answer:
        if path == "/":
            return Answer("Welcome.", [self.form.format(self.step)])
        if path.startswith("/item/"):
            at = int(path.rpartition("/")[2])
            return Answer(f"{story(at)} {self.noise()}", ["/"], at)
        part = self.part(path)
        if part is None:
            return Answer("There is no such page.", ["/"], status=404)
        shown = part if part <= self.parts else self.behind
        items = range(PAGES)[(shown - 1) * EACH : shown * EACH]
        beside = [self.form.format(one * self.step) for one in (part - 1, part + 1) if one]
        said = " ".join(story(one)[:40] for one in items) or "There is nothing here."
        return Answer(f"{said} {self.noise()}", [*(f"/item/{one}" for one in items), *beside])


@STRATEGIES
@pytest.mark.parametrize(
    ("form", "behind", "step"),
    [
        ("/list?page={}", "last", 1),
        ("/list/{}/", "first", 1),
        ("/all?offset={}&sort=up", "empty", 10),
        ("/page/{}", "empty", 1),
    ],
)
def test_a_list_ends_that_has_a_next_part_for_ever(form, behind, step, strategy):
    site = Pager(form, behind, step)
    run = bench_traps.Run(site, strategy)
    assert not run.lost
    assert len(run.visited) <= 1 + PAGES + site.parts + ROW + MORE
    assert run.ended


class Long(Pager):
    """No trap: each part shows other pages, that a map names, too; behind the last one a server has empty ones."""

    def __init__(self) -> None:
        super().__init__(behind="empty")
        self.true |= {f"part {one}" for one in range(1, self.parts + 1)}

    def document(self, path: str) -> Answer:
        found = super().document(path)
        if path == "/":
            return replace(found, links=[*found.links, *(f"/item/{one}" for one in range(PAGES))])
        part = self.part(path) or 0
        return replace(found, page=f"part {part}") if 0 < part <= self.parts else found


@STRATEGIES
def test_parts_of_a_list_are_captured_whose_pages_are_all_known(monkeypatch, strategy):
    monkeypatch.setattr("tests.traps.test_series.EACH", 1)
    site = Long()
    assert site.parts > ROW
    assert not bench_traps.Run(site, strategy).lost


class Photos(Site):
    """No trap: each photo has a caption, shorter than what changes each time; any number has a frame and a next."""

    def __init__(self) -> None:
        super().__init__(7)
        self.true = set(range(1, 1 + 3 * PAGES))

    def document(self, path: str) -> Answer:
        at = int(path.rpartition("=")[2]) if "=" in path else 0
        caption = f"caption{at}" if at in self.true else ""
        quote = " ".join(self.name("letters") for _ in range(5))
        return Answer(f"Photos. {caption} {quote}", [f"/photo?id={at + 1}"], at or None)


@STRATEGIES
def test_what_each_part_shows_by_itself_is_captured_though_more_than_that_changes_at_each_answer(strategy):
    site = Photos()
    run = bench_traps.Run(site, strategy)
    assert not run.lost
    assert run.ended, "twice as many in a row are compared again"


class Parts(Made):
    """The same of a list that has nothing but numbers, for a crawl that is cut off."""

    says = True

    def __init__(self) -> None:
        super().__init__("list?page={}", "")

    def content(self, url):
        part = int(url.rpartition("=")[2]) if "page=" in url else 0
        return "the last part" if part else "front", [f"{ROOT}list?page={part + 1}"]


def test_it_ends_where_a_crawl_is_cut_off_again_and_again(impolite):
    world = Parts()
    run_through(world, impolite, "bfs", 5)
    visited = {
        fetch.url for _, fetch in world.requests if fetch.url.startswith(f"{ROOT}list") and "no-such" not in fetch.url
    }
    assert len(visited) <= ROW + MORE


class Chain:
    """Parts of a list, each named by the one before."""

    def __init__(self, number: int) -> None:
        self.pages = table()
        self.renamed = Renamed(self.pages, LastingWords(self.pages, bytearray(99)))
        self.series, self.wanted = self.renamed.series, []
        self.chain = [add(self.pages, "list?page=1", 0)]
        for part in range(2, number + 2):
            self.chain.append(add(self.pages, f"list?page={part}", self.chain[-1]))
            self.wanted += self.series.saw(self.chain[-2], [self.chain[-1]])


def test_the_next_part_waits_after_a_few_that_named_nothing_else():
    assert not Chain(LATE).series.waits(Chain(LATE).chain[-1]), "the first is named by the front page"
    site = Chain(LATE + 1)
    assert site.series.waits(site.chain[-1])
    assert not site.series.waits(add(site.pages, "story", site.chain[-2])), "it is none of the list"


def test_a_part_that_names_something_new_begins_the_row_anew():
    site = Chain(LATE)
    last = site.chain[-1]
    site.series.saw(last, [add(site.pages, "story", last), add(site.pages, "list?page=99", last)])
    assert not site.series.waits(len(site.pages) - 1)


def test_after_a_row_a_number_is_asked_for_that_nobody_names_twice_and_the_part_once_more():
    assert not Chain(ROW).wanted
    site = Chain(ROW + 1)
    far, again, own, own_again = site.wanted
    assert far.startswith(f"{ROOT}list?page=94")
    assert again == look_again_at(far.partition("&")[0])
    assert own == look_at(site.pages.urls[site.chain[-2]])
    assert own_again == look_again_at(site.pages.urls[site.chain[-2]])


def test_two_parts_are_compared_each_time_that_the_row_has_doubled():
    compared = [int(url.partition("page=")[2].partition("&")[0]) for url in Chain(4 * ROW + SAME).wanted[2::4]]
    assert compared == [ROW + 1, ROW + 2, 2 * ROW + 1, 2 * ROW + 2, 4 * ROW + 1, 4 * ROW + 2]


@pytest.mark.parametrize(
    ("said", "names", "left"), [({5, 6}, True, True), ({5, 7}, True, False), ({5, 6}, False, False)]
)
def test_it_is_left_where_parts_show_the_same_and_name_the_next_again(said, names, left):
    site = Chain(ROW + SAME)
    for far, again, own, own_again in zip(*[iter(site.wanted)] * 4, strict=True):
        site.renamed.looked(UNSEEN, far, [], frozenset({5, 6}), same=False)
        site.renamed.looked(UNSEEN, again, [], frozenset({5, 6}), same=False)
        for page in site.chain:
            if look_at(site.pages.urls[page]) == own:
                following = site.pages.urls[page + 1] if names else ROOT
                for look in (own, own_again):
                    site.renamed.looked(page, look, [following], frozenset(said), same=True)
    assert bool(site.series.why_not(f"{ROOT}list?page=99", site.chain[-2])) is left
    assert not site.series.why_not(f"{ROOT}story", site.chain[-2])


def test_parts_are_compared_once_for_each_answer(monkeypatch):
    site = Chain(ROW + SAME)
    asked: list[str] = []
    monkeypatch.setattr(site.series, "_shows", lambda far, _: bool(asked.append(far)))
    site.renamed.looked(UNSEEN, f"{ROOT}x", [], None, same=False)
    for _ in range(3):
        assert not site.series.why_not(f"{ROOT}list?page=99", site.chain[-2])
    assert len(asked) == SAME
