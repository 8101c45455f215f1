"""In which order waits what looks like a trap's, and what tells that two pages may be one."""

from __future__ import annotations

import re
from itertools import pairwise
from types import SimpleNamespace

import pytest

from sharc_crawler.addresses.known_urls import SeenUrls
from sharc_crawler.addresses.unlikely import is_nobodys, look_at, nobodys, unlikely
from sharc_crawler.frontier.finishing import Ended
from sharc_crawler.frontier.hosts import Task
from sharc_crawler.frontier.probing import Prober
from sharc_crawler.model import NO_VALIDATORS, Fetch, Kind, Outcome, Plan, Result, Sighting, Slot, Visit
from sharc_crawler.state.lifecycle import Event
from sharc_crawler.state.pages import NO_PARENT
from sharc_crawler.traps import echoes
from sharc_crawler.traps.addresses import places
from sharc_crawler.traps.common import as_trap
from sharc_crawler.traps.doubted import LAST, Doubted
from sharc_crawler.traps.echoes import under_path
from sharc_crawler.traps.own_names import OwnNames
from sharc_crawler.traps.probing import (
    feeds,
    is_look,
    like,
    names_new,
    shown_by,
    shows_errors,
    take,
)
from sharc_crawler.traps.rules import Traps
from tests.traps.tables import ROOT, add, table


def taken(doubted: Doubted) -> list[int]:
    return [doubted.take()[0].page for _ in range(len(doubted))]


def test_what_waits_comes_by_its_distance_days_first_and_neighbours_apart():
    pages, doubted = table(*(f"page{number}" for number in range(20)), "cal/2026/11", "cal/2026/11/23"), Doubted()
    deep = add(pages, "deep", 1)
    for page in (deep, *range(1, 23), 0):
        doubted.put(Visit(page, Slot.FIRST), pages)
    order = taken(doubted)
    assert set(order[:2]) == {0, 22}, "a seed, and a day"
    assert order[-1] == deep
    assert order[2:-1] != sorted(order[2:-1])
    assert sum(abs(one - other) == 1 for one, other in pairwise(order)) < 5


def test_once_links_stay_what_copies_lead_to_comes_first():
    pages, doubted = table("one", "two"), Doubted()
    below = [add(pages, f"below/{parent}", parent) for parent in (1, 2)]
    seed = add(pages, "seed", NO_PARENT)
    deep = add(pages, "deep", below[0])
    for page in (*below, seed, deep):
        doubted.put(Visit(page, Slot.FIRST), pages)
    doubted.follow({2}, pages)
    doubted.follow({1}, pages)
    later = add(pages, "later", 2)
    doubted.put(Visit(later, Slot.FIRST), pages)
    order = taken(doubted)
    assert set(order[:3]) == {below[1], later, seed}
    assert order[3:] == [below[0], deep]


@pytest.mark.parametrize(
    ("url", "known", "new", "most"),
    [
        ("http://h/a", [], ["http://h/b"], True),
        ("http://h/a", ["http://h/c"], ["http://h/b"], False),  # as many
        ("http://h/a", ["http://h/c"], ["http://h/b", "http://h/d"], True),
        ("http://h/a", [], ["http://g/b"], False),  # another site's
        ("http://h/a", [], ["http://h/b/c"], False),  # of another shape
        ("http://h/a", ["http://h/b/c", "http://g/d"], ["http://h/b"], True),
        ("http://h/a", [], ["mailto:a"], False),
    ],
)
def test_what_a_page_names_of_its_own_shape_is_counted(url, known, new, most):
    assert names_new(url, known, new) is most


def test_a_page_feeds_a_trap_that_was_the_first_to_name_what_is_of_its_like():
    pages = table("a", "b")
    named = [add(pages, name, parent) for name, parent in (("c", 1), ("d", 1), ("e", 2))]
    assert feeds(1, named, pages)
    assert not feeds(2, named, pages)
    assert not feeds(1, (), pages)
    seen = SeenUrls()
    seen.add(f"{ROOT}e", 5)
    assert feeds(2, named, pages, seen, [Sighting(f"{ROOT}{name}") for name in "efgh"]), "though three of them are left"
    assert not feeds(2, named, pages, seen, [Sighting(f"{ROOT}e")])


@pytest.mark.parametrize(("left", "most"), [(0, False), (1, False), (2, True)])
def test_what_is_left_of_what_a_page_names_is_new_too(left, most):
    """Two others named before, one it named first."""
    pages, seen = table("a", "b", "c"), SeenUrls()
    linked = [2, 3, add(pages, "d", 1)]
    for page in range(len(pages)):
        seen.add(pages.urls[page], page)
    links = [Sighting(pages.urls[page]) for page in linked] + [
        Sighting(f"{ROOT}left{number}") for number in range(left)
    ]
    assert feeds(1, linked, pages, seen, links) is most
    assert not feeds(1, linked, pages)


def test_parameters_together_are_more_than_one_place():
    assert places(f"{ROOT}p?a=b") & places(f"{ROOT}p?c=d"), "the query is one place"
    assert not places(f"{ROOT}p?a=b&c=d") & places(f"{ROOT}p?e=f&g=h")
    assert places(f"{ROOT}p?a=b&c=d") & places(f"{ROOT}p?a=b&c=e")
    assert not places(f"{ROOT}a") & places(f"{ROOT}b")


def test_a_look_is_told_by_its_own_name():
    assert is_look(f"{ROOT}x?no-such-page-euxmcqqecr")
    assert not is_look(f"{ROOT}x/no-such-page-euxmcqqecr"), "a folder's error page"
    assert not is_look(f"{ROOT}x?no-such-page-aaaaaaaaaa"), "a site's own"
    assert under_path(f"{ROOT}s?a=1", "text", f"{ROOT}s?b=1", set())


def test_neighbours_come_apart_and_so_do_those_that_are_as_far_from_each_other():
    pages, doubted = table(*(f"page{number}" for number in range(256))), Doubted()
    for page in range(1, 257):
        doubted.put(Visit(page, Slot.FIRST), pages)
    order = taken(doubted)
    ascending = [first < second for first, second in pairwise(order)]
    assert not any(all(ascending[at : at + 3]) for at in range(len(ascending) - 2))


def test_what_copies_lead_to_comes_as_if_it_were_two_links_nearer():
    pages, doubted = table("one", "two"), Doubted()
    near = [add(pages, f"near{number}", 0) for number in range(9)]
    far = [add(pages, f"far{number}", 2) for number in range(9)]
    further = [add(pages, f"further{number}", far[0]) for number in range(9)]
    for page in (*far, *further, *near):
        doubted.put(Visit(page, Slot.FIRST), pages)
    doubted.follow({2, far[0]}, pages)
    order = taken(doubted)
    assert set(order[:9]) == set(far)
    assert set(order[9:]) == {*near, *further}
    assert order[9:] not in ([*near, *further], [*further, *near])
    places = [page in near for page in order[9:]]
    assert places != sorted(places)
    assert places != sorted(places, reverse=True)


def test_where_contents_were_shown_again_is_remembered_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(echoes, "MOST", 2)
    known: set[int] = set()
    assert not any(under_path(f"{ROOT}{name}?x", "text", f"{ROOT}first", known) for name in "abc")
    assert [under_path(f"{ROOT}{name}?y", "text", f"{ROOT}first", known) for name in "abc"] == [True, True, False]


class Asking:
    """Three pages wait that one page names; what is asked for is noted."""

    def __init__(self, *, turned: bool = False, discover: bool = True, new: bool = True) -> None:
        self.pages, self.asked, self.notes, self.sure = table("a"), [], [], 0
        self.new = new
        self.traps = Traps()
        self.traps.suspicion = SimpleNamespace(nothing_else=self.nothing_else, made=False, why_not=lambda *_: None)
        self.capture = SimpleNamespace(
            traps=self.traps,
            doubted=None,
            seen=SeenUrls(),
            turned=turned,
            spec=SimpleNamespace(discover=discover),
            note=self.notes.append,
        )
        self.prober = Prober(SimpleNamespace(pages=self.pages), SimpleNamespace(admit=self.admit))
        self.waiting = [self.wait(f"item/{number}", 1) for number in range(3)]

    def wait(self, path: str, parent: int) -> int:
        page = add(self.pages, path, parent)
        self.prober.put_off(self.capture, Visit(page, Slot.FIRST))
        return page

    def nothing_else(self) -> None:
        self.sure += 1

    def admit(self, capture, sightings, now):
        assert capture is self.capture
        self.asked += sightings
        return SimpleNamespace(new=[9] * self.new)

    def surest(self) -> int | None:
        visit = self.prober.surest(self.capture, 0.0)
        return visit and visit.page


def test_the_page_that_named_what_waits_is_asked_again_once_and_what_waits_goes_on_waiting():
    site = Asking()
    assert site.surest() is None
    assert site.asked == [Sighting(look_at(f"{ROOT}a"), Kind.PROBE, "probe")]
    assert len(site.capture.doubted) == 3
    assert not site.sure
    assert "were asked for once more" in site.notes[0]
    assert {site.surest() for _ in range(3)} == set(site.waiting)
    assert len(site.asked) == len(site.notes) == 1
    assert site.sure == 3


def test_what_a_former_process_wanted_is_asked_for_first():
    site = Asking()
    site.traps.wanted.append(f"{ROOT}x/no-such-page-euxmcqqecr")
    assert site.surest() is None
    assert [one.url for one in site.asked] == [f"{ROOT}x/no-such-page-euxmcqqecr"]
    assert not site.traps.wanted
    assert len(site.capture.doubted) == 3


@pytest.mark.parametrize("given", [{"turned": True}, {"discover": False}, {"new": False}])
def test_where_the_page_cannot_be_asked_again_what_waits_is_visited(given):
    site = Asking(**given)
    assert site.surest() in site.waiting
    assert len(site.capture.doubted) == 2
    assert bool(site.asked) == bool(site.notes) == ("new" in given)
    assert site.sure == 1


def test_none_is_asked_again_for_what_is_no_suspect_or_left_at_once():
    for site in (unsuspected := Asking(), Asking()):
        if site is unsuspected:
            site.traps.suspicion = None
        else:
            site.traps.left = lambda *_: "copies"
        assert site.surest() in site.waiting
        assert not site.asked
        assert not site.sure


def test_what_would_be_left_is_sampled_when_nothing_else_waits():
    site = Asking()
    near = [site.wait(f"near/{number}", 0) for number in range(2)]
    site.traps.left = lambda page, _: "copies" if page in near else None
    site.traps.suspicion.shown = lambda _: 1
    site.traps.firsts.add_all([f"content {one}" for one in range(100)], range(100))
    assert site.surest() is None, "who named the others is asked again"
    assert {site.surest() for _ in range(3)} == set(site.waiting)
    assert not site.traps.samples
    assert {site.surest() for _ in range(2)} == set(near) == site.traps.samples


def test_where_no_copies_were_seen_what_waits_comes_by_its_distance_however_much_a_site_has():
    site = Asking()
    site.traps.suspicion = None
    site.traps.firsts.add_all([f"content {one}" for one in range(100)], range(100))
    near = site.wait("near", 0)
    assert site.surest() == near
    assert {site.surest() for _ in range(3)} == set(site.waiting)


def test_once_links_stay_few_copies_are_no_sign_and_what_copies_lead_to_is_first():
    site = Asking()
    assert site.surest() is None
    site.traps.echoes.echoes[1] = 0
    site.traps.fleeting.stay = True
    site.wait("near", 0)
    assert {site.surest() for _ in range(3)} == set(site.waiting), "two links nearer, and a seed's link is one away"
    assert len(site.capture.doubted) == 1
    assert not site.sure


def test_once_links_stay_few_copies_are_a_sign_where_what_nobody_names_shows_the_same():
    site = Asking()
    assert site.surest() is None
    site.traps.fleeting.stay = site.traps.suspicion.made = True
    assert {site.surest() for _ in range(3)} == set(site.waiting)
    assert site.sure == 3


def test_what_copies_alone_named_is_visited_before_the_rest_once_its_page_was_asked_again():
    site = Asking()
    page = add(site.pages, "of a copy", 1)
    site.prober.put_off(site.capture, Visit(page, Slot.FIRST), 1)
    assert site.surest() is None
    assert site.asked == [Sighting(look_at(f"{ROOT}a"), Kind.PROBE, "probe")]
    assert site.surest() == page
    assert not site.sure, "it tells nothing of the rest"
    assert len(site.capture.doubted) == 3


class Answered:
    """Pages ``a`` and ``b`` of a capture; what the records are told is noted."""

    def __init__(self, traps: Traps | None = None) -> None:
        self.told, self.notes, self.pages = [], [], table("a", "b")
        self.pages.move = lambda *given: self.told.append(("moved", *given))
        ledger = SimpleNamespace(
            pages=self.pages,
            linked=lambda *given: self.told.append(("linked", *given)),
            left_out=lambda *given: self.told.append(("left", *given)),
        )
        seen = SeenUrls()
        for page in range(3):
            seen.add(self.pages.urls[page], page)
        seen.add("the key", 7)
        self.capture = SimpleNamespace(traps=traps, seen=seen, note=self.notes.append, refusals={})
        self.prober = Prober(ledger, SimpleNamespace(canonical=lambda url: url))


def fetched(url: str) -> Fetch:
    return Fetch(1, 5, "h", url, Kind.PROBE, Slot.FIRST, Plan.HOPEFUL, "h", 1, NO_VALIDATORS, 0.0)


def test_what_a_page_names_that_was_asked_again_was_linked_then():
    site, outcome = Answered(), Outcome(Result.OK, 3.0, 4.0, 200)
    links = [
        Sighting(f"{ROOT}b"),
        Sighting(f"{ROOT}new"),
        Sighting(f"{ROOT}a", Kind.RESOURCE),
        Sighting("x", key="the key"),
    ]
    look = fetched(look_at(f"{ROOT}a"))
    assert sorted(site.prober.named(site.capture, look, outcome, links)) == [2, 7]
    [(what, *given)] = site.told
    assert (what, *given[:2], sorted(given[2])) == ("linked", 5, 3.0, [2, 7])
    site.told.clear()
    assert site.prober.named(site.capture, look, outcome, links[1:3]) == []
    assert site.prober.named(site.capture, fetched(f"{ROOT}no-such-page-euxmcqqecr"), outcome, links) == []
    assert not site.told


@pytest.mark.parametrize(("result", "event"), [(Result.OK, Event.CAPTURED), (Result.GONE, Event.NO_CONTENT)])
def test_what_was_asked_for_is_captured_or_lost_and_a_reader_is_told_of_error_pages(result, event):
    outcome = Outcome(result, 3.0, 4.0, 404, fingerprint="Oops")
    site = Answered()
    site.prober.answered(site.capture, fetched(look_at(f"{ROOT}a")), outcome, [])
    assert site.told == [("moved", 5, event)]
    assert not site.notes
    traps, pages = Traps(), table(*(f"x/{name}" for name in "abcd"))
    for page in range(1, 5):
        traps.showed(page, pages.urls[page], "Oops", pages, lambda: False)
    site = Answered(traps)
    site.prober.answered(site.capture, fetched(traps.wanted[0]), outcome, [])
    assert site.told == [("moved", 5, event)]
    assert shown_by(site.notes) is (result is Result.OK)
    new = [Sighting(f"{ROOT}new")]
    taken = [site.prober.taken(traps, ended(site, fingerprint=text), new) for text in ("Oops", "a story")]
    assert taken == [[] if result is Result.OK else new, new]


def ended(site: Answered, page: int = 1, **fields: object) -> Ended:
    fetch = fetched(site.pages.urls[page])._replace(page=page, kind=Kind.PAGE)
    return Ended(site.capture, fetch, Task(page, Slot.FIRST), Outcome(Result.OK, 3.0, 4.0, 200, **fields))


def test_of_what_an_error_page_names_what_was_known_is_kept_and_the_rest_is_said():
    site, traps = Answered(), Traps()
    traps.own, traps.errors.shown = OwnNames(traps, site.pages), {"Oops": f"{ROOT}no-such-page-euxmcqqecr"}
    known = [Sighting(f"{ROOT}a"), Sighting(f"{ROOT}unseen", key="the key")]
    new = [Sighting(f"{ROOT}new", via=f"{ROOT}x"), Sighting(f"{ROOT}b", via=f"{ROOT}y", key="another key")]
    links = [new[0], *known, new[1]]
    assert site.prober.taken(traps, ended(site, fingerprint="a story"), links) == links
    assert site.prober.taken(traps, ended(site, fingerprint="Oops"), links) == known
    why = as_trap(traps.errors.why_not("Oops"))
    assert site.told == [("left", one.url, why, one.via) for one in new]


def test_what_a_name_shows_that_nobody_gave_is_told_to_the_rule_for_links_that_go():
    told, traps = [], SimpleNamespace(errors=SimpleNamespace(answered=lambda *given: None), suspicion=None, own=None)
    traps.counted = lambda text, _: text
    traps.fleeting = SimpleNamespace(shown=told.append)
    for result in (Result.OK, Result.GONE):
        outcome = Outcome(result, 3.0, 4.0, 200, fingerprint="Oops")
        take(traps, f"{ROOT}no-such-page-euxmcqqecr", outcome, (), SeenUrls(), table())
    assert told == ["Oops"]


def test_what_an_address_that_nobody_names_shows_is_told_to_the_rule_that_asks_for_it():
    told, weighed, traps = [], [], SimpleNamespace(fleeting=None, own=None, counted=lambda text, _: text)
    answered, weigh = lambda *given, absent: told.append((*given, absent)), weighed.append
    traps.suspicion = SimpleNamespace(answered=answered, weigh=weigh)
    traps.fleeting = SimpleNamespace(suggested={}, leading={})
    probe = nobodys(f"{ROOT}msg7.html", f"{ROOT}msg12.html")
    for result in (Result.OK, Result.GONE):
        take(traps, probe, Outcome(result, 3.0, 4.0, 200, fingerprint="Oops"), (), SeenUrls(), table())
    assert told == [(probe, "Oops", False), (probe, None, True)]
    assert weighed == [traps.fleeting] * 2


def test_one_trail_is_followed_after_the_other_where_pages_wait_longest():
    pages, doubted = table("one"), Doubted()
    trail = [1]
    for depth in range(3):
        trail.append(add(pages, f"step{depth}", trail[-1]))
    for page in trail:
        doubted.put(Visit(page, Slot.FIRST), pages, LAST + 1)
    assert taken(doubted) == trail[::-1]


def test_of_what_nobody_names_the_names_of_a_folder_alone_show_its_error_page():
    asked = f"{ROOT}a/{unlikely(ROOT + 'a')}", look_at(f"{ROOT}a"), nobodys(f"{ROOT}photo/kqzv", f"{ROOT}photo/wmdk")
    assert list(map(shows_errors, asked)) == [True, False, False]


@pytest.mark.parametrize(
    ("new", "is_like"),
    [
        ("http://h/s/wmdk", True),
        ("http://h/s/2026/wmdk", True),  # in its folder
        ("http://h/t/wmdk", True),  # of its shape
        ("http://h/t/2026/wmdk", False),
        ("http://h/s/edit/{name}", False),  # a form to write it
        ("http://g/s/wmdk", False),
    ],
)
def test_what_nobody_names_may_name_more_of_its_shape_or_folder(new, is_like):
    asked = nobodys("http://h/s/kqzv", "http://h/s/bnwt")
    new = new.format(name=asked.rpartition("/")[2])
    assert like(asked, [new]) == [new] * is_like


def test_where_what_nobody_names_lies_in_no_folder_its_shape_alone_tells():
    asked = nobodys("http://h/kqzv", "http://h/bnwt")
    assert like(asked, ["http://h/wmdk", "http://h/wmdk?a=1"]) == ["http://h/wmdk"]


@pytest.mark.parametrize(
    ("url", "like", "made"),
    [
        ("http://h/%E6%97%A5", "http://h/%E6%9C%AC", r"http://h/no-such-page-[a-z]{10}"),
        ("http://h/?q=%97a12", "http://h/?q=%97a13", r"http://h/\?q=%97a94[0-9]{7}"),
        ("http://h/stra%C3%9Fe-4%20b", "http://h/stra%C3%9Fe-5%20b", r"http://h/stra%C3%9Fe-94[0-9]{7}%20b"),
        ("http://h/?f=dept%3Aa", "http://h/?f=dept%3Ab", r"http://h/\?f=dept%3Ano-such-page-[a-z]{10}"),
        ("http://h/%20", "http://h/%20%20", r"http://h/%20no-such-page-[a-z]{10}"),
    ],
)
def test_no_address_is_made_of_half_an_escape(url, like, made):
    probe = nobodys(url, like)
    assert re.fullmatch(made, probe), probe
    assert is_nobodys(probe)
