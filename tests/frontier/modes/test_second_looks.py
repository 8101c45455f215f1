"""Pages that the sitemap says have changed since their visit are visited again before T; a restart changes nothing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.opening import Parts
from sharc_crawler.model import (
    NO_VALIDATORS,
    Fetch,
    Hints,
    Kind,
    Outcome,
    Result,
    Sighting,
    Slot,
    Validators,
    Verdict,
)
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.cut_off import run_answered

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = "http://a.example/"
MAP = ROOT + "map.xml"
PAGES = [f"{ROOT}{i}" for i in range(120)]
BEGIN, STEP, DAY = 1e9, 60.0, 86_400.0
CHANGED = BEGIN + 90 * STEP  #: most visits are made by then
LOST = set(PAGES[::10])
GONE = PAGES[40]  #: from then on


class Site:
    """Its sitemap is honest, or says of every page that it changed a second ago; it may name new pages, too."""

    def __init__(self, honest: bool = True, back: float = 1e10, new: Sequence[str] = ()) -> None:
        self.honest, self.back, self.new = honest, back, new

    def listed(self, now: float) -> list[Sighting]:
        """The sitemap."""
        words = [(CHANGED if now > CHANGED and url in LOST else BEGIN - (1 + n) * DAY) for n, url in enumerate(PAGES)]
        told = words if self.honest else [now - 1.0] * len(PAGES)
        new = [Sighting(url, via=MAP, hints=Hints(CHANGED)) for url in self.new if now > CHANGED]
        return [*(Sighting(url, via=MAP, hints=Hints(word)) for url, word in zip(PAGES, told, strict=True)), *new]

    def answer(self, fetch: Fetch, now: float) -> Outcome:
        """What a request at ``now`` brings."""
        if fetch.kind is Kind.ROBOTS or (fetch.url == GONE and CHANGED < now < self.back):
            return Outcome(Result.GONE, now, now + 0.01, 404)
        return Outcome(
            Result.OK, now, now + 0.01, 200, f"sha1:{fetch.url}{fetch.url in LOST - {GONE} and now > CHANGED}"
        )


class Crawl:
    """A capture in virtual time, cut off after so many steps, as often as one likes."""

    def __init__(
        self, site: Site, cuts: tuple[int, ...] = (), strategy: str = "sharc-selective", **more: float
    ) -> None:
        self.site, self.fetches, self.store = site, list[Fetch](), MemoryStore()
        asked = Parts(former=lambda _, url: Validators(etag='"former"') if url != MAP else NO_VALIDATORS)
        frontier = Frontier(Politeness(delay=STEP), self.store, asked)
        frontier.open(CaptureSpec("a.example", (PAGES[0],), strategy, sitemaps=(MAP,), **more), BEGIN)
        now = BEGIN
        for steps in (*cuts, 10**6):
            now = run_answered(frontier, now, steps, self._answered)
            frontier = Frontier(Politeness(delay=STEP), self.store, asked)
            frontier.restore(self.store.load(), now)
        assert frontier.done
        state = self.store.load()
        self.notes = frontier.capture.notes
        self.verdicts = {state.pages[row.page].url: row.verdict for row in state.judgements}

    def _answered(self, fetch: Fetch, now: float) -> tuple[Outcome, Sequence[Sighting]]:
        self.fetches.append(fetch)
        return self.site.answer(fetch, now), self.site.listed(now) if fetch.url == MAP else ()

    def again(self) -> list[str]:
        """Pages visited more than once before T."""
        visits = Counter(one.url for one in self.fetches if one.kind is Kind.PAGE and one.slot is not Slot.SECOND)
        return [url for url, times in visits.items() for _ in range(times - 1)]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["sharc-selective", "bfs", "sharc-revisits"])
def test_what_changed_before_t_is_won_back(strategy):
    crawl, without = (Crawl(Site(), strategy=strategy, hints=share) for share in (0.1, 0.0))
    lost = {url for url, verdict in without.verdicts.items() if verdict is Verdict.CHANGED}
    assert without.again() == []
    assert len(lost) > 5
    assert sorted(crawl.again()) == sorted(lost), "each once, the one that is gone, too"
    assert {url for url, verdict in crawl.verdicts.items() if verdict is not Verdict.COHERENT} <= {GONE}
    assert "visited again" in " ".join(crawl.notes)


@pytest.mark.slow
@pytest.mark.parametrize("cuts", [(), (127,)])
def test_what_changed_is_won_back_though_the_same_reading_names_new_pages(cuts):
    new = [f"{ROOT}new/{number}" for number in range(6)]
    crawl = Crawl(Site(new=new), cuts, hints=0.3)
    assert {*new} <= crawl.verdicts.keys()
    assert len(crawl.again()) > len(LOST) / 2
    assert {url for url, verdict in crawl.verdicts.items() if verdict is not Verdict.COHERENT} <= {GONE}


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["sharc-online", "bfs:revisits=none"])
def test_orders_of_single_visits_visit_once(strategy):
    pages = [one for one in Crawl(Site(), strategy=strategy, hints=0.1).fetches if one.kind is Kind.PAGE]
    assert {one.slot for one in pages} == {Slot.ONLY}
    assert sorted(one.url for one in pages) == sorted(PAGES)


@pytest.mark.slow
def test_all_are_visited_again_before_the_first_revisit():
    slots = [one.slot for one in Crawl(Site()).fetches if one.kind is Kind.PAGE]
    assert Slot.SECOND not in slots[: slots.index(Slot.SECOND)]
    assert {*slots[slots.index(Slot.SECOND) :]} == {Slot.SECOND}


@pytest.mark.slow
def test_hints_that_are_not_true_are_soon_left():
    crawl = Crawl(Site(honest=False), hints=1.0)
    assert 0 < len(crawl.again()) < len(PAGES) / 4
    assert list(crawl.verdicts.values()).count(Verdict.CHANGED) <= len(LOST)


@pytest.mark.slow
def test_what_a_former_capture_has_is_asked_by_at_the_first_visit_alone():
    visits = [one for one in Crawl(Site()).fetches if one.kind is Kind.PAGE and one.slot is Slot.FIRST]
    conditional = [one.url for one in visits if one.validators]
    assert sorted(conditional) == sorted({one.url for one in visits}), "each once"
    assert len(visits) > len(conditional)


@pytest.mark.slow
def test_a_share_is_never_exceeded():
    assert len(Crawl(Site(), hints=0.03).again()) <= 0.03 * 2 * len(PAGES)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("cuts", [(), (135,), (180,)])
def test_a_page_that_was_gone_before_t_has_changed_though_it_comes_back(cuts):
    site = Site(back=BEGIN + 145 * STEP)
    crawl = Crawl(site, cuts, hints=0.3)
    shown = [one.slot for one in crawl.fetches if one.url == GONE]
    assert shown[-1] is Slot.SECOND
    assert len(shown) >= 3
    assert crawl.verdicts[GONE] is Verdict.CHANGED


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("cut", [62, 64, 122, 126, 130, 133])
def test_a_restart_loses_nothing(cut):
    crawl = Crawl(Site(), (cut, 3))
    assert len(crawl.verdicts) == len(PAGES)
    assert list(crawl.verdicts.values()).count(Verdict.CHANGED) <= 1
    assert max(Counter(crawl.again()).values()) == 1


def test_t_lies_behind_a_second_look_that_follows_the_last_page():
    """The page visited last names another one, which is not there; before that is asked for, a feed is read again."""
    front, feed, new = PAGES[0], ROOT + "feed.xml", ROOT + "new"
    named = {
        MAP: [Sighting(url, via=MAP, hints=Hints(changefreq="monthly")) for url in (*PAGES[1:60], feed)],
        front: [Sighting(new)],
        feed: [Sighting(PAGES[1], hints=Hints(BEGIN - DAY))],
    }
    named[MAP].append(Sighting(front, via=MAP, hints=Hints(changefreq="hourly")))
    frontier, made = Frontier(Politeness(delay=STEP), MemoryStore()), list[tuple[Fetch, float]]()
    frontier.open(CaptureSpec("a.example", (front,), "sharc-selective", sitemaps=(MAP,)), BEGIN)

    def answered(fetch: Fetch, now: float) -> tuple[Outcome, Sequence[Sighting]]:
        made.append((fetch, now))
        gone = fetch.kind is Kind.ROBOTS or fetch.url == new
        outcome = Outcome(
            Result.GONE if gone else Result.OK, now, now + 0.01, 404 if gone else 200, "sha1:" + fetch.url
        )
        return outcome, named.get(fetch.url, ())

    run_answered(frontier, BEGIN, 10**6, answered)
    firsts = [(fetch.url, now) for fetch, now in made if fetch.kind is Kind.PAGE and fetch.slot is not Slot.SECOND]
    assert [url for url, _ in firsts[-4:]] == [feed, front, feed, new]
    assert firsts[-2][1] < frontier.capture.reference


def test_what_may_be_t_ends_a_round_of_second_looks():
    """The budget had no room for another one before the last page was handed out, and would have some behind it."""
    crawl = Crawl(Site(), hints=0.3, max_requests=249)
    last = next(at for at, fetch in enumerate(crawl.fetches) if fetch.kind is Kind.PAGE and fetch.slot is Slot.ONLY)
    assert crawl.again()
    assert {fetch.slot for fetch in crawl.fetches[last + 1 :]} == {Slot.SECOND}
    assert Verdict.UNKNOWN not in crawl.verdicts.values()
