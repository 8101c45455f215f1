"""A folder is edited while it is being visited: its pages visited before are visited again, if that was so before."""

from __future__ import annotations

from collections import Counter
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.modes import rate_tests as rules
from sharc_crawler.frontier.modes.rate_tests import NOTHING, Neighbours, _Folder
from sharc_crawler.frontier.opening import LastSeen, Parts
from sharc_crawler.model import (
    Fetch,
    Hints,
    Kind,
    Outcome,
    RateEstimate,
    Result,
    Sighting,
    Slot,
    Url,
    Validators,
    Verdict,
)
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory
from sharc_crawler.rates.neighbours import Together
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.cut_off import run_answered

ROOT, FOLDERS, PAGES = "http://a.example", 6, 20
STEP, WEEK, BEGIN = 3_600.0, 604_800.0, 1e9
URLS = [Url(f"{ROOT}/{folder}/{page}") for page in range(PAGES) for folder in range(FOLDERS)]  # in turns
MAP = f"{ROOT}/map.xml"
EDITED = BEGIN + 60 * STEP  #: folder 2
SEEN = BEGIN - WEEK


def past(together: bool) -> SiteHistory:
    """A year of weekly captures: a folder was edited now and then, or as many pages anywhere."""
    rng = np.random.default_rng(7)
    bits = np.repeat(rng.random((FOLDERS, 51)) < 0.1, PAGES, axis=0)
    if not together:
        bits = rng.permuted(bits, axis=1)
    marks = np.concatenate([np.full((len(bits), 1), UNKNOWN), np.where(bits, CHANGED, UNCHANGED)], axis=1)
    nothing = np.full(marks.size, np.nan)
    return SiteHistory(
        "a.example",
        sorted(URLS),
        np.arange(len(URLS) + 1) * 52,
        np.tile(SEEN - WEEK * np.arange(51, -1, -1), len(URLS)),
        marks.astype(np.int8).ravel(),
        nothing,
        nothing,
        nothing,
    )


class Held:
    """All pages are held to change alike, each by itself."""

    def rates(self, sightings: list[Sighting], now: float) -> list[RateEstimate]:
        return [RateEstimate(0.1 / WEEK, "history", 5.0) for _ in sightings]

    def swings(self):
        return None

    def weight(self, sighting: Sighting) -> float:
        return 1.0


def digest(url: str, now: float) -> str:
    return f"{url}, edited" if url.startswith(f"{ROOT}/2/") and now > EDITED else url


class Crawl:
    """A capture in virtual time, perhaps cut off."""

    def __init__(self, history: SiteHistory, cuts: tuple[int, ...] = (), listed: bool = False, **more: float) -> None:
        self.fetches, self.listed, store = list[Fetch](), listed, MemoryStore()
        parts = Parts(rates=lambda _: Held(), history=lambda _: history, seen=lambda _, url, __: LastSeen(SEEN, url))
        frontier = Frontier(Politeness(delay=STEP, obey_robots=False), store, parts)
        sitemaps = (MAP,) if listed else ()
        frontier.open(CaptureSpec("a.example", (URLS[0],), "bfs", sitemaps=sitemaps, discover=False, **more), BEGIN)
        frontier.schedule([Sighting(url) for url in URLS], BEGIN)
        now = BEGIN
        for steps in (*cuts, 10**6):
            now = run_answered(frontier, now, steps, self._answered)
            frontier = Frontier(Politeness(delay=STEP, obey_robots=False), store, parts)
            frontier.restore(store.load(), now)
        assert frontier.done
        state = store.load()
        self.notes = " ".join(frontier.capture.notes)
        self.changed = [state.pages[row.page].url for row in state.judgements if row.verdict is Verdict.CHANGED]

    def _answered(self, fetch: Fetch, now: float) -> tuple[Outcome, list[Sighting]]:
        self.fetches.append(fetch)
        shown = Outcome(Result.OK, now, now + 1, 200, digest(fetch.url, now), validators=Validators(), date=now)
        if fetch.url != MAP:
            return shown, []
        words = [(EDITED if digest(url, now) != url else SEEN - WEEK) for url in URLS]
        return shown, [Sighting(url, via=MAP, hints=Hints(word)) for url, word in zip(URLS, words, strict=True)]

    def again(self) -> list[str]:
        """Pages visited more than once before T."""
        visits = Counter(one.url for one in self.fetches if one.kind is Kind.PAGE and one.slot is Slot.FIRST)
        return [url for url, times in visits.items() if times > 1]


@pytest.mark.slow
def test_pages_visited_before_their_folder_was_edited_are_visited_again() -> None:
    without, crawl = Crawl(past(together=True), hints=0.0), Crawl(past(together=True))
    assert len(without.changed) >= 8
    assert set(without.changed) <= set(crawl.again())
    assert crawl.changed == []
    assert len(crawl.again()) <= len(without.changed) + FOLDERS, "one probe a folder at most"
    assert "edited together" in crawl.notes


@pytest.mark.slow
def test_where_pages_changed_by_themselves_nothing_is_concluded() -> None:
    assert Crawl(past(together=False)).again() == []


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("cut", [60, 121, 124, 130])
def test_it_survives_an_interruption(cut: int) -> None:
    assert Crawl(past(together=True), (cut,)).changed == []


@pytest.mark.slow
def test_a_sitemap_knows_better() -> None:
    """It tells of each page: nobody is asked for others."""
    crawl = Crawl(past(together=True), listed=True)
    assert crawl.changed == []
    assert {url.split("/")[3] for url in crawl.again()} == {"2"}


@pytest.mark.parametrize(("rate", "together"), [(1e-9, [5, 6]), (5e-4, [5, 6]), (0.023, [])])
def test_a_probe_that_changes_by_itself_tells_nothing_of_the_others(rate: float, together: list[int]) -> None:
    table = SimpleNamespace(rates=np.full(9, rate), shapes=np.full(9, np.inf))
    neighbours = Neighbours(table, SiteHistory.__new__)  # type: ignore[arg-type]
    neighbours._together = Together(share=0.6, rate=1.0, own=1.0)
    neighbours._probed[4] = _Folder(2.0, 4, [5, 6], edited=0.5)
    assert list(neighbours.looked(4, since=900.0, now=1_000.0)) == together
    assert neighbours.looked(4, since=0.0, now=100.0) == {}, "each probe once"


def test_of_each_folder_that_may_have_been_edited_the_calmest_page_is_a_probe() -> None:
    """Surely edited pages are stale; the others as likely as half of the likeliest wait for their probe's answer."""
    neighbours = Neighbours(SimpleNamespace(), SiteHistory.__new__)  # type: ignore[arg-type]
    neighbours._learned, neighbours._together = True, Together(share=0.5, rate=1.0, own=1.0)
    folders = [
        ([1, 2, 3, 4, 5], [9.0, 4.0, 3.0, 1.0, 2.0], [0.9, 0.8, 0.4, 0.39, 0.5]),
        ([6, 7], [1.0, 2.0], [0.5, 0.49]),  # less than a page is expected
        ([8, 9], [2.0, 1.0], [0.5, 0.5]),
        ([10, 11, 12], [2.0, 3.0, 1.0], [0.7, 0.7, 0.75]),
    ]
    neighbours._by_folder = lambda *_: [tuple(map(np.array, one)) for one in folders]  # type: ignore[method-assign]
    found = neighbours.edited({1: (9.0, True), 2: (9.0, False)}, 100.0)
    assert found.stale == {1: 100.0}
    assert list(found.probes) == [12, 5, 9]
    assert list(found.probes.values()) == pytest.approx([2.15, 1.7, 1.0])
    assert neighbours._probed[5] == _Folder(found.probes[5], 5, [2, 3, 5], 1.0)
    assert set(neighbours._probed) == {12, 5, 9}
    assert neighbours.edited({1: (9.0, True), 2: (9.0, False)}, 100.0) == NOTHING, "nobody was compared since"
    assert neighbours.edited(dict.fromkeys(range(3), (9.0, False)), 100.0) == NOTHING, "none has changed"
    assert neighbours.edited(dict.fromkeys(range(3), (9.0, True)), 100.0) == found


def test_a_probe_that_has_changed_speaks_for_its_folder_as_bayes_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Edited: it changed with the folder or alone; else it changed alone."""
    found, tenths = [], np.arange(0.05, 1.0, 0.1)
    for edited, share, alone in product(tenths, repeat=3):
        monkeypatch.setattr(rules, "calm", lambda *given, still=1.0 - alone: np.array([still]))
        neighbours = Neighbours(SimpleNamespace(rates=[1.0], shapes=[1.0]), SiteHistory.__new__)  # type: ignore[arg-type]
        neighbours._together = Together(share=share, rate=1.0, own=1.0)
        neighbours._probed[0] = _Folder(2.0, 0, [5], edited)
        with_it = edited * (share + alone - share * alone)
        expected = share * with_it / (with_it + (1.0 - edited) * alone) >= 0.5
        assert bool(neighbours.looked(0, since=0.0, now=100.0)) is bool(expected)
        found.append(expected)
    assert 0.05 < np.mean(found) < 0.95


def test_folders_are_looked_at_page_by_page_in_the_order_of_their_visits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of how likely each page is out of date those speak that were compared in its folder, if they are not too few."""
    given = []

    def stale(together: Together, *told: np.ndarray) -> np.ndarray:
        given.append([together, *(one.tolist() for one in told[:5]), told[5]])
        return told[0]

    monkeypatch.setattr(rules, "stale", stale)
    some = range(30)
    table = SimpleNamespace(
        urls=[f"http://h/{'few' if page >= 28 else 'some' if page >= 25 else page % 2}/{page}" for page in some],
        rates=[page / 100 for page in some],
        shapes=[page + 1.0 for page in some],
        started=[1_000.0 - page for page in some],
    )
    together = Together(share=0.5, rate=1.0, own=1.0)
    neighbours = Neighbours(table, SiteHistory.__new__)  # type: ignore[arg-type]
    compared = {page: (100.0 + page, page % 3 == 0) for page in some}
    found = list(neighbours._by_folder(together, compared, 5_000.0))
    folders = [*([page for page in reversed(range(25)) if page % 2 == odd] for odd in (0, 1)), [27, 26, 25]]
    assert [pages.tolist() for pages, *_ in found] == folders
    for pages, (_, rates, chances), told in zip(folders, found, given, strict=True):
        begins, visits = [900.0 - 2 * page for page in pages], [1_000.0 - page for page in pages]
        changed, own = [page % 3 == 0 for page in pages], [page / 100 for page in pages]
        assert told == [together, begins, visits, changed, own, [page + 1.0 for page in pages], 5_000.0]
        assert (rates.tolist(), chances.tolist()) == (own, begins)


def test_the_past_is_asked_for_once_where_something_has_changed_and_many_more_were_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    monkeypatch.setattr(rules, "edited_together", lambda history: asked.append(history))
    neighbours = Neighbours(SimpleNamespace(), lambda: "the past")  # type: ignore[arg-type,return-value]
    assert neighbours.edited({}, 9.0) == NOTHING
    assert neighbours.edited(dict.fromkeys(range(50), (9.0, False)), 9.0) == NOTHING
    assert not asked
    assert neighbours.edited({1: (9.0, True)}, 9.0) == NOTHING, "nothing was edited together"
    assert asked == ["the past"]
    for size in (50, 51, 52, 70):
        assert neighbours.edited(dict.fromkeys(range(size), (9.0, True)), 9.0) == NOTHING
    assert asked == ["the past"], "once"
    neighbours._together, made = Together(share=0.5, rate=1.0, own=1.0), []
    neighbours._by_folder = lambda together, compared, now: made.append(len(compared)) or []  # type: ignore[method-assign]
    for size in (100, 102, 103, 104, 106):
        neighbours.edited(dict.fromkeys(range(size), (9.0, True)), 9.0)
    assert made == [100, 103, 106], "a fiftieth more than when they were asked last"
    assert neighbours.looked(4, since=0.0, now=9.0) == {}, "it was no probe"
