"""What sites in one process share: machines, a file, polls, and links that lead from one to another."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from sharc_crawler.frontier.frontier import Frontier, Shared
from sharc_crawler.frontier.hosts import Pace, Politeness
from sharc_crawler.frontier.sites import Sites
from sharc_crawler.model import Done, Fetch, Kind, Result, Sighting, Slot, Verdict, Wait
from sharc_crawler.polling.terms import Terms
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.storage.sharing import SharedFile
from tests.frontier.conftest import World
from tests.frontier.many import A, B, folder, linked, spec
from tests.frontier.small import FullStore


def test_sites_of_one_machine_ask_it_no_more_often_than_one_would(world):
    linked(world, [f"{A}{name}/" for name in "xyz"], 6)
    sites = Sites(Politeness(delay=2.0))
    for name in "xyz":
        sites.open(folder(name), world.now)
    world.run(sites)
    times = [at for at, _ in world.requests]
    assert min(later - earlier for earlier, later in pairwise(times)) >= 2.0 - 1e-9
    assert max(later - earlier for earlier, later in pairwise(times)) <= 2.0 + 0.1, "and never stands still"
    asked = [fetch.site for _, fetch in world.requests if fetch.kind is Kind.PAGE]
    assert set(Counter(asked).values()) == {14}
    assert all(len(set(turn)) == 3 for turn in zip(asked[3:36:3], asked[4:36:3], asked[5:36:3], strict=True)), "in turn"


@pytest.mark.parametrize("concurrency", [1, 2])
def test_a_shared_machine_serves_all_that_wait_however_often_it_is_busy(world, concurrency):
    """A machine that many sites embed from is given on from one to the next, also by those that need it no more."""
    cdn = "http://cdn.example/"
    roots = [f"http://{name}.example/" for name in "abcdefgh"]
    linked(world, roots, 12)
    for root in roots:
        world.links[root].append(Sighting(f"{cdn}{root[7]}.css", Kind.RESOURCE))
    sites = Sites(Politeness(delay=1.0, concurrency=concurrency, obey_robots=False))
    for root in roots:
        sites.open(spec(root), world.now)
    world.run(sites)
    assert sites.done
    at = [at for at, fetch in world.requests if fetch.host == "cdn.example"]
    assert len(at) == 2 * len(roots)
    assert min(later - earlier for earlier, later in pairwise(at)) >= 1.0 - 1e-9


def test_a_site_whose_machine_was_busy_is_asked_when_it_is_free_and_no_other_goes_before_it(world, impolite):
    linked(world, [f"{A}{name}/" for name in "xyz"], 3)
    sites = Sites(impolite)
    for name in "xyz":
        sites.open(folder(name), world.now)
    first = sites.next(world.now)
    assert sites.next(world.now) == Wait(world.now + 3_600.0), "nothing may be asked until it is free"
    asked = [first.site]
    while not sites.done:
        sites.finished(first, world.answer(first), world.links.get(first.url, ()))
        world.now += 1.0
        if isinstance(first := sites.next(world.now), Fetch):
            asked.append(first.site)
            sites.next(world.now)
    assert asked[:9] == [f"a.example/{name}" for name in "xyz"] * 3


@pytest.mark.parametrize("delay", [0.0, 1.0])
def test_a_machine_that_sites_share_is_given_on_by_those_that_have_nothing_for_it_any_more(world, delay):
    """However many requests to other machines are under way meanwhile."""
    roots = [f"http://{name}.example/" for name in "abcd"]
    for root in roots:
        for number, path in enumerate(("", "1", "2")):
            shown = Sighting(f"http://cdn.example/{root[7]}{number}.png", Kind.RESOURCE)
            world.links[root + path] = [shown, Sighting(f"{root}{number + 1}")] if number < 2 else [shown]
    sites, flying = Sites(Politeness(delay=delay, obey_robots=False)), []
    for root in roots:
        sites.open(spec(root), world.now)
    while not isinstance(decision := sites.next(world.now), Done):
        if isinstance(decision, Fetch):
            flying.append(decision)
            continue
        if flying:
            fetch = flying.pop()
            sites.finished(fetch, world.answer(fetch), world.links.get(fetch.url, ()))
            world.now += 0.01
        else:
            world.now = decision.until
    assert sites.done
    assert not flying


@pytest.mark.parametrize("leaves", [Sites.stop, Sites.remove, Sites.hold])
@pytest.mark.parametrize("woken", [False, True])
@pytest.mark.parametrize(("who", "other"), ["yz", "zy"])
def test_a_site_that_is_asked_no_more_gives_on_the_machine_that_it_waits_for_or_was_given(
    world, impolite, leaves, woken, who, other
):
    sites = Sites(impolite)
    for name in "xyz":
        sites.open(folder(name), world.now)
    first = sites.next(world.now)
    sites.next(world.now)  # the others find it busy
    sites.stop("a.example/x")
    if not woken:
        leaves(sites, f"a.example/{who}")
        sites.next(world.now)
    sites.finished(first, world.answer(first))
    if woken:
        leaves(sites, f"a.example/{who}")
    asked = sites.next(world.now)
    assert asked.site == f"a.example/{other}"
    if leaves is Sites.hold:
        sites.finished(asked, world.answer(asked))
        sites.go_on(f"a.example/{who}")
        assert f"a.example/{who}" in {fetch.site for fetch in world.run(sites)}


def test_the_polls_of_instant_crawls_are_those_of_all_sites(impolite):
    sites = Sites(impolite, terms=Terms(every=10.0))
    one, other = (sites.open(spec(root, "bfs:revisits=none", mode="instant"), 0.0) for root in (A, B))
    assert sites.polls is one.polls is other.polls is not None
    assert sites.polls.terms == Terms(every=10.0)


def test_a_link_that_neither_of_two_sites_takes_ends_there(world, impolite):
    world.links = {f"{A}x/": [Sighting(f"{A}z/page")]}
    sites = Sites(impolite)
    for name in "xy":
        sites.open(folder(name), world.now)
    assert {fetch.url for fetch in world.run(sites)} == {f"{A}x/", f"{A}y/"}


@pytest.mark.parametrize("cut", range(1, 26, 4))
def test_frontiers_that_share_a_file_go_on_each_with_its_own(world, cut):
    """One file for a spider's hosts: cut off anywhere, the outcome is that of two files."""
    politeness = Politeness(delay=0.0, obey_robots=False)
    linked(world, [A, B], 4)
    world.links[A + "1"] = [Sighting(A + "i.png", Kind.RESOURCE)]
    store = MemoryStore()
    file, sites = SharedFile(store), Sites(politeness)
    for root in (A, B):
        sites.open(spec(root, "sharc-selective"), world.now, file.part())
    for _ in range(cut):
        fetch = sites.next(world.now)
        if isinstance(fetch, Fetch):
            outcome = world.answer(fetch)
            world.requests.append((world.now, fetch))
            sites.finished(fetch, outcome, world.links.get(fetch.url, ()))
        world.now += 0.1
    file, sites = SharedFile(store), Sites(politeness)
    for part, saved in file.parts(store.load()):
        sites.restore(saved, world.now, part)
    world.run(sites)
    state = store.load()
    assert [row.page for row in state.pages] == list(range(11))
    assert {state.pages[row.page].url for row in state.judgements} == {row.url for row in state.pages}
    assert {row.verdict for row in state.judgements} == {Verdict.COHERENT}
    assert {row.parent for row in state.pages if row.url.startswith(B) and row.url != B} == {
        row.page for row in state.pages if row.url == B
    }
    visits = Counter((visit.page, visit.slot is Slot.SECOND) for visit in state.visits if visit.finished)
    assert set(visits.values()) == {1}
    again = sum(visit.slot is Slot.SECOND for visit in state.visits)
    assert again == 11 - 2, "the last page of each is its own revisit"


def test_what_a_shared_file_could_not_take_is_numbered_anew_when_it_can(world):
    linked(world, [A, B], 2)
    store = FullStore()
    file, sites = SharedFile(store), Sites(Politeness(delay=0.0, obey_robots=False))
    for root in (A, B):
        sites.open(spec(root), world.now, file.part())
    first, second = sites.next(world.now), sites.next(world.now)
    store.room = False
    with pytest.raises(OSError, match="No space"):
        sites.finished(first, world.answer(first), world.links[first.url])
    store.room = True
    sites.finished(second, world.answer(second), world.links[second.url])
    sites.commit()
    state = store.load()
    assert [row.page for row in state.pages] == list(range(6))
    assert all(state.pages[visit.page].url in (A, B) for visit in state.visits)
    assert len(state.visits) == 2


@pytest.mark.parametrize("leads", ["links", "redirects"])
def test_sites_that_lead_to_each_other_for_ever_end(leads):
    """Each page names one of the other site that nobody had named before."""
    sites = Sites(Politeness(delay=0.0, obey_robots=False))
    depths = Counter()

    class Endless(World):
        def answer(self, fetch):
            to = f"{B if fetch.site == 'a.example' else A}r{len(self.requests)}"
            depths[depth := sites.of(fetch).pages.depths[fetch.page]] += 1
            if leads == "redirects" and depth:
                return super().answer(fetch)._replace(result=Result.REDIRECTED, status=302, location=to)
            self.links[fetch.url] = [Sighting(to)]
            return super().answer(fetch)

    for root in (A, B):
        sites.open(spec(root, "bfs:revisits=none", hops=20), 1000.0)
    Endless().run(sites, most=400)
    assert depths == dict.fromkeys(range(21), 2)


def test_a_site_that_is_gone_is_offered_nothing(world):
    linked(world, [A, B], 2)
    world.links[f"{B}1"] = [Sighting(f"{A}late")]
    sites = Sites(Politeness(delay=1.0, obey_robots=False))
    gone, _ = sites.open(spec(A), world.now), sites.open(spec(B), world.now)
    sites.remove("a.example")
    world.run(sites)
    assert [fetch.site for _, fetch in world.requests if fetch.site == "a.example"] == []
    assert f"{A}late" not in gone.capture.seen


def test_hosts_that_owe_nothing_are_not_asked_again_after_each_visit(world):
    """Pages may embed from thousands of hosts."""
    asked: list[str] = []

    class Asked(Pace):
        def free(self, now, host):
            asked.append(host.name)
            return super().free(now, host)

    linked(world, [A], 60)
    for number in range(60):
        world.links[f"{A}{number}"] = [Sighting(f"http://c{number}.example/i.png", Kind.RESOURCE)]
    frontier = Frontier(Politeness(delay=0.0), shared=Shared(pace=lambda _: Asked()))
    frontier.open(spec(A), world.now)
    world.run(frontier)
    counts = [asked.count(f"c{number}.example") for number in range(60)]
    assert min(counts) > 0
    assert max(counts) < 20
