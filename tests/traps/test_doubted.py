"""What would be left is held until nothing else is there, and samples of it are visited: true pages come late."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.model import Slot, Visit
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.traps.doubted import FEW, HELD, LAST, MAX_HELD, SAMPLES, SHARE, Doubted, holds, waits
from sharc_crawler.traps.rules import Traps
from tests.traps.made_sites import ROOT, TRUE, Behind, captured, crawl
from tests.traps.tables import add, table

STRATEGIES = pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])


class Tree(Behind):
    """Each page names the first one, the one above and two below, with letters before each name."""

    def content(self, url):
        number = self.of.get(url, 0)
        if "no-such-page" in url:
            return url, []
        others = dict.fromkeys((0, (number - 1) // 2, 2 * number + 1, 2 * number + 2))
        links = [self.address(other) for other in others if 0 <= other < TRUE and other != number]
        return f"story {number}", [ROOT, *links]

    def address(self, number):
        url = f"{self.made()}-page{number}"
        self.of[url] = number
        return url


@pytest.mark.matrix
@STRATEGIES
@pytest.mark.parametrize("pattern", ["{}", "x/{}"])
def test_a_tree_whose_names_begin_with_random_letters_loses_no_page(impolite, pattern, strategy):
    world = Tree(pattern, "abcdefghijklmnopqrstuvwxyz")
    visited, capture = crawl(world, impolite, strategy)
    assert captured(world, visited) >= set(range(1, TRUE))
    assert len(visited) <= 3 * TRUE
    assert any("looks like a trap" in reason for reason in capture.left_out.reasons)


@pytest.mark.matrix
@STRATEGIES
@pytest.mark.parametrize("every", [7, 40])
def test_nor_does_a_crawl_of_it_that_is_cut_off(impolite, strategy, every):
    world, store = Tree("{}", "abcdefghijklmnopqrstuvwxyz"), MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy=strategy, hops=0), world.now)
    world.run_restarted(frontier, impolite, store, every)
    visited = [fetch.url for _, fetch in world.requests if fetch.slot is not Slot.SECOND]
    assert captured(world, visited) >= set(range(1, TRUE))
    assert len(visited) <= 5 * TRUE, "a restart may cost as many samples again"


class Holding:
    """Pages that are held; ``words``: addresses whose words were not seen."""

    def __init__(self, number: int, *unseen: str, contents: int = 1_000) -> None:
        self.pages, self.held, self.traps = table(), Doubted(), Traps()
        self.traps.firsts.add_all([f"content {one}" for one in range(contents)], range(contents))
        self.traps.suspicion = SimpleNamespace(saw=lambda *_, **__: None, why_not=lambda *_: None)
        self.traps.suspicion.shown = lambda url: 1 - (url.removeprefix(ROOT) in unseen)
        for one in range(number):
            self.held.put(Visit(add(self.pages, f"page{one}", 0), Slot.FIRST), self.pages, HELD)

    def next(self) -> str:
        visit = self.held.sample(self.traps, self.held.take()[0], self.pages)
        return self.pages.urls[visit.page].removeprefix(ROOT) * (visit.page in self.traps.samples)


def test_what_has_words_that_no_page_showed_comes_first():
    site = Holding(40, "page17", "page30")
    assert {site.next(), site.next()} == {"page17", "page30"}
    others = {site.next() for _ in range(SAMPLES - 2)}
    assert len(others) == SAMPLES - 2
    assert not others & {"page17", "page30", ""}
    assert len(site.held) == 40 - SAMPLES


def test_among_very_many_the_first_ones_are_looked_through():
    site = Holding(MAX_HELD + 300, *(f"page{one}" for one in range(0, MAX_HELD + 300, 2)))
    assert all(int(site.next()[4:]) % 2 == 0 for _ in range(SAMPLES))


def test_samples_end_where_they_show_nothing_new_and_go_on_where_one_does():
    site = Holding(60)
    assert all(site.next() for _ in range(SAMPLES))
    assert not site.next()
    site.traps.showed(1, ROOT, "content 1", site.pages, lambda: False)
    assert not site.next(), "that was known"
    site.traps.showed(1, ROOT, "something new", site.pages, lambda: False)
    assert all(site.next() for _ in range(SAMPLES))
    assert not site.next()


@pytest.mark.parametrize("contents", [FEW + SHARE - 1, FEW + 3 * SHARE])
def test_a_small_site_is_worth_few_samples(contents):
    site = Holding(9, contents=contents)
    assert [bool(site.next()) for _ in range(5)] == [one < (contents - FEW) // SHARE for one in range(5)]


def test_of_dates_no_samples_are_taken_and_what_seeds_and_sitemaps_name_is_never_left():
    traps, pages = Traps(), table()
    traps.idle = SimpleNamespace(why_not=lambda *_: "copies", tells_nothing=lambda _: False)
    seed, page, dated = add(pages, "s/98/p"), add(pages, "s/99/p", 0), add(pages, "cal/2026/11", 0)
    assert [holds(traps, one, pages) for one in (seed, page)] == [False, True]
    traps.calendars = SimpleNamespace(has=lambda url: "cal" in url, why_not=lambda *_: "dates")
    assert [holds(traps, one, pages) for one in (page, dated)] == [True, False]
    assert traps.left(dated, pages)
    traps.samples.add(page)
    assert not holds(traps, page, pages)
    assert not traps.left(page, pages)


def test_what_waits_is_ordered_anew_once_though_nothing_comes_ahead_yet():
    pages, doubted, ahead = table("a", "b"), Doubted(), {}
    doubted.put(Visit(1, Slot.FIRST), pages)
    doubted.follow(ahead, pages)
    del pages.urls  # which would be read to order it again
    doubted.follow(ahead, pages)
    assert len(doubted) == 1


@pytest.mark.parametrize(
    ("suspect", "fresh", "why", "waits_for", "held"),
    [
        (True, False, "", HELD, True),
        (False, True, "", 0, False),
        (False, False, "", LAST, True),
        (True, False, "its link was gone", HELD, False),
        (False, False, "its link was gone", LAST, False),
    ],
)
def test_what_is_known_of_pages_that_are_named_by_other_words_comes_first(suspect, fresh, why, waits_for, held):
    traps, pages = Traps(), table("one")
    traps.renamed = SimpleNamespace(
        found=True,
        doubts=lambda _: suspect,
        is_fresh=lambda url, page: fresh,
        why_not=lambda url, parent, page: why,
        series=SimpleNamespace(waits=lambda _: False),
    )
    traps.suspicion = SimpleNamespace(doubts=lambda _: LAST, why_not=lambda *_: "copies")
    assert (waits(traps, 1, pages), holds(traps, 1, pages)) == (waits_for, held)
