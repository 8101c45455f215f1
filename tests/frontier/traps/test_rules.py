"""Endless sites end, honest ones are captured whole, and what is left is said."""

from __future__ import annotations

import random
import tracemalloc
from itertools import count, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.pages import PageTable
from sharc_crawler.frontier.rows import PageRow
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.frontier.traps import rules
from sharc_crawler.frontier.traps.doubted import doubts
from sharc_crawler.frontier.traps.made_up import _SESSION, made_up
from sharc_crawler.frontier.traps.rules import LAST, Traps, has_odd_word, template
from sharc_crawler.model import Kind, Sighting, Slot
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.conftest import World
from tests.frontier.traps.tables import add, table

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
    assert "pages with something made up in /s/* had" in reasons
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
def test_honest_templates_are_never_doubted():
    traps = Traps()
    for number in range(5_000):
        traps.saw(f"{ROOT}item/{number}", f"content {number}")
    for number in range(50_000):
        traps.saw(f"{ROOT}item/{number}", "sold out")
    assert traps.why_not(f"{ROOT}item/1") is None


@pytest.mark.parametrize(("contents", "trap"), [(5, True), (6, False)])
def test_twenty_pages_of_a_template_that_show_five_contents_are_a_trap(contents, trap):
    traps = Traps()
    for number in range(20):
        assert traps.why_not(f"{ROOT}item/99") is None
        traps.saw(f"{ROOT}item/{number}", f"content {number % contents}")
    assert bool(traps.why_not(f"{ROOT}item/99")) is trap


def test_names_of_documents_that_look_made_up_are_no_trap():
    dice, traps = random.Random(1), Traps()
    for number in range(200):
        traps.saw(f"{ROOT}{dice.randrange(16**8):08x}a/{dice.randrange(16**8):08x}b", f"content {number // 2}")
    assert traps.why_not(f"{ROOT}01234567a/01234567b") is None


def test_a_script_that_shows_a_few_texts_by_turns_is_a_trap():
    dice, traps = random.Random(1), Traps()
    for number in range(40):
        traps.saw(f"{ROOT}p?q={dice.randrange(16**12):012x}a7", f"text {number * 7 % 3}")
    assert traps.why_not(f"{ROOT}p?q=deadbeef00c0ffee")


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


def test_pages_without_numbers_share_no_template():
    assert template(f"{ROOT}about/us") == "/about/us"
    traps = Traps()
    for number in range(100):
        traps.saw(f"{ROOT}{'ab' * number}", "the same")
    assert traps.why_not(f"{ROOT}abab") is None


@pytest.mark.slow
def test_a_template_with_one_page_costs_bytes_not_objects():
    traps = Traps()
    tracemalloc.start()
    for number in range(10_000):
        name = "".join("qrstuvwxyz"[int(digit)] for digit in str(number))
        traps.saw(f"{ROOT}{name}/{number}", f"content {number}")
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 105 * 10_000


def test_of_several_things_made_up_each_may_be_one_but_what_ends_a_path_is_none():
    found = made_up(f"{ROOT}x7Gk2p/y8Hl3q/a1B2c3")
    assert [one.rest for one in found] == [
        f"{ROOT}*/y8Hl3q/a1B2c3",
        f"{ROOT}x7Gk2p/*/a1B2c3",
        f"{ROOT}*/*/a1B2c3",
    ]


WORDS = ["asdf", "0f3e4d5c", "12345678", "page-0000123", "cafebabedeadbeefca", "ab-", "-abcd", "x7Gk2p", "department"]


@given(st.lists(st.sampled_from(WORDS) | st.text("abcf01-/?=", max_size=12), max_size=8).map("".join))
def test_what_may_be_made_up_is_never_overlooked(path):
    assert has_odd_word(path) or not _SESSION.search(path)


def test_a_uuid_of_letters_behind_a_letter_is_not_overlooked():
    assert made_up("http://h/qabcdefab-abcd-abcd-abcd-abcdefabcdef/x")[0].place == "/q*"


def test_what_addresses_have_in_common_is_found_once_for_each():
    pages, traps = PageTable(), Traps()
    urls = [f"http://h/{number}" for number in range(100)]
    named = ("h", 1, 0, urls[0], State.QUEUED, 1e-6, "prior", 1.0, 1.0, None, "")
    pages.extend([PageRow(number, 0, url, url, Kind.PAGE, *named) for number, url in enumerate(urls)], {"h": 0})
    template.cache_clear()
    for page, url in enumerate(urls):
        traps.saw(url, f"content {page}")
        traps.showed(page, url, f"content {page}", pages, lambda: False)
    assert template.cache_info().misses == len(urls)


@pytest.mark.parametrize(
    ("path", "odd"),
    [
        ("abcdefabcdefabcd", True),
        ("abcdefabcdefabc", False),
        ("abcdefab-a-a-a-a", True),  # a uuid of letters
        ("abcdefab-a-a-a", False),
        ("abcdefa-a-a-a-a", False),
        ("12345678", True),
        ("1234567", False),
        ("x7Gk2p", True),
        ("x7Gk2", False),
        ("about/us", False),
    ],
)
def test_most_addresses_are_told_to_have_nothing_odd_without_the_pattern(path, odd):
    assert has_odd_word(ROOT + path) is odd


@pytest.mark.parametrize(("contents", "trap"), [(999, True), (1_000, False)])
def test_a_template_of_a_thousand_contents_is_never_a_trap(contents, trap):
    traps = Traps()
    for number in range(4 * contents):
        traps.saw(f"{ROOT}item/{number}", f"content {number % contents}")
    assert bool(traps.why_not(f"{ROOT}item/x9")) is False
    assert bool(traps.why_not(f"{ROOT}item/99999")) is trap


def test_a_trap_that_shows_something_new_after_all_is_none_until_it_has_shown_nothing_for_long():
    traps = Traps()
    for number in range(20):
        traps.saw(f"{ROOT}item/{number}", "sold out")
    assert traps.why_not(f"{ROOT}item/99999")
    traps.saw(f"{ROOT}item/20", "in stock")
    for number in range(52):  # five times what lies between two contents
        traps.saw(f"{ROOT}item/{100 + number}", "sold out")
        assert not traps.why_not(f"{ROOT}item/99999")
    traps.saw(f"{ROOT}item/200", "sold out")
    assert traps.why_not(f"{ROOT}item/99999")


@pytest.mark.parametrize(("brought", "more", "trap"), [(0, 0, True), (1, 19, False), (1, 20, True)])
def test_what_pages_of_a_template_alone_name_of_others_counts_as_their_contents(brought, more, trap):
    pages, traps = table("item/1"), Traps()
    for number in range(24):
        traps.saw(f"{ROOT}item/{number}", f"content {number % 5}")
    for number in range(brought):
        for path in (f"story{'ab'[number]}", f"item/{30 + number}", f"item/{40 + number}"):
            page = add(pages, path, 1)
            traps.showed(page, ROOT + path, f"new {path}", pages, lambda: False)
    for number in range(more):
        traps.saw(f"{ROOT}item/{100 + number}", f"content {number % 5}")
    assert bool(traps.why_not(f"{ROOT}item/99")) is trap


def test_what_came_without_content_says_nothing():
    pages, traps = table("item/1"), Traps()
    for number in range(30):
        traps.saw(f"{ROOT}item/{number}", None)
        traps.showed(1, f"{ROOT}item/1", None, pages, lambda: True)
    assert traps.why_not(f"{ROOT}item/99") is None
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


def test_few_copies_of_what_may_be_made_up_wait_and_are_left_once_nothing_else_is():
    pages, traps = table(), Traps()
    for number in range(8):
        assert not doubts(traps, add(pages, f"{number:032x}/p/{number % 2}"), pages.urls)
        traps.saw(f"{ROOT}{number:032x}/p/{number % 2}", f"product {number % 2}")
    copy, plain = add(pages, f"{99:032x}/p/1"), add(pages, "plain")
    assert doubts(traps, copy, pages.urls)
    assert not doubts(traps, plain, pages.urls)
    assert traps.why_not(pages.urls[copy]) is None
    traps.alone = True
    assert not doubts(traps, copy, pages.urls)
    assert "8 pages with something made up" in traps.why_not(pages.urls[copy])
    assert traps.why_not(pages.urls[plain]) is None


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
        traps.saw(pages.urls[page], "No events")
        traps.saw(f"{ROOT}about{'ab' * number}", f"text {number}")  # an address without a year
        traps.showed(page, pages.urls[page], "No events", pages, lambda: False)
    assert not traps.wanted
    assert traps.idle is None
    assert traps.repeating is None
    assert len(traps.calendars._shown) == 30
    beyond = add(pages, "cal/2090/11", 31)
    assert doubts(traps, beyond, pages.urls) == LAST
    assert "in a calendar" in traps.why_not_found(pages.urls[beyond], 31)
    assert not doubts(traps, add(pages, "cal/2091/11"), pages.urls), "a seed"


def test_no_calendar_is_looked_for_where_no_address_has_a_year():
    traps = Traps()
    traps.saw(f"{ROOT}about", "text")
    assert traps.calendars is None


@pytest.mark.parametrize(("content", "known"), [(499, True), (500, False)])
def test_five_hundred_contents_of_plain_addresses_are_remembered_until_one_is_shown_again(content, known):
    traps, names = Traps(), ["".join(name) for name in product("abcdefgh", "ijklmnop", "qrstuvwx")]
    for number, name in enumerate(names[:502]):
        traps.saw(f"{ROOT}{name}", f"text {number}")
    assert traps.idle is None
    traps.saw(f"{ROOT}other", f"text {content}")
    assert (traps.idle is not None) is known


def test_sessions_of_letters_are_told_by_the_pages_that_are_copies():
    traps = Traps()
    for number in range(26):
        traps.saw(f"{ROOT}{chr(97 + number) * 7}/{number % 6}", f"story {number % 6}")
    assert "20 pages were copies" in traps.why_not(f"{ROOT}qwertz/5")
    assert traps.why_not(f"{ROOT}qwertz/6") is None


@pytest.mark.parametrize(("contents", "trap"), [(19, True), (20, False)])
def test_what_has_so_many_contents_is_judged_no_more(monkeypatch, contents, trap):
    monkeypatch.setattr(rules, "HONEST", 20)
    traps = Traps()
    for number in range(5 * contents):
        traps.saw(f"{ROOT}item/{number}", f"content {number % contents}")
    assert bool(traps.why_not(f"{ROOT}item/99999")) is trap


def test_rows_of_new_pages_are_counted_once_a_deep_page_names_none_that_is_known():
    pages, traps = table("menu"), Traps()
    deep = add(pages, "menu/a", 1)
    other, below = add(pages, "menu/b", 1), add(pages, "menu/a/c", deep)
    for page, linked in ((1, [deep, other]), (deep, []), (deep, [below, other]), (deep, [other, below])):
        traps.named(page, linked, pages)
        assert traps.ever_new is None
    traps.named(deep, [0, 1, below], pages)
    assert traps.ever_new is not None
