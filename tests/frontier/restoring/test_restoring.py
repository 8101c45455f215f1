"""A capture that is cut off anywhere and goes on ends as one that was never cut off."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import product
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.restoring import Restorer
from sharc_crawler.model import EMBEDDED, Fetch, Kind, Outcome, Phase, Result, Sighting, Slot, Validators, Verdict, Wait
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.strategies.scout import Scout
from tests.frontier.cut_off import LINKS, ROOT, STRATEGIES, answer, crawl, results, run, run_answered


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_place_to_be_cut_off(strategy):
    whole = results(crawl(strategy, []))
    for cut in range(1, 40):
        again = results(crawl(strategy, [cut]))
        assert again.keys() == whole.keys(), f"cut after {cut}: something was lost"
        for url, (finished, verdict) in again.items():
            assert finished <= 2, f"cut after {cut}: {url} was repeated"
            if whole[url][1] in (Verdict.CHANGED, None):
                assert verdict == whole[url][1] or finished < 2, f"cut after {cut}: {url}"


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=settings.default.max_examples)
@given(strategy=st.sampled_from(STRATEGIES), cuts=st.lists(st.integers(1, 20), max_size=6))
def test_being_cut_off_again_and_again(strategy, cuts):
    assert results(crawl(strategy, cuts)).keys() == results(crawl(strategy, [])).keys()


def unmodified(fetch: Fetch, now: float) -> Outcome:
    """A server that sends validators, and 304 to those that have not changed."""
    if fetch.kind is Kind.ROBOTS:
        return Outcome(Result.GONE, now, now + 0.01, 404)
    if fetch.validators:
        return Outcome(Result.NOT_MODIFIED, now, now + 0.01, 304, validators=fetch.validators)
    return Outcome(Result.OK, now, now + 0.01, 200, f"sha1:{fetch.url}", validators=Validators(f'"{fetch.url}"'))


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("subsites", ["", "path"])
def test_the_sample_that_304s_rest_on_is_the_same_after_a_cut(monkeypatch, subsites):
    monkeypatch.setattr("tests.frontier.cut_off.answer", unmodified)
    links = {ROOT: [Sighting(f"{ROOT}{'a' if i % 2 else 'b'}/{i}") for i in range(100)]}
    audits = []
    for cut in ([], [60], [116], [125], [125, 40], [180]):
        (capture,) = crawl("bfs", cut, subsites, links).load().captures.values()
        audits.append(dict(capture.audit))
    beside = 3  # of the four visited last, which are asked in full, too, those that the sample does not have
    assert (audits[0]["claimed"], audits[0]["audited"], audits[0]["unaudited"]) == (89 - beside, 12, 0)
    assert audits == [audits[0]] * 6


def lying(fetch: Fetch, now: float) -> Outcome:
    """The same, but data has changed whenever it is asked for in full once more."""
    outcome = unmodified(fetch, now)
    if fetch.kind is Kind.DATA and fetch.slot is Slot.SECOND and outcome.result is Result.OK:
        return outcome._replace(digest="sha1:other")
    return outcome


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "verdicts"), [(unmodified, {Verdict.COHERENT}), (lying, {Verdict.UNKNOWN, Verdict.CHANGED})]
)
def test_304s_to_data_are_tested_as_those_to_pages(monkeypatch, answer, verdicts):
    monkeypatch.setattr("tests.frontier.cut_off.answer", answer)
    links = {ROOT: [Sighting(f"{ROOT}p/{i}") for i in range(30)]}
    links |= {f"{ROOT}p/{i}": [Sighting(f"{ROOT}api/{i}", Kind.DATA)] for i in range(30)}
    audits = []
    for cut in ([], [100], [110, 9]):
        state = crawl("bfs", cut, "", links).load()
        (capture,) = state.captures.values()
        audits.append(dict(capture.audit))
        of_data = {one.verdict for one in state.judgements if state.pages[one.page].kind is Kind.DATA}
        assert of_data == verdicts, cut
    assert audits == [audits[0]] * 3
    assert ("data" in audits[0], audits[0]["lies"] > 0) == ((True, False) if answer is unmodified else (False, True))


def test_pages_visited_last_are_downloaded_again_in_full_so_that_noise_is_seen(monkeypatch):
    """A slow crawl has no other pair of downloads that are close together: masks are learned of these."""
    monkeypatch.setattr("tests.frontier.cut_off.answer", unmodified)
    state = crawl("sharc-selective", [], "", {ROOT: [Sighting(f"{ROOT}{i}") for i in range(60)]}).load()
    made = [visit for visit in state.visits if state.pages[visit.page].kind is Kind.PAGE]
    firsts = [visit.page for visit in made if visit.slot is Slot.FIRST]
    again = {visit.page: visit.outcome.status for visit in made if visit.slot is Slot.SECOND}
    assert [again[page] for page in firsts[-4:]] == [200] * 4
    assert list(again.values()).count(304) > 40


def test_the_interruption_and_the_reference_instant_are_kept():
    store = crawl("bfs", [14])
    (capture,) = store.load().captures.values()
    assert len(capture.interruptions) == 1
    start, end = capture.interruptions[0]
    assert end - start >= 5.0
    firsts = [v.outcome.started for v in store.load().visits if v.slot is Slot.FIRST and v.finished]
    seconds = [v.outcome.started for v in store.load().visits if v.slot is Slot.SECOND]
    assert max(firsts) <= capture.reference <= min(seconds)


def test_a_capture_that_was_cut_off_before_its_first_download_was_interrupted_since_it_began():
    store = MemoryStore()
    Frontier(Politeness(delay=0.0), store).open(CaptureSpec("a.example", (ROOT,), strategy="bfs"), 1000.0)
    for now in (1060.0, 1090.0):
        frontier = Frontier(Politeness(delay=0.0), store)
        frontier.restore(store.load(), now)
        frontier.next(now)
    (capture,) = store.load().captures.values()
    assert capture.interruptions == ((1000.0, 1060.0), (1060.0, 1090.0)), "and each time is counted once"


@pytest.mark.parametrize(("asks", "until"), [(None, 1030.0), (100.0, 1120.01), (7200.0, 1020.01 + 3600.0)])
def test_a_host_is_not_asked_sooner_than_it_would_have_been(asks, until):
    """Its delay counts from the last request of the run before, its Retry-After from that answer."""
    store, politeness = MemoryStore(), Politeness(delay=10.0, longest_pause=3600.0)
    frontier = Frontier(politeness, store)
    frontier.open(CaptureSpec("a.example", (ROOT,), strategy="bfs"), 1000.0)
    for now in (1000.0, 1010.0, 1020.0):
        fetch = frontier.next(now)
        found = answer(fetch, now)._replace(retry_after=asks if now == 1020.0 else None)
        frontier.finished(fetch, found, LINKS.get(fetch.url, ()))
    frontier = Frontier(politeness, store)
    frontier.restore(store.load(), 1021.0)
    assert frontier.next(1021.0) == Wait(pytest.approx(until))


def test_a_host_that_wants_a_pause_has_it_though_another_answer_came_after_it():
    store, politeness = MemoryStore(), Politeness(delay=10.0, concurrency=2)
    frontier = Frontier(politeness, store)
    frontier.open(CaptureSpec("a.example", (ROOT,), strategy="bfs"), 1000.0)
    for now in (1000.0, 1010.0):
        fetch = frontier.next(now)
        frontier.finished(fetch, answer(fetch, now), LINKS.get(fetch.url, ()))
    busy, fine = (frontier.next(now) for now in (1020.0, 1030.0))
    frontier.finished(busy, answer(busy, 1031.0)._replace(result=Result.FAILED, status=429, retry_after=600.0))
    frontier.finished(fine, answer(fine, 1032.0))
    frontier = Frontier(politeness, store)
    frontier.restore(store.load(), 1040.0)
    assert frontier.next(1040.0) == Wait(pytest.approx(1631.01))


def test_a_host_that_was_slowed_down_by_refusals_is_as_slow_after_a_cut():
    store, politeness = MemoryStore(), Politeness(delay=1.0, obey_robots=False)
    before, after = (Frontier(politeness, store) for _ in range(2))
    before.open(CaptureSpec("a.example", (ROOT,), strategy="bfs"), now := 1000.0)
    for refused in (False, True, True, True, False):
        while isinstance(fetch := before.next(now), Wait):
            now = fetch.until
        made = answer(fetch, now)
        made = made._replace(result=Result.FAILED, status=429) if refused else made
        before.finished(fetch, made, () if refused else LINKS.get(fetch.url, ()))
    after.restore(store.load(), now)
    slowed = [frontier.ledger.hosts[0].slowed for frontier in (before, after)]
    assert slowed[0] == slowed[1] > 1.0


def test_a_page_whose_record_of_before_t_is_lost_is_downloaded_once_after_it():
    store = crawl("bfs", [14])
    saved = store.load()
    (row,) = saved.captures.values()
    lost = next(number for number, page in enumerate(saved.pages) if page.url == ROOT + "1")
    saved.captures[0] = row._replace(phase=Phase.REVISIT, ended=None)
    saved.visits[:] = [one for one in saved.visits if one.page != lost and one.outcome.started < row.reference]
    saved.judgements.clear()
    frontier = Frontier(Politeness(delay=0.0), MemoryStore())
    frontier.restore(saved, 2000.0)
    made = []

    def answered(fetch: Fetch, now: float) -> tuple[Outcome, list[Sighting]]:
        made.append((fetch.url, fetch.slot))
        return answer(fetch, now), LINKS.get(fetch.url, [])

    run_answered(frontier, 2000.0, 500, answered)
    assert frontier.done
    assert [slot for url, slot in made if url == ROOT + "1"] == [Slot.ONLY]


def test_what_is_asked_for_after_t_or_was_has_no_record_of_before():
    """Pages and what they embed alone, and none that is judged, or late."""
    for kind, state, started, reference in product(Kind, State, (4.0, 5.0, 6.0), (None, 5.0)):
        pages = SimpleNamespace(kinds=[kind], states=[state], started=[started], owner=lambda page: 7)
        mode = SimpleNamespace(reference_of=lambda part, found=reference: found if part == 3 else 9.0)
        restorer = SimpleNamespace(_ledger=SimpleNamespace(pages=pages), _members={7: 3})
        after = state == State.QUEUED or (state == State.VISITED and started > 5.0)
        lost = kind in (Kind.PAGE, *EMBEDDED) and reference is not None and after
        assert Restorer._after_reference(restorer, SimpleNamespace(mode=mode), 0) is lost


def test_revisits_made_before_a_cut_count_those_of_pages_alone():
    store = crawl("bfs", [])
    saved, made = store.load(), Counter()
    frontier = Frontier(Politeness(delay=0.0), MemoryStore())
    frontier.restore(saved, 2000.0)
    for visit in saved.visits:
        made[saved.pages[visit.page].kind] += visit.finished and visit.slot is Slot.SECOND
    assert made[Kind.RESOURCE] > 0
    assert frontier.capture.counts.revisits == made[Kind.PAGE] > 0


def test_what_visits_have_shown_is_known_again():
    store = MemoryStore()
    whole, again = (Frontier(Politeness(delay=0.0), store) for _ in range(2))
    whole.open(CaptureSpec("a.example", (ROOT,), strategy="bfs"), 1000.0)
    run_answered(whole, 1000.0, 8, lambda fetch, now: (answer(fetch, now), LINKS.get(fetch.url, [])))
    again.restore(store.load(), 1050.0)
    latest, apex, contents = (
        [getattr(one.capture.mode, name) for one in (whole, again)] for name in ("_latest", "apex", "_contents")
    )
    assert latest[0] == latest[1] > 1000.0
    assert apex[0] == apex[1]
    assert list(contents[0]) == list(contents[1]) != []


def test_what_was_asked_for_before_a_cut_counts_among_all_polls():
    """What was taken from an archive was not."""
    spent = []
    visits = [SimpleNamespace(attempt=made, outcome=SimpleNamespace(started=9.0 + made)) for made in (0, 1, 2)]
    ledger = SimpleNamespace(
        capture=SimpleNamespace(budget=SimpleNamespace(restore=lambda *given: None)),
        pages=None,
        shared=SimpleNamespace(polls=SimpleNamespace(spend=spent.append)),
    )
    Restorer._spent(SimpleNamespace(_ledger=ledger), visits)
    assert spent == [10.0, 11.0]


def test_another_strategy_may_go_on():
    store = MemoryStore()
    frontier = Frontier(Politeness(delay=0.0), store)
    frontier.open(CaptureSpec("a.example", (ROOT,), strategy="bfs"), 1000.0)
    now, _ = run(frontier, 1000.0, 6)
    saved = store.load()
    saved.captures[0] = saved.captures[0]._replace(spec=CaptureSpec("a.example", (ROOT,), strategy="sharc-selective"))
    frontier = Frontier(Politeness(delay=0.0), store)
    frontier.restore(saved, now)
    run(frontier, now, 500)
    assert frontier.done
    assert results(store).keys() == results(crawl("bfs", [])).keys()


@pytest.mark.parametrize("cut", [8, 11])
def test_links_are_told_again(monkeypatch, cut):
    """To a strategy that was made again in the midst of the visits: all that documents linked to before."""
    told: list[dict[int, int]] = []

    class Counting(Scout):
        def __init__(self) -> None:
            super().__init__()
            told.append({})

        def linked(self, pages) -> None:
            for page in set(pages):
                told[-1][page] = told[-1].get(page, 0) + 1

    monkeypatch.setattr("sharc_crawler.strategies.scout.Scout", Counting)
    crawl("sharc-selective", [], size=30)
    whole = max(told, key=len)
    told.clear()
    crawl("sharc-selective", [cut], size=30)
    assert len(whole) > 5
    assert max(told, key=len) == whole
    assert sum(bool(links) for links in told) == 2, "it was cut off in the midst of the visits"


def calls_to_go_on(pages: int) -> int:
    """Functions of Python that are called to go on where so many pages were visited."""
    store = crawl("bfs:revisits=none", [], links={ROOT: [Sighting(f"{ROOT}p/{page}") for page in range(pages)]})
    saved = store.load()
    saved.captures[0] = saved.captures[0]._replace(phase=Phase.VISIT, ended=None, reference=None)
    called = 0

    def count(_: object, event: str, __: object) -> None:
        nonlocal called
        called += event == "call"

    frontier = Frontier(Politeness(delay=0.0))
    sys.setprofile(count)
    try:
        frontier.restore(saved, 1e6)
    finally:
        sys.setprofile(None)
    return called


def test_what_going_on_costs_for_each_page():
    """Pages are put back in columns; what is left is what a visit is told to."""
    assert (calls_to_go_on(400) - calls_to_go_on(100)) / 300 < 22.5
