"""The frontier as a whole: phases, politeness, retries, redirects, resources, T, the end."""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharc_crawler.errors import StateError, StoppedCaptureError
from sharc_crawler.frontier import admission
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.opening import Parts
from sharc_crawler.frontier.sites import Sites
from sharc_crawler.live.former.rebuilding import visit_again
from sharc_crawler.live.project.dropin import may_fetch_again
from sharc_crawler.model import (
    Done,
    Fetch,
    Kind,
    Outcome,
    Phase,
    Result,
    Sighting,
    Slot,
    Verdict,
    Wait,
)
from sharc_crawler.polling.terms import Terms
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.strategies.door import Door
from tests.frontier.small import ROOT, page, spec, urls, verdicts


def test_all_first_visits_come_before_all_second_ones_and_t_lies_between(world, impolite):
    world.links = {ROOT: [page("1"), page("2")], ROOT + "1": [page("3")]}
    frontier = Frontier(impolite)
    capture = frontier.open(spec(), world.now)
    fetches = world.run(frontier)
    slots = [fetch.slot is Slot.SECOND for fetch in fetches]
    assert slots == sorted(slots)
    assert sorted(set(urls(fetches))) == ["", "1", "2", "3"]
    first = [at for at, fetch in world.requests if fetch.slot is not Slot.SECOND]
    second = [at for at, fetch in world.requests if fetch.slot is Slot.SECOND]
    assert max(first) <= capture.reference <= min(second)
    assert capture.phase is Phase.DONE
    assert frontier.done


def test_a_strategy_is_told_of_the_end_of_each_visit_and_each_revisit(world, impolite, monkeypatch):
    told, finished = [], Door.finished

    def spy(door, visit, captured):
        told.append((visit.page, visit.slot, captured))
        finished(door, visit, captured)

    monkeypatch.setattr(Door, "finished", spy)
    world.links = {ROOT: [page("1"), page("2")]}
    frontier = Frontier(impolite)
    frontier.open(spec(strategy="bfs"), world.now)
    asked = [fetch for fetch in world.run(frontier) if fetch.kind is Kind.PAGE]
    assert [(fetch.slot, True) for fetch in asked] == [(slot, captured) for _, slot, captured in told]
    assert len({(number, slot) for number, slot, _ in told}) == len(told) == 2 * 3


def test_a_page_is_asked_for_in_another_second_than_before_and_the_order_is_kept(world, impolite):
    world.links = {ROOT: [page(str(number)) for number in range(5)]}
    world.answers = {ROOT + "3": [{"result": Result.FAILED, "status": 503}]}
    frontier = Frontier(dataclasses.replace(impolite, back_off=0.0))
    frontier.open(spec(strategy="bfs:revisits=lifo"), world.now)
    world.run(frontier)
    made = [(int(at), fetch.url) for at, fetch in world.requests]
    assert len(made) == len(set(made)) == 13
    order = [fetch.url for fetch in (request[1] for request in world.requests) if fetch.slot is Slot.SECOND]
    assert order == list(dict.fromkeys(fetch.url for _, fetch in reversed(world.requests) if fetch.slot is Slot.FIRST))
    assert world.now - world.requests[0][0] < 3.0  # one wait for the attempt, one for all revisits


def test_a_page_may_be_fetched_again_until_it_is_judged_or_lost(world, impolite):
    world.links = {ROOT: [page("1"), page("gone")]}
    world.answers = {ROOT + "gone": [{"result": Result.GONE, "status": 404}]}
    for strategy, after_visit in (("bfs", True), ("bfs:revisits=none", False)):
        world.requests.clear()
        frontier = Frontier(impolite)
        frontier.open(spec(strategy=strategy), world.now)
        states = set()
        while world.step(frontier):
            may = {number: may_fetch_again(frontier, number) for number in range(len(frontier.pages))}
            states |= {(frontier.pages.states[number], one) for number, one in may.items()}
        assert (State.QUEUED, True) in states
        assert {one for state, one in states if state == State.VISITED} <= {after_visit}
        assert {one for state, one in states if state in (State.JUDGED, State.LOST)} == {False}


def test_what_a_long_document_names_is_known_before_its_fetch_is_over_and_named_again_if_that_ends_otherwise(
    world, impolite
):
    store = MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(spec(strategy="bfs"), world.now)
    fetch = frontier.next(world.now)
    outcome = world.answer(fetch)
    frontier.named(fetch, outcome, [page("1"), page("2")])
    assert [row.url.removeprefix(ROOT) for row in store.load().pages] == ["", "1", "2"], "it is written at once"
    frontier.finished(fetch, outcome, [page("2"), page("3")])
    frontier.named(fetch, outcome, [page("4")])  # its lease is over
    assert len(frontier.pages) == 4
    assert frontier.capture.counts.pages == 4


def test_what_is_given_back_is_asked_for_again_and_no_attempt_is_counted(world, impolite):
    frontier = Frontier(impolite)
    frontier.open(spec(), world.now)
    first = frontier.next(0.0)
    assert not frontier.idle
    frontier.give_back(first, 0.0)
    assert frontier.idle
    again = frontier.next(0.0)
    assert (again.page, again.attempt, again.slot) == (first.page, first.attempt, first.slot)
    assert again.lease != first.lease
    assert frontier.finished(first, world.answer(first)) is None
    assert not frontier.idle, "an answer to a lease that is over is nobody's"


def test_what_a_driver_keeps_is_written_with_the_step(world, impolite):
    store = MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(spec(), world.now)
    frontier.ledger.keep("cookies", "[1]")
    assert "cookies" not in store.load().kept
    frontier.ledger.commit()
    assert store.load().kept == {"cookies": "[1]"}


def test_the_same_url_in_two_spellings_is_one_page(world, impolite):
    world.links = {ROOT: [page("x?b=2&a=1"), page("x?a=1&b=2#part"), Sighting("HTTP://A.example:80/x?a=1&b=2")]}
    frontier = Frontier(impolite)
    frontier.open(spec(), world.now)
    assert len(set(urls(world.run(frontier)))) == 2


def test_resources_are_fetched_after_their_page_once_and_revisited_with_it(world, impolite):
    image, style = Sighting(ROOT + "i.png", Kind.RESOURCE), Sighting(ROOT + "s.css", Kind.RESOURCE)
    world.links = {
        ROOT: [image, page("2"), page("1")],
        ROOT + "1": [image, style],
        ROOT + "s.css": [Sighting(ROOT + "bg.png", Kind.RESOURCE)],
    }
    store = MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(spec(), world.now)
    fetches = world.run(frontier)
    order = [fetch.url.removeprefix(ROOT) for fetch in fetches]
    assert order.index("i.png") == order.index("") + 1
    assert order.count("i.png") == order.count("s.css") == order.count("bg.png") == 2 or order[-1] == "1"
    state = store.load()
    names = {row.page: row.url.removeprefix(ROOT) for row in state.pages}
    embeds = {(names[a], names[b]) for a, b in state.embeds}
    assert embeds == {("", "i.png"), ("1", "i.png"), ("1", "s.css"), ("s.css", "bg.png")}


@pytest.mark.parametrize("every", [0, 2])
def test_of_what_one_page_embeds_so_many_are_fetched_and_the_others_are_listed(world, impolite, every):
    images = [Sighting(f"{ROOT}{number}.png", Kind.RESOURCE) for number in range(6)]
    world.links = {ROOT: [*images[:5], page("1")], ROOT + "1": [*images]}
    store = MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(spec(page_resources=3), world.now)
    if every:
        world.run_restarted(frontier, impolite, store, every)
    else:
        world.run(frontier)
    asked = {fetch.url.removeprefix(ROOT) for _, fetch in world.requests if fetch.kind is Kind.RESOURCE}
    assert asked == {"0.png", "1.png", "2.png", "5.png"}
    state = store.load()
    refused = {row.page: row.outcome.error for row in state.visits if row.outcome.result is Result.REFUSED}
    assert sorted(refused.values()) == 2 * ["its page embeds more than SHARC_PAGE_RESOURCES=3"]
    assert {image for _, image in state.embeds} >= set(refused), "their page is not complete"


@pytest.mark.parametrize("every", [0, 2])
def test_hosts_of_what_is_not_fetched_are_asked_for_nothing(world, impolite, every):
    polite = dataclasses.replace(impolite, obey_robots=True)
    world.links = {ROOT: [Sighting(f"http://other{number}/i.png", Kind.RESOURCE) for number in range(20)]}
    store = MemoryStore()
    frontier = Frontier(polite, store)
    frontier.open(spec(page_resources=3), world.now)
    if every:
        world.run_restarted(frontier, polite, store, every)
    else:
        world.run(frontier)
    hosts = {fetch.url.split("/")[2] for _, fetch in world.requests}
    assert hosts == {ROOT.split("/")[2], "other0", "other1", "other2"}


def test_what_a_page_loads_is_a_resource_a_level_below_it(world, impolite):
    frontier = Frontier(impolite)
    frontier.open(spec(), world.now)
    while not isinstance(fetch := frontier.next(world.now), Fetch) or fetch.kind is not Kind.PAGE:
        if isinstance(fetch, Fetch):
            frontier.finished(fetch, world.answer(fetch), ())
    loaded = frontier.loads.load(fetch, ROOT + "app.js", Kind.RESOURCE, world.now)
    pages = frontier.pages
    assert (pages.kinds[loaded], pages.depths[loaded]) == (Kind.RESOURCE, pages.depths[fetch.page] + 1)
    assert frontier.loads.load(fetch, ROOT + "app.js", Kind.RESOURCE, world.now) == loaded
    data = frontier.loads.load(fetch, ROOT + "app.js", Kind.DATA, world.now)
    assert (pages.kinds[data], pages.urls[data]) == (Kind.DATA, ROOT + "app.js"), "a resource does not make it less"
    assert frontier.loads.load(fetch, ROOT + "app.js", Kind.DATA, world.now) == data
    assert frontier.loads.load(fetch, ROOT + "app.js", Kind.RESOURCE, world.now) == loaded
    page, both = (frontier.loads.load(fetch, fetch.url, kind, world.now) for kind in (Kind.RESOURCE, Kind.DATA))
    assert [pages.kinds[one] for one in (page, both)] == [Kind.RESOURCE, Kind.DATA], "a page may be both, too"
    assert len({fetch.page, page, both}) == 3


def test_only_a_page_that_has_been_visited_can_be_visited_again_and_only_before_t(world, impolite):
    world.links = {ROOT: [page("1"), Sighting(ROOT + "style.css", Kind.RESOURCE)]}
    frontier = Frontier(impolite)
    capture = frontier.open(spec(), world.now)
    while ROOT + "style.css" not in {fetch.url for _, fetch in world.requests}:
        world.step(frontier)
    assert capture.phase is Phase.VISIT
    assert [visit_again(frontier, ROOT + path, Kind.PAGE) for path in ("style.css", "1", "nobody")] == [False] * 3
    assert not visit_again(frontier, ROOT, Kind.SITEMAP)
    assert visit_again(frontier, ROOT, Kind.PAGE)
    made = urls(world.run(frontier), slots=(Slot.FIRST, Slot.ONLY))
    assert made.count("") == 2
    assert not visit_again(frontier, ROOT, Kind.PAGE)


def test_changed_gone_and_failed_revisits(world, impolite):
    world.links = {ROOT: [page(name) for name in ("stays", "edited", "gone", "down", "moved")]}
    failed = {"result": Result.FAILED, "status": 500}
    world.answers = {
        ROOT + "edited": [{}, {"digest": "sha1:other"}],
        ROOT + "gone": [{}, {"result": Result.GONE, "status": 404, "digest": None}],
        ROOT + "down": [{}, *[failed] * 9],
        ROOT + "moved": [{}, {"result": Result.REDIRECTED, "location": ROOT + "elsewhere"}],
    }
    frontier = Frontier(impolite, store := MemoryStore())
    frontier.open(spec(strategy="bfs"), world.now)
    world.run(frontier)
    found = verdicts(store)
    assert {name: found[name] for name in ("stays", "edited", "gone", "down", "moved")} == {
        "stays": Verdict.COHERENT,
        "edited": Verdict.CHANGED,
        "gone": Verdict.CHANGED,
        "down": Verdict.UNKNOWN,
        "moved": Verdict.CHANGED,
    }


def test_a_304_counts_only_with_validators(world, impolite, validators):
    world.links = {ROOT: [page("with"), page("without")]}
    unmodified = {"result": Result.NOT_MODIFIED, "status": 304, "digest": None}
    world.answers = {ROOT + "with": [{"validators": validators}, unmodified], ROOT + "without": [{}, unmodified]}
    frontier = Frontier(impolite, store := MemoryStore())
    frontier.open(spec(strategy="bfs", audit=0.0), world.now)
    fetches = world.run(frontier)
    second = {fetch.url.removeprefix(ROOT): fetch for fetch in fetches if fetch.slot is Slot.SECOND}
    assert second["with"].validators == validators
    assert not second["without"].validators
    assert verdicts(store)["with"] is Verdict.COHERENT
    assert verdicts(store)["without"] is Verdict.UNKNOWN


@pytest.mark.parametrize("audit", [0.0, 0.02])
def test_where_what_came_last_was_gone_the_page_before_is_not_claimed_on_a_304(world, impolite, validators, audit):
    """Its download is T, so no sample is drawn of it; all the same it is revisited, as its strategy had not known."""
    names = [ROOT, ROOT + "1", ROOT + "2", ROOT + "gone"]
    world.links = {one: [Sighting(other, Kind.PAGE)] for one, other in pairwise(names)}
    unmodified = {"result": Result.NOT_MODIFIED, "status": 304, "digest": None}
    world.answers = {one: [{"validators": validators}, {"validators": validators}] for one in names[:2]}
    world.answers[ROOT + "2"] = [{"validators": validators}, unmodified, {"validators": validators}]
    world.answers[ROOT + "gone"] = [{"result": Result.GONE, "status": 404}]
    frontier = Frontier(impolite, store := MemoryStore())
    frontier.open(spec(audit=audit), world.now)
    asked = {fetch.url: fetch for fetch in world.run(frontier) if fetch.slot is Slot.SECOND}
    assert set(asked) == set(names[:3])
    assert not asked[ROOT + "2"].validators
    assert verdicts(store)["2"] is not Verdict.COHERENT, "304 to a request without validators"


def test_a_server_that_was_caught_to_lie_in_304s_is_asked_in_full_at_revisits_too(world, impolite, validators):
    world.answers = {ROOT + "1": [{"validators": validators}, {}]}
    world.links = {ROOT: [page("1")]}
    lies = []
    frontier = Frontier(impolite, parts=Parts(believed=lambda: not lies))
    frontier.open(spec(strategy="bfs:revisits=fifo"), world.now)
    while not isinstance(fetch := frontier.next(world.now), Done):
        frontier.finished(fetch, world.answer(fetch), world.links.get(fetch.url, ()))
        world.requests.append((world.now, fetch))
        lies.append("caught meanwhile")
        world.now += 1.0
    assert [fetch.slot for _, fetch in world.requests if fetch.url == ROOT + "1"] == [Slot.FIRST, Slot.SECOND]
    assert not any(fetch.validators for _, fetch in world.requests)


@pytest.mark.parametrize("skip", ["attested", "off"])
def test_no_server_is_asked_for_a_page_that_a_former_answer_may_stand_for(world, skip):
    """Where one is at hand that the mode takes; it costs nothing, and the host need not rest for it."""
    world.links = {ROOT: [page("taken"), page("refused"), page("none"), Sighting(ROOT + "i.png", Kind.RESOURCE)]}
    former = dict.fromkeys([ROOT + "taken", ROOT + "refused", ROOT + "i.png"], Outcome(Result.OK, 1.0, 2.0))
    asked = world.answer
    world.answer = lambda fetch: asked(fetch) if fetch.attempt else former[fetch.url]
    parts = Parts(taken=lambda _, url: former.get(url))
    frontier = Frontier(Politeness(delay=5.0, obey_robots=False), parts=parts)
    capture = frontier.open(spec(strategy="bfs:revisits=none", skip=skip, max_requests=9), world.now)
    capture.mode.takes = lambda number, url, look: (
        look == former[url] and (number == 1) is (url == ROOT + "taken") and url != ROOT + "refused"
    )
    attempts = {fetch.url.removeprefix(ROOT): fetch.attempt for fetch in world.run(frontier)}
    taken = int(skip == "attested")
    assert attempts == {"": 1, "i.png": 1, "taken": 1 - taken, "refused": 1, "none": 1}
    assert capture.budget.spare(world.now) == 9 - 5 + taken
    assert 15.0 - 5.0 * taken <= world.requests[-1][0] - 1000.0 - 5.0 < 15.1 - 5.0 * taken
    assert capture.counts.captured == 4


def test_what_is_revisited_is_asked_for_whatever_a_former_capture_has(world, impolite):
    world.links = {ROOT: [page("1")]}
    frontier = Frontier(impolite, parts=Parts(taken=lambda *_: Outcome(Result.OK, 1.0, 2.0)))
    capture = frontier.open(spec(strategy="bfs:revisits=fifo", skip="attested"), world.now)
    capture.mode.takes = lambda *_: True
    taken = [fetch.url for fetch in world.run(frontier) if not fetch.attempt]
    assert taken == []


@pytest.mark.parametrize(("revisits", "kept"), [("none", False), ("fifo", True)])
def test_what_a_visit_showed_is_kept_where_a_revisit_is_compared_with_it(world, impolite, revisits, kept):
    frontier = Frontier(impolite)
    frontier.open(spec(strategy=f"bfs:revisits={revisits}"), world.now)
    fetch = frontier.next(world.now)
    frontier.finished(fetch, world.answer(fetch), [page("1")])
    assert (frontier.pages.remembered(fetch.page).digest is not None) is kept
    assert frontier.pages.started[fetch.page] == world.now


def test_pages_found_after_the_reference_instant_are_late(world, impolite):
    world.links = {ROOT: [page("1"), page("2")]}
    frontier = Frontier(impolite, store := MemoryStore())
    capture = frontier.open(spec(), world.now)
    real = world.answer

    def answer(fetch: Fetch) -> Outcome:
        outcome = real(fetch)
        if fetch.slot is Slot.SECOND:
            world.links.setdefault(fetch.url, []).append(page("new"))
            return outcome._replace(digest="sha1:edited")
        return outcome

    world.answer = answer
    assert "new" not in urls(world.run(frontier))
    assert capture.counts.late == 1
    assert "new" in {row.url.removeprefix(ROOT) for row in store.load().pages}


def test_whoever_ends_the_last_visit_of_a_page_is_told_what_came_of_it(world, impolite):
    world.links = {ROOT: [page("1")]}
    frontier = Frontier(impolite)
    frontier.open(spec(strategy="bfs"), world.now)
    told = []
    while not isinstance(fetch := frontier.next(world.now), Done):
        if isinstance(fetch, Fetch):
            judgement = frontier.finished(fetch, world.answer(fetch), world.links.get(fetch.url, ()))
            told.append((fetch.slot, judgement and judgement.verdict))
        world.now += 1.0
    assert told == [(Slot.FIRST, None)] * 2 + [(Slot.SECOND, Verdict.COHERENT)] * 2
    assert [host.pace.busy for host in frontier.ledger.hosts] == [0]


def test_what_has_come_to_look_endless_is_asked_for_no_more_unless_it_was_given_or_visited(world, impolite):
    """Given: by people or a sitemap."""
    world.links = {ROOT: [page(name) for name in ("1", "late", "both")], ROOT + "map.xml": [page("both")]}
    frontier = Frontier(impolite, store := MemoryStore())
    capture = frontier.open(spec(strategy="bfs", sitemaps=(ROOT + "map.xml",)), world.now)
    asked = []

    def why_not_found(url, parent, number=None):
        asked.extend([] if number is None else [url.removeprefix(ROOT)])
        return "endless" if number is not None and url != ROOT + "1" else None

    capture.traps.why_not_found = why_not_found
    fetched = urls(world.run(frontier))
    assert sorted(fetched) == ["", "", "1", "1", "both", "both"]
    assert sorted(asked) == ["1", "both", "late"]
    assert [row.outcome.error for row in store.load().visits if not row.attempt] == ["endless"]


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize(("seeded", "asked"), [(False, 15), (True, 10)])
def test_a_host_that_answers_nothing_is_asked_on_where_nobody_named_it_as_a_seed(impolite, seeded, asked, restarted):
    """As a project's spider opens it: what it asks for is no seed, after a restart neither."""
    once, store = dataclasses.replace(impolite, attempts=1), MemoryStore()
    frontier = Frontier(once, store)
    frontier.open(spec(strategy="bfs:revisits=none", discover=seeded), 0.0, seeded)
    frontier.schedule([page(str(number)) for number in range(15)], 0.0)
    if restarted:
        frontier = Frontier(once, store)
        frontier.restore(store.load(), 0.0)
    made, now = 0, 0.0
    with suppress(StoppedCaptureError):
        while not isinstance(fetch := frontier.next(now), Done):
            made += 1
            frontier.finished(fetch, Outcome(Result.FAILED, now, now + 200.0))
            now += 200.0
    assert made == asked


def test_the_limit_holds(world, impolite):
    world.links = {ROOT: [page(str(i)) for i in range(50)]}
    frontier = Frontier(impolite)
    capture = frontier.open(spec(limit=10), world.now)
    assert len(set(urls(world.run(frontier)))) == 10
    assert capture.left_out.reasons["over limit=10"] > 0


@pytest.mark.parametrize("listed", [0, 20])
def test_where_no_limit_is_given_no_link_is_followed_once_so_many_pages_are_known(world, impolite, monkeypatch, listed):
    monkeypatch.setattr(admission, "MOST", 10)
    world.links = {f"{ROOT}sitemap.xml": [page(f"listed/{i}") for i in range(listed)]}
    world.links |= {ROOT: [page(str(i)) for i in range(7)], f"{ROOT}0": [page(f"x{i}") for i in range(50)]}
    frontier = Frontier(impolite)
    capture = frontier.open(spec(sitemaps=(f"{ROOT}sitemap.xml",)), world.now)
    found = set(urls(world.run(frontier)))
    assert {f"listed/{i}" for i in range(listed)} <= found, "what a sitemap lists has an end"
    assert capture.counts.pages == (1 + listed if listed else 10)
    assert capture.left_out.reasons["over limit=10"] >= (7 if listed else 48)


def test_hosts_are_served_in_turn_and_never_sooner_than_their_delay(world):
    sites = [f"http://{name}.example/" for name in "abc"]
    world.links = {root: [Sighting(f"{root}{i}") for i in range(5)] for root in sites}
    frontier = Sites(Politeness(delay=1.0))
    for root in sites:
        frontier.open(CaptureSpec(root.split("/")[2], (root,), strategy="bfs", sitemaps=()), world.now)
    fetches = world.run(frontier)
    for root in sites:
        times = [at for at, fetch in world.requests if fetch.url.startswith(root)]
        assert len(times) == 1 + 6 * 2 or len(times) == 6 * 2
        assert min(b - a for a, b in pairwise(times)) >= 1.0 - 1e-9
    assert len({fetch.host for fetch in fetches[:3]}) == 3, "three hosts are served side by side"


def test_hosts_of_one_site_take_turns(world, impolite):
    other = "http://b.example/"
    world.links = {root: [Sighting(f"{root}{number}") for number in range(4)] for root in (ROOT, other)}
    frontier = Frontier(impolite)
    frontier.open(spec(seeds=(ROOT, other), strategy="bfs:revisits=none"), world.now)
    hosts = [fetch.host for fetch in world.run(frontier)]
    assert [set(turn) for turn in zip(hosts[::2], hosts[1::2], strict=True)] == [{"a.example", "b.example"}] * 5


def test_polls_and_what_they_find_wait_for_the_requests_of_an_hour(world, impolite):
    """Of a minute's requests, or ten, polls leave half to what they find."""
    frontier = Frontier(impolite, terms=Terms(requests=60.0))
    seeds = tuple(f"http://{number}.example/" for number in range(12))
    frontier.open(spec(seeds=seeds, mode="instant", strategy="bfs:revisits=none"), world.now)
    made = 0
    while isinstance(fetch := frontier.next(world.now), Fetch):
        made += 1
        frontier.finished(fetch, world.answer(fetch))
    assert made == 5
    for _ in range(5):
        frontier.polls.spend(world.now)
    assert frontier.next(world.now) == Wait(world.now + 60.0)


def test_an_illegal_move_names_event_and_state(impolite):
    frontier = Frontier(impolite)
    frontier.open(spec(), 0.0)
    with pytest.raises(StateError, match=r"page 0 \(http://a.example/\) is in the state 'QUEUED': it cannot JUDGE"):
        frontier.pages.move(0, 4)


def test_links_into_another_site_that_is_captured_at_the_same_time_go_there(world, impolite):
    other = "http://b.example/"
    world.links = {ROOT: [Sighting(other + "deep")]}
    frontier = Sites(impolite)
    frontier.open(spec(strategy="bfs"), world.now)
    frontier.open(CaptureSpec("b.example", (other,), strategy="bfs", sitemaps=()), world.now)
    fetches = world.run(frontier)
    assert other + "deep" in {fetch.url for fetch in fetches if fetch.site == "b.example"}


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples, deadline=None)
@given(
    pages=st.integers(1, 30),
    concurrency=st.integers(1, 5),
    choices=st.lists(st.integers(0, 1000), min_size=200, max_size=200),
    strategy=st.sampled_from(["sharc-selective", "sharc-online", "bfs:revisits=fifo", "bfs:revisits=none"]),
)
def test_a_host_that_bears_several_requests_at_once(pages, concurrency, choices, strategy):
    """Whatever order they end in: never more at once, all visits before all revisits, every page judged."""
    frontier = Frontier(Politeness(delay=0.0, concurrency=concurrency, obey_robots=False))
    capture = frontier.open(spec(strategy=strategy, traps=False), 0.0)  # they all show the same
    flying: list[Fetch] = []
    visited: set[int] = set()
    for now, choice in enumerate(choices):
        while isinstance(decision := frontier.next(float(now)), Fetch):
            if decision.slot is Slot.SECOND:
                assert len(visited) == pages, "a revisit before all pages were visited"
            flying.append(decision)
        assert len(flying) <= concurrency
        if isinstance(decision, Done):
            break
        fetch = flying.pop(choice % len(flying))
        visited.add(fetch.page)
        number = int(fetch.url.removeprefix(ROOT) or 0)
        links = [page(str(child)) for child in (2 * number + 1, 2 * number + 2) if child < pages]
        frontier.finished(fetch, Outcome(Result.OK, float(now), now + 0.5, 200, digest="sha1:A"), links)
    assert frontier.done
    assert len(visited) == capture.counts.captured == pages
    assert set(frontier.pages.states) == {State.JUDGED}
