"""Endless sites end, honest ones are captured whole, and what is left is said."""

from __future__ import annotations

from itertools import count, pairwise

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.model import Kind, Sighting, Slot
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.traps.doubted import LAST, doubts
from sharc_crawler.traps.made_up import made_up
from sharc_crawler.traps.rules import Traps
from tests.frontier.conftest import World
from tests.traps.tables import add, table

ROOT = "http://h/"


class Endless(World):
    """A shop with a session id in each path, a calendar, and honest pages."""

    honest = 30
    sessions = count()

    def links_of(self, url: str) -> list[Sighting]:
        path = url.removeprefix(ROOT)
        if path == "":
            return [
                Sighting(f"{ROOT}{name}")
                for name in (self.product(0), "cal/1", *(f"item/{n}" for n in range(self.honest)))
            ]
        if path.startswith("s/"):
            return [Sighting(ROOT + self.product(number)) for number in range(5)]
        path = path.partition("?")[0]
        return [Sighting(f"{ROOT}cal/{int(path[4:]) + 1}")] if path.startswith("cal/") else []

    def product(self, number: int) -> str:
        return f"s/{next(self.sessions):032x}/p/{number}"

    def answer(self, fetch):
        outcome = super().answer(fetch)
        path = fetch.url.removeprefix(ROOT)
        content = path[path.index("/p/") :] if path.startswith("s/") else path
        outcome = outcome._replace(fingerprint=content)
        self.links[fetch.url] = self.links_of(fetch.url)
        return outcome


def crawl(impolite, **spec):
    world, store = Endless(), MemoryStore()
    frontier = Frontier(impolite, store)
    capture = frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), **spec), world.now)
    world.run(frontier, most=6_000)
    pages = [fetch for _, fetch in world.requests if fetch.kind is Kind.PAGE and fetch.slot is not Slot.SECOND]
    return [fetch.url.removeprefix(ROOT) for fetch in pages], capture, store


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
def test_an_endless_site_ends_and_its_honest_pages_are_captured(impolite, strategy):
    visited, capture, store = crawl(impolite, strategy=strategy, hops=50)
    assert len({path for path in visited if path.startswith("item/")}) == Endless.honest
    shop = [path for path in visited if path.startswith("s/")]
    assert len(shop) <= 25 + 8, "samples of the rest"
    assert {path[-4:] for path in shop} == {f"/p/{number}" for number in range(5)}, (
        "each product is seen once, at least"
    )
    assert len([path for path in visited if path.startswith("cal/")]) == 50
    reasons = " ".join(capture.left_out.reasons)
    assert "copies of those with something else in /s/*" in reasons
    assert "(hops=50)" in reasons
    assert any(row.url == f"{ROOT}cal/51" for row in store.load().outside)


@pytest.mark.slow
def test_both_can_be_turned_off(impolite):
    visited, capture, _ = crawl(impolite, strategy="bfs", hops=0, traps=False, limit=300)
    assert len(visited) == 300
    assert not any("trap" in reason or "hops" in reason for reason in capture.left_out.reasons)


def test_a_page_is_taken_where_a_shorter_way_leads_to_it(impolite):
    world = World()
    chain = [f"{ROOT}{number}" for number in range(8)]
    world.links = {
        ROOT: [Sighting(chain[0])],
        **{one: [Sighting(two)] for one, two in pairwise(chain)},
    }
    world.links[chain[5]] = [Sighting(chain[6]), Sighting(f"{ROOT}hub")]
    frontier = Frontier(impolite)
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy="bfs", hops=6), world.now)
    world.run(frontier)
    visited = {fetch.url for _, fetch in world.requests}
    assert chain[5] in visited
    assert chain[6] not in visited
    frontier = Frontier(impolite)
    world.requests.clear()
    world.links[chain[5]] = [Sighting(chain[6])]
    world.links[chain[4]] = [Sighting(chain[5]), Sighting(chain[6])]
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy="bfs", hops=6), world.now)
    world.run(frontier)
    assert chain[6] in {fetch.url for _, fetch in world.requests}


@pytest.mark.slow
def test_what_was_seen_holds_after_a_restart(impolite):
    world, store = Endless(), MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy="bfs", hops=50), world.now)
    world.run_restarted(frontier, impolite, store, every=15)
    assert len([fetch for _, fetch in world.requests if "/s/" in fetch.url and fetch.slot is Slot.FIRST]) <= 35


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
def test_lists_that_say_the_same_are_followed_where_they_lead_to_something_new(impolite, strategy):
    class Lists(World):
        def answer(self, fetch):
            number = fetch.url.partition("?page=")[2].partition("&")[0]
            at = int(number or 0)
            self.links[fetch.url] = (
                [Sighting(f"{ROOT}list?page={at + 1}")] if at < 60 and "item" not in fetch.url else []
            )
            self.links[fetch.url] += [Sighting(f"{ROOT}item-{chr(97 + at % 26) * (at % 1000 + 1)}")] * bool(number)
            return super().answer(fetch)._replace(fingerprint="a list" if number else fetch.url)

    world, frontier = Lists(), Frontier(impolite)
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy=strategy, hops=0), world.now)
    world.run(frontier)
    assert len({fetch.url for _, fetch in world.requests if "item" in fetch.url}) == 60


def test_of_several_things_made_up_each_may_be_one_but_what_ends_a_path_is_none():
    found = made_up(f"{ROOT}x7Gk2p/y8Hl3q/a1B2c3")
    assert [one.rest for one in found] == [
        f"{ROOT}*/y8Hl3q/a1B2c3",
        f"{ROOT}x7Gk2p/*/a1B2c3",
        f"{ROOT}*/*/a1B2c3",
    ]


def test_a_uuid_of_letters_behind_a_letter_is_not_overlooked():
    assert made_up("http://h/qabcdefab-abcd-abcd-abcd-abcdefabcdef/x")[0].place == "/q*"


def test_what_came_without_content_says_nothing():
    pages, traps = table("item/1"), Traps()
    for number in range(30):
        traps.showed(1, f"{ROOT}item/{number}", None, pages, lambda: True)
    assert traps.why_not_found(f"{ROOT}item/99", 1) is None
    assert traps.suspicion is None


def test_echoes_are_suspected_and_what_they_name_waits_though_nothing_in_addresses_is_odd():
    pages, traps = table("a"), Traps()
    for page, content in ((0, "front"), (1, "about")):
        traps.showed(page, pages.urls[page], content, pages, lambda: True)
    assert traps.suspicion is None
    for number in range(4):
        page = add(pages, f"{'abcd'[number]}x", 1)
        traps.showed(page, pages.urls[page], "the trap", pages, lambda: True)
    assert traps.suspicion is not None
    waiting = add(pages, "ex", 1)
    assert doubts(traps, waiting, f"{ROOT}ex")
    assert traps.why_not_found(f"{ROOT}ex", 1, waiting) is None
    traps.suspicion.nothing_else()
    assert traps.why_not_found(f"{ROOT}ex", 1, waiting) is None, "three echoes"
    page = add(pages, "fx", 1)
    traps.showed(page, pages.urls[page], "the trap", pages, lambda: True)
    traps.suspicion.nothing_else()
    assert "looks like a trap: 4 pages in a row" in traps.why_not_found(f"{ROOT}ex", 1, waiting)
    assert traps.why_not_found(f"{ROOT}ex", 0, waiting) is None


def test_only_what_another_address_showed_that_differs_in_more_than_a_place_is_copied():
    pages, traps = table("p?a=b", "x", "p?c=d"), Traps()
    traps.showed(1, pages.urls[1], "text", pages, lambda: False)
    assert traps.copies is None, "of many sites none"
    assert traps.echoes.copied(pages.urls[2], "text", pages)
    assert not traps.echoes.copied(pages.urls[3], "text", pages)


@pytest.mark.parametrize(("before", "left"), [(13, True), (14, False)])
def test_what_was_shown_before_the_first_copy_is_counted_with_it(before, left):
    pages, traps = table("a"), Traps()
    for number in range(before):
        page = add(pages, f"x/{number}", 1)
        traps.showed(page, pages.urls[page], f"story {number}", pages, lambda: True)
    for number in range(20):
        page = add(pages, f"x/{100 + number}", 1)
        traps.showed(page, pages.urls[page], "story 5", pages, lambda: True)
    assert bool(traps.why_not_found(f"{ROOT}x/1", 1)) is left


@pytest.mark.parametrize("error", [True, False])
def test_copies_that_lead_nowhere_are_suspects_where_an_error_page_shows_the_same(error):
    pages, traps = table("a"), Traps()
    for number in range(4):
        page = add(pages, f"x/{'abcd'[number]}", 0)
        traps.showed(page, pages.urls[page], "Sorry", pages, lambda: False)
    traps.errors.answered(traps.wanted[0], "Sorry" if error else "Oops")
    for number in range(5):
        page = add(pages, f"x/{number}", 1)
        traps.showed(page, pages.urls[page], "Sorry", pages, lambda: False)
    assert doubts(traps, add(pages, "x/99", 1), pages.urls) == LAST * error


def test_a_calendars_pages_are_asked_no_other_rule_and_it_is_one_for_all():
    pages, traps = table("cal/2026/11"), Traps()
    for number in range(30):
        page = add(pages, f"cal/{2000 + number}/11", 1)
        about = add(pages, f"about{'ab' * number}", 1)  # an address without a year
        traps.showed(about, pages.urls[about], f"text {number}", pages, lambda: False)
        traps.showed(page, pages.urls[page], "No events", pages, lambda: False)
    assert not traps.wanted
    assert traps.idle is None
    assert len(traps.calendars._shown) == 30
    beyond = add(pages, "cal/2090/11", page)
    assert doubts(traps, beyond, pages.urls) == LAST
    assert "in a calendar" in traps.why_not_found(pages.urls[beyond], page)
    assert not doubts(traps, add(pages, "cal/2091/11"), pages.urls), "a seed"


def test_no_calendar_is_looked_for_where_no_address_has_a_date():
    pages, traps = table("about", "2026/a-story"), Traps()
    for page in (1, 2):
        traps.showed(page, pages.urls[page], f"text {page}", pages, lambda: False)
    assert traps.calendars is None


def test_sessions_of_letters_are_told_by_the_pages_that_are_copies():
    pages, traps = table(), Traps()
    for number in range(26):
        page = add(pages, f"{chr(97 + number) * 7}/{number % 6}", 0)
        traps.showed(page, pages.urls[page], f"story {number % 6}", pages, lambda: False)
    assert "20 pages were copies" in traps.why_not_found(f"{ROOT}qwertz/5", 0)
    assert traps.why_not_found(f"{ROOT}qwertz/6", 0) is None


def test_rows_of_new_pages_are_counted_once_a_deep_page_names_none_that_is_known():
    pages, traps = table("menu"), Traps()
    deep = add(pages, "menu/a", 1)
    other, below = add(pages, "menu/b", 1), add(pages, "menu/a/c", deep)
    for page, linked in ((1, [deep, other]), (deep, []), (deep, [below, other]), (deep, [other, below])):
        traps.named(page, linked, pages)
        assert traps.bottomless is None
    traps.named(deep, [0, 1, below], pages)
    assert traps.bottomless is not None
