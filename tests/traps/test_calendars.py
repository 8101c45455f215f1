"""Calendars without an end are left after a year of empty pages in each direction; what has more than dates is not."""

from __future__ import annotations

import calendar
import random

import pytest

from benchmarks import bench_traps
from benchmarks.trap_sites import Answer, Site, story
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.links.dated import dated
from sharc_crawler.live.reading.document import words
from sharc_crawler.model import Kind, Result, Sighting, Slot
from sharc_crawler.state.lifecycle import Event
from sharc_crawler.state.pages import NO_PARENT
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.traps.calendars import Calendars
from tests.traps.made_sites import ROOT, Made, crawl, run_through
from tests.traps.tables import add, table

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


@pytest.mark.slow
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


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
def test_a_calendar_of_days_that_leaps_over_years_ends(impolite, strategy):
    visited, _ = crawl(world := WithDays(), impolite, strategy)
    assert {f"{ROOT}page{number}" for number in range(TRUE - 1)} <= set(visited)
    assert {world.month(at) for at in range(-11, 12)} <= set(visited), "a year is looked at in each direction"
    days = sum(
        calendar.monthrange((YEAR * 12 + MONTH - 1 + at) // 12, (MONTH - 1 + at) % 12 + 1)[1] for at in range(-11, 12)
    )
    assert len(visited) <= TRUE + 23 + days, "a year of days, too, and no day of other months"


class Archive(Made):
    """A blog's: months name their days, of which one in 30 has a post that nothing else names."""

    def __init__(self) -> None:
        super().__init__("{}", "a")
        self.posts = [f"{ROOT}post/{at}" for at in range(5 * 28) if at % 30 == 11]

    def content(self, url):
        path = url.removeprefix(ROOT)
        if path == "":
            return "about", [f"{ROOT}a/2020/{month:02}" for month in range(1, 6)]
        if path.startswith("post"):
            return path, [ROOT]
        month, _, day = path.removeprefix("a/2020/").partition("/")
        if not day:
            return "archive", [ROOT, *(f"{url}/{day:02}" for day in range(1, 29))]
        post = f"{ROOT}post/{(int(month) - 1) * 28 + int(day) - 1}"
        return ("a post", [ROOT, post]) if post in self.posts else ("no posts on this day", [ROOT])


@pytest.mark.slow
def test_posts_that_days_of_an_archive_alone_name_are_captured(impolite):
    visited, _ = crawl(world := Archive(), impolite)
    assert set(world.posts) <= set(visited)
    assert len(visited) == 1 + 5 * 29 + len(world.posts)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
def test_events_within_a_year_of_each_other_are_captured(impolite, strategy):
    world = Calendar()
    world.more = {at: [f"feast{at}"] for at in (-33, -22, -11, 5, 16, 27, 28, 39)}
    visited, _ = crawl(world, impolite, strategy)
    assert {f"{ROOT}event/feast{at}" for at in world.more} <= set(visited)
    assert {world.month(at) for at in world.more} <= set(visited)


@pytest.mark.matrix
@pytest.mark.slow
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


@pytest.mark.slow
def test_months_that_others_name_are_captured(impolite):
    world = Calendar()
    front = world.content(ROOT)
    far = [world.month(at) for at in (-100, -60, 48, 99)]
    content = world.content
    world.content = lambda url: (front[0], [*front[1], *far]) if url == ROOT else content(url)
    visited, _ = crawl(world, impolite)
    assert set(far) <= set(visited)
    assert len(visited) <= TRUE + 24 * (len(far) + 1)


@pytest.mark.slow
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
        ("http://h/cal?m=Dec&y=2026", "http://h/cal?m=*&y=*"),
        ("http://h/cal?year=2026&room=blue&month=5", "http://h/cal?year=*&room=blue&month=*"),
        ("http://h/cal?month=5&team=red&year=2026", "http://h/cal?month=*&team=red&year=*"),
        ("http://h/conference-2026/?day=2026-11-03", "http://h/conference-2026/?day=*"),
        ("http://h/rooms/2026.html?week=2026-11-03", "http://h/rooms/2026.html?week=*"),
        ("http://h/conference-2026", None),
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


class Seen:
    """Months of a calendar by their numbers; most show the same."""

    def __init__(self) -> None:
        self.pages, self.calendars = table("about"), Calendars()

    def path(self, at: int) -> str:
        return f"cal/{2020 + at // 12}/{at % 12 + 1:02}"

    def see(self, *months: int, parent: int = 0, content: str = "Mo Tu We") -> int:
        for at in months:
            page = add(self.pages, self.path(at), parent)
            assert self.calendars.saw(page, content, self.pages)
        return page

    def row(self, first: int, last: int) -> int:
        """Months one after the other: the front page names the first, and each the next."""
        page = self.see(first)
        for at in range(first, last, 1 if last > first else -1):
            page = self.see(at + (1 if last > first else -1), parent=page)
        return page

    def waits(self, at: int, parent: int = 0) -> bool:
        page = add(self.pages, self.path(at), parent)
        return self.calendars.doubts(page, self.pages.urls[page])

    def left(self, at: int, parent: int | None = None) -> bool:
        """``parent``: the page that was visited last."""
        parent = len(self.pages) - 1 if parent is None else parent
        return self.calendars.why_not(ROOT + self.path(at), parent) is not None


@pytest.mark.parametrize("way", [1, -1])
def test_a_month_is_left_after_twelve_empty_ones_in_a_row(way):
    seen = Seen()
    seen.row(0, 10 * way)
    assert not seen.left(11 * way)
    last = seen.see(11 * way, parent=len(seen.pages) - 1)
    assert seen.left(12 * way)
    assert not seen.left(12 * way, parent=1), "a page without a date names it"
    assert not seen.calendars.why_not(f"{ROOT}elsewhere/2020/01", last)
    assert not seen.calendars.why_not(f"{ROOT}about", last)


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("at", [0, 5, 11])
def test_no_month_is_left_where_one_of_the_twelve_shows_more(at, way):
    seen = Seen()
    for month in range(12):
        seen.see(month * way, parent=len(seen.pages) - 1 if month else 0, content="feast" if month == at else "Mo")
    assert not seen.left(12 * way)
    seen.see(12 * way, parent=len(seen.pages) - 1, content="Mo")
    assert seen.left(13 * way) is (at == 0)


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize(("feast", "left"), [(13, False), (24, False), (25, True)])
def test_nor_where_one_of_twelve_beyond_it_does(feast, left, way):
    seen = Seen()
    front = seen.row(0, 11 * way)
    for at in range(13, 26):
        seen.see(at * way, parent=NO_PARENT, content="feast" if at == feast else "Mo Tu We")
    assert seen.left(12 * way, parent=front) is left


@pytest.mark.parametrize(("other", "left"), [(24, True), (25, True), (23, False)])
@pytest.mark.parametrize("way", [1, -1])
def test_the_row_is_counted_from_the_nearest_way_in(other, left, way):
    """Two are as near: the earlier one."""
    seen = Seen()
    seen.row(0, 11 * way)
    seen.see(other * way)
    expected = left if way == 1 or other != 24 else False
    assert seen.left(12 * way, parent=len(seen.pages) - 2) is expected


@pytest.mark.parametrize("way", [1, -1])
def test_what_lies_behind_the_nearest_way_in_is_not_counted(way):
    seen = Seen()
    seen.row(0, 4 * way)
    seen.row(5 * way, 15 * way)
    assert not seen.left(16 * way)
    seen.see(16 * way, parent=len(seen.pages) - 1)
    assert seen.left(17 * way)


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize(("other", "left"), [(25, True), (20, False)])
def test_of_what_was_known_before_the_nearer_end_counts(other, left, way):
    seen = Seen()
    for at in (*range(12), other):
        seen.see(at * way, parent=NO_PARENT)
    assert seen.left(12 * way, parent=5) is left


@pytest.mark.parametrize("way", [1, -1])
def test_what_was_known_before_is_one_row(way):
    seen = Seen()
    for at in range(11):
        seen.see(at * way, parent=NO_PARENT)
    assert seen.waits(30 * way), "what was known is looked at first"
    assert not seen.left(11 * way, parent=5)
    seen.see(11 * way, parent=NO_PARENT)
    assert seen.left(12 * way, parent=5)


@pytest.mark.parametrize(
    ("path", "event", "left"),
    [
        ("event/feast", None, False),
        ("day/2020/06/01", None, False),  # of another calendar: nobody knows yet
        ("day/2020/06/01", Event.NO_CONTENT, True),  # it is gone
        ("event/feast", Event.NO_CONTENT, False),
        ("cal/2030/06", None, True),
    ],
)
def test_a_month_that_names_something_else_is_not_empty(path, event, left):
    seen = Seen()
    last = seen.row(0, 11)
    page = add(seen.pages, path, last - 4)
    if event is not None:
        seen.pages.move(page, Event.LEASE)
        seen.pages.move(page, event)
    assert seen.left(12, parent=last) is left


@pytest.mark.parametrize(("text", "left"), [("Mo Tu We", True), ("feast", False)])
def test_days_that_a_month_names_count_by_what_they_show(text, left):
    seen = Seen()
    last = seen.row(0, 11)
    for day, content in ((1, "Mo Tu We"), (2, text), (3, "Mo Tu We")):
        page = add(seen.pages, f"day/2020/06/{day:02}", last - 4)
        seen.calendars.saw(page, content, seen.pages)
    assert seen.left(12, parent=last) is left


def test_pictures_of_a_month_do_not_count():
    seen = Seen()
    last = seen.row(0, 11)
    add(seen.pages, "cal.png", last, Kind.RESOURCE)
    add(seen.pages, "other", 0)
    assert seen.left(12, parent=last)


@pytest.mark.parametrize("way", [1, -1])
def test_a_month_waits_where_it_is_a_year_from_the_way_in_and_nothing_near_it_shows_more(way):
    seen = Seen()
    page = seen.row(0, 3 * way)
    assert not seen.waits(11 * way, page)
    assert seen.waits(12 * way, page)
    assert not seen.waits(12 * way, NO_PARENT), "a seed, or known before"
    seen.see(30 * way, parent=page, content="feast")
    assert [seen.waits((30 + away) * way, page) for away in (-12, -11, 11, 12)] == [True, False, False, True]
    assert not seen.calendars.doubts(1, f"{ROOT}about")
    assert not seen.calendars.doubts(page, f"{ROOT}elsewhere/2020/01")


@pytest.mark.parametrize(("first", "way"), [(1, 1), (27, -1)])
def test_a_day_waits_where_it_is_twelve_days_from_the_way_in(first, way):
    pages, calendars = table(f"day/2020/06/{first:02}"), Calendars()
    calendars.saw(1, "nothing", pages)
    for away in (11, 12, 23, 24):
        add(pages, f"day/2020/06/{first + away * way:02}", 1)
    calendars.saw(add(pages, "day/2021/06/15"), "nothing", pages)
    assert [calendars.doubts(page, pages.urls[page]) for page in (2, 3)] == [False, True]
    calendars.saw(3, "feast", pages)
    assert [calendars.doubts(page, pages.urls[page]) for page in (4, 5)] == [False, True], "near what shows more"


def test_a_day_is_left_after_a_year_of_empty_ones_which_are_no_months():
    pages, calendars = table("about"), Calendars()
    days = [f"cal/{2020 + month // 12}/{month % 12 + 1:02}/{day:02}" for month in range(14) for day in range(1, 29)]
    page = 0
    for at, day in enumerate(days[:366]):
        assert at % 50 or not calendars.why_not(ROOT + day, page), "no year was seen"
        calendars.saw(page := add(pages, day, page), "nothing", pages)
    assert "366 pages in a row" in calendars.why_not(ROOT + days[366], page)
    assert not calendars.why_not(f"{ROOT}cal/2021/03", page), "days say nothing of months, whose addresses are alike"


def test_pages_without_dates_lead_into_a_calendar_at_several_places():
    seen = Seen()
    seen.row(0, 3)
    seen.see(30, parent=1)
    assert not seen.waits(41, 1)
    seen.see(60, parent=len(seen.pages) - 1)
    assert seen.waits(71, 1), "a month led there"


def test_a_first_month_that_another_names_leads_into_it():
    seen = Seen()
    known = seen.see(0, parent=NO_PARENT)
    seen.see(1, parent=known)
    assert not seen.waits(12, known)
    assert seen.waits(13, known)


def test_twenty_calendars_are_watched():
    pages, calendars = table("about"), Calendars()
    for number in range(20):
        assert calendars.has(f"{ROOT}new/2020/06")
        calendars.saw(add(pages, f"cal{'abcdefghijklmnopqrst'[number]}/2020/06"), "Mo", pages)
    assert not calendars.has(f"{ROOT}new/2020/06")
    assert calendars.has(f"{ROOT}cala/2021/01")
    assert not calendars.saw(1, "about", pages)


class Blog(Site):
    """Months without end, whose texts change at each answer; the posts of three years are named by months alone."""

    form = "/archive/{year}/{month:02}"

    def __init__(self) -> None:
        super().__init__(7)
        self.posts = {-2 * at: at for at in range(18)}  # by month, counted from this one
        self.true: set[object] = set(self.posts.values())
        self.of = {self.url(at): at for at in range(-900, 900)}

    def url(self, at: int) -> str:
        year, month = divmod(YEAR * 12 + MONTH - 1 + at, 12)
        name = calendar.month_name[month + 1]
        return self.form.format(year=year, month=month + 1, name=name.lower(), short=name[:3].lower())

    def month(self, at: int) -> str:
        """What its page says before what it says of its posts."""
        year, month = divmod(YEAR * 12 + MONTH - 1 + at, 12)
        return f"{calendar.month_name[month + 1]} {year}."

    def document(self, path: str) -> Answer:
        noise = f"Ticket {self.name('letters')}, {self.dice.randrange(10**6)} visits."
        if path == "/":
            return Answer(f"Welcome. {noise}", [self.url(0)])
        if path.startswith("/post/"):
            at = int(path.removeprefix("/post/"))
            return Answer(f"{story(at)} {noise}", ["/"], at)
        if (at := self.of.get(path)) is None:
            return Answer("There is no such page.", ["/"], status=404)
        posts = [f"/post/{self.posts[at]}"] if at in self.posts else []
        said = f"{self.month(at)} {'One post.' if posts else 'No posts.'} {noise}"
        return Answer(said, ["/", *posts, self.url(at - 1), self.url(at + 1)], at if at in self.true else None)


FORMS = ["/{name}-{year}", "/events/{year}/{short}/", "/cal.php?monat={name}&jahr={year}"]


@pytest.mark.parametrize("strategy", ["bfs", "dfs", "sharc-selective"])
def test_a_blog_is_captured_whose_months_have_no_end_and_change_their_texts(strategy):
    site = Blog()
    run = bench_traps.Run(site, strategy)
    assert not run.lost
    assert run.ended
    assert len(run.visited) <= 1 + len(site.true) + 36 + 4 * 12


@pytest.mark.parametrize("form", FORMS)
def test_so_it_is_where_months_have_names(monkeypatch, form):
    monkeypatch.setattr(Blog, "form", form)
    test_a_blog_is_captured_whose_months_have_no_end_and_change_their_texts("bfs")


class Chronicle(Blog):
    """Each month of nine years says what no other does; none names anything."""

    def __init__(self) -> None:
        super().__init__()
        self.posts = {}
        self.true = set(range(-108, 1))

    def month(self, at: int) -> str:
        return f"{super().month(at)} {f'Then came number{abs(at)}x.' if at in self.true else ''}"


class Menu(Chronicle):
    """Each month of nine years serves eight dishes of twenty."""

    dishes = tuple(f"dish{letter}" for letter in "abcdefghijklmnopqrst")

    def month(self, at: int) -> str:
        served = random.Random(at).sample(self.dishes, 8) if at in self.true else ["closed"]
        return f"{Blog.month(self, at)} {' '.join(served)}."


@pytest.mark.parametrize("strategy", ["bfs", "dfs", "sharc-selective"])
@pytest.mark.parametrize("site", [Chronicle, Menu])
def test_months_are_captured_that_say_something_each_time_though_they_change(site, strategy):
    run = bench_traps.Run(site(), strategy)
    assert not run.lost
    assert run.ended


@pytest.mark.parametrize(
    ("path", "date"),
    [
        ("events/maerz-2027", (2027, 3)),
        ("events/2026/aug/", (2026, 8)),
        ("kalender?jahr=2027&monat=Oktober", (2027, 10)),
        ("market-2027", None),
        ("kalender?jahr=2027&monat=market", None),
    ],
)
def test_a_month_may_have_a_name(path, date):
    found = dated(ROOT + path)
    assert (found and divmod(found.order // 32 - 1, 12)) == (date and (date[0], date[1] - 1))
