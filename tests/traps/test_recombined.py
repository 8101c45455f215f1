"""Addresses of words of others grow without end: the rest is left where it shows no more, and only there."""

from __future__ import annotations

import random
from urllib.parse import quote

import pytest

from benchmarks import bench_traps
from benchmarks.trap_sites import Answer, Site, story
from sharc_crawler.traps.recombined import DEEP, DOUBT, ROW, Recombined
from sharc_crawler.traps.rules import Traps
from tests.traps.tables import ROOT, add, table

TRUE = 20
STRATEGIES = pytest.mark.parametrize("strategy", ["bfs", "dfs", "sharc-selective"])


class Changing(Site):
    """Each answer has a ticket of its own."""

    def __init__(self) -> None:
        super().__init__(7)
        self.true = set(range(TRUE))

    def said(self, text: str) -> str:
        return f"{text} Ticket {self.name('letters')}, {self.dice.randrange(10**6)} visits."


class Languages(Changing):
    """A language is put before whatever address there is; the first one counts."""

    folders = "en", "de", "fr"

    def __init__(self) -> None:
        super().__init__()
        self.true = {(one, at) for one in self.folders for at in range(TRUE)}

    def document(self, path: str) -> Answer:
        steps = [one for one in path.split("/") if one]
        before = steps[: sum(one in self.folders for one in steps)]
        name = "".join(steps[len(before) :]) or "page0"
        if not name.removeprefix("page").isdecimal():
            return Answer("There is no such page.", ["/"], status=404)
        at, said = int(name.removeprefix("page")), (before or ["en"])[0]
        others = [f"{'/'.join(['', *before])}/page{one}" for one in (2 * at + 1, 2 * at + 2, at - 1) if 0 < one < TRUE]
        languages = [f"/{one}{'/'.join(['', *before])}/{name}" for one in self.folders if one != said]
        told = random.Random(f"{said} {at}").choices(
            ["harbour", "meadow", "lantern", "engine", "violin", "glacier"], k=9
        )
        return Answer(self.said(" ".join(f"{word}-{said}-{at}" for word in told)), [*others, *languages], (said, at))


class ReturnTo(Changing):
    """Each link tells where it was found, and so all that led there."""

    def document(self, path: str) -> Answer:
        at = int(path.partition("?")[0].removeprefix("/story").removeprefix("/") or 0)
        links = [f"/story/{one}?from={quote(path, safe='')}" for one in (2 * at + 1, 2 * at + 2, (at - 1) // 2)]
        return Answer(self.said(story(at)), [one for one in links if 0 <= int(one[7:].partition("?")[0]) < TRUE], at)


@STRATEGIES
@pytest.mark.parametrize(("kind", "most"), [(Languages, 6), (ReturnTo, 4)])
def test_what_grows_ends(kind, most, strategy):
    site = kind()
    run = bench_traps.Run(site, strategy)
    assert not run.lost
    assert run.ended
    assert len(run.visited) <= most * len(site.true)


def test_it_ends_in_a_crawl_that_is_cut_off_again_and_again(monkeypatch):
    monkeypatch.setattr(bench_traps, "MOST", 400)
    run = bench_traps.Run(ReturnTo(), "bfs", every=7)
    assert not run.lost
    assert run.ended
    assert len(run.visited) <= 4 * TRUE


class Key(Changing):
    """No trap: each question leads to two more, by answers that are added to its address."""

    deep = 7

    def __init__(self) -> None:
        super().__init__()
        self.true = set(range(2 ** (self.deep + 1) - 1))

    def document(self, path: str) -> Answer:
        given = [one.partition("=")[2] for one in sorted(path.partition("?")[2].split("&")) if one]
        at = int("1" + "".join("1" if one == "yes" else "0" for one in given), 2) - 1
        more = [[*given, one] for one in ("yes", "no")] if len(given) < self.deep else []
        links = ["/key?" + "&".join(f"q{at}={one}" for at, one in enumerate(some)) for some in more]
        return Answer(self.said(f"Has it leaf number leaf{at}?"), links, at)


@STRATEGIES
def test_a_key_is_captured_whose_pages_each_have_a_word_of_their_own(strategy):
    site = Key()
    assert site.deep > DEEP
    assert not bench_traps.Run(site, strategy).lost


class Features(Changing):
    """Lists by features in any order; one in ten by two of them has a text of its own."""

    features = tuple(f"{kind}-{one}" for kind in ("color", "size", "brand") for one in "abc")

    def __init__(self) -> None:
        super().__init__()
        pairs = [(one, other) for one in self.features for other in self.features if one < other]
        self.true = set(self.dice.sample(pairs, 6))

    def document(self, path: str) -> Answer:
        chosen = path.split("/")[2:]
        if (path != "/" and not path.startswith("/list")) or {*chosen} - {*self.features}:
            return Answer("There is no such page.", ["/"], status=404)
        more = [f"{path.rstrip('/')}/{one}" for one in self.features if one not in chosen] if path != "/" else ["/list"]
        own = tuple(sorted(chosen))
        text = f"It is about {self.features.index(own[0])}{own[1]}x." if own in self.true else "Our items."
        return Answer(self.said(text), more, own if own in self.true else None)


@STRATEGIES
def test_texts_of_some_lists_by_two_features_are_captured(strategy):
    site = Features()
    run = bench_traps.Run(site, strategy)
    assert not run.lost
    assert run.ended


def test_an_address_has_a_level_more_than_the_one_that_led_there_if_it_has_more_words_and_no_new_one():
    pages = table("list", "list/red", "list/small")
    for path, parent in (
        ("list/red/small", 2),
        ("list/red/small/new", 4),
        ("list/small/red/small", 4),
        ("list/red", 6),
    ):
        add(pages, path, parent)
    known = Recombined(Traps(), pages)
    known.saw(1, [])
    assert [*known._levels[1:]] == [0, 0, 0, 1, 0, 2, 1]


def test_they_wait_after_a_few_that_named_no_others_the_deepest_first():
    pages = table("list", "list/red", "list/small", "other/page")
    known, page = Recombined(Traps(), pages), add(pages, "list/red/small", 2)
    beside = add(pages, "other/page/page", 4)
    for _ in range(DOUBT):
        assert not known.waits(page)
        below = add(pages, f"{pages.urls[page].removeprefix(ROOT)}/red", page)
        known.saw(page, [below])
        page = below
    first, deep = add(pages, "list/small/red", 3), page
    assert 0 < known.waits(deep) < known.waits(first), "the deepest tell whether it has an end"
    assert not known.waits(beside), "another folder"
    assert len(known._folders) == 1


def test_the_row_begins_anew_with_a_new_word():
    pages = table("list", "list/red", "list/small")
    known, page = Recombined(Traps(), pages), add(pages, "list/red/small", 2)
    known.saw(page, [below := add(pages, "list/red/small/red", page)])
    known.saw(below, [add(pages, "item/7", below)])
    [folder] = known._folders.values()
    assert not folder.row
    assert ROW > DOUBT
