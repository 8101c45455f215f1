"""What is taken in of what is named, and what is left and listed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sharc_crawler.addresses import known_urls, scope
from sharc_crawler.addresses.known_urls import SeenUrls
from sharc_crawler.frontier import admission
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.model import Hints, Kind, LinkColumns, Result, Sighting, Slot
from sharc_crawler.polling.terms import Terms
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.traps import rules
from tests.frontier.small import ROOT, page, spec


def test_what_cannot_be_fetched_and_what_ends_a_session_is_left_and_listed(world, impolite):
    left = [Sighting("mailto:x@a.example", via="link"), Sighting(ROOT + "logout", via="link"), page("1")]
    world.links = {ROOT: left}
    for session, urls_left in (("me", {"mailto:x@a.example", ROOT + "logout"}), ("", {"mailto:x@a.example"})):
        store = MemoryStore()
        frontier = Frontier(impolite, store)
        capture = frontier.open(spec(session=session), world.now)
        world.run(frontier)
        assert {row.url for row in store.load().outside} == urls_left
        assert sum(capture.left_out.reasons.values()) == 2 * len(urls_left), "as often as they were seen"
        assert {row.reason for row in store.load().outside if row.url.startswith("mailto")} == {"not an http(s) URL"}


def test_what_is_named_beside_a_page_of_another_site_is_bounded_all_the_same(world, impolite):
    elsewhere = "http://b.example/"
    world.links = {ROOT: [page("1"), Sighting(elsewhere), page("2")]}
    frontier = Frontier(impolite, store := MemoryStore())
    frontier.open(spec(limit=2), world.now)
    world.run(frontier)
    assert {fetch.url for _, fetch in world.requests} == {ROOT, ROOT + "1"}
    reasons = {row.url: row.reason for row in store.load().outside}
    assert reasons[ROOT + "2"] == "over limit=2"
    assert reasons.keys() == {elsewhere, ROOT + "2"}


def test_what_a_redirect_leads_to_in_another_spelling_is_the_page_that_others_name(world, impolite):
    world.links = {ROOT: [page("a"), page("b?x=1&y=2")]}
    world.answers = {ROOT + "a": [{"result": Result.REDIRECTED, "status": 301, "location": ROOT + "b?y=2&x=1#top"}]}
    frontier = Frontier(impolite)
    frontier.open(spec(), world.now)
    world.run(frontier)
    visited = [fetch.url for _, fetch in world.requests if "b?" in fetch.url and fetch.slot is not Slot.SECOND]
    assert len(visited) == 1


def test_a_redirect_to_another_spelling_is_followed_once(world, impolite):
    """A site that leads from one to the other and back leads nowhere."""
    world.links = {ROOT: [page("a?x=1&b=2")]}
    canonical_, other = ROOT + "a?b=2&x=1", ROOT + "a?x=1&b=2"
    gone_on = {"result": Result.REDIRECTED, "status": 301}
    world.answers = {other: [{**gone_on, "location": canonical_}], canonical_: [{**gone_on, "location": other}] * 5}
    frontier = Frontier(impolite)
    frontier.open(spec(), world.now)
    world.run(frontier, most=200)
    asked = [fetch.url for _, fetch in world.requests if fetch.slot is not Slot.SECOND]
    assert asked.count(other) == 1
    assert asked.count(canonical_) == 1


def steps(call, path: Path) -> int:
    """Steps of Python that a module makes in a call."""
    made = 0

    def trace(frame, event, _):
        nonlocal made
        if frame.f_code.co_filename != str(path):
            return None
        frame.f_trace_opcodes = True
        made += event == "opcode"
        return trace

    former = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(former)
    return made


def test_a_link_that_is_known_costs_no_step_of_its_own(world, impolite):
    """A page names hundreds, and half of them are on every page."""
    frontier = Frontier(impolite)
    frontier.open(spec(), world.now)
    links = [page(str(number)) for number in range(400)]
    assert frontier.schedule(links, world.now) == 400
    path = Path(admission.__file__)
    few, many = (steps(lambda some=some: frontier.schedule(some, world.now), path) for some in (links[:20], links))
    assert 0 < few == many


def test_scope_and_traps_are_asked_about_a_document_not_about_each_of_its_links(world, impolite, monkeypatch):
    frontier, asked = Frontier(impolite), []
    frontier.open(spec(), world.now)
    frontier.schedule([page("first")], world.now)
    monkeypatch.setattr(scope.Scope, "why_not", lambda _, url: asked.append(url))
    monkeypatch.setattr(rules.Traps, "why_not_found", lambda _, url, parent: asked.append(url))
    assert frontier.schedule([page(str(number)) for number in range(100)], world.now, 1) == 100
    assert not asked
    assert frontier.schedule([page("elsewhere/1")], world.now, 1) == 1
    assert asked == [ROOT + "elsewhere/1"], "a folder that is new"


def test_a_link_that_is_new_costs_few_steps(world, impolite):
    frontier = Frontier(impolite)
    frontier.open(spec(), world.now)
    frontier.schedule([page("first")], world.now)
    links = [page(str(number)) for number in range(400)]
    for module, most in ((admission, 140), (scope, 20), (rules, 1)):
        links = [one._replace(url=f"{one.url}{module.__name__}") for one in links]
        made = steps(lambda some=links: frontier.schedule(some, world.now, 1), Path(module.__file__))
        assert made < most * len(links), module.__name__


def test_no_sighting_is_made_of_a_link_that_is_known(world, impolite, monkeypatch):
    """Of fifty links of a page hardly one is new."""
    looked, one, each = [], LinkColumns.__getitem__, LinkColumns.__iter__
    monkeypatch.setattr(LinkColumns, "__getitem__", lambda links, at: looked.append(at) or one(links, at))
    monkeypatch.setattr(LinkColumns, "__iter__", lambda links: looked.append("all") or each(links))
    frontier = Frontier(impolite)
    frontier.open(spec(strategy="bfs"), world.now)
    urls = [f"{ROOT}{number}" for number in range(50)]
    for named, expected in ((urls, ["all"]), (urls, []), ([*urls[1:], ROOT + "new"], [49])):
        looked.clear()
        fetch = frontier.next(world.now)
        frontier.finished(fetch, world.answer(fetch), LinkColumns(ROOT, named, [Kind.PAGE] * 50))
        world.now += 1.0
        assert looked == expected
    assert len(frontier.pages) == 52


def test_links_of_several_kinds_in_columns_are_those_one_by_one(world, impolite):
    kinds = [Kind.PAGE, Kind.RESOURCE, Kind.PAGE, Kind.PAGE, Kind.RESOURCE]
    urls = [ROOT + name for name in ("a", "i.png", "b/../c", "c", "a")]
    hints = [None, None, Hints(5.0, 1.0), None, None]
    links = LinkColumns(ROOT, urls, kinds, hints, {urls[2]: ROOT + "c"})
    rows = []
    for named in (links, [*links], links[:], [links[at] for at in range(5)]):
        frontier = Frontier(impolite, store := MemoryStore())
        frontier.open(spec(), world.now)
        frontier.schedule(named, world.now)
        frontier.schedule(named, world.now)
        rows.append([row._replace(via="") for row in store.load().pages])
    assert len(rows[0]) == 4
    assert rows[1:] == rows[:1] * 3


def test_urls_that_are_new_are_entered_without_a_call_for_each():
    urls = [f"{ROOT}{number}" for number in range(100)]
    assert 0 < steps(lambda: SeenUrls().add_all(urls, range(len(urls))), Path(known_urls.__file__)) < 60 * len(urls)


@pytest.mark.parametrize(
    "first", [Sighting(ROOT + "post", key=ROOT + "post?form=1"), Sighting(ROOT + "a.png", Kind.RESOURCE)]
)
def test_links_of_several_kinds_are_found_again_each_by_its_key(world, impolite, first):
    frontier = Frontier(impolite)
    frontier.open(spec(), world.now)
    links = [first, page("1"), page("2", lastmod=5.0), page("3")]
    assert frontier.schedule(links, world.now) == 4
    known = len(frontier.pages)
    assert frontier.schedule(links[::-1], world.now) == 0
    assert frontier.schedule([page("3"), page("1")], world.now) == 0
    assert frontier.schedule([], world.now) == 0
    assert len(frontier.pages) == known


IMAGE = Sighting(ROOT + "i.png", Kind.RESOURCE)


def told(store: MemoryStore, pairs) -> list[tuple[str, str]]:
    """Pairs of pages, by path."""
    paths = [row.url.removeprefix(ROOT) for row in store.load().pages]
    return [(paths[one], paths[other]) for one, other in pairs]


def test_a_page_leads_to_the_pages_that_it_names_and_embeds_what_it_shows_new_or_known(world, impolite):
    """Under whatever spelling; what is neither a page of the capture nor embedded is in neither list."""
    outside = Sighting("mailto:x@a.example"), Sighting("http://b.example/")
    respelled = page("2?y=1&x=2"), Sighting(ROOT + "i.png?b=1&a=2", Kind.RESOURCE)
    world.links = {
        ROOT: [IMAGE, page("1"), *outside, page("2?x=2&y=1"), Sighting(ROOT + "i.png?a=2&b=1", Kind.RESOURCE)],
        ROOT + "1": [*respelled, page("1"), page("3"), IMAGE, *outside],
    }
    store = MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(spec(strategy="bfs:revisits=none"), world.now)
    world.run(frontier)
    links = [(row.page, target) for row in store.links() for target in row.targets]
    assert told(store, links) == [("", "1"), ("", "2?x=2&y=1"), ("1", "2?x=2&y=1"), ("1", "1"), ("1", "3")]
    shown = {("", "i.png"), ("", "i.png?a=2&b=1"), ("1", "i.png"), ("1", "i.png?a=2&b=1")}
    assert set(told(store, store.load().embeds)) == shown


def test_what_a_download_after_t_embeds_is_missing_if_nothing_had_embedded_it_before(world, impolite):
    """That download may be the one that is as its page was at T."""
    world.links = {ROOT: [IMAGE]}
    store = MemoryStore()
    frontier = Frontier(impolite, store)
    capture = frontier.open(spec(), world.now)
    while world.step(frontier):
        if capture.turned:
            world.links[ROOT] = [IMAGE, Sighting(ROOT + "new.png", Kind.RESOURCE)]
    assert set(told(store, store.load().embeds)) == {("", "i.png"), ("", "new.png")}
    assert ROOT + "new.png" not in {fetch.url for _, fetch in world.requests}


def test_a_frame_is_a_page_that_its_page_embeds_new_or_known_and_elsewhere_is_embedded_alone(world, impolite):
    frames = [Sighting(url, Kind.RESOURCE) for url in (ROOT + "1", ROOT + "2", "http://b.example/3")]
    world.links = {
        ROOT: [page("1"), Sighting("http://b.example/3"), *frames[::2]],
        ROOT + "1": [page("2"), *frames[1:2]],
    }
    world.links[ROOT + "2"] = [page("1"), *frames[:1]]
    store = MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(spec(strategy="bfs:revisits=none"), world.now)
    world.run(frontier)
    kinds = {row.url.removeprefix(ROOT): row.kind for row in store.load().pages if row.kind is not Kind.ROBOTS}
    assert kinds == {"": Kind.PAGE, "1": Kind.PAGE, "2": Kind.PAGE, "http://b.example/3": Kind.RESOURCE}
    embeds = {("", "1"), ("", "http://b.example/3"), ("1", "2"), ("2", "1")}
    assert set(told(store, store.load().embeds)) == embeds
    links = [(row.page, target) for row in store.links() for target in row.targets]
    assert {("", "1"), ("1", "2"), ("2", "1")} <= set(told(store, links))


def test_what_a_seed_may_have_moved_to_is_what_sitemaps_named_before_the_first_page(world, impolite):
    """Nothing else that lies elsewhere speaks of a sitemap that named pages."""
    frontier = Frontier(impolite)
    capture = frontier.open(spec(sitemaps=None), world.now)
    frontier.schedule([Sighting("http://b.example/")], world.now)
    world.run(frontier)
    assert any("no sitemap lists any page" in note for note in capture.notes)


def test_a_host_is_that_of_the_canonical_address_or_of_what_is_asked_for_under_a_key_of_its_own(impolite):
    frontier = Frontier(impolite)
    frontier.open(spec(), 1000.0)
    own = Sighting("http://b.example/i.png", Kind.RESOURCE, key="http://c.example/i.png#own")
    frontier.schedule([Sighting("HTTP://A.example:80/x"), own], 1000.0)
    assert [host.name for host in frontier.ledger.hosts] == ["a.example", "b.example"]


def test_of_pages_that_come_together_those_are_counted_as_left_that_are(impolite):
    frontier = Frontier(impolite)
    capture = frontier.open(spec(), 1000.0)
    capture.mode.why_left = lambda sighting, parent: "old" if "old" in sighting.url else ""
    frontier.schedule([page("old1"), page("1"), page("2")], 1000.0)
    assert (capture.counts.pages, capture.counts.late) == (4, 1)


def test_a_page_that_was_left_is_fetched_once_another_hub_newly_names_it(world, impolite):
    frontier, hub, late = Frontier(impolite, terms=Terms(every=10.0, duration=60.0)), ROOT + "hub", []
    capture = frontier.open(spec(seeds=(ROOT, hub), mode="instant", strategy="bfs:revisits=none"), world.now)
    world.links = {ROOT: [page("1")]}
    while world.step(frontier):
        if hub in {fetch.url for _, fetch in world.requests}:
            world.links[hub] = [page("1")]
        late.append(capture.counts.late)
    fetched = [fetch.url for _, fetch in world.requests if fetch.kind is Kind.PAGE]
    assert fetched == [ROOT + "1"]
    assert (max(late), late[-1], capture.counts.captured) == (1, 0, 3)


def test_what_is_found_so_many_links_from_another_sites_seed_is_asked_whether_it_ends(world, impolite):
    frontier = Frontier(impolite)
    capture = frontier.open(spec(), world.now)
    capture.traps.endless = lambda keys, parent: dict.fromkeys((key for key in keys if "trap" in key), "it has no end")
    found = [[page(f"{name}{depth}") for name in ("trap", "page")] for depth in (0, 1, 7)]
    assert [frontier.schedule(some, world.now, depth) for some, depth in zip(found, (0, 1, 7), strict=True)] == [
        2,
        1,
        1,
    ]
    assert frontier.schedule([page("given")], world.now) == 1
    unasked = Frontier(impolite)
    unasked.open(spec(traps=False), world.now)
    assert unasked.schedule(found[1], world.now, 1) == 2
    depths = {url.removeprefix(ROOT): frontier.pages.depths[number] for number, url in enumerate(frontier.pages.urls)}
    assert depths == {"": 0, "trap0": 0, "page0": 0, "page1": 1, "page7": 7, "given": 0}


@pytest.mark.parametrize(("strategy", "hubs"), [("bfs:revisits=none", set()), ("bfs", {ROOT + "feed"})])
def test_hubs_of_the_site_are_taken_where_the_capture_polls(world, impolite, strategy, hubs):
    frontier = Frontier(impolite)
    frontier.open(spec(strategy=strategy), world.now)
    frontier.schedule([Sighting(f"{root}feed", Kind.HUB) for root in (ROOT, "http://b.example/")], world.now)
    assert {frontier.pages.urls[number] for number in range(len(frontier.pages))} == {ROOT, *hubs}


def test_pages_that_are_out_of_scope_now_are_not_asked_for_when_a_capture_goes_on(world, impolite):
    store = MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(spec(strategy="bfs:revisits=none"), world.now)
    frontier.schedule([page("1"), page("2")], world.now)
    saved = store.load()
    saved.captures[0] = saved.captures[0]._replace(spec=spec(strategy="bfs:revisits=none", exclude=("1",)))
    frontier = Frontier(impolite, store)
    frontier.restore(saved, world.now)
    assert [fetch.url.removeprefix(ROOT) for fetch in world.run(frontier)] == ["", "2"]
    (refused,) = [visit.outcome.error for visit in store.load().visits if not visit.attempt]
    assert refused == "excluded by '1'"


def test_a_mode_is_told_of_what_is_said_later_of_pages_that_are_known(world, impolite):
    """Under whatever spelling; what names them without a word is none of its business."""
    frontier = Frontier(impolite)
    capture = frontier.open(spec(), world.now)
    heard = []
    capture.mode.dated = lambda number, sighting: heard.append((frontier.pages.urls[number], sighting.hints.lastmod))
    frontier.schedule([page("1?a=1&b=2"), page("2"), IMAGE], world.now)
    frontier.schedule([page("1?b=2&a=1", lastmod=5.0), page("2"), page("2", lastmod=6.0), page("1?b=2&a=1")], world.now)
    frontier.schedule([IMAGE._replace(hints=Hints(lastmod=7.0))], world.now)
    assert heard == [(ROOT + "1?a=1&b=2", 5.0), (ROOT + "2", 6.0)]


def test_what_sitemaps_say_of_last_changes_is_kept_of_known_pages_where_it_is_wanted(world, impolite):
    """Whatever stands between; a page is known by its own key, by another spelling, or as it is named."""
    dated = [
        page("1", lastmod=1.0, lastmod_precision=60.0),
        page("2"),
        page("3", changefreq="daily"),
        Sighting("mailto:x@a.example", hints=Hints(lastmod=2.0)),
        Sighting("http://b.example/", hints=Hints(lastmod=3.0)),
        page("4?b=1&a=2", lastmod=4.0),
        page("5"),
        Sighting(ROOT + "5", hints=Hints(lastmod=5.0), key=ROOT + "5#own"),
        Sighting(ROOT + "6?b=1&a=2", hints=Hints(lastmod=6.0), canonical=ROOT + "6?a=2&b=1"),
        page("7", lastmod=7.0),
    ]
    known = [(1, 60.0, "1"), (4, 0, "4?a=2&b=1"), (5, 0, "5#own"), (6, 0, "6?a=2&b=1"), (7, 0, "7")]
    for strategy, rows in (("sharc-attested", known), ("bfs", [])):
        store = MemoryStore()
        frontier = Frontier(impolite, store)
        capture = frontier.open(spec(strategy=strategy), world.now)
        heard = []
        capture.mode.ingest = lambda number, read, hints, heard=heard: heard.append((number, read, hints.lastmod))
        frontier.schedule(dated, world.now)
        state = store.load()
        found = [
            (row.lastmod, row.precision, state.pages[row.page].key.removeprefix(ROOT))
            for row in state.lastmods
            if row.read == world.now
        ]
        assert found == rows
        assert [lastmod for *_, lastmod in heard] == [lastmod for lastmod, *_ in rows]
