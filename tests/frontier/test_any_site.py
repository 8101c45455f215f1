"""A capture of any site ends: made-up sites with feeds, sitemaps, resources and failures, by every strategy.

On some, robots.txt or a sitemap is refused at first, or always, or asks for a pause; others refuse all that is asked
too often, for a while or for good.
"""

from __future__ import annotations

import random

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.model import Fetch, Hints, Kind, Outcome, Result, Sighting, Validators
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.conftest import World

ROOT = "http://a.example/"
MAP = ROOT + "map.xml"
LISTS = ["feed/", "comments/feed/", "rss.xml", "recent", "news", "archive/", "page/2/", "changes", "atom.xml", "blog/"]
FEEDS = ("feed", "rss", "atom")
REFUSALS = [
    {"result": Result.REFUSED, "status": 403},
    {"result": Result.GONE, "status": 404},
    {"result": Result.REDIRECTED, "status": 302, "location": ROOT + "busy"},
]
STRATEGIES = [
    "sharc-selective", "sharc-attested", "sharc-optimal", "bfs", "dfs", "sharc-online", "sharc-revisits",
    "hottest-last", "olston-pandey", "bfs:revisits=none", "sharc-offline",
]  # fmt: skip


class Moody(World):
    """After so many requests all is refused alike, until it is over."""

    most, until, refusal = 10**6, 0.0, {}

    def answer(self, fetch: Fetch) -> Outcome:
        outcome = super().answer(fetch)
        if len(self.requests) < self.most or self.now >= self.until:
            return outcome
        return Outcome(started=outcome.started, ended=outcome.ended, **self.refusal)


def made_up(rng: random.Random) -> Moody:
    world = Moody()
    pages = [f"{ROOT}{n}" for n in range(rng.randint(1, 25))] + [
        ROOT + name for name in rng.sample(LISTS, rng.randint(0, 8))
    ]
    dated, share = rng.random() < 0.5, rng.choice([0.3, 0.7, 0.95])
    if rng.random() < 0.8:
        listed = [page for page in pages if rng.random() < share] + [ROOT] * (rng.random() < 0.6)
        world.links[MAP] = [
            Sighting(page, via=MAP, hints=Hints(1000 - rng.random() * 1e6) if dated and rng.random() < 0.8 else None)
            for page in listed
        ]
    for page in (ROOT, *pages):
        some = pages if page == ROOT else rng.sample(pages, min(rng.choice([0, 0, 1, 3, 8]), len(pages)))
        dates = page.removeprefix(ROOT).startswith(FEEDS) and rng.random() < 0.8
        date = "published" if rng.random() < 0.5 else "lastmod"  # an RSS feed's, or an Atom feed's
        world.links[page] = [
            Sighting(one, hints=Hints(**{date: 900 - rng.random() * 1e5}) if dates else None)
            for one in [*some, ROOT] if rng.random() < 0.8
        ] + [Sighting(f"{page}{n}.png", Kind.RESOURCE) for n in range(rng.choice([0, 0, 2]))]  # fmt: skip
        if rng.random() < 0.3:
            failed = {"status": 503, "result": Result.FAILED} if rng.random() < 0.4 else {}
            answers = [{"digest": f"sha1:{rng.randint(0, 3)}", "fingerprint": str(rng.randint(0, 2)), **failed}] * 4
            world.answers[page] = answers
        elif rng.random() < 0.5:
            world.answers[page] = [{"validators": Validators(f'"{rng.randint(0, 1)}"')}] * 4
    return world


def busy(rng: random.Random, world: World) -> None:
    """Some of what is read before pages is refused so many times."""
    world.robots["a.example"] = "User-agent: *\nDisallow: /7"
    inner = [f"{ROOT}map{number}.xml" for number in range(rng.randint(0, 3))]
    if inner and MAP in world.links:
        named = world.links[MAP]
        world.links[MAP] = [*named[:3], *(Sighting(one, Kind.SITEMAP, via=MAP) for one in inner)]
        for number, one in enumerate(inner):
            world.links[one] = named[3 + number :: len(inner)]
    for url in (f"{ROOT}robots.txt", MAP, *inner):
        if rng.random() < 0.5:
            refusal = {
                "result": Result.FAILED,
                "status": rng.choice([429, 503, 500, None]),
                "retry_after": rng.choice([None, None, 1.0, 30.0, 900.0]),
            }
            world.answers[url] = [refusal] * rng.choice([1, 3, 4, 5, 99])


def is_captured(seed: int) -> None:
    rng = random.Random(seed)
    world, store = made_up(rng), MemoryStore()
    politeness = Politeness(delay=rng.choice([0.0, 0.5, 1.0]), back_off=1.0)
    if seed % 2:
        busy(rng, world)
    if seed % 3 == 0:
        world.most, world.until = rng.choice([5, 15, 30]), rng.choice([1020.0, 1100.0, 1e9])
        world.refusal = rng.choice(REFUSALS)
    frontier = Frontier(politeness, store)
    spec = CaptureSpec("a.example", (ROOT,), rng.choice(STRATEGIES), sitemaps=(MAP,), hops=rng.choice([50, 50, 2]))
    frontier.open(spec, world.now)
    if rng.random() < 0.5:
        world.run(frontier, 5000)
        assert frontier.done, (seed, spec.strategy)
    else:
        world.run_restarted(frontier, politeness, store, rng.choice([5, 9, 17]))


@pytest.mark.parametrize("seed", [*range(16), 23, 24, 32, 42])
def test_a_capture_of_any_site_ends(seed):
    is_captured(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(0, 2000, 20))
def test_captures_of_many_sites_end(seed):
    for one in range(seed, seed + 20):
        is_captured(one)
