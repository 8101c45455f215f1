"""Many sites in one process: whose turn it is, who rests and until when, and what befalls one of them alone."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from dataclasses import replace

import pytest

from sharc_crawler.errors import SiteError, StrategyError, Superseded, UsageError
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.sites import SLACK, Sites
from sharc_crawler.model import Done, Fetch, Sighting, Wait
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.many import A, B, folder, linked, spec
from tests.frontier.small import FullStore
from tests.strategies import bad


def test_a_site_that_could_not_be_begun_is_written_by_nobody_later(world):
    class Full(MemoryStore):
        def commit(self, batch):
            raise OSError("the disk is full")

    sites = Sites()
    with pytest.raises(OSError, match="full"):
        sites.open(spec(A), world.now, Full())
    sites.commit()  # else it would fail for a site that nobody knows
    sites.open(spec(A), world.now, MemoryStore())


def test_leases_are_numbered_for_all_sites_and_answered_by_their_own(world, impolite):
    sites = Sites(impolite)
    for root in (A, B):
        sites.open(spec(root), world.now)
    one, other = sites.next(world.now), sites.next(world.now)
    assert {one.site, other.site} == {"a.example", "b.example"}
    assert one.lease != other.lease
    sites.finished(other, world.answer(other))
    assert sites.of(other).capture.counts.visits == 1
    assert sites.of(one).capture.counts.visits == 0


def test_a_site_waits_without_being_looked_at(world):
    """Whoever falls due is asked, and nobody else, however many there are."""
    roots = [f"http://h{number}.example/" for number in range(50)]
    sites = Sites(Politeness(delay=10.0, obey_robots=False))
    asked = Counter()
    for number, root in enumerate(roots):
        frontier = sites.open(spec(root), world.now)
        frontier.next = lambda now, real=frontier.next, number=number: (asked.update([number]), real(now))[1]
        fetch = sites.next(world.now)
        sites.finished(fetch, world.answer(fetch), [Sighting(f"{root}{page}") for page in range(4)])
        world.now += 0.1
        assert isinstance(sites.next(world.now), Wait)
    before = asked.total()
    for _ in range(20):  # each falls due by itself
        wait = sites.next(world.now)
        assert isinstance(wait, Wait)
        world.now = wait.until
        fetch = sites.next(world.now)
        assert isinstance(fetch, Fetch)
        sites.finished(fetch, world.answer(fetch))
        sites.next(world.now)
    assert asked.total() - before <= 4 * 20
    assert len(sites._heap) <= 2 * len(roots) + SLACK + 1


def test_the_verbs_of_one_frontier_are_those_of_the_site_that_a_lease_is_of(world, impolite):
    sites = Sites(impolite)
    for root in (A, B):
        sites.open(spec(root), world.now)
    assert len(sites) == 2
    assert ("a.example" in sites, "c.example" in sites) == (True, False)
    assert [one.capture.spec.site for one in sites] == ["a.example", "b.example"]
    assert sites.polls is None
    fetch = sites.next(world.now)
    own, other = sites[fetch.site], sites[{"a.example": "b.example"}.get(fetch.site, "a.example")]
    sites.named(fetch, world.answer(fetch), [Sighting(f"{fetch.url}1")])
    assert (own.capture.counts.pages, other.capture.counts.pages) == (2, 1)
    sites.give_back(fetch, world.now)
    assert own.idle


def test_a_site_that_is_held_or_stopped_does_not_keep_others_from_resting(world):
    sites = Sites(Politeness(delay=5.0, obey_robots=False))
    for root in (A, B, "http://c.example/"):
        sites.open(spec(root), world.now)
    for fetch in [sites.next(world.now) for _ in range(3)]:
        sites.finished(fetch, world.answer(fetch), [Sighting(f"{fetch.url}1")])
    assert sites.next(world.now) == Wait(world.now + 5.0)
    sites.hold("a.example")
    sites.stop("c.example")
    for name in ("a", "c"):
        sites[f"{name}.example"].schedule([Sighting(f"http://{name}.example/2")], world.now)
    assert sites.ripe == world.now + 5.0


def test_a_site_that_was_recalled_elsewhere_goes_on_and_no_lease_is_numbered_twice(world, impolite):
    linked(world, [A], 3)
    store, sites = MemoryStore(), Sites(impolite)
    sites.open(spec(A), world.now, store)
    made = []
    for _ in range(2):
        made.append(sites.next(world.now))
        sites.finished(made[-1], world.answer(made[-1]), world.links.get(made[-1].url, ()))
    saved, sites = store.load(), Sites(impolite)
    frontier = sites.new(store)
    frontier.recall(saved, world.now + 9.0)
    assert "a.example" not in sites
    assert not store.load().captures[0].interruptions, "nobody has it yet"
    assert sites.restored(frontier, saved) is sites["a.example"] is frontier
    assert store.load().captures[0].interruptions
    assert sites.next(world.now + 9.0).lease == made[-1].lease + 1
    another = Sites(impolite)
    assert another.restore(saved, world.now + 9.0) is another["a.example"]


@pytest.mark.parametrize("state", ["ready", "held", "unwritten", "finished"])
def test_nothing_is_left_of_a_site_that_is_removed(world, impolite, state):
    sites, store = Sites(impolite), MemoryStore()
    sites.open(spec(A), world.now, store)
    if state == "held":
        sites.hold("a.example")
    elif state == "unwritten":
        sites.note("the disk had no room")
    elif state == "finished":
        world.run(sites)
    gone = weakref.ref(sites["a.example"])
    sites.remove("a.example")
    gc.collect()
    assert gone() is None
    assert len(sites) == 0
    assert sites.done
    sites.commit()
    assert state != "unwritten" or "the disk had no room" not in store.load().captures[0].notes
    sites.open(spec(A), world.now)
    assert isinstance(sites.next(world.now), Fetch)


def test_a_site_that_waited_when_it_was_removed_never_falls_due(world):
    sites = Sites(Politeness(delay=5.0, obey_robots=False))
    for root in (A, B):
        sites.open(spec(root), world.now)
    for _ in range(2):
        fetch = sites.next(world.now)
        sites.finished(fetch, world.answer(fetch), [Sighting(f"{fetch.url}1")])
    assert sites.next(world.now) == Wait(world.now + 5.0)
    sites.remove("a.example")
    assert [sites.next(world.now + 5.0).site, sites.next(world.now + 5.0)] == ["b.example", Wait(world.now + 3_605.0)]


def test_what_is_given_back_may_be_asked_for_again_at_once(impolite):
    sites = Sites(impolite)
    sites.open(spec(A), 0.0)
    first = sites.next(0.0)
    sites.give_back(first, 0.0)
    assert sites.next(0.0).page == first.page


def test_a_site_that_is_held_is_asked_for_nothing_until_it_goes_on(world, impolite):
    sites = Sites(impolite)
    for root in (A, B):
        sites.open(spec(root), world.now)
    sites.hold("a.example")
    asked = []
    while isinstance(fetch := sites.next(world.now), Fetch):
        asked.append(fetch.site)
        sites.finished(fetch, world.answer(fetch))
    assert set(asked) == {"b.example"}
    sites.go_on("a.example")
    world.run(sites)
    assert sites.done


def test_a_site_that_waits_for_its_answers_again_and_again_leaves_few_waits_behind(world, impolite):
    """Each of them would last an hour; who rests for a shorter time is still the first."""
    c = "http://c.example/"
    linked(world, [A, c], 100)
    sites = Sites(replace(impolite, hosts={"c.example": 500.0}))
    sites.open(spec(B), world.now)
    sites.next(world.now)
    assert sites.next(world.now) == Wait(4_600.0)
    for root in (c, A):
        sites.open(spec(root, "bfs:revisits=none"), world.now)
        fetch = sites.next(world.now)
        sites.finished(fetch, world.answer(fetch), world.links[fetch.url])
        if root == c:
            assert sites.next(world.now) == Wait(1_500.0)
    for _ in range(100):
        fetch = sites.next(world.now)
        assert sites.next(world.now) == Wait(1_500.0)
        assert len(sites._heap) <= 2 * len(sites._due) + SLACK + 1
        sites.finished(fetch, world.answer(fetch))


@pytest.mark.slow
def test_who_waits_is_asked_in_time_however_often_what_they_wait_for_changes(world):
    """Old entries are thrown away when they are many: the next one due is still the first."""
    roots = [f"http://h{number}.example/" for number in range(4)]
    linked(world, roots, 60)
    sites = Sites(Politeness(delay=1.0, obey_robots=False))
    for root in roots:
        sites.open(spec(root), world.now)
    for _ in range(1200):
        decision = sites.next(world.now)
        if isinstance(decision, Wait):
            assert decision.until == min(sites._due.values())
            world.now = decision.until
        elif isinstance(decision, Done):
            break
        else:
            world.requests.append((world.now, decision))
            sites.finished(decision, world.answer(decision), world.links.get(decision.url, ()))
        assert len(sites._heap) <= 2 * len(sites._due) + SLACK + 1
    assert sites.done


def test_what_is_over_is_over_when_all_are(world, impolite):
    linked(world, [A], 3)
    sites = Sites(impolite)
    for root in (A, B):
        sites.open(spec(root), world.now)
    world.run(sites)
    assert sites.done
    assert isinstance(sites.next(world.now), Done)
    with pytest.raises(UsageError, match="captured twice"):
        sites.open(spec(A), world.now)


def test_an_order_to_all_holds_for_those_to_come(world):
    sites = Sites(Politeness(delay=1.0))
    sites.open(spec(A), world.now)
    sites.change_delay(5.0)
    sites.open(spec(B), world.now)
    assert {host.delay for frontier in sites for host in frontier.ledger.hosts} == {5.0}


def test_a_note_to_all_is_written_though_nothing_else_happens(world):
    stores = {root: MemoryStore() for root in (A, B)}
    sites = Sites(Politeness(delay=1.0))
    for root, store in stores.items():
        sites.open(spec(root), world.now, store)
    sites.note("the disk had no room")
    sites.commit()
    assert all("the disk had no room" in store.load().captures[0].notes for store in stores.values())


def test_a_site_that_is_passed_over_is_written_once_it_changes_again(world, impolite):
    sites, store = Sites(impolite), FullStore()
    frontier = sites.open(spec(A), world.now, store)
    store.room = False
    with pytest.raises(OSError, match="No space"):
        frontier.schedule([Sighting(f"{A}one")], world.now)
    with pytest.raises(SiteError, match="No space"):
        sites.commit()
    sites.pass_over("a.example")
    sites.commit()  # nothing is tried
    store.room = True
    frontier.schedule([Sighting(f"{A}two")], world.now)
    assert {row.url for row in store.load().pages} >= {f"{A}one", f"{A}two"}


def test_sites_that_have_nothing_to_write_are_not_asked_to(world):
    sites, asked = Sites(), []
    ledger = sites.open(spec(A), world.now, MemoryStore()).ledger
    commit = ledger.commit
    ledger.commit = lambda: asked.append(ledger) or commit()
    sites.commit()
    assert asked == []
    sites.note("the disk had no room")
    sites.commit()
    sites.commit()
    assert asked == [ledger]


def to_the_end(world, sites, ends):
    """Run, and do with a site that is in the way what ``ends`` does; what was in the way."""
    met = []
    while True:
        try:
            world.run(sites)
        except SiteError as error:
            met.append(error)
            ends(error.site)
        else:
            return met


@pytest.mark.parametrize("broken", [bad.Early, bad.RaisingWhenTold, bad.RaisingWhenGiven, "unmakeable"])
def test_a_strategy_that_breaks_on_one_site_leaves_the_others_alone(world, broken, monkeypatch):
    """Also where they share a machine, which it may have been waiting for."""
    name = f"{bad.__name__}.{getattr(broken, '__name__', 'Good')}"
    roots = [f"{A}{name}/" for name in "xyz"]
    linked(world, roots, 6)
    world.links[f"{roots[0]}1"] = [Sighting(f"{roots[0]}more/{number}") for number in range(6)]
    sites, stores = Sites(Politeness(delay=1.0, obey_robots=False)), [MemoryStore() for _ in roots]
    for root, store in zip(roots, stores, strict=True):
        order = folder(root.split("/")[3])
        order = replace(order, strategy=name) if root == roots[0] else order
        sites.open(order, world.now, store)
    if broken == "unmakeable":

        def unmade(*_):
            raise ZeroDivisionError("division by zero")

        monkeypatch.setattr(bad.Good, "__init__", unmade)
    (met,) = to_the_end(world, sites, sites.stop)
    assert (met.site, type(met.cause)) == ("a.example/x", StrategyError)
    assert f"strategy={name!r}" in str(met)
    assert sites.done
    assert [frontier.done for frontier in sites] == [False, True, True]
    (row,) = stores[0].load().captures.values()
    assert any(str(met) in note for note in row.notes), "its report says why"


def test_what_one_site_cannot_write_is_that_sites_alone(world):
    class Taken(MemoryStore):
        taken = False

        def commit(self, batch):
            if self.taken:
                raise Superseded("it is another's")
            super().commit(batch)

    linked(world, [A, B], 6)
    world.links[f"{B}1"] = [Sighting(f"{A}late")]  # offered to the site that cannot be written
    sites, taken, store = Sites(Politeness(delay=1.0, obey_robots=False)), Taken(), MemoryStore()
    sites.open(spec(A), world.now, taken)
    sites.open(spec(B), world.now, store)
    first = sites.next(world.now)
    assert first.site == "a.example"
    taken.taken = True
    with pytest.raises(SiteError) as caught, sites.one_step("a.example"):
        sites.finished(first, world.answer(first), world.links[A])
    assert isinstance(caught.value.cause, Superseded)
    with pytest.raises(SiteError, match="another's"):
        sites.commit()
    sites.hold("a.example")
    world.run(sites)
    with pytest.raises(SiteError, match="another's"):
        sites.commit()
    sites.remove("a.example")
    sites.commit()
    assert sites.done
    assert sum(page.url.startswith(B) for page in store.load().pages) == 7


def test_sites_are_ripe_when_the_first_host_is_due_and_nothing_is_under_way(world):
    linked(world, [A, B], 2)
    sites = Sites(Politeness(delay=5.0, obey_robots=False))
    for root in (A, B):
        sites.open(spec(root), world.now)
    assert sites.ripe is None, "one may be asked now"
    fetches = [sites.next(world.now), sites.next(world.now)]
    assert isinstance(sites.next(world.now), Wait)
    for number, fetch in enumerate(fetches):
        assert sites.ripe is None, "something is under way"
        sites.finished(fetch, world.answer(fetch), world.links[[A, B][number]])
    assert isinstance(sites.next(world.now), Wait)
    assert sites.ripe == world.now + 5.0
