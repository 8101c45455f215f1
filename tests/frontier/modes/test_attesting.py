"""Captures on the server's word, against a site whose every change is known: honest, lying, cut off anywhere."""

from __future__ import annotations

import math
import random
from collections import Counter
from concurrent.futures import Future
from dataclasses import dataclass, field
from email.utils import formatdate

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sharc_crawler.evidence.audit import Stratum, bound
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.parts import Parts
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.model import (
    Done,
    Fetch,
    Hints,
    Kind,
    Outcome,
    RateEstimate,
    Result,
    Sighting,
    Slot,
    Validators,
    Verdict,
)
from sharc_crawler.rates.chain import Chain
from sharc_crawler.rates.constant import ConstantRates
from sharc_crawler.report.load import capture_facts
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.storage.sqlite import SqliteStore
from tests.frontier.cut_off import run_answered

ROOT = "http://a.example/"
MAP = ROOT + "sitemap.xml"
START = 1_000_000.0
STEP = 5.0
TOOK = 0.2
SKEW = 3000.0  # the server's clock is ahead of ours


@dataclass
class Site:
    """Pages that change at known instants; of some, the lastmod stays what it was before the capture."""

    seed: int = 0
    pages: int = 30
    rate: float = 0.0
    liars: str = ""  # the folder whose lastmods lie
    precision: float = 1.0
    changes: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rng = random.Random(self.seed)
        for number in range(self.pages):
            url = f"{ROOT}{'ab'[number % 2]}/{number}.html"
            times = [START - rng.uniform(500, 100_000)]
            while self.rate and times[-1] < START + 10_000:
                times.append(max(times[-1], START - 400.0) + rng.expovariate(self.rate * rng.choice([0.3, 1, 3])))
            self.changes[url] = times

    def last(self, url: str, now: float, honest: bool = False) -> float:
        at = START - 450.0 if self.liars and url.startswith(ROOT + self.liars) and not honest else now
        return max(t for t in self.changes[url] if t <= max(at, self.changes[url][0]))

    def still(self, url: str, one: float, other: float) -> bool:
        return not any(min(one, other) < t <= max(one, other) for t in self.changes[url])

    def sitemap(self, now: float) -> list[Sighting]:
        said = {url: (self.last(url, now) + SKEW) // self.precision * self.precision for url in self.changes}
        return [Sighting(url, via=MAP, hints=Hints(lastmod, self.precision)) for url, lastmod in said.items()]

    def answer(self, fetch: Fetch, now: float) -> tuple[Outcome, list[Sighting]]:
        made = now + TOOK / 2
        clock = {"started": now, "ended": now + TOOK, "date": (made + SKEW) // 1}
        if fetch.kind is Kind.ROBOTS:
            return Outcome(Result.OK, status=200, robots=f"Sitemap: {MAP}", **clock), []
        if fetch.kind is Kind.SITEMAP:
            return Outcome(Result.OK, status=200, **clock), self.sitemap(made)
        if fetch.url == ROOT:
            return Outcome(Result.OK, status=200, digest="sha1:root", **clock), []
        digest = f"sha1:{self.last(fetch.url, made, honest=True)}"
        return Outcome(Result.OK, status=200, digest=digest, **clock), []


def capture(
    site: Site,
    visits: int = 1,
    audit: float = 0.1,
    cuts: tuple[int, ...] = (),
    store=None,
    rate: float = 0.0,
    hints: float = 0.1,
    **parts,
):
    """Crawl; after so many steps each time, cut off, half of the times with a fetch in flight, and gone on."""
    store = store or MemoryStore()
    politeness = Politeness(delay=STEP)
    parts = Parts(**({"rates": lambda _: Chain([ConstantRates(rate)])} if rate else {}), **parts)
    frontier = Frontier(politeness, store, parts)
    frontier.open(
        CaptureSpec("a", (ROOT,), f"sharc-attested:visits={visits}", audit=audit, lag=0.0, hints=hints), START
    )
    now = START
    for steps in (*cuts, 10_000):
        for made in range(steps):
            decision = frontier.next(now)
            if isinstance(decision, Done):
                return store.load()
            if isinstance(decision, Fetch):
                if made == steps - 1:
                    break
                frontier.finished(decision, *site.answer(decision, now))
            else:
                assert decision.until > now, "the frontier would spin"
                now = decision.until
        now += 1.0
        frontier = Frontier(politeness, store, parts)
        frontier.restore(store.load(), now)
    raise AssertionError("not done")


def check(site: Site, state, honest: bool = True) -> Counter:
    """No false claim of an honest site; the claims by verdict, evidence and truth."""
    (row,) = state.captures.values()
    T = row.reference
    looks = {}
    for visit in state.visits:
        if visit.finished and visit.outcome.result is Result.OK:
            looks.setdefault(visit.page, []).append(visit.outcome.started + TOOK / 2)
    found = Counter()
    for judgement in state.judgements:
        url = state.pages[judgement.page].url
        if url not in site.changes:
            continue
        true = any(site.still(url, look, T) for look in looks[judgement.page])
        found[judgement.verdict.value, judgement.evidence.value, true] += 1
        if judgement.verdict is Verdict.COHERENT and (honest or judgement.evidence is Evidence.BYTES):
            assert true, f"{url} {judgement}"
    return found


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(0, 10_000),
    st.sampled_from([0.0, 1e-3, 1e-2]),
    st.sampled_from([1, 2]),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.lists(st.integers(1, 60), max_size=3),
)
def test_no_page_of_an_honest_site_is_wrongly_claimed(seed, rate, visits, audit, cuts):
    site = Site(seed, rate=rate)
    state = capture(site, visits, audit, tuple(cuts))
    found = check(site, state)
    assert sum(found.values()) == site.pages
    (row,) = state.captures.values()
    assert sum(one["caught"] for one in row.audit["strata"]) == 0, "an honest site is not called a liar"
    if rate == 0:
        assert set(found) <= {("coherent", "attested", True), ("coherent", "bytes", True), ("unknown", "none", True)}
        assert cuts or found["unknown", "none", True] == 0


def test_t_is_the_start_of_the_sitemaps_download_after_all_visits():
    site = Site(5, rate=1e-3)
    state = capture(site)
    (row,) = state.captures.values()
    fetched = [(v.outcome.started, state.pages[v.page].kind, v.slot) for v in state.visits if v.finished]
    maps = [time for time, kind, _ in fetched if kind is Kind.SITEMAP]
    assert len(maps) == 4, "at the start, at T, after what was downloaded again, at the end"
    assert row.reference == maps[1]
    pages = [time for time, kind, slot in fetched if kind is Kind.PAGE]
    once = [time for time, kind, slot in fetched if kind is Kind.PAGE and slot is Slot.ONLY]
    assert len(once) >= site.pages - 3, "hardly any page is of this very moment"
    visits = [
        v for v in state.visits if v.finished and state.pages[v.page].kind is Kind.PAGE and v.slot is not Slot.SECOND
    ]
    assert all(visit.outcome.ended <= row.reference for visit in visits)
    assert maps[-1] == max(time for time, *_ in fetched) > max(pages), "the last thing that is done"


@pytest.mark.slow
def test_sitemaps_are_read_on_the_way_and_pages_that_have_changed_by_then_come_last_cut_off_or_not():
    site = Site(5, pages=140, rate=2e-3)
    for url in list(site.changes)[::2]:
        del site.changes[url][1:]  # these never change
    for cuts in ((), (70,)):
        state = capture(site, cuts=cuts, rate=2e-3)
        (row,) = state.captures.values()
        done = sorted((v.outcome.started, v.page) for v in state.visits if v.finished)
        maps = [time for time, page in done if state.pages[page].kind is Kind.SITEMAP and time <= row.reference]
        assert len(maps) == 3, "at the start, after two fifths of the visits, at T: the last fifth is not worth another"
        assert row.reference == maps[-1]
        assert max(time for time, _ in done) > row.reference
        check(site, state)
    state = capture(site, rate=2e-3, hints=0.0)
    (row,) = state.captures.values()
    maps = [v.outcome.started for v in state.visits if state.pages[v.page].kind is Kind.SITEMAP]
    assert sum(time <= row.reference for time in maps) == 2, "without hints at the start and at T alone"


@pytest.mark.slow
def test_rates_follow_what_sitemaps_say_on_the_way_and_at_t():
    asked = []

    class Ages:
        def rates(self, sightings, now):
            asked.append((now, {one.url: one.hints and one.hints.lastmod for one in sightings}))
            ages = [math.inf if one.hints is None else 1e3 + now + SKEW - one.hints.lastmod for one in sightings]
            return [RateEstimate(1e-6 + 1 / age, "age") for age in ages]

    site = Site(5, pages=200, rate=2e-3)
    state = capture(site, audit=0.0, rates=lambda _: Chain([Ages()]))
    (row,) = state.captures.values()
    visited = {}
    for visit in sorted(state.visits, key=lambda one: one.outcome.started if one.finished else math.inf):
        visited.setdefault(state.pages[visit.page].url, visit.outcome.started)
    last = [(now, told) for now, told in asked if now < row.reference][-1]
    assert len(last[1]) == pytest.approx(0.6 * site.pages, abs=2), "of those that wait"
    order = sorted(last[1], key=visited.get)
    ages = [last[0] + SKEW - last[1][url] for url in order]
    assert ages == sorted(ages, reverse=True), "what has changed of late comes last"
    again, told = asked[-1]
    assert again == row.reference
    assert told, "what is downloaded again is rated by what the sitemaps say at T"
    assert set(told) <= set(site.changes)


@pytest.mark.slow
def test_what_changed_before_t_is_downloaded_again_right_after_it_the_hottest_first_and_cut_off_or_not():
    site = Site(7, pages=60, rate=5e-3)
    for cuts in ((), (45,), (50,)):
        state = capture(site, audit=0.0, cuts=cuts, rate=1e-3)
        (row,) = state.captures.values()
        visits = sorted((v.outcome.started, v.slot, v.page) for v in state.visits if v.finished)
        pages = [one for one in visits if state.pages[one[2]].url in site.changes]
        lost = {
            page
            for time, _, page in pages
            if time < row.reference and not site.still(state.pages[page].url, time, row.reference)
        }
        again = [page for time, slot, page in pages if slot is Slot.SECOND and page in lost]
        assert len(lost) > 5
        assert len(again) == len(set(again)) > 0.7 * len(lost), "but for those that change too often"
        after = [page for time, _, page in pages if time > row.reference]
        assert cuts or after[: len(again)] == again
        won = {one.page for one in state.judgements if one.verdict is Verdict.COHERENT}.intersection(again)
        assert len(won) > len(again) / 2
        check(site, state)


class Halves(Site):
    """Each folder has a sitemap of its own."""

    def answer(self, fetch: Fetch, now: float) -> tuple[Outcome, list[Sighting]]:
        outcome, links = super().answer(fetch, now)
        if fetch.kind is Kind.ROBOTS:
            return outcome._replace(robots=f"Sitemap: {ROOT}a.xml\nSitemap: {ROOT}b.xml"), []
        return outcome, [one for one in links if fetch.kind is not Kind.SITEMAP or one.url[len(ROOT)] == fetch.url[-5]]


@pytest.mark.slow
def test_cut_off_between_two_sitemaps_at_t_the_other_one_is_read_before_all_else():
    site, store = Halves(3, pages=60, rate=1e-3), MemoryStore()
    asked = [state.pages[visit.page].url for state in (capture(site),) for visit in state.visits if visit.finished]
    second = [number for number, url in enumerate(asked, 1) if url.endswith(".xml")][3]
    frontier = Frontier(Politeness(delay=STEP), store)
    frontier.open(CaptureSpec("a", (ROOT,), "sharc-attested", audit=0.1, lag=0.0), START)
    now = run_answered(frontier, START, second, site.answer)
    went_on = Frontier(Politeness(delay=STEP), store)
    went_on.restore(store.load(), now)
    after: list[str] = []

    def answered(fetch: Fetch, now: float) -> tuple[Outcome, list[Sighting]]:
        after.append(fetch.url)
        return site.answer(fetch, now)

    run_answered(went_on, now, 3, answered)
    assert after[0] == asked[second - 1]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("cut", range(2, 48, 3))
def test_t_never_moves(cut, tmp_path):
    site = Site(2, rate=1e-3)
    store = SqliteStore(tmp_path)
    state = capture(site, cuts=(cut,), store=store)
    check(site, state)
    (row,) = state.captures.values()
    before = [v for v in state.visits if v.finished and state.pages[v.page].kind is Kind.PAGE]
    last = max(v.outcome.ended for v in before if v.outcome.started < row.reference)
    assert last <= row.reference
    assert {word.read for word in state.lastmods} >= {row.reference}
    finished = Counter(v.page for v in before)
    assert max(finished.values()) <= 2
    store.close()


def test_liars_are_found_where_they_change_and_only_their_class_loses_its_claims():
    site = Site(3, pages=60, rate=2e-3, liars="a/")
    state = capture(site, audit=0.5)
    found = check(site, state, honest=False)
    (row,) = state.captures.values()
    strata = {one["label"]: one for one in row.audit["strata"]}
    assert strata["/a/*.html"]["caught"] > 0 == strata["/a/*.html"]["claimed"]
    assert strata["/b/*.html"]["caught"] == 0 < strata["/b/*.html"]["claimed"]
    claimed = {
        state.pages[j.page].url
        for j in state.judgements
        if j.evidence is Evidence.ATTESTED and j.verdict is Verdict.COHERENT
    }
    assert claimed
    assert all("/b/" in url for url in claimed)
    assert found["coherent", "attested", False] == 0
    assert row.audit["lies"] <= row.audit["changed"] <= row.audit["audited"]


@pytest.mark.slow
def test_drawn_pages_are_visited_first_and_one_lie_is_enough():
    site = Site(3, pages=80, rate=0.05, liars="a/")
    for times in list(site.changes.values())[1::2]:
        del times[1:]  # the others never change
    state = capture(site, audit=0.01)
    (row,) = state.captures.values()
    visits = sorted((v for v in state.visits if v.finished), key=lambda v: v.outcome.started)
    urls = [(v.slot, state.pages[v.page].url, v.outcome.started) for v in visits]
    audited = [url for slot, url, at in urls if slot is Slot.SECOND and at > row.reference and url in site.changes]
    kinds = Counter(url.removeprefix(ROOT)[0] for url in audited)
    assert kinds == {"a": 1, "b": 5}
    first = [url for slot, url, _ in urls if slot is Slot.ONLY and url in site.changes][:10]
    assert set(audited) <= set(first)
    assert check(site, state, honest=False)["coherent", "attested", False] == 0


def test_without_an_audit_liars_are_believed_and_the_bound_says_so():
    site = Site(3, pages=60, rate=2e-3, liars="a/")
    state = capture(site, audit=0.0)
    found = check(site, state, honest=False)
    assert found["coherent", "attested", False] > 0
    (row,) = state.captures.values()
    assert row.audit["audited"] == 0
    assert row.audit["bound"] == row.audit["claimed"]


def test_a_bare_date_of_today_attests_nothing_and_its_page_is_compared_by_bytes():
    day = 86_400.0
    site = Site(4, precision=day)
    state = capture(site)
    check(site, state)
    words = {word.page: word.lastmod + word.precision for word in state.lastmods}
    for judgement in state.judgements:
        if judgement.page in words:
            today = words[judgement.page] >= START + SKEW
            assert (judgement.evidence is Evidence.BYTES) or not today
            assert judgement.verdict is Verdict.COHERENT


def test_a_site_whose_lastmods_are_all_equal_is_visited_twice():
    site = Site(5)
    for times in site.changes.values():
        times[:] = [START - 1000.0]
    state = capture(site)
    found = check(site, state)
    assert set(found) == {("coherent", "bytes", True)}
    (row,) = state.captures.values()
    assert [one["reason"] for one in row.audit["classes"]] == ["nearly all values are equal"] * 2
    store = MemoryStore()
    store.commit(state)
    notes = capture_facts(store)[0].notes
    assert [note.partition(" (")[0] for note in notes[:2]] == [
        f"lastmods of {one['label']} not believed" for one in row.audit["classes"]
    ]
    assert all("nearly all values are equal. Their pages are visited twice" in note for note in notes[:2])


@pytest.mark.parametrize(("pages", "audited"), [(30, 4), (80, 10)])
def test_an_audit_is_of_five_pages_of_each_kind_or_of_an_eighth_of_small_ones(pages, audited):
    (row,) = capture(Site(5, pages=pages), audit=0.0001).captures.values()
    assert row.audit["audited"] == audited


class WithHeader(Site):
    """Pages say themselves when they changed; the sitemap stands still."""

    def answer(self, fetch, now):
        outcome, links = super().answer(fetch, now)
        if fetch.url in self.changes:
            last = formatdate(self.last(fetch.url, now + TOOK / 2, honest=True) + SKEW, usegmt=True)
            outcome = outcome._replace(validators=Validators(None, last))
        return outcome, links


class Illustrated(Site):
    """Every page embeds a picture."""

    def answer(self, fetch: Fetch, now: float) -> tuple[Outcome, list[Sighting]]:
        if fetch.kind is not Kind.RESOURCE:
            outcome, links = super().answer(fetch, now)
            return outcome, [
                *links,
                Sighting(fetch.url + ".png", Kind.RESOURCE),
            ] if fetch.url in self.changes else links
        made = now + TOOK / 2
        return Outcome(Result.OK, now, now + TOOK, status=200, digest="sha1:png", date=(made + SKEW) // 1), []


def test_what_pages_embed_is_downloaded_twice_around_t():
    site = Illustrated(pages=12)
    state = capture(site)
    (row,) = state.captures.values()
    pictures = {page.page for page in state.pages if page.kind is Kind.RESOURCE}
    assert len(pictures) == site.pages
    before = Counter(v.page for v in state.visits if v.page in pictures and v.outcome.ended <= row.reference)
    after = Counter(v.page for v in state.visits if v.page in pictures and v.outcome.started >= row.reference)
    assert before == after == dict.fromkeys(pictures, 1)
    assert {one.verdict for one in state.judgements if one.page in pictures} == {Verdict.COHERENT}


@pytest.mark.slow
def test_a_header_that_belies_the_sitemap_is_a_lie():
    site = WithHeader(6, pages=60, rate=2e-3, liars="a/")
    state = capture(site, audit=0.0)
    (row,) = state.captures.values()
    caught = {one["label"]: one["caught"] for one in row.audit["strata"]}
    assert caught["/a/*.html"] > 0
    assert caught["/b/*.html"] == 0
    assert check(site, state, honest=False)["coherent", "attested", False] == 0


class Unmodified(Site):
    """Lastmods that say nothing, so that pages are visited twice; to each revisit of a folder 304, whatever changed."""

    def sitemap(self, now):
        return [one._replace(hints=Hints(START - 1000.0, 1.0)) for one in super().sitemap(now)]

    def answer(self, fetch, now):
        outcome, links = super().answer(fetch, now)
        if fetch.url in self.changes:
            lies = fetch.url.startswith(f"{ROOT}a/")
            told = Validators('"1"' if lies else f'"{self.last(fetch.url, now + TOOK / 2)}"')
            same = fetch.validators == told
            state = {"result": Result.NOT_MODIFIED, "status": 304, "digest": None} if same else {}
            outcome = outcome._replace(validators=told, **state)
        return outcome, links


class Later(Future):
    """Work of a large site, done by others: it is over when it has been asked for twice."""

    def __init__(self, work) -> None:
        super().__init__()
        self.work, self.looks = work, 0

    def done(self) -> bool:
        self.looks += 1
        if self.looks == 2:
            self.set_result(self.work())
        return super().done()


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("visits", [1, 2])
@pytest.mark.parametrize("cuts", [(), (9, 32, 38, 3)])
def test_words_are_weighed_beside_the_crawl_at_t_and_at_the_end(visits, cuts):
    works = []

    def aside(work, pages):
        works.append((work.func.__name__, pages))
        return Later(work)

    site = Site(seed=3, rate=1e-4)
    beside = check(site, capture(site, visits, cuts=cuts, aside=aside))
    assert beside == check(site, capture(site, visits, cuts=cuts))
    assert works[-2:] == [("_weigh", works[-2][1]), ("judge", beside["coherent", "attested", True] + (visits == 1) * 5)]
    assert works[-2][1] >= 30


@pytest.mark.slow
def test_304s_are_audited_as_without_lastmods_cut_off_or_not():
    site = Unmodified(3, pages=100, rate=1e-3)
    audits = []
    for cuts in ((), (130,), (190, 20)):
        state = capture(site, audit=0.02, cuts=cuts)
        found = check(site, state, honest=False)
        assert found["coherent", "validator", False] == 0 < found["coherent", "validator", True]
        (row,) = state.captures.values()
        audits.append(row.audit)
    liars, honest = (one for one in audits[0]["strata"] if one["of"] == "304")
    assert (liars["label"], liars["claimed"], liars["caught"] > 0) == ("/a/*.html", 0, True)
    assert (honest["label"], honest["confirmed"], honest["caught"]) == ("/b/*.html", 5, 0)
    assert audits[0]["claimed"] == found["coherent", "validator", True]
    assert audits[0]["bound"] == bound([Stratum(audits[0]["claimed"], 5)], caught=1)


def test_pages_are_downloaded_whatever_validators_a_former_capture_had():
    asked = []

    class Watched(Site):
        def answer(self, fetch, now):
            asked.append(fetch)
            return super().answer(fetch, now)

    capture(Watched(5, pages=12), former=lambda _, url: Validators('"former"'))
    assert any(fetch.kind is Kind.PAGE for fetch in asked)
    assert not any(fetch.validators for fetch in asked)
