"""What lay too far on a long trail is visited where a shorter way is found later."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.besides_links import take_in
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.model import Kind, Result, Sighting
from sharc_crawler.state.pages import NO_PARENT
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.traps import trails
from tests.frontier.conftest import World

ROOT, LIST = "http://h/", "http://h/list"
TRAIL = [f"http://h/{number}" for number in range(9)]
NOTES = [f"{one}/note" for one in TRAIL]
BEYOND = f"{NOTES[-1]}/more"


def trail(*, listed: bool) -> World:
    """Pages that each name a note and the next one; the list, named beside the first, names all of them, or none."""
    world = World()
    for one, note, after in zip(TRAIL, NOTES, [*TRAIL[1:], None], strict=True):
        world.links[one] = [Sighting(named, via=one) for named in (note, after) if named]
    world.links[NOTES[-1]] = [Sighting(BEYOND, via=NOTES[-1])]
    world.links[LIST] = [Sighting(one, via=LIST) for one in TRAIL] if listed else []
    world.links[ROOT] = [Sighting(TRAIL[0]), Sighting(LIST)]  # depth first it comes last
    return world


@pytest.mark.parametrize("every", [0, 7])
@pytest.mark.parametrize(
    "strategy", ["bfs", "dfs", "dfs:revisits=none", "sharc-selective", "sharc-attested", "sharc-online"]
)
@pytest.mark.parametrize("listed", [True, False])
def test_whatever_the_order_the_shortest_way_counts(impolite, strategy, listed, every):
    world = trail(listed=listed)
    frontier = Frontier(impolite, store := MemoryStore())
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy=strategy, hops=4), world.now)
    if every:
        world.run_restarted(frontier, impolite, store, every)
    else:
        world.run(frontier)
    saved = store.load()
    urls = {row.page: row.url for row in saved.pages if row.kind is Kind.PAGE}
    captured = {urls[visit.page] for visit in saved.visits if visit.outcome.result is Result.OK and visit.page in urls}
    near = {*TRAIL[:4], *NOTES[:3]}
    assert captured == {ROOT, LIST, *((*TRAIL, *NOTES, BEYOND) if listed else near)}


def test_what_is_just_as_far_as_is_gone_by_the_shorter_way_is_visited(impolite):
    """The third page's note, three links away by the list and four by the trail."""
    world = trail(listed=True)
    frontier = Frontier(impolite, MemoryStore())
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy="dfs:revisits=none", hops=3), world.now)
    world.run(frontier)
    asked = {fetch.url for _, fetch in world.requests}
    assert {*NOTES} <= asked
    assert BEYOND not in asked


def scans(number: int, shown: str, kind: Kind = Kind.RESOURCE, media_type: str | None = "image/jpeg") -> World:
    """A viewer's pages, each of which names the next one and shows a scan, or names it; ``shown``: its digest."""
    world = World()
    for at in range(number):
        one, scan = f"{ROOT}viewer/{at}", f"{ROOT}scan/{at}.jpg"
        world.links[one] = [Sighting(scan, kind, one), Sighting(f"{ROOT}viewer/{at + 1}", via=one)]
        world.answers[scan] = [{"digest": shown.format(at), "media_type": media_type}] * 3
        world.answers[one] = [{"media_type": "text/html"}] * 3
    world.links[ROOT] = [Sighting(f"{ROOT}viewer/0")]
    return world


def viewed(world: World, impolite, strategy: str = "bfs", every: int = 0) -> int:
    frontier = Frontier(impolite, store := MemoryStore())
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy=strategy, hops=5), world.now)
    world.run_restarted(frontier, impolite, store, every) if every else world.run(frontier, 20_000)
    return len({fetch.url for _, fetch in world.requests if "/viewer/" in fetch.url and fetch.kind is not Kind.PROBE})


@pytest.mark.matrix
@pytest.mark.parametrize("every", [0, 7])
@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "sharc-attested", "sharc-online:revisits=none"])
def test_a_trail_that_brings_pictures_is_followed_to_its_end(impolite, strategy, every):
    assert viewed(scans(40, "sha1:{}"), impolite, strategy, every) == 41


def test_so_is_one_whose_server_does_not_say_that_they_are_pictures(impolite):
    assert viewed(scans(40, "sha1:{}", media_type=None), impolite) == 41


def test_so_is_one_that_names_documents(impolite):
    assert viewed(scans(40, "sha1:{}", Kind.PAGE, "application/pdf"), impolite) == 41


@pytest.mark.parametrize(
    "other", [{"shown": "sha1:one"}, {"media_type": "text/css"}, {"kind": Kind.PAGE, "media_type": "text/html"}]
)
def test_what_all_pages_show_and_what_is_no_file_does_not_lengthen_a_trail(impolite, other):
    assert viewed(scans(40, **{"shown": "sha1:{}", **other}), impolite) <= 6


def test_an_endless_trail_of_pictures_ends(impolite, monkeypatch):
    monkeypatch.setattr(trails, "MOST_IN_A_ROW", 100)
    assert viewed(scans(300, "sha1:{}"), impolite) in range(100, 112)


def test_what_another_site_led_to_and_lay_too_far_stays_out():
    capture = SimpleNamespace(far={BEYOND: NO_PARENT}, turned=False, ways=None, spec=SimpleNamespace(hops=1))
    assert take_in(SimpleNamespace(capture=capture, pages=Pages([0]), links=list), None, 0.0)
    assert capture.far == {}


def test_after_t_nothing_is_taken_in():
    far = {BEYOND: 1}
    capture = SimpleNamespace(far=far, turned=True)
    assert take_in(SimpleNamespace(capture=capture, pages=None), None, 0.0)
    assert capture.far is far


def test_a_large_sites_links_are_followed_in_pieces_and_others_are_heard_between_them(impolite, monkeypatch):
    monkeypatch.setattr(trails, "AT_ONCE", 3)
    world = trail(listed=True)
    frontier = Frontier(impolite, MemoryStore())
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy="dfs:revisits=none", hops=4), world.now)
    at_it, asked = 0, len(world.requests)
    while world.step(frontier):
        if frontier.capture.ways is not None:
            at_it += 1
            assert len(world.requests) == asked, "it waits meanwhile"
        asked = len(world.requests)
    assert at_it > 4
    assert {fetch.url for _, fetch in world.requests} >= {*TRAIL, *NOTES, BEYOND}


def test_where_pages_were_found_meanwhile_it_begins_anew(monkeypatch):
    monkeypatch.setattr(trails, "AT_ONCE", 1)
    capture = SimpleNamespace(far={BEYOND: 2}, turned=False, ways=None, spec=SimpleNamespace(hops=1))
    pages = Pages(depths=[0, 9])
    ledger = SimpleNamespace(capture=capture, pages=pages, links=lambda: [SimpleNamespace(page=0, targets=(1,))])
    assert not take_in(ledger, None, 0.0)
    pages.depths.append(9)
    while not take_in(ledger, None, 0.0):
        assert capture.ways.pages == 3
    assert capture.far == {}


@dataclass
class Pages:
    depths: list[int]

    @property
    def parents(self) -> list[int]:
        return [NO_PARENT] * len(self)

    def having(self, _) -> list[int]:
        return []

    def __len__(self) -> int:
        return len(self.depths)
