"""A capture part by part: each has visits, a T and revisits of its own; nothing is lost or made twice."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sharc_crawler.errors import UsageError
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.evidence.worded import code
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.modes import subsites
from sharc_crawler.frontier.opening import Parts
from sharc_crawler.model import Hints, Kind, RateEstimate, Result, Sighting, Slot, Validators, Verdict
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.conftest import World
from tests.frontier.cut_off import ROOT, STRATEGIES, crawl, results

TWICE = [strategy for strategy in STRATEGIES if strategy != "sharc-online"]
#: a folder that changes every second, one that hardly changes, and few pages above
FOLDERS = {"": 3, "hot/": 12, "cold/": 15}
URLS = [f"{ROOT}{folder}{n}" for folder, pages in FOLDERS.items() for n in range(pages)]


class Known:
    """Rates by folder."""

    def rates(self, sightings, now):
        return [RateEstimate(20.0 if "/hot/" in one.url else 1e-6, "known") for one in sightings]

    def swings(self):
        return None

    def weight(self, sighting):
        return 1.0


class Liar(World):
    """Each page has an ETag, a 304 for who asks by it, and other bytes if it is hot."""

    def answer(self, fetch):
        outcome, etag = super().answer(fetch), Validators('"1"')
        if fetch.kind is not Kind.PAGE:
            return outcome
        if fetch.slot is Slot.SECOND and fetch.validators:
            return outcome._replace(result=Result.NOT_MODIFIED, status=304, digest=None, validators=etag)
        changes = fetch.slot is Slot.SECOND and "/hot/" in fetch.url
        return outcome._replace(validators=etag, digest=f"{outcome.digest}{'?' * changes}")


def parts():
    return Parts(rates=lambda _: Known())


def captured(world, impolite, sightings, links=None, **spec):
    store = MemoryStore()
    world.links = links or {}
    frontier = Frontier(impolite, store, parts())
    capture = frontier.open(CaptureSpec("a", (ROOT,), sitemaps=(), **spec), world.now)
    frontier.schedule(sightings, world.now)
    world.run(frontier)
    return capture, store.load()


def spans(state):
    """Of each part: first visits and revisits, as instants."""
    member = dict(state.members)
    made = {number: ([], []) for number in range(len(state.subsites))}
    for visit in state.visits:
        if visit.page in member:
            made[member[visit.page]][visit.slot is Slot.SECOND].append(visit.outcome.started)
    return made


def check_parts(state):
    rows = [row for _, row in sorted(state.subsites.items())]
    member = dict(state.members)
    pages = {row.page for row in state.pages if row.kind is Kind.PAGE}
    assert member.keys() == pages, "every page is in a part"
    for row in rows:
        first, second = spans(state)[row.number]
        assert row.begun <= min(first)
        assert max(first) <= row.reference or (not second and first == [row.reference])
        assert all(row.reference <= revisit <= row.ended for revisit in second)
    for one, other in itertools.pairwise(rows):
        assert one.ended <= other.begun
    return rows


def test_what_stays_coherent_is_captured_first_and_apart_from_what_does_not(world, impolite):
    capture, state = captured(world, impolite, [Sighting(url) for url in URLS], subsites="path")
    rows = check_parts(state)
    assert [row.name for row in rows] == ["a.example/cold/", "a.example/hot/"]
    assert rows[0].share > 0.99
    assert rows[1].share < 0.5
    assert len({row.verdict for row in state.judgements}) == 1
    assert capture.reference is None, "there are several"


def test_parts_by_path_go_by_canonical_urls(world, impolite):
    sightings = [Sighting(url if n % 2 else url.replace(ROOT, f"{ROOT}x/../")) for n, url in enumerate(URLS)]
    _, state = captured(world, impolite, sightings, subsites="path")
    assert [row.name for row in check_parts(state)] == ["a.example/cold/", "a.example/hot/"]


def test_a_quiet_site_is_one_part_and_its_reference_is_the_captures(world, impolite):
    sightings = [Sighting(url) for url in URLS if "hot" not in url]
    capture, state = captured(world, impolite, sightings, subsites="path")
    (row,) = check_parts(state)
    assert (row.name, row.reference) == ("a", capture.reference)


@pytest.mark.matrix
@pytest.mark.parametrize("division", ["path", "links", "sitemap"])
@pytest.mark.parametrize("strategy", TWICE)
def test_pages_found_on_the_way_join_or_wait(world, impolite, division, strategy):
    links = {ROOT: [Sighting(f"{ROOT}{folder}0") for folder in FOLDERS]}
    for folder, pages in FOLDERS.items():
        for n in range(pages - 1):
            links[f"{ROOT}{folder}{n}"] = [Sighting(f"{ROOT}{folder}{n + 1}"), Sighting(ROOT)]
    _, state = captured(world, impolite, [], links, subsites=division, strategy=strategy)
    check_parts(state)
    assert {row.url for row in state.pages} == {ROOT, *URLS}
    finished = [(visit.page, visit.slot is Slot.SECOND) for visit in state.visits if visit.finished]
    assert len(finished) == len(set(finished)), "nothing is made twice"
    assert {row.verdict for row in state.judgements} == {Verdict.COHERENT}
    assert len(state.judgements) == len(URLS) + 1


def test_calm_pages_found_on_the_way_join_the_part_that_is_open(world, impolite):
    known, found = URLS[15:20], URLS[20:]
    _, state = captured(world, impolite, [Sighting(url) for url in known],
                        {known[1]: [Sighting(url) for url in found]}, subsites="path")  # fmt: skip
    assert len(check_parts(state)) == 1
    assert {row.url for row in state.pages} >= set(found)


def test_what_a_revisit_alone_names_waits_for_a_part_of_its_own(impolite):
    class Late(World):
        def answer(self, fetch):
            self.links[fetch.url] = [Sighting(f"{ROOT}cold/late")] if fetch.slot is Slot.SECOND else []
            return super().answer(fetch)

    _, state = captured(Late(), impolite, [Sighting(url) for url in URLS], subsites="path")
    assert any(row.url.endswith("cold/late") for row in state.pages)
    assert len(state.judgements) == len(state.pages) == len(URLS) + 2
    assert len(check_parts(state)) == 3


def test_what_is_found_after_its_part_was_captured_has_a_part_of_its_own(world, impolite):
    links = {f"{ROOT}hot/3": [Sighting(f"{ROOT}cold/late")]}
    _, state = captured(world, impolite, [Sighting(url) for url in URLS], links, subsites="path")
    rows = check_parts(state)
    late = next(row.page for row in state.pages if row.url.endswith("late"))
    assert rows[dict(state.members)[late]].number > 0
    assert late in {row.page for row in state.judgements}


@pytest.mark.parametrize("every", [0, 7, 20])
def test_a_lie_that_a_later_part_shows_takes_back_what_a_former_one_claimed_on_such_words(impolite, every):
    """Small kinds share a stratum: 304s of hot pages, which change, are lies, and cold ones are believed no more."""
    world, store = Liar(), MemoryStore()
    frontier = Frontier(impolite, store, parts())
    frontier.open(CaptureSpec("a", (ROOT,), sitemaps=(), subsites="path"), world.now)
    frontier.schedule([Sighting(url) for url in URLS], world.now)
    seen = set()
    while world.step(frontier):
        state = store.load()
        seen |= {row.verdict for row in state.judgements if "/cold/" in state.pages[row.page].url}
        if every and len(world.requests) % every == 0:
            frontier = Frontier(impolite, store, parts())
            frontier.restore(state, world.now)
    state = store.load()
    found = {state.pages[row.page].url: row for row in state.judgements}
    assert len(found) == len(state.judgements) == len(URLS) + 1, "the last word stands"
    assert seen == {Verdict.COHERENT}, "until the part with the hot ones was over"
    asked = {fetch.url: bool(fetch.validators) for _, fetch in world.requests if fetch.slot is Slot.SECOND}
    told = {url for url in found if asked.get(url)}
    assert {code(found[url].reason) for url in told} == {Reason.NOT_MODIFIED_DOUBTED}
    assert {"/cold/" in url for url in told} == {True, False}
    shown = {row.verdict for url, row in found.items() if "/cold/" in url and url not in told}
    assert shown == {Verdict.COHERENT}, "by bytes"
    (row,) = state.captures.values()
    assert row.audit["claimed"] == 0


def test_a_budget_ends_it_too(world, impolite):
    capture, state = captured(world, impolite, [Sighting(url) for url in URLS], subsites="path", max_requests=25)
    assert len(world.requests) <= 25
    assert all(row.ended is not None for row in state.subsites.values())
    assert capture.life.ended is not None


def test_parts_whose_pages_are_all_gone_end_too(world, impolite):
    world.answers = {url: [{"result": Result.GONE, "status": 404, "digest": None}] for url in URLS if "hot" in url}
    _, state = captured(world, impolite, [Sighting(url) for url in URLS], subsites="path")
    rows = [row for _, row in sorted(state.subsites.items())]
    assert all(row.ended is not None for row in rows)
    assert len(state.judgements) == 1 + len([url for url in URLS if "hot" not in url])


def test_resources_are_revisited_in_the_part_that_embeds_them_first(world, impolite):
    style = Sighting(ROOT + "style.css", Kind.RESOURCE)
    links = {url: [style] for url in URLS}
    _, state = captured(world, impolite, [Sighting(url) for url in URLS], links, subsites="path")
    number = next(row.page for row in state.pages if row.kind is Kind.RESOURCE)
    assert [visit.slot for visit in state.visits if visit.page == number] == [Slot.FIRST, Slot.SECOND]
    assert len(state.judgements) == len(URLS) + 2


@pytest.mark.parametrize("strategy", ["sharc-online", "sharc-attested", "bfs:revisits=none"])
def test_orders_without_a_reference_instant_for_each_part_are_refused(world, impolite, strategy):
    frontier = Frontier(impolite)
    with pytest.raises(UsageError, match="reference instant for each part"):
        frontier.open(CaptureSpec("a", (ROOT,), strategy=strategy, subsites="path"), world.now)


def test_a_sitemap_is_a_part(world, impolite):
    maps = {
        f"{ROOT}map-{folder or 'top'}.xml": [
            Sighting(f"{ROOT}{folder}{n}", hints=Hints(changefreq="daily")) for n in range(pages)
        ]
        for folder, pages in (("hot/", 12), ("cold/", 15))
    }
    world.links = maps
    store = MemoryStore()
    frontier = Frontier(impolite, store, parts())
    frontier.open(CaptureSpec("a", (ROOT,), sitemaps=tuple(maps), subsites="sitemap"), world.now)
    world.run(frontier)
    state = store.load()
    names = [row.name for row in check_parts(state)]
    assert names[0] == f"{ROOT}map-cold/.xml"
    assert any("map-hot" in name for name in names)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "division"),
    [pytest.param("sharc-selective", "links:share=1", marks=pytest.mark.long), ("bfs", "path:share=1")],
)
def test_every_place_to_be_cut_off(strategy, division):
    whole = results(crawl(strategy, [], division))
    for cut in range(1, 40):
        store = crawl(strategy, [cut], division)
        again = results(store)
        assert again.keys() == whole.keys(), f"cut after {cut}: something was lost"
        assert all(finished <= 2 for finished, _ in again.values()), f"cut after {cut}: repeated"
        rows = [row for _, row in sorted(store.load().subsites.items())]
        assert all(row.ended is not None for row in rows)
        member = dict(store.load().members)
        for judgement in store.load().judgements:
            if judgement.verdict is Verdict.COHERENT and judgement.page in member:
                row = rows[member[judgement.page]]
                made = [v.outcome.started for v in store.load().visits if v.page == judgement.page and v.finished]
                assert min(made) <= row.reference <= max(made), f"cut after {cut}: not around its T"


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(cuts=st.lists(st.integers(1, 20), max_size=6), share=st.sampled_from(["0.5", "0.95", "1"]))
def test_being_cut_off_again_and_again(cuts, share):
    division = f"path:share={share}"
    again = results(crawl("sharc-selective", cuts, division))
    assert again.keys() == results(crawl("sharc-selective", [], division)).keys()


def test_few_more_pages_join_a_part_before_it_is_asked_about_again(monkeypatch):
    monkeypatch.setattr(subsites, "NEWS", 0.5)
    part = SimpleNamespace(_untested=0, _pages=list(range(10)))
    assert [subsites.Subsites._stays_coherent(part, [0]) for _ in range(5)] == [True] * 5, "nobody is asked"
    with pytest.raises(AttributeError):  # the sixth is: there is no strategy here
        subsites.Subsites._stays_coherent(part, [0])


class ByNumber(Known):
    """Every other page changes all the time."""

    def rates(self, sightings, now):
        return [RateEstimate(20.0 if one.url[-1] in "02468" else 1e-6, "known") for one in sightings]


def test_parts_by_links_go_by_those_that_former_captures_read(world, impolite):
    """No document names any: even and odd pages are two sites in one, as the archive knows."""
    urls = [f"{ROOT}{number:02}" for number in range(30)]
    pairs = [(one, other) for one in urls for other in urls if int(one[-2:]) % 2 == int(other[-2:]) % 2]
    archived = [*pairs, (urls[0], f"{ROOT}gone"), (f"{ROOT}gone", urls[1])]
    for links, apart in ((archived, True), ([], False)):
        world.requests.clear()
        store = MemoryStore()
        frontier = Frontier(impolite, store, Parts(rates=lambda _: ByNumber(), links=lambda _, links=links: links))
        frontier.open(CaptureSpec("a", (ROOT,), sitemaps=(), subsites="links"), world.now)
        frontier.schedule([Sighting(url) for url in urls], world.now)
        world.run(frontier)
        state = store.load()
        number = {row.page: row.url[-2:] for row in state.pages}
        halves = {(part, int(number[page]) % 2) for page, part in state.members if number[page].isdecimal()}
        assert (len(halves) == len({part for part, _ in halves})) is apart


def test_parts_go_by_links_between_pages_the_first_page_among_them():
    asked = []
    partition = SimpleNamespace(by_links=True, labels=lambda known: asked.append(known) or ["a", "b", "c"])
    kinds = [Kind.PAGE, Kind.SITEMAP, Kind.PAGE, Kind.PAGE]

    class Table(list):
        kinds: list[Kind]

    table = Table(kinds)
    table.kinds = kinds
    mode = subsites.Subsites.__new__(subsites.Subsites)
    mode._ledger, mode._division = SimpleNamespace(pages=table), SimpleNamespace(partition=partition)
    mode._sources, mode._targets, mode._basis = [0, 2, 1, 3], [2, 0, 3, 1], None
    mode._known = lambda pages, *ends: (list(pages), [side.tolist() for side in ends])
    mode.rows = [object()] * 3
    assert mode.parts == 3
    assert mode._label_all([3, 0]) == ["c", "a"]
    assert mode._label_all([2]) == ["b"]
    assert asked == [([0, 2, 3], [[0, 1], [1, 0]])]


def test_one_in_a_hundred_may_join_a_part_before_it_is_asked_about_again():
    part = SimpleNamespace(_untested=0, _pages=list(range(200)))
    assert [subsites.Subsites._stays_coherent(part, [0]) for _ in range(2)] == [True] * 2
    with pytest.raises(AttributeError):
        subsites.Subsites._stays_coherent(part, [0])
