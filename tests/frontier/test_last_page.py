"""The page visited last may bring resources that no other page named: they are visited before T, and judged."""

from __future__ import annotations

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.opening import Parts
from sharc_crawler.model import Kind, Phase, RateEstimate, Result, Sighting, Slot, Verdict, Wait
from sharc_crawler.report.load import capture_facts
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.make import make_strategy
from tests.frontier.cut_off import ROOT, crawl, results

TWICE = ("sharc-selective", "sharc-optimal", "bfs", "dfs:revisits=fifo")
COHERENT, CHANGED, UNKNOWN = Verdict.COHERENT, Verdict.CHANGED, Verdict.UNKNOWN


def resource(name: str) -> Sighting:
    return Sighting(name if "://" in name else ROOT + name, Kind.RESOURCE)


ONE_PAGE = {
    ROOT: [resource("logo.png"), resource("style.css"), resource("script.js")],
    ROOT + "style.css": [resource("bg.png")],
}
EACH_ITS_IMAGE = {
    ROOT: [resource("0.png"), *(Sighting(f"{ROOT}{i}") for i in range(1, 5))],
    **{f"{ROOT}{i}": [resource(f"{i}.png")] for i in range(1, 5)},
}


def captured(world, links, strategy="sharc-selective", politeness=None, parts=None, **spec):
    """Verdict and number of requests by URL, and the capture."""
    world.links = links
    store = MemoryStore()
    frontier = Frontier(politeness or Politeness(delay=1.0, back_off=1.0), store, parts)
    capture = frontier.open(CaptureSpec("a.example", (ROOT,), strategy, sitemaps=(), **spec), world.now)
    world.run(frontier)
    made = results(store)
    return {url.removeprefix(ROOT): verdict for url, (_, verdict) in made.items()}, capture, made


def check_reference(world, capture):
    """Every first download is before T, every second one after it."""
    pages = [(now, fetch) for now, fetch in world.requests if fetch.kind in (Kind.PAGE, Kind.RESOURCE)]
    firsts = {fetch.url: now for now, fetch in reversed(pages)}
    seconds = {fetch.url: now for now, fetch in pages if now > firsts[fetch.url]}
    assert firsts.keys() == seconds.keys()
    assert max(firsts.values()) <= capture.reference <= min(seconds.values())


@pytest.mark.parametrize("strategy", TWICE)
@pytest.mark.parametrize("links", [ONE_PAGE, EACH_ITS_IMAGE], ids=["one page", "five pages"])
def test_all_is_visited_before_t_and_revisited_after_it(world, strategy, links):
    verdicts, capture, made = captured(world, links, strategy)
    assert len(made) == len({one.url for found in links.values() for one in found} | {ROOT})
    assert set(verdicts.values()) == {COHERENT}
    assert {finished for finished, _ in made.values()} == {2}
    check_reference(world, capture)


@pytest.mark.parametrize("strategy", TWICE)
def test_t_waits_for_what_the_only_page_embeds_on_another_host(world, strategy):
    far = "http://cdn.example/"
    links = {ROOT: [resource("logo.png"), resource(far + "s.css")], far + "s.css": [resource(far + "bg.png")]}
    world.answers[far + "s.css"] = [{"status": 503, "result": Result.FAILED}]  # and comes when it is asked again
    verdicts, capture, _ = captured(world, links, strategy)
    assert verdicts == dict.fromkeys(("", "logo.png", far + "s.css", far + "bg.png"), COHERENT)
    check_reference(world, capture)


@pytest.mark.parametrize("changing", ["", "logo.png", "bg.png"])
def test_what_changes_in_between_has_changed(world, changing):
    world.answers[ROOT + changing] = [{"digest": "sha1:1"}, {"digest": "sha1:2"}]
    verdicts, _, _ = captured(world, ONE_PAGE)
    assert {url for url, verdict in verdicts.items() if verdict is CHANGED} == {changing}
    assert sum(verdict is COHERENT for verdict in verdicts.values()) == 4


def test_resources_that_are_known_already_leave_the_last_page_its_only_download(world):
    shared = {url: [resource("0.png"), *found[1:]] for url, found in EACH_ITS_IMAGE.items()}
    verdicts, capture, made = captured(world, shared)
    assert set(verdicts.values()) == {COHERENT}
    (last,) = [url for url, (finished, _) in made.items() if finished == 1]
    assert capture.reference == next(now for now, fetch in world.requests if fetch.url == last)


@pytest.mark.parametrize("strategy", ["bfs:revisits=none", "sharc-offline", "sharc-online"])
def test_single_visits_stay_single(world, strategy):
    _, _, made = captured(world, ONE_PAGE, strategy)
    assert {finished for finished, _ in made.values()} == {1}


def test_a_page_on_the_servers_word_keeps_its_only_visit():
    strategy = make_strategy("sharc-attested", Setting())
    strategy.add(Candidates.of([0], [1e-6], attested=[True]))
    visit = strategy.next(0.0)
    assert visit.slot is Slot.ONLY
    assert not strategy.revisit_after_all(visit.page)


def test_a_strategy_that_does_not_agree_keeps_its_last_page(world):
    def theirs(spec, setting):
        strategy = make_strategy(spec.strategy, setting)
        strategy.revisit_after_all = lambda page: False
        return strategy

    verdicts, capture, _ = captured(world, ONE_PAGE, parts=Parts(strategy=theirs))
    assert verdicts.pop("") is COHERENT
    assert set(verdicts.values()) == {UNKNOWN}
    assert capture.reference == next(now for now, fetch in world.requests if fetch.url == ROOT)


def test_a_page_larger_than_the_budget_is_its_own_proof(world):
    world.answers[ROOT] = [{"length": 5000}] * 2
    verdicts, _, made = captured(world, ONE_PAGE, max_bytes=4000)
    assert (made[ROOT], verdicts["logo.png"]) == ((1, COHERENT), None)


def test_attempts_of_its_visit_are_counted_whatever_their_slot(world, impolite):
    world.answers[ROOT] = [{"status": 503, "result": Result.FAILED}]
    world.links = ONE_PAGE
    store = MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(CaptureSpec("a.example", (ROOT,), "sharc-selective", sitemaps=()), world.now)
    world.run(frontier)
    state = store.load()
    assert [visit.slot for visit in state.visits if visit.page == 0] == [Slot.ONLY, Slot.FIRST, Slot.SECOND]
    (capture,) = capture_facts(store)
    facts = next(iter(capture.pages))
    assert (facts.visit.attempts, facts.revisit.attempts) == (2, 1)


@pytest.mark.parametrize("most", range(2, 12))
def test_the_budget_leaves_room_for_the_revisits(world, most):
    verdicts, _, _ = captured(world, ONE_PAGE, max_requests=most)
    assert len(world.requests) <= most
    assert set(verdicts.values()) <= {COHERENT, None}


class _Hot:
    """Nothing can be captured together."""

    def rates(self, sightings, now):
        return [RateEstimate(20.0, "known") for _ in sightings]

    def swings(self):
        return None

    def weight(self, sighting):
        return 1.0


def test_each_part_of_a_site_has_a_last_page(world):
    names = [f"{folder}/{i}" for folder in "abc" for i in range(4)]
    links = {f"{ROOT}{name}": [resource(f"{name}.png")] for name in names}
    links[ROOT] = [Sighting(url) for url in links]
    verdicts, capture, _ = captured(world, links, parts=Parts(rates=lambda _: _Hot()), subsites="path")
    assert len(capture.mode.rows) > 1
    assert len(verdicts) == 25
    assert set(verdicts.values()) == {COHERENT}


@pytest.mark.parametrize("strategy", TWICE)
def test_where_callbacks_name_pages_t_waits_for_a_form_that_is_under_way(world, strategy):
    frontier = Frontier(Politeness(delay=0.0, obey_robots=False, concurrency=8))
    spec = CaptureSpec("a.example", (ROOT,), strategy, sitemaps=(), discover=False, resources=True)
    frontier.open(spec, world.now, seeded=False)
    frontier.schedule([resource("login"), *(Sighting(f"{ROOT}{page}") for page in "ab")], world.now)
    form, *pages = (frontier.next(world.now) for _ in range(3))
    assert form.kind is Kind.RESOURCE
    for page in pages:
        frontier.finished(page, world.answer(page), ())
    assert isinstance(frontier.next(world.now), Wait), "its callback may name a page"
    assert frontier.capture.reference is None
    frontier.schedule([Sighting(f"{ROOT}behind")], world.now)
    frontier.finished(form, world.answer(form), ())
    world.now += 1.0
    assert world.run(frontier)[0].url == f"{ROOT}behind"
    twice = [fetch.url for _, fetch in world.requests if fetch.slot is Slot.SECOND]
    assert {ROOT + "a", ROOT + "b"} <= {*twice}
    assert world.requests[0][0] <= frontier.capture.reference


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("strategy", TWICE)
@pytest.mark.parametrize("links", [ONE_PAGE, EACH_ITS_IMAGE], ids=["one page", "five pages"])
def test_it_is_decided_once_wherever_the_crawl_is_cut_off(strategy, links):
    whole = results(crawl(strategy, [], links=links))
    for cut in range(1, 28):
        assert results(crawl(strategy, [cut], links=links)) == whole, f"cut after {cut}"


@pytest.mark.parametrize("strategy", TWICE)
def test_a_page_may_follow_from_what_is_under_way_beside_the_only_one(world, strategy):
    """A log-in's answer leads on: until then the host is asked, more than once, for more than there is."""
    frontier = Frontier(Politeness(delay=0.0, concurrency=8, obey_robots=False))
    spec = CaptureSpec("a.example", (ROOT,), strategy, sitemaps=(), discover=False, resources=True)
    capture = frontier.open(spec, world.now, seeded=False)
    frontier.schedule([Sighting(ROOT)], world.now)
    page = frontier.next(world.now)
    frontier.schedule([resource("session")], world.now)  # its callback asks for it
    log_in = frontier.next(world.now)
    frontier.finished(page, world.answer(page))
    assert [type(frontier.next(world.now)) for _ in range(3)] == [Wait] * 3
    frontier.schedule([Sighting(f"{ROOT}members")], world.now)
    frontier.finished(log_in, world.answer(log_in))
    world.run(frontier)
    assert capture.phase is Phase.DONE
    assert capture.counts.visits == 2
    assert capture.counts.captured == 2


@pytest.mark.parametrize("strategy", TWICE)
def test_t_is_no_download_after_whose_start_another_page_was_visited(world, strategy):
    """Two forms are under way: the page that one names is slow, that of the other is visited meanwhile."""
    store = MemoryStore()
    frontier = Frontier(Politeness(delay=0.0, obey_robots=False, concurrency=8), store)
    spec = CaptureSpec("a.example", (ROOT,), strategy, sitemaps=(), discover=False, resources=True)
    capture = frontier.open(spec, world.now, seeded=False)
    frontier.schedule([resource("one"), resource("two"), *(Sighting(f"{ROOT}{page}") for page in "ab")], world.now)
    one, two, *pages = (frontier.next(world.now) for _ in range(4))
    for page in pages:
        frontier.finished(page, world.answer(page))
    frontier.schedule([Sighting(f"{ROOT}slow")], world.now)
    frontier.finished(one, world.answer(one))
    slow = frontier.next(world.now)
    outcome = world.answer(slow)
    world.now += 5.0
    frontier.schedule([Sighting(f"{ROOT}late")], world.now)
    frontier.finished(two, world.answer(two))
    late, visited_late = frontier.next(world.now), world.now
    frontier.finished(late, world.answer(late))
    frontier.finished(slow, outcome)
    world.run(frontier)
    assert (slow.url, late.url) == (f"{ROOT}slow", f"{ROOT}late")
    assert capture.reference >= visited_late
    verdicts = {url.removeprefix(ROOT): verdict for url, (_, verdict) in results(store).items()}
    assert {verdicts[name] for name in ("a", "b", "late", "slow")} == {COHERENT}


@pytest.mark.parametrize("strategy", TWICE)
def test_an_answer_that_takes_long_is_not_t_itself(world, strategy):
    """It shows the page as it was some time after it was asked for: it is downloaded once more, as the others are."""
    links = {ROOT: [Sighting(f"{ROOT}{i}") for i in range(1, 5)]}
    quick, answer = captured(world, links, strategy), world.answer
    world.requests.clear()
    world.answer = lambda fetch: answer(fetch)._replace(ended=world.now + 25.0)
    verdicts, capture, _ = captured(world, links, strategy)
    assert verdicts == quick[0] == dict.fromkeys(("", "1", "2", "3", "4"), COHERENT)
    check_reference(world, capture)
