"""From the end of a fetch to what it means: who is told of it, and what of it is taken in."""

from __future__ import annotations

from collections import defaultdict

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.traps.rules import Traps
from sharc_crawler.model import Fetch, Kind, Result, Sighting, Slot, Verdict
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.small import ROOT, page, spec

MAP, STYLE = f"{ROOT}map.xml", f"{ROOT}style.css"
MODE = ("linked", "lastmods_in", "visited", "visited_again", "revisited", "sitemap_read")


class Listening:
    """A capture whose parts tell, in order, what they are told at each fetch; one after the other is answered."""

    def __init__(self, world, politeness, links, **order) -> None:
        self.world, self.told, self.store = world, [], MemoryStore()
        world.links = links
        self.frontier = Frontier(politeness, self.store)
        self.capture = self.frontier.open(spec(**{"strategy": "bfs", "sitemaps": (MAP,)} | order), world.now)
        self.listen(self.capture.mode, "mode", *MODE)
        self.listen(self.capture.revisited, "evidence", "looked", "visited")
        self.fetch = self.frontier.next(world.now)

    def listen(self, thing, name, *verbs) -> None:
        for verb in verbs:
            ask = getattr(thing, verb)

            def tells(*given, verb=verb, ask=ask, **more):
                self.told.append(f"{name}.{verb}")
                return ask(*given, **more)

            setattr(thing, verb, tells)

    def answer(self, **changed):
        """The fetch under way ends; what was told, and the judgement."""
        self.told.clear()
        outcome = self.world.answer(self.fetch)._replace(**changed)
        links = self.world.links.get(self.fetch.url, ())
        judgement = self.frontier.finished(self.fetch, outcome, links)
        self.world.now += 1.0
        told = list(self.told)
        self.fetch = self.frontier.next(self.world.now)
        return told, judgement

    def known(self, *paths) -> list[bool]:
        return [ROOT + path in self.capture.seen for path in paths]


def test_who_is_told_of_a_sitemap_a_page_a_resource_and_their_revisits(world, impolite):
    links = {MAP: [page("listed", lastmod=5.0)], ROOT: [page("1"), Sighting(STYLE, Kind.RESOURCE)]}
    site, told = Listening(world, impolite, links), defaultdict(list)
    while isinstance(site.fetch, Fetch):
        fetch = site.fetch
        told[fetch.url, fetch.slot], judgement = site.answer()
        assert (judgement is not None) is (fetch.slot is Slot.SECOND and fetch.kind is not Kind.SITEMAP)
        if judgement is not None:
            assert judgement.verdict is Verdict.COHERENT
    assert told[MAP, Slot.ONLY] == ["mode.lastmods_in", "mode.sitemap_read"]
    assert told[ROOT, Slot.FIRST] == ["mode.linked", "evidence.visited", "mode.visited"]
    assert told[STYLE, Slot.FIRST] == ["evidence.visited", "mode.visited"]
    assert told[ROOT + "1", Slot.FIRST] == ["evidence.visited", "mode.visited"], "it names nothing"
    assert told[ROOT, Slot.SECOND] == ["mode.linked", "mode.revisited"]
    assert told[STYLE, Slot.SECOND] == ["mode.revisited"]
    pages = {row.url: row.page for row in site.store.load().pages}
    assert [(row.page, row.targets) for row in site.store.links()] == [(pages[ROOT], (pages[ROOT + "1"],))] * 2


def test_what_pages_name_is_told_to_their_strategy(world, impolite):
    site = Listening(world, impolite, {ROOT: [page("1"), page("2"), page("1")], ROOT + "1": []}, sitemaps=())
    given, linked = [], site.capture.strategy.linked
    site.capture.strategy.linked = lambda pages: given.append(list(pages)) or linked(pages)
    site.answer()
    site.answer()
    first, second = (site.capture.seen.get(ROOT + path) for path in "12")
    assert given == [[first, second, first]]


def test_where_links_are_not_followed_what_a_sitemap_lists_is_taken_all_the_same(world, impolite):
    site = Listening(world, impolite, {MAP: [page("listed")], ROOT: [page("named")]}, discover=False)
    site.answer()
    site.answer()
    assert site.known("listed", "named") == [True, False]


@pytest.mark.parametrize(("lastmod", "told"), [(5.0, True), (None, False)])
def test_a_sitemap_that_tells_no_change_is_none_that_does(world, impolite, lastmod, told):
    site = Listening(world, impolite, {MAP: [page("a", changefreq="daily"), page("b", lastmod=lastmod), page("c")]})
    assert ("mode.lastmods_in" in site.answer()[0]) is told


def test_what_a_sitemap_says_was_so_when_its_copy_was_made(world, impolite):
    site = Listening(world, impolite, {MAP: [page("a", lastmod=5.0)]}, strategy="sharc-attested")
    site.answer(age=100.0)
    (row,) = site.store.load().lastmods
    assert (row.read, row.lastmod) == (900.0, 5.0)
    site = Listening(world, impolite, {MAP: [page("a", lastmod=5.0)]}, strategy="sharc-attested")
    site.answer()
    assert site.store.load().lastmods[0].read == 1001.0


def test_all_parts_of_a_long_sitemap_say_when_pages_changed(world, impolite):
    site = Listening(world, impolite, {MAP: [page("b", lastmod=6.0)]}, strategy="sharc-attested")
    for part in ([page("a", lastmod=4.0)], [page("c", lastmod=5.0)]):
        site.frontier.named(site.fetch, world.answer(site.fetch), part)
    site.answer()
    assert [row.lastmod for row in site.store.load().lastmods] == [4.0, 5.0, 6.0]


def test_what_a_sitemap_lists_or_redirects_on_to_is_no_trap_whatever_it_looks_like(world, impolite):
    moved = {"result": Result.REDIRECTED, "status": 301}
    world.answers = {ROOT + name: [moved | {"location": f"{ROOT}new-{name}"}] for name in ("listed", "named")}
    site = Listening(world, impolite, {MAP: [page("listed")], ROOT: [page("named")]})
    site.answer()
    site.answer()
    assert site.known("listed", "named") == [True, True]
    site.capture.traps.why_not_found = lambda url, *_: "a trap" if "new-" in url else None
    site.answer()
    site.answer()
    assert site.known("new-listed", "new-named") == [True, False]


def test_a_second_look_before_t_stands_for_the_page_and_where_it_shows_nothing_the_first_does(world, impolite):
    site = Listening(world, impolite, {}, sitemaps=(), seeds=(ROOT, *(f"{ROOT}{name}" for name in "abcd")))
    first, seen = site.fetch.page, []
    for digest, result in (("sha1:one", Result.OK), ("sha1:two", Result.OK), (None, Result.GONE)):
        seen.append(site.answer(digest=digest, result=result)[0])
        assert site.frontier.pages.states[first] == State.VISITED
        assert site.frontier.pages.remembered(first).digest == (digest or "sha1:two")
        site.frontier.ledger.owe(first, Slot.FIRST)
        site.answer()
        assert site.fetch.page == first
    look = ["mode.visited_again", "evidence.looked"]
    assert seen == [["evidence.visited", "mode.visited"], [*look, "evidence.visited"], look]
    assert site.capture.counts.visits == 4, "three others"


def test_a_page_without_content_says_nothing_of_traps(world, impolite):
    site, asked = Listening(world, impolite, {}, sitemaps=(), seeds=(ROOT, ROOT + "other")), []
    site.capture.traps = Traps()
    site.capture.traps.saw = lambda *given, **more: asked.append(given)
    site.answer(fingerprint=None)
    site.answer(fingerprint="a text")
    assert [(url, content) for url, content, _ in asked] == [(ROOT + "other", "a text")]
