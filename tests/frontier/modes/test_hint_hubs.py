"""Feeds and lists of recent changes are polled before T, and pages that they say have changed are visited again."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.model import Fetch, Hints, Kind, Outcome, Result, Sighting, Slot, Verdict
from sharc_crawler.polling.hint_hubs import MOST, HintHubs, moved
from sharc_crawler.polling.novelty import Novelty
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.cut_off import run_answered

ROOT = "http://a.example/"
FEED, LISTING, NEWS = ROOT + "feed.xml", ROOT + "RecentChanges", ROOT + "news.xml"
MENU = [f"{ROOT}{name}" for name in ("about", "help", "imprint")]
PAGES = [f"{ROOT}{number}" for number in range(150)]
BEGIN, STEP = 1e9, 60.0
LOST = PAGES[4:60:8]  #: change, one after the other, when most visits are made
TIMES = {url: BEGIN + (125 + 2 * place) * STEP for place, url in enumerate(LOST)}


class Site:
    """Its front names all pages and what tells of changes; ``answers``: status of that."""

    def __init__(self, kind: str, status: int = 200, **dates: float) -> None:
        self.kind, self.status, self.dates = kind, status, dates
        self.known = [f"{ROOT}{number}" for number in range(300)] if kind == "moved" else []

    def links(self, url: str, now: float) -> list[Sighting]:
        """What a document names."""
        if url == ROOT:
            told = {"feed": [FEED], "listing": [LISTING]}.get(self.kind, [])
            return [Sighting(one) for one in (*MENU, *PAGES, *told)]
        if url == NEWS:
            times = {number: BEGIN + number * STEP for number in range(0, 130, 10)}
            return [Sighting(f"{url}/{n}", hints=Hints(published=when)) for n, when in times.items() if when < now]
        if url not in (FEED, LISTING) or self.status != 200:
            return []
        latest = sorted((url for url in LOST if TIMES[url] <= now), key=TIMES.__getitem__, reverse=True)
        if url == FEED:
            return [Sighting(url, hints=Hints(TIMES[url])) for url in latest]
        return [Sighting(url) for url in dict.fromkeys([*MENU[:2], *latest, *PAGES[100:120], MENU[2]])]

    def answer(self, fetch: Fetch, now: float) -> Outcome:
        """What a request at ``now`` brings."""
        if fetch.kind is Kind.ROBOTS:
            return Outcome(Result.GONE, now, now + 0.01, 404)
        if fetch.url in (FEED, LISTING) and self.status != 200:
            return Outcome(Result.FAILED if self.status >= 500 else Result.GONE, now, now + 0.01, self.status)
        if self.kind == "moved" and fetch.url == ROOT:
            return Outcome(Result.REDIRECTED, now, now + 0.01, 301, location=PAGES[0])
        changed = now >= TIMES.get(fetch.url, 1e12)
        return Outcome(Result.OK, now, now + 0.01, 200, f"sha1:{fetch.url}{changed}")


class Crawl:
    """A capture in virtual time, cut off after so many requests, as often as one likes."""

    def __init__(
        self, site: Site, cuts: tuple[int, ...] = (), strategy: str = "sharc-selective", **more: float
    ) -> None:
        self.site = site
        self.fetches, store = list[tuple[Fetch, float]](), MemoryStore()

        def answered(fetch: Fetch, now: float):
            self.fetches.append((fetch, now))
            return site.answer(fetch, now), site.links(fetch.url, now)

        frontier = Frontier(Politeness(delay=STEP), store)
        sitemaps = (NEWS,) if site.kind == "news" else ()
        frontier.open(CaptureSpec("a.example", (ROOT,), strategy, sitemaps=sitemaps, **more), BEGIN)
        frontier.schedule([Sighting(url, via="history") for url in site.known], BEGIN)
        now = BEGIN
        for steps in (*cuts, 10**6):
            now = run_answered(frontier, now, steps, answered)
            frontier = Frontier(Politeness(delay=STEP), store)
            frontier.restore(store.load(), now)
        assert frontier.done
        state = store.load()
        self.verdicts = {state.pages[row.page].url: row.verdict for row in state.judgements}

    def polls(self) -> int:
        """Requests for hubs."""
        return sum(fetch.url in (FEED, LISTING) for fetch, _ in self.fetches)

    def again(self) -> list[str]:
        """Pages visited more than once before T."""
        first = (fetch for fetch, _ in self.fetches if fetch.kind is Kind.PAGE and fetch.slot is not Slot.SECOND)
        return [url for url, times in Counter(fetch.url for fetch in first).items() for _ in range(times - 1)]

    def lost(self) -> set[str]:
        """Pages that were not in one state."""
        return {url for url, verdict in self.verdicts.items() if verdict is not Verdict.COHERENT}


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["sharc-selective", "bfs"])
@pytest.mark.parametrize("kind", ["feed", "listing"])
def test_what_a_hub_says_has_changed_is_visited_again_before_t(kind, strategy):
    crawl, without = (Crawl(Site(kind), strategy=strategy, hints=share) for share in (0.1, 0.0))
    assert len(without.lost()) >= 4
    assert without.again() == []
    assert set(crawl.again()) <= {*LOST, FEED, LISTING}
    assert crawl.fetches[2][0].url in (FEED, LISTING), "before its turn"
    assert len(crawl.lost()) <= 1, "a list without times leaves open who changed just before a visit"
    assert len(crawl.again()) <= 0.1 * 2 * len(crawl.verdicts)


def test_a_list_of_changes_is_a_page_like_others():
    crawl = Crawl(Site("listing"))
    slots = [fetch.slot for fetch, _ in crawl.fetches if fetch.url == LISTING]
    assert len(slots) > 3
    assert [*slots] == [Slot.FIRST] * (len(slots) - 1) + [Slot.SECOND]
    assert LISTING in crawl.verdicts


@pytest.mark.slow
def test_pages_that_a_news_sitemap_names_later_are_found_before_t():
    found, without = (
        [url for url in Crawl(Site("news"), hints=share).verdicts if url.startswith(NEWS)] for share in (0.1, 0.0)
    )
    assert len(without) == 1, "those of its first reading"
    assert len(found) >= 12


def test_entries_that_appear_late_count_as_new():
    hubs = HintHubs()
    hubs.add(1)
    for poll in range(1, 11):  # one new entry an hour, dated two hours before it appears
        dates = {100 + number: (number - 2) * 3600.0 for number in range(poll + 1)}
        hubs.polled(1, poll * 3600.0, sorted(dates, reverse=True), dates)
    assert hubs.best(1, 12 * 3600.0) == [1]
    assert hubs.next < 40 * 3600.0


@pytest.mark.parametrize("status", [404, 500])
def test_a_hub_that_does_not_answer_costs_little_and_t_comes(status):
    crawl = Crawl(Site("feed", status))
    assert 1 <= crawl.polls() <= 12, "with all attempts"
    assert len(crawl.verdicts) == 1 + len(MENU) + len(PAGES)
    assert crawl.verdicts.keys() >= set(PAGES)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("most", [250, 300, 309])
def test_no_visit_is_given_up_for_a_poll(most):
    without, crawl = (Crawl(Site("feed"), hints=share, max_requests=most) for share in (0.0, 0.3))
    assert len(crawl.fetches) <= most
    assert len(crawl.verdicts) >= len(without.verdicts)
    assert list(crawl.verdicts.values()).count(Verdict.COHERENT) >= len(without.verdicts) - len(without.lost())


@pytest.mark.parametrize("cut", [3, 80, 156, 162])
def test_a_crawl_that_was_cut_off_polls_on(cut):
    crawl = Crawl(Site("feed"), (cut, 3))
    assert len(crawl.verdicts) == 2 + len(MENU) + len(PAGES)
    assert len(crawl.lost()) <= 1


class StillSite(Site):
    """Nothing changes, and its list says so."""

    def links(self, url: str, now: float) -> list[Sighting]:
        return super().links(url, BEGIN)

    def answer(self, fetch: Fetch, now: float) -> Outcome:
        return super().answer(fetch, BEGIN)._replace(started=now, ended=now + 0.01)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("cut", [4, 120])
def test_after_a_cut_the_list_of_changes_alone_is_asked_anew(cut):
    """What it had named is not kept: so a page of a capture may have more than two visits where nothing changed."""
    whole, crawl = Crawl(StillSite("listing")), Crawl(StillSite("listing"), (cut,))
    assert set(crawl.again()) == {LISTING}
    assert 1 <= len(crawl.again()) - len(whole.again()) <= 2
    assert crawl.fetches[cut][0].url == LISTING, "at once"
    assert not Crawl(Site("listing"), (cut,)).lost()


@given(st.lists(st.integers(0, 30), unique=True), st.sets(st.integers(0, 40), max_size=12))
def test_a_list_that_puts_what_changed_first_names_no_more(before, changed):
    named = [*sorted(changed), *(entry for entry in before if entry not in changed)]
    found = moved({entry: place for place, entry in enumerate(before)}, named)
    stay = [entry for entry in named if entry not in found]
    assert stay == [entry for entry in before if entry in stay], "in their former order"
    assert len(found) <= len(changed)
    assert changed - set(before) <= set(found), "what is new"


@given(st.lists(st.integers(0, 9), unique=True), st.permutations(range(10)), st.integers(0, 10))
def test_as_many_entries_stay_as_can_in_their_former_order(before, named, many):
    """Against the longest of all that rise, found place by place."""
    places = {entry: place for place, entry in enumerate(before)}
    known = [places[entry] for entry in named[:many] if entry in places]
    longest: list[int] = []
    for at, place in enumerate(known):
        longest.append(1 + max((longest[one] for one in range(at) if known[one] < place), default=0))
    stay = [places[entry] for entry in named[:many] if entry not in moved(places, named[:many])]
    assert stay == sorted(stay)
    assert len(stay) == max(longest, default=0)


def test_a_list_is_asked_before_it_overflows_and_one_that_brings_nothing_rarely():
    hubs = HintHubs()
    for hub in (1, 2):
        hubs.add(hub)
    assert hubs.take_due(0.0) == [1, 2]
    dates = dict.fromkeys(range(10, 110), 0.0)
    assert len(hubs.polled(1, 0.0, range(10, 110), dates)) == 100
    assert hubs.polled(2, 0.0, range(110, 210), {}) == []
    for poll in range(1, 4):  # ten new entries an hour
        hubs.polled(1, poll * 3600.0, [*range(1000 + 10 * poll, 1010 + 10 * poll), *range(10, 100)], {1000: 0.0})
        hubs.polled(2, poll * 3600.0, range(110, 210), {})
    waits = []
    while len(waits) < 2:
        due = hubs.next
        waits += [(hub, due) for hub in hubs.take_due(due)]
    assert waits[0][0] == 1
    assert waits[0][1] <= (3 + 10) * 3600.0, "before its hundred entries are all new"
    assert waits[1][1] > waits[0][1]
    assert hubs.best(5, 4 * 3600.0) == [1], "what brought nothing is not asked at the end"
    assert hubs.room == MOST - 2


@pytest.mark.slow
@pytest.mark.parametrize("cuts", [(), (20, 100)])
def test_a_front_page_that_leads_elsewhere_is_waited_for_by_nobody(cuts):
    """It is visited early, as it may name feeds; and is no hub, as it names nothing."""
    crawl = Crawl(Site("moved"), cuts)
    assert {fetch.url for fetch, _ in crawl.fetches} >= set(crawl.site.known)


@pytest.mark.matrix
@pytest.mark.parametrize("size", [49, 50, 51])
@pytest.mark.parametrize("cut", [0, 20, 49, 51, 52])
@pytest.mark.parametrize("strategy", ["sharc-selective", "bfs"])
def test_nothing_is_asked_before_t_once_the_last_page_was_visited(size, cut, strategy):
    """Hints are worth a round from so many visits on: that of the last page may make them so."""
    store, requests = MemoryStore(), list[tuple[float, Fetch]]()
    frontier = Frontier(Politeness(delay=STEP), store)
    names = [ROOT, LISTING, *PAGES[: size - 2]]
    frontier.open(CaptureSpec("a.example", tuple(names), strategy, sitemaps=()), BEGIN)

    def answered(fetch: Fetch, now: float) -> tuple[Outcome, list[Sighting]]:
        requests.append((now, fetch))
        return Site("").answer(fetch, now), [Sighting(url) for url in names] if fetch.url == LISTING else []

    now = BEGIN
    if cut:
        now = run_answered(frontier, now, cut, answered)
        frontier = Frontier(Politeness(delay=STEP), store)
        frontier.restore(store.load(), now)
    run_answered(frontier, now, 10**6, answered)
    reference = frontier.capture.reference
    visits = [now for now, fetch in requests if fetch.kind is Kind.PAGE and fetch.slot is not Slot.SECOND]
    revisits = [now for now, fetch in requests if fetch.kind is Kind.PAGE and fetch.slot is Slot.SECOND]
    assert max(visits) <= reference <= min(revisits)


@pytest.mark.parametrize(("entries", "dates"), [([1, 2], {}), (range(100), {1: 0.0})])
def test_a_poll_that_shows_nothing_new_counts_as_one_that_says_so(entries, dates):
    due = []
    for said in ("listed", "unchanged"):
        hubs = HintHubs()
        hubs.add(0)
        hubs.polled(0, 1_000.0, entries, dates)
        if said == "listed":
            hubs.polled(0, 1_100.0, entries, {})
        else:
            hubs.unchanged(0, 1_100.0)
        due.append((hubs.asked(0), hubs._due[0]))
    assert due[0] == due[1]


def test_without_a_date_an_entry_has_changed_in_the_last_fifth_of_the_time_between_two_polls_for_a_plan():
    hubs = HintHubs()
    hubs.add(0)
    assert hubs.polled(0, 1_000.0, [1, 2, 3], {2: 900.0}) == [(2, 900.0)]
    assert hubs.polled(0, 2_000.0, [4, 1, 2, 3], {2: 900.0}) == [(4, 1_800.0), (2, 900.0)]


def test_a_hub_that_is_named_again_is_not_asked_anew():
    hubs = HintHubs()
    hubs.add(0)
    hubs.polled(0, 1_000.0, [1, 2], {})
    due = hubs.next
    hubs.add(0, certain=True)
    assert hubs.next == due > 1_000.0
    assert len(hubs) == 1


def test_eight_hubs_are_polled_and_as_many_more_that_are_known_for_what_they_are():
    hubs = HintHubs()
    for page in range(20):
        hubs.add(page)
    assert (len(hubs), hubs.room) == (8, 0)
    for page in range(20, 40):
        hubs.add(page, certain=True)
    assert len(hubs) == 16
    hubs.drop(0)
    assert 0 not in hubs


def test_a_hub_that_did_not_answer_was_asked_all_the_same():
    hubs = HintHubs()
    hubs.add(1)
    assert hubs.asked(1) == -float("inf")
    hubs.missed(1, 5.0)
    assert hubs.asked(1) == 5.0
    hubs.polled(1, 7.0, [], {})
    hubs.missed(1, 9.0)
    assert hubs.asked(1) == 7.0, "what it showed counts from its last answer"


def test_where_entries_say_when_a_long_list_is_asked_before_half_of_it_is_new():
    """Else before ten entries are, since their times are unknown."""
    undated, dated = (HintHubs() for _ in range(2))
    for hubs, dates in ((undated, {}), (dated, {7: 1.0})):
        hubs.add(1)
        hubs.polled(1, 0.0, range(100), dates)
        hubs.polled(1, 1_000.0, range(100), {})
    assert (dated.next - 1_000.0) / (undated.next - 1_000.0) == pytest.approx(5.0)


def test_a_hub_is_due_by_how_much_it_brought_half_of_what_was_a_hundred_days_ago():
    """The first poll of a list says nothing of its pace."""
    hubs, pace = HintHubs(), Novelty(half_life=100 * 86_400.0)
    hubs.add(1)
    number = pace.add()
    seen: list[int] = []
    for read, new in ((0.0, 3), (5e6, 4), (9e6, 2)):
        seen = [*range(len(seen), len(seen) + new), *seen]
        hubs.polled(1, read, seen, {})
        pace.looked(number, min(read, 5e6) if read < 9e6 else 4e6, new * (read > 0))
        assert hubs.next == pytest.approx(read + 10 / pace.rates()[number], rel=1e-9)


def test_hubs_are_asked_at_the_end_that_are_expected_to_have_most_and_no_more_than_there_is_room_for():
    hubs = HintHubs()
    for hub, new in ((1, 4), (2, 9), (3, 6)):
        hubs.add(hub)
        hubs.polled(hub, 0.0, [90], {})
        hubs.polled(hub, 1_000.0, [*range(new), 90], {})
    assert [hubs.best(most, 2_000.0) for most in (3, 2, 1, 0, -1)] == [[2, 3, 1], [2, 3], [2], [], []]
    expected = 1_000.0 * hubs._novelty.rates()[2]
    assert hubs.best(3, 2_000.0, expected) == [2, 3], "as much as is expected is enough"
    assert hubs.best(3, 2_000.0, 1.001 * expected) == [2]
    assert HintHubs().best(3, 2_000.0) == []


def test_a_hub_is_asked_at_the_end_if_half_an_entry_is_expected_of_it():
    hubs = HintHubs()
    hubs.add(1)
    hubs.polled(1, 0.0, [90], {})
    hubs.polled(1, 1_000.0, [1, 2, 90], {})
    half = 1_000.0 + 0.5 / hubs._novelty.rates()[0]
    assert hubs.best(1, half - 1.0) == []
    assert hubs.best(1, half + 1.0) == [1]
