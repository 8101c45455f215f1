"""Calendars without an end are left after a year of empty pages in each direction; what has more than dates is not."""

from __future__ import annotations

import calendar

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.links.dated import dated
from sharc_crawler.live.reading.document import words
from sharc_crawler.model import Kind, Result, Sighting, Slot
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.traps.made_sites import ROOT, Made, crawl, run_through

TRUE = 12
YEAR, MONTH = 2026, 11
ADDRESSES = ["cal/{}/{:02}", "c/{}/{}", "events/{}-{:02}/", "cal?year={}&month={}", "?m={1}&page=cal&y={0}", "{}{:02}"]


class Calendar(Made):
    """Twelve pages name this month, each month the next and the one before, and what ``more`` says."""

    def __init__(self, address: str = ADDRESSES[0]) -> None:
        super().__init__("{}", "a")
        self.address = address
        self.more: dict[int, list[str]] = {}  # by month, counted from this one
        self.of = {self.month(at): at for at in range(-300, 300)}

    def month(self, at: int) -> str:
        year, month = divmod(YEAR * 12 + MONTH - 1 + at, 12)
        return ROOT + self.address.format(year, month + 1)

    def content(self, url):
        if url not in self.of:
            named = [f"{ROOT}page{number}" for number in range(TRUE - 1)] if url == ROOT else []
            return url, [ROOT, *named, self.month(0)]
        at = self.of[url]
        year, month = divmod(YEAR * 12 + MONTH - 1 + at, 12)
        weeks = calendar.Calendar().monthdatescalendar(year, month + 1)
        grid = " ".join(str(day.day) for week in weeks for day in week)
        text = f"{calendar.month_name[month + 1]} {year} Mo Tu We Th Fr Sa Su {grid} " + " ".join(self.more.get(at, []))
        return words(text, [], url), [ROOT, self.month(at + 1), self.month(at - 1), *self.named(at)]

    def named(self, at: int) -> list[str]:
        """What else a month names."""
        return [f"{ROOT}event/{one}" for one in self.more.get(at, [])]


@pytest.mark.parametrize(
    ("address", "strategy"),
    [*((one, "bfs") for one in ADDRESSES), (ADDRESSES[0], "sharc-selective"), (ADDRESSES[3], "dfs")],
)
def test_a_calendar_beside_twelve_pages_ends(impolite, address, strategy):
    store = run_through(world := Calendar(address), impolite, strategy, 0)
    visited = [fetch.url for _, fetch in world.requests if fetch.slot is not Slot.SECOND and fetch.kind is Kind.PAGE]
    assert {f"{ROOT}page{number}" for number in range(TRUE - 1)} <= set(visited)
    assert {world.month(at) for at in range(-11, 12)} <= set(visited), "a year is looked at in each direction"
    assert len(visited) <= 3 * TRUE
    left = [row.outcome.error for row in store.load().visits if row.outcome.result is Result.REFUSED]
    assert len(left) == 2 and all("in a calendar" in why and "traps=0" in why for why in left)


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "sharc-online"])
def test_what_an_archive_knows_of_a_calendar_is_no_way_into_it(impolite, strategy):
    """Each capture of a collection begins with all pages of the former ones: the year is not counted from each."""
    known, sizes = [], []
    for _ in range(4):
        world = Calendar()
        store = MemoryStore()
        frontier = Frontier(impolite, store)
        frontier.open(CaptureSpec("h", (ROOT,), strategy=strategy, sitemaps=(), hops=0, limit=2_000), world.now)
        frontier.schedule([Sighting(url, via="history") for url in known], world.now)
        world.run(frontier, most=9_000)
        asked = [fetch for _, fetch in world.requests if fetch.slot is not Slot.SECOND and fetch.kind is Kind.PAGE]
        known = sorted({fetch.url for fetch in asked})
        sizes.append(len(known))
    assert sizes[0] == TRUE + 23
    assert sizes[-1] <= sizes[0] + 6, "the same year, and what was named before two empty pages were known"


class WithDays(Calendar):
    """Each month names its days, too, each of which names its month; and the same month of other years."""

    def content(self, url):
        if "/day/" in url:
            year, month, _ = map(int, url.rsplit("/", 3)[1:])
            return "nothing on this day", [ROOT, self.month((year - YEAR) * 12 + month - MONTH)]
        return super().content(url)

    def named(self, at):
        year, month = divmod(YEAR * 12 + MONTH - 1 + at, 12)
        days = calendar.monthrange(year, month + 1)[1]
        return [
            self.month(at + 12),
            self.month(at - 12),
            *(f"{ROOT}day/{year}/{month + 1:02}/{day:02}" for day in range(1, days + 1)),
        ]


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
def test_a_calendar_of_days_that_leaps_over_years_ends(impolite, strategy):
    visited, _ = crawl(world := WithDays(), impolite, strategy)
    assert {f"{ROOT}page{number}" for number in range(TRUE - 1)} <= set(visited)
    assert {world.month(at) for at in range(-11, 12)} <= set(visited), "a year is looked at in each direction"
    assert len(visited) <= TRUE + 60


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
def test_events_within_a_year_of_each_other_are_captured(impolite, strategy):
    world = Calendar()
    world.more = {at: [f"feast{at}"] for at in (-33, -22, -11, 5, 16, 27, 28, 39)}
    visited, _ = crawl(world, impolite, strategy)
    assert {f"{ROOT}event/feast{at}" for at in world.more} <= set(visited)
    assert {world.month(at) for at in world.more} <= set(visited)


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
def test_issues_whose_pages_differ_in_dates_alone_are_captured_with_what_they_lead_to(impolite, strategy):
    """A newspaper's: a month names its issues, of which each is another document."""

    class Newspaper(Calendar):
        def content(self, url):
            return (url, []) if url.endswith(".pdf") else super().content(url)

        def named(self, at):
            return [self.month(at) + f"/{day:02}.pdf" for day in (5, 19)]

    world = Newspaper()
    visited, _ = crawl(world, impolite, strategy, hops=40)
    issues = {issue for at in range(-38, 39) for issue in world.named(at)}
    assert issues <= set(visited)


def test_months_that_others_name_are_captured(impolite):
    world = Calendar()
    front = world.content(ROOT)
    far = [world.month(at) for at in (-100, -60, 48, 99)]
    content = world.content
    world.content = lambda url: (front[0], [*front[1], *far]) if url == ROOT else content(url)
    visited, _ = crawl(world, impolite)
    assert set(far) <= set(visited)
    assert len(visited) <= TRUE + 24 * (len(far) + 1)


def test_what_was_seen_of_a_calendar_holds_after_a_restart(impolite):
    visited = []
    for every in (0, 7):
        run_through(world := Calendar(), impolite, "bfs", every)
        visited.append({fetch.url for _, fetch in world.requests})
    assert visited[0] == visited[1]


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://h/cal/2026/11/23", "http://h/cal/*"),
        ("http://h/cal/2026/11/", "http://h/cal/*/"),
        ("http://h/c?date=2026-11-23&view=day", "http://h/c?date=*&view=day"),
        ("http://h/20261123.html", "http://h/*.html"),
        ("http://h/cal?cal_m=3&cal_y=2026", "http://h/cal?cal_m=*&cal_y=*"),
        ("http://h/2026/11/a-story", None),
        ("http://h/2026/13", None),
        ("http://h/item/202611", "http://h/item/*"),
        ("http://h/item/20261", None),
        ("http://h/item/1202611", None),
        ("http://h2026-11/x", None),
        ("http://h/2026", None),
    ],
)
def test_which_addresses_have_a_calendars_date(url, place):
    date = dated(url)
    assert (date and date.place) == place
