"""What a sitemap names is taken in at once, and comes to what it would come to one by one."""

from __future__ import annotations

import pytest

from sharc_crawler.frontier.admission import Admitted, Admitter
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.model import Fetch, Hints, Kind, Sighting
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.small import ROOT, spec

SITEMAP = f"{ROOT}sitemap.xml"
USUAL = [
    Sighting(f"{ROOT}{number % 3}/{number}.html", via=SITEMAP, hints=Hints(1e6 - number, 1.0, None, number % 2 or None))
    for number in range(12)
]
CASES = {
    "usual": (USUAL, {}),
    "without hints": ([one._replace(hints=None) for one in USUAL], {}),
    "dated as news": ([one._replace(hints=Hints(5.0, 1.0, published=5.0)) for one in USUAL], {}),
    "names of feeds": ([*USUAL, Sighting(f"{ROOT}recent-changes", via=SITEMAP)], {}),
    "one twice": ([*USUAL, USUAL[3]], {}),
    "one known": ([*USUAL, Sighting(ROOT, via=SITEMAP)], {}),
    "one elsewhere": ([*USUAL, Sighting("http://b.example/x", via=SITEMAP)], {}),
    "one with www": ([*USUAL, Sighting("http://www.a.example/x", via=SITEMAP)], {}),
    "one with a trail": ([*USUAL, Sighting(f"{ROOT}a/a/a/a/a/b", via=SITEMAP)], {}),
    "one in another spelling": ([*USUAL, Sighting(f"{ROOT}x/../5?b=1&a=2", via=SITEMAP)], {}),
    "one canonical elsewhere": ([*USUAL, Sighting(f"{ROOT}y", via=SITEMAP, canonical=f"{ROOT}z")], {}),
    "one of its own key": ([*USUAL, Sighting(f"{ROOT}y", via=SITEMAP, key=f"{ROOT}y&post")], {}),
    "one of its own host": ([*USUAL, Sighting(f"{ROOT}y", via=SITEMAP, host="slot")], {}),
    "a sitemap": ([*USUAL, Sighting(f"{ROOT}more.xml", Kind.SITEMAP, SITEMAP)], {}),
    "some excluded": (USUAL, {"exclude": ("/1/",)}),
    "a limit": (USUAL, {"limit": 4}),
    "a session": ([*USUAL, Sighting(f"{ROOT}logout", via=SITEMAP)], {"session": "me"}),
    "a survey": (USUAL, {"mode": "survey"}),
    "as far as may be": (USUAL, {"hops": 1}),
    "too far": ([Sighting(f"{ROOT}more.xml", Kind.SITEMAP, SITEMAP)], {"hops": 1}),
}


def taken(world, impolite, changed, named):
    """All that is known of a capture after its sitemap, and in what order its pages come."""
    store = MemoryStore()
    frontier = Frontier(impolite, store)
    capture = frontier.open(spec(**{"sitemaps": None, **changed}), world.now)
    world.links = {SITEMAP: named, f"{ROOT}more.xml": USUAL}
    told, queued = [], capture.mode.queued
    capture.mode.queued = lambda pages, parent, some, now: (
        told.extend(zip(pages, some, strict=True)) or queued(pages, parent, some, now)
    )
    before = 0
    while capture.strategy is None and world.step(frontier) and before < 50:
        before += 1
    state, counts = store.load(), capture.counts
    known = told, counts.pages, counts.late, dict(capture.left_out.reasons), [row.url for row in state.outside]
    decision = frontier.next(world.now)
    return state.pages, state.hosts, known, decision if isinstance(decision, Fetch) else None


@pytest.mark.parametrize("case", CASES)
def test_it_comes_to_what_it_would_one_by_one(case, world, impolite, monkeypatch):
    named, changed = CASES[case]
    at_once, admit = taken(world, impolite, changed, named), Admitter.admit

    def one_by_one(self, capture, sightings, *about, **more):
        found = [admit(self, capture, [one], *about, **more) for one in sightings]
        return Admitted(sum(one.new for one in found), [page for one in found for page in one.linked])

    monkeypatch.setattr(Admitter, "admit", one_by_one)
    assert taken(type(world)(), impolite, changed, named) == at_once


MAPS, ELSEWHERE = "http://maps.b.example/all.xml", "http://blog.a.example/3.html"


@pytest.mark.parametrize(
    ("robots", "sitemap", "named", "believed"),
    [
        ({}, f"{ROOT}sitemap.xml", f"{ROOT}1.html", True),
        ({}, f"{ROOT}sitemap.xml", "http://www.a.example/1.html", True),
        ({}, f"{ROOT}sitemap.xml", ELSEWHERE, False),
        ({"a.example": f"Sitemap: {MAPS}"}, MAPS, f"{ROOT}1.html", False),
        ({"blog.a.example": "Sitemap: http://blog.a.example/m"}, "http://blog.a.example/m", ELSEWHERE, True),
    ],
)
def test_a_lastmod_is_evidence_for_pages_of_its_sitemap_s_own_host(world, robots, sitemap, named, believed):
    """Any site may list another's pages."""
    world.robots = robots
    links = [Sighting(sitemap, Kind.SITEMAP, f"http://{host}/robots.txt") for host in robots]
    world.links = {f"http://{host}/robots.txt": links for host in robots}
    world.links[sitemap] = [Sighting(named, via=sitemap, hints=Hints(5.0, 1.0))]
    frontier = Frontier(Politeness(delay=0.0, back_off=1.0), MemoryStore())
    seeds = (ROOT, "http://blog.a.example/")
    asked = spec(strategy="sharc-attested", sitemaps=None, seeds=seeds)
    capture = frontier.open(asked, world.now)
    world.run(frontier)
    told = {frontier.pages.urls[page] for page in capture.mode.attestations.lastmods}
    assert told == ({named} if believed else set())
