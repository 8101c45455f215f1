"""The frontier as a whole: phases, politeness, retries, redirects, resources, T, the end."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharc_crawler.errors import StateError, UsageError
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.sites import Sites
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.model import (
    Done,
    Fetch,
    Hints,
    Kind,
    Outcome,
    Phase,
    Result,
    Sighting,
    Slot,
    Verdict,
    Wait,
)
from sharc_crawler.storage.memory import MemoryStore

ROOT = "http://a.example/"


def page(path: str, **hints) -> Sighting:
    return Sighting(ROOT + path, hints=Hints(**hints) if hints else None)


def spec(**changed) -> CaptureSpec:
    return dataclasses.replace(CaptureSpec("a.example", (ROOT,), strategy="sharc-selective", sitemaps=()), **changed)


def urls(fetches, kind=Kind.PAGE, slots=tuple(Slot)) -> list[str]:
    return [fetch.url.removeprefix(ROOT) for fetch in fetches if fetch.kind is kind and fetch.slot in slots]


def verdicts(store) -> dict[str, Verdict]:
    state = store.load()
    return {state.pages[row.page].url.removeprefix(ROOT): row.verdict for row in state.judgements}


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


def test_the_same_url_in_two_spellings_is_one_page(world, impolite):
    world.links = {ROOT: [page("x?b=2&a=1"), page("x?a=1&b=2#part"), Sighting("HTTP://A.example:80/x?a=1&b=2")]}
    frontier = Frontier(impolite)
    frontier.open(spec(), world.now)
    assert len(set(urls(world.run(frontier)))) == 2


def test_robots_txt_comes_first_and_is_obeyed(world):
    world.robots = {"a.example": "User-agent: *\nDisallow: /private\nCrawl-delay: 3"}
    world.links = {ROOT: [page("private/1"), page("2")]}
    store = MemoryStore()
    frontier = Frontier(Politeness(delay=1.0), store)
    capture = frontier.open(spec(), world.now)
    fetches = world.run(frontier)
    assert fetches[0].kind is Kind.ROBOTS
    assert "private/1" not in urls(fetches)
    gaps = [b - a for (a, _), (b, _) in pairwise(world.requests)]
    assert min(gaps[1:]) >= 3.0 - 1e-9
    assert not capture.left_out.reasons, "what is refused is a page that was not captured"
    assert [visit.outcome.error for visit in store.load().visits if not visit.attempt] == ["robots.txt disallows it"]


@pytest.mark.parametrize(("status", "fetched"), [("5xx", False), ("4xx", True)])
def test_robots_that_cannot_be_had(world, status, fetched):
    failed = {"result": Result.FAILED, "status": 503}
    world.answers = {ROOT + "robots.txt": [failed] * 9 if status == "5xx" else []}
    frontier = Frontier(Politeness(delay=0.0, attempts=3, back_off=2.0))
    capture = frontier.open(spec(), world.now)
    fetches = world.run(frontier)
    assert (urls(fetches) != []) is fetched
    assert len(urls(fetches, Kind.ROBOTS)) == (1 if fetched else 3)
    assert capture.counts.captured == fetched
    if not fetched:
        assert "nothing on it is fetched" in " ".join(capture.notes)


def test_robots_redirects_are_followed_up_to_five_times(world):
    hops = {
        f"{ROOT}robots{i or ''}.txt": [
            {"result": Result.REDIRECTED, "status": 301, "location": f"{ROOT}robots{i + 1}.txt"}
        ]
        for i in range(4)
    }
    world.answers = hops | {ROOT + "robots4.txt": [{"result": Result.OK, "robots": "User-agent: *\nDisallow: /no"}]}
    world.links = {ROOT: [page("no"), page("yes")]}
    frontier = Frontier(Politeness(delay=0.0))
    frontier.open(spec(), world.now)
    fetches = world.run(frontier)
    assert set(urls(fetches)) == {"", "yes"}


def test_sitemaps_are_read_before_the_first_page_and_give_rates(world):
    world.robots = {"a.example": f"Sitemap: {ROOT}index.xml"}
    world.links = {
        ROOT + "index.xml": [Sighting(ROOT + "s1.xml", Kind.SITEMAP)],
        ROOT + "s1.xml": [page("hot", changefreq="hourly"), page("cold", changefreq="yearly", priority=0.9)],
    }
    store = MemoryStore()
    frontier = Frontier(Politeness(delay=0.0), store)
    frontier.open(spec(sitemaps=None), world.now)
    fetches = world.run(frontier)
    assert [fetch.kind for fetch in fetches[:3]] == [Kind.ROBOTS, Kind.SITEMAP, Kind.SITEMAP]
    rows = {row.url.removeprefix(ROOT): row for row in store.load().pages}
    assert rows["hot"].rate > rows["cold"].rate > 0
    assert rows["cold"].weight > 0


def test_an_index_sends_nobody_to_another_site(world):
    world.robots = {"a.example": f"Sitemap: {ROOT}index.xml\nSitemap: http://cdn.example/index.xml"}
    foreign = [Sighting(f"http://{host}/s.xml", Kind.SITEMAP) for host in ("victim.example", "cdn.example")]
    world.links = {ROOT + "index.xml": foreign, "http://cdn.example/index.xml": foreign, ROOT: [page("1")]}
    frontier = Frontier(Politeness(delay=0.0))
    capture = frontier.open(spec(sitemaps=None), world.now)
    fetched = {fetch.url for fetch in world.run(frontier) if fetch.kind is Kind.SITEMAP}
    assert fetched == {ROOT + "index.xml", "http://cdn.example/index.xml", "http://cdn.example/s.xml"}
    assert capture.left_out.reasons["a sitemap index names another site's sitemap"] >= 2


def test_sitemaps_end(world):
    """Indexes in a circle are read once each; one that never ends is left after five levels."""
    world.robots = {"a.example": f"Sitemap: {ROOT}0.xml\nSitemap: {ROOT}circle.xml"}
    world.links = {f"{ROOT}{i}.xml": [Sighting(f"{ROOT}{i + 1}.xml", Kind.SITEMAP)] for i in range(50)}
    world.links[ROOT + "circle.xml"] = [Sighting(ROOT + "circle.xml", Kind.SITEMAP), page("1")]
    frontier = Frontier(Politeness(delay=0.0))
    frontier.open(spec(sitemaps=None), world.now)
    fetched = [fetch.url for fetch in world.run(frontier) if fetch.kind is Kind.SITEMAP]
    assert sorted(fetched) == sorted([*(f"{ROOT}{i}.xml" for i in range(6)), ROOT + "circle.xml"])


def test_indexes_within_indexes_that_name_ever_new_ones_end(world, monkeypatch):
    """Each of 30 names 30 more, five levels deep: that would be 25 million."""
    monkeypatch.setattr("sharc_crawler.frontier.admission.MAX_NESTED_SITEMAPS", 100)

    class Fan(dict):
        def get(self, url, default=None):
            if url.endswith(".xml"):
                return [Sighting(f"{url[:-4]}-{i}.xml", Kind.SITEMAP) for i in range(30)]
            return super().get(url, default)

        def __contains__(self, url):
            return url.endswith(".xml") or super().__contains__(url)

    world.links = Fan({ROOT: [page("1")]})
    world.robots = {"a.example": f"Sitemap: {ROOT}index.xml"}
    frontier = Frontier(Politeness(delay=0.0))
    capture = frontier.open(spec(sitemaps=None), world.now)
    fetches = world.run(frontier)
    assert len([fetch for fetch in fetches if fetch.kind is Kind.SITEMAP]) == 1 + 30 + 100
    assert set(urls([fetch for fetch in fetches if fetch.kind is Kind.PAGE])) == {"", "1"}
    assert any("indexes within indexes" in reason for reason in capture.left_out.reasons)


def test_a_site_without_sitemap_is_crawled_by_links_and_the_report_says_so(world):
    world.links = {ROOT: [page("1")]}
    frontier = Frontier(Politeness(delay=0.0))
    capture = frontier.open(spec(sitemaps=None), world.now)
    assert set(urls(world.run(frontier))) == {"", "1"}
    assert any("pages come from links" in note for note in capture.notes)


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


def test_what_a_page_loads_is_a_resource_a_level_below_it(world, impolite):
    frontier = Frontier(impolite)
    frontier.open(spec(), world.now)
    while not isinstance(fetch := frontier.next(world.now), Fetch) or fetch.kind is not Kind.PAGE:
        if isinstance(fetch, Fetch):
            frontier.finished(fetch, world.answer(fetch), ())
    loaded = frontier.load(fetch, ROOT + "app.js", Kind.RESOURCE, world.now)
    pages = frontier.pages
    assert (pages.kinds[loaded], pages.depths[loaded]) == (Kind.RESOURCE, pages.depths[fetch.page] + 1)
    assert frontier.load(fetch, ROOT + "app.js", Kind.RESOURCE, world.now) == loaded


def test_only_a_page_that_has_been_visited_can_be_visited_again_and_only_before_t(world, impolite):
    world.links = {ROOT: [page("1"), Sighting(ROOT + "style.css", Kind.RESOURCE)]}
    frontier = Frontier(impolite)
    capture = frontier.open(spec(), world.now)
    while ROOT + "style.css" not in {fetch.url for _, fetch in world.requests}:
        world.step(frontier)
    assert capture.phase is Phase.VISIT
    assert [frontier.visit_again(ROOT + path) for path in ("style.css", "1", "nobody")] == [False] * 3
    assert frontier.visit_again(ROOT)
    made = urls(world.run(frontier), slots=(Slot.FIRST, Slot.ONLY))
    assert made.count("") == 2
    assert not frontier.visit_again(ROOT)


def test_failures_are_tried_again_later_and_then_given_up(world, impolite):
    failed = {"result": Result.FAILED, "status": 503}
    world.links = {ROOT: [page("flaky"), page("dead")]}
    world.answers = {ROOT + "flaky": [failed, failed], ROOT + "dead": [failed] * 20}
    frontier = Frontier(impolite, store := MemoryStore())
    frontier.open(spec(), world.now)
    world.run(frontier)
    made = [(at, fetch) for at, fetch in world.requests if fetch.url.endswith("flaky")]
    assert [fetch.attempt for _, fetch in made][:3] == [1, 2, 3]
    assert made[1][0] - made[0][0] >= 1.0
    assert made[2][0] - made[1][0] >= 2.0
    assert verdicts(store)["flaky"] is Verdict.COHERENT
    assert sum(fetch.url.endswith("dead") for _, fetch in world.requests) == 3
    assert "dead" not in verdicts(store)


def test_retry_after_pauses_the_whole_host(world, impolite):
    world.links = {ROOT: [page("busy"), page("other")]}
    world.answers = {ROOT + "busy": [{"result": Result.FAILED, "status": 429, "retry_after": 30.0}]}
    frontier = Frontier(impolite)
    frontier.open(spec(), world.now)
    world.run(frontier)
    times = [at for at, _ in world.requests]
    refused = next(i for i, (_, fetch) in enumerate(world.requests) if fetch.url.endswith("busy"))
    assert times[refused + 1] - times[refused] >= 30.0


def test_a_redirect_is_recorded_and_its_target_captured(world, impolite):
    world.links = {ROOT: [page("old")]}
    world.answers = {ROOT + "old": [{"result": Result.REDIRECTED, "status": 301, "location": ROOT + "new"}]}
    frontier = Frontier(impolite, store := MemoryStore())
    frontier.open(spec(), world.now)
    fetches = world.run(frontier)
    assert urls(fetches).count("old") == 1
    assert set(verdicts(store)) == {"", "new"}


def test_a_seed_that_redirects_elsewhere_takes_its_scope_along(world, impolite):
    target = "http://b.example/home/"
    world.answers = {ROOT: [{"result": Result.REDIRECTED, "status": 301, "location": target}]}
    world.links = {target: [Sighting("http://b.example/x"), Sighting("http://c.example/")]}
    frontier = Frontier(impolite)
    capture = frontier.open(spec(), world.now)
    fetches = world.run(frontier)
    assert {fetch.url for fetch in fetches} == {ROOT, target, "http://b.example/x"}
    assert any("redirects" in note for note in capture.notes)


@pytest.mark.parametrize("cut", range(6))
def test_a_site_that_has_moved_is_captured_by_its_sitemaps_read_before_and_by_those_of_its_new_host(world, cut):
    """Also where the crawl is cut off after that many fetches."""
    new = "http://b.example/"
    world.robots = {"a.example": f"Sitemap: {ROOT}map.xml", "b.example": f"Sitemap: {new}own.xml"}
    world.answers = {ROOT: [{"result": Result.REDIRECTED, "status": 301, "location": new}]}
    elsewhere = Sighting("http://c.example/")
    world.links = {
        ROOT + "map.xml": [Sighting(new + "hot", hints=Hints(changefreq="hourly")), elsewhere],
        new + "own.xml": [Sighting(new + "orphan")],
    }
    frontier = Frontier(Politeness(delay=0.0), store := MemoryStore())
    frontier.open(spec(sitemaps=None), world.now)
    for _ in range(cut):
        while isinstance(fetch := frontier.next(world.now), Wait):
            world.now = fetch.until
        outcome = world.answer(fetch)
        world.requests.append((world.now, fetch))
        frontier.finished(fetch, outcome, world.links.get(fetch.url, ()) if outcome.result is Result.OK else ())
        world.now += 0.01
    if cut:
        frontier = Frontier(Politeness(delay=0.0), store)
        frontier.restore(store.load(), world.now)
    world.run(frontier)
    capture = frontier.capture
    assert set(verdicts(store)) == {new, new + "hot", new + "orphan"}
    assert capture.counts.pages == 4, "with the seed"
    assert not any("no sitemap named" in note for note in capture.notes)


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


def test_the_limit_holds(world, impolite):
    world.links = {ROOT: [page(str(i)) for i in range(50)]}
    frontier = Frontier(impolite)
    capture = frontier.open(spec(limit=10), world.now)
    assert len(set(urls(world.run(frontier)))) == 10
    assert capture.left_out.reasons["over limit=10"] > 0


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


def test_a_lease_that_is_never_answered_is_queued_again(world, impolite):
    frontier = Frontier(impolite, lease_time=60.0)
    frontier.open(spec(), 0.0)
    lost = frontier.next(0.0)
    assert isinstance(lost, Fetch)
    wait = frontier.next(1.0)
    assert isinstance(wait, Wait)
    assert wait.until == 60.0
    again = frontier.next(61.0)
    assert isinstance(again, Fetch)
    assert (again.url, again.attempt) == (lost.url, 2)
    assert frontier.finished(lost, Outcome(Result.OK, 61.0, 62.0)) is None, "a late answer is ignored"
    frontier.finished(again, Outcome(Result.OK, 61.0, 62.0, digest="sha1:x"))
    while not isinstance(frontier.next(63.0), Done):
        pytest.fail("one page, one visit: the capture should be complete")
    assert frontier.capture.counts.captured == 1


def test_a_fetch_given_back_is_made_again_and_no_attempt_is_counted(world, impolite):
    store = MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(spec(), world.now)
    fetch = frontier.next(world.now)
    frontier.give_back(fetch, world.now)
    assert frontier.idle
    again = frontier.next(world.now)
    assert (again.page, again.attempt) == (fetch.page, 1)
    assert frontier.finished(fetch, world.answer(fetch)) is None, "it was given back"
    assert not store.load().visits


def test_what_a_full_disk_kept_from_being_written_is_written_later(world, impolite):
    class Full(MemoryStore):
        room = True

        def commit(self, batch):
            if not self.room:
                raise OSError(28, "No space left on device")
            super().commit(batch)

    store = Full()
    world.links = {ROOT: [page("1"), page("2")]}
    frontier = Frontier(impolite, store)
    frontier.open(spec(), world.now)
    fetch = frontier.next(world.now)
    store.room = False
    with pytest.raises(OSError, match="No space"):
        frontier.finished(fetch, world.answer(fetch), world.links[ROOT])
    store.room = True
    frontier.ledger.commit()
    state = store.load()
    assert [visit.page for visit in state.visits] == [fetch.page]
    assert [row.url for row in state.pages if row.kind is Kind.PAGE] == [ROOT, ROOT + "1", ROOT + "2"]


def test_seeds_out_of_scope_and_empty_sites_are_said(impolite):
    frontier = Frontier(impolite)
    with pytest.raises(UsageError, match="no URL"):
        frontier.open(spec(exclude=(".",)), 0.0)


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


def test_a_page_tried_again_after_all_others_leaves_none_unjudged(world, impolite):
    world.links = {ROOT: [page("flaky"), page("1"), page("2")]}
    world.answers = {ROOT + "flaky": [{"result": Result.FAILED, "status": 500}]}
    frontier = Frontier(impolite, store := MemoryStore())
    frontier.open(spec(), world.now)
    world.run(frontier)
    assert set(verdicts(store)) == {"", "flaky", "1", "2"}
    assert Verdict.UNKNOWN not in verdicts(store).values()


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    pages=st.integers(1, 30),
    concurrency=st.integers(1, 5),
    choices=st.lists(st.integers(0, 1000), min_size=200, max_size=200),
    strategy=st.sampled_from(["sharc-selective", "sharc-online", "bfs:revisits=fifo", "bfs:revisits=none"]),
)
def test_a_host_that_bears_several_requests_at_once(pages, concurrency, choices, strategy):
    """Whatever order they end in: never more at once, all visits before all revisits, every page judged."""
    frontier = Frontier(Politeness(delay=0.0, concurrency=concurrency, obey_robots=False))
    capture = frontier.open(spec(strategy=strategy), 0.0)
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
