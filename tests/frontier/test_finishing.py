"""From the end of a fetch to what it means: who is told of it, and what of it is taken in."""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.finishing import Ended, Finisher
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import TAKEN, Task
from sharc_crawler.model import Fetch, Kind, Outcome, Result, Sighting, Slot, Verdict, Visit
from sharc_crawler.state.lifecycle import Event, State
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.strategies.base import Setting
from sharc_crawler.traps.own_names import OwnNames
from sharc_crawler.traps.rules import Traps
from tests.frontier.small import ROOT, page, spec
from tests.traps.tables import add, table

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
    assert (row.read, row.lastmod) == (899.0, 5.0), "Age has whole seconds"
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
    site.capture.traps.endless = lambda urls, _: {url: "a trap" for url in urls if "new-" in url}
    site.answer()
    site.answer()
    assert site.known("new-listed", "new-named") == [True, False]


@pytest.mark.parametrize("whole", [True, False])
def test_where_no_whole_site_is_captured_a_mode_is_told_of_what_names_nothing_too(world, impolite, whole):
    site = Listening(world, impolite, {}, sitemaps=(), seeds=(ROOT, ROOT + "other"))
    site.listen(site.capture.mode, "mode", "named")
    site.capture.mode.whole = whole
    assert ("mode.named" in site.answer()[0]) is not whole


@pytest.mark.parametrize("traps", [True, False])
def test_of_what_an_error_page_names_what_is_new_is_left(world, impolite, traps):
    site = Listening(world, impolite, {ROOT: [page("new")]}, sitemaps=(), seeds=(ROOT, ROOT + "other"), traps=traps)
    if traps:
        site.capture.traps.own = OwnNames(site.capture.traps, site.frontier.pages)
        site.capture.traps.errors.shown["Oops"] = ROOT + "no-such-page-euxmcqqecr"
    site.answer(fingerprint="Oops")
    assert site.known("new") == [not traps]


@pytest.mark.parametrize("discover", [True, False])
def test_an_error_page_is_asked_for_where_links_are_followed(world, impolite, discover):
    site = Listening(world, impolite, {}, sitemaps=(), seeds=(ROOT, ROOT + "other"), discover=discover)
    site.capture.traps.wanted = [ROOT + "no-such-page-euxmcqqecr"]
    site.answer()
    assert site.known("no-such-page-euxmcqqecr") == [discover]


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


def test_what_a_captured_page_names_is_told_to_the_rule_for_ever_new_ones(world, impolite):
    named = {ROOT: [page("a"), page("b")], ROOT + "gone": [page("c")]}
    site, told = Listening(world, impolite, named, sitemaps=(), seeds=(ROOT, ROOT + "gone", ROOT + "other")), []
    site.capture.traps.named = lambda page, linked, _: told.append((site.frontier.pages.urls[page], len(linked)))
    site.answer()
    site.answer(result=Result.GONE)
    site.answer()
    assert told == [(ROOT, 2), (ROOT + "other", 0)]


def test_a_page_without_content_says_nothing_of_traps(world, impolite):
    site, asked = Listening(world, impolite, {}, sitemaps=(), seeds=(ROOT, ROOT + "other")), []
    site.capture.traps = Traps()
    site.capture.traps.showed = lambda *given: asked.append(given)
    site.answer(fingerprint=None)
    site.answer(fingerprint="a text")
    assert [(url, content) for _, url, content, *_ in asked] == [(ROOT + "other", "a text")]


def test_the_plans_step_follows_the_pace_of_visits_from_eight_on_each_time_they_have_doubled():
    told, changed = [], {}
    strategy = SimpleNamespace(setting=Setting(step=1.0, start=100.0), finished=lambda *given: told.append(given))
    capture = SimpleNamespace(strategy=strategy, former=3, counts=SimpleNamespace(visits=3))
    for made in range(1, 33):
        capture.counts.visits, before = 3 + made, strategy.setting.step
        Finisher._tell_strategy(capture, Task(made, Slot.FIRST), made % 2 == 0, 100.0 + 7.0 * made + made // 10)
        if strategy.setting.step != before:
            changed[made] = strategy.setting.step
    assert changed == {8: 7.0, 16: 113 / 16, 32: 227 / 32}
    assert told[:2] == [(Visit(1, Slot.FIRST), False), (Visit(2, Slot.FIRST), True)]
    Finisher._tell_strategy(capture, Task(33, Slot.FIRST), True, 100.0)
    assert strategy.setting.step == 227 / 32, "no time has passed"


@pytest.mark.parametrize(("attempt", "now"), [(TAKEN, 5.0), (1, 7.0)])
def test_what_a_former_capture_has_was_taken_when_that_was_decided(attempt, now):
    outcome = Outcome(Result.OK, 6.0, 7.0, 200)
    assert Ended(None, SimpleNamespace(decided=5.0), Task(1, attempt=attempt), outcome).now == now


class Revisited:
    """A page with three resources, one of which is gone and one to be made again; what a revisit is told to."""

    def __init__(self, *, early: bool = False, audited: bool = False) -> None:
        self.pages, self.told = table("a"), []
        self.resources = [add(self.pages, name, 1, Kind.RESOURCE) for name in ("x.png", "y.png", "z.png")]
        for one in (1, *self.resources):
            self.pages.move(one, Event.LEASE)
            self.pages.move(one, Event.NO_CONTENT if one == self.resources[1] else Event.CAPTURED)
            self.pages.remember(one, Outcome(Result.OK, 1.0, 2.0, 200, "sha1:first"))
        tell = self.told.append
        self.capture = SimpleNamespace(
            reference=5.0,
            again={self.resources[2]},
            revisited=SimpleNamespace(judge=lambda url, visit, outcome, reference: (url, visit.digest, reference)),
            mode=SimpleNamespace(
                revisited=lambda *given: tell(("mode", *given[:2])) or early, audits=lambda _: audited
            ),
            counts=SimpleNamespace(revisited=lambda: tell("counted")),
            embedded=SimpleNamespace(take=lambda page: self.resources),
            strategy=SimpleNamespace(finished=lambda visit, *, captured: tell((visit, captured))),
        )
        ledger = SimpleNamespace(
            pages=self.pages,
            owe=lambda page, slot: tell(("owed", page, slot)),
            judged=lambda page, judgement: tell(("judged", page, judgement)),
        )
        self.finisher = Finisher(ledger, None, None, None)

    def revisit(self, page: int, kind: Kind):
        self.pages.move(page, Event.LEASE)
        fetch = SimpleNamespace(url=self.pages.urls[page], kind=kind)
        outcome = Outcome(Result.OK, 6.0, 7.0, 200)
        return self.finisher._revisited(Ended(self.capture, fetch, Task(page, Slot.SECOND), outcome))


def test_a_revisited_page_is_judged_and_what_it_embeds_is_owed_and_its_strategy_told():
    site = Revisited()
    judgement = (site.pages.urls[1], "sha1:first", 5.0)
    assert site.revisit(1, Kind.PAGE) == judgement
    assert site.told == [
        ("mode", 1, Kind.PAGE),
        ("judged", 1, judgement),
        "counted",
        ("owed", site.resources[0], Slot.SECOND),
        (Visit(1, Slot.SECOND), True),
    ]
    assert site.pages.states[1] == State.JUDGED


def test_what_it_is_too_early_to_judge_stays_visited():
    site = Revisited(early=True)
    site.revisit(1, Kind.PAGE)
    assert site.pages.states[1] == State.VISITED
    assert not any(one[0] == "judged" for one in site.told)


@pytest.mark.parametrize(("kind", "audited"), [(Kind.RESOURCE, False), (Kind.PAGE, True)])
def test_a_resource_or_an_audit_is_no_revisit_of_a_page(kind, audited):
    site = Revisited(audited=audited)
    page = 1 if kind is Kind.PAGE else site.resources[0]
    assert site.revisit(page, kind)
    assert [one[0] for one in site.told] == ["mode", "judged"]
