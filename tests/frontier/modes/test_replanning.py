"""The revisits are planned anew at T, by what the sitemap says then; a restart keeps that order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.model import Fetch, Hints, Kind, Outcome, Result, Sighting, Slot, Validators
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.cut_off import run_answered

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = "http://a.example/"
MAP = ROOT + "map.xml"
PAGES = [f"{ROOT}{i}" for i in range(60)]
LOST = set(PAGES[10:20])  #: change while the visits are made
BEGIN, STEP = 1e9, 60.0
DAY = 86_400.0


def listed(now: float, lastmods: bool = True) -> list[Sighting]:
    """The sitemap: pages hotter and colder; at T it tells of the lost ones."""
    ages = {url: (1 + number % 7) * DAY * (1 + number) for number, url in enumerate(PAGES)}
    changed = {url: now - 1.0 if now > BEGIN + 30 * STEP and url in LOST else BEGIN - ages[url] for url in PAGES}
    return [Sighting(url, via="sitemap", hints=Hints(changed[url] if lastmods else None)) for url in PAGES]


def answer(fetch: Fetch, now: float, header: bool) -> Outcome:
    if fetch.kind is Kind.ROBOTS:
        return Outcome(Result.GONE, now, now + 0.01, 404)
    changed = fetch.url in LOST and fetch.slot is Slot.SECOND
    said = Validators(None, "Sun, 02 Sep 2001 00:00:00 GMT" if fetch.url in LOST else "Sun, 02 Sep 1990 00:00:00 GMT")
    digest = f"sha1:{fetch.url}{changed}"
    return Outcome(Result.OK, now, now + 0.01, 200, digest, validators=said if header else Validators())


class Crawl:
    """A capture in virtual time, cut off after so many steps, as often as one likes."""

    def __init__(self, cuts: list[int], lastmods: bool = True) -> None:
        self.fetches: list[Fetch] = []  #: that were answered
        self.store, self.politeness, self.lastmods = MemoryStore(), Politeness(delay=STEP), lastmods
        frontier = Frontier(self.politeness, self.store)
        frontier.open(
            CaptureSpec("a.example", (PAGES[0],), sitemaps=(MAP,), strategy="sharc-selective", hints=0), BEGIN
        )
        now = BEGIN
        for steps in (*cuts, 10**6):
            now = run_answered(frontier, now, steps, self._answered)
            frontier = Frontier(self.politeness, self.store)
            frontier.restore(self.store.load(), now)
        assert frontier.done

    def _answered(self, fetch: Fetch, now: float) -> tuple[Outcome, Sequence[Sighting]]:
        self.fetches.append(fetch)
        links = listed(now, self.lastmods) if fetch.url == MAP else ()
        return answer(fetch, now, header=not self.lastmods), links

    def revisits(self) -> list[str]:
        return [one.url for one in self.fetches if one.slot is Slot.SECOND and one.kind is Kind.PAGE]

    def visits(self) -> list[str]:
        return [one.url for one in self.fetches if one.slot is not Slot.SECOND and one.kind is Kind.PAGE]


@pytest.mark.slow
def test_pages_that_the_sitemap_says_have_changed_are_revisited_last():
    crawl = Crawl([])
    assert set(crawl.revisits()[-len(LOST) :]) == LOST
    assert crawl.revisits() != [url for url in reversed(crawl.visits()) if url in set(crawl.revisits())]


def test_headers_speak_where_the_sitemap_is_silent():
    crawl = Crawl([], lastmods=False)
    assert crawl.revisits() != [url for url in reversed(crawl.visits()) if url in set(crawl.revisits())]
    late = [place for place, url in enumerate(crawl.revisits()) if url in LOST]
    assert sum(late) / len(late) < 30  # as hot as they are, they are revisited soon after T


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("lastmods", [True, False])
def test_a_restart_keeps_the_order(lastmods):
    whole = Crawl([], lastmods)
    turn = next(place for place, one in enumerate(whole.fetches, 1) if one.slot is Slot.SECOND)
    assert len(whole.revisits()) > 50
    for cuts in ([turn], [turn + 1], [turn + 2], [turn + 9], [turn + 40], [turn + 3, 1, 8, 12]):
        again = Crawl(cuts, lastmods)
        assert again.revisits() == whole.revisits(), cuts
        assert sum(one.url == MAP for one in again.fetches) == sum(one.url == MAP for one in whole.fetches)
