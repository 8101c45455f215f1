"""A capture holds the rates that it was planned by against the archive, visit by visit."""

import csv
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.modes.rate_tests import RateTests
from sharc_crawler.frontier.opening import LastSeen, Parts
from sharc_crawler.lab.experiment import RunSpec, run
from sharc_crawler.lab.history import HistorySpec
from sharc_crawler.model import Done, Hints, Outcome, RateEstimate, Result, Sighting, Validators, Wait
from sharc_crawler.rates.tested import RateTrust, since
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.modes.stubs import Noted

DAY, START, PAGES = 86_400.0, 1.4e9, 240
COLD, HOT = 1 / (400 * DAY), 3 / (30 * DAY)


def world(folder: Path, swapped: bool, seed: int = 0) -> HistorySpec:
    """A quarter of the pages was hot in the year before; in the month that follows, these or all others."""
    rng = np.random.default_rng(seed)
    hot = rng.random(PAGES) < 0.25
    folder.mkdir(exist_ok=True)
    file = folder / "world.csv"
    with file.open("w", newline="") as out:
        lines = csv.writer(out)
        lines.writerow(["page", "created", "alive_at_start", "deleted", "hist", "changes"])
        for page in range(PAGES):
            spans = ((hot[page], START - 365 * DAY, START), (hot[page] ^ swapped, START, START + 30 * DAY))
            times = (
                np.sort(rng.uniform(begin, end, rng.poisson((HOT if busy else COLD) * (end - begin))))
                for busy, begin, end in spans
            )
            lines.writerow(
                [f"/{page}", START - 800 * DAY, 1, "", *(";".join(f"{t:.0f}" for t in row) for row in times)]
            )
    return HistorySpec(str(file), "/0", START, START + 30 * DAY)


def lost(spec: HistorySpec, strategy: str) -> int:
    return int(run(RunSpec(spec, strategy, "history", "known")).facts["incoherent"])


@pytest.mark.slow
def test_where_hot_and_cold_are_swapped_little_is_lost_beside_bfs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = world(tmp_path, swapped=True)
    bfs, moved = lost(spec, "bfs"), lost(spec, "sharc-selective")
    monkeypatch.setattr(RateTests, "test", lambda self, strategy: None)
    assert moved <= 1.05 * bfs < lost(spec, "sharc-selective")


@pytest.mark.long
def test_where_the_past_holds_hardly_anything_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few of many sites are misread, by a calm page that changes; some lose by it, some gain."""
    specs = [world(tmp_path / f"{seed}", swapped=False, seed=seed) for seed in range(8)]
    found = sum(lost(spec, "sharc-selective") for spec in specs)
    monkeypatch.setattr(RateTests, "test", lambda self, strategy: None)
    assert found <= 1.05 * sum(lost(spec, "sharc-selective") for spec in specs)


class Known:
    """The archive's rates: a tenth of the pages was hot."""

    def rates(self, sightings: list[Sighting], now: float) -> list[RateEstimate]:
        return [
            RateEstimate(1e-4 if int(one.url.rpartition("/")[2]) % 10 == 0 else 1e-8, "history") for one in sightings
        ]

    def swings(self):
        return None

    def weight(self, sighting: Sighting) -> float:
        return 1.0


class TooCalm(Known):
    """The order is right, but hot pages are held far too calm, and one for hotter than all others together."""

    def rates(self, sightings: list[Sighting], now: float) -> list[RateEstimate]:
        pages = [int(one.url.rpartition("/")[2]) for one in sightings]
        return [RateEstimate((7e-4 if page % 5 < 2 else 1e-5) if page else 0.25, "history") for page in pages]


def captured(
    archive: float,
    changed: float,
    hints: Hints | None = None,
    modified: str | None = None,
    masks: str = "",
    *,
    every: int = 3,
    pages: int = 100,
    known: Known | None = None,
    cut: float = -1.0,
) -> list[str]:
    """The notes of a capture: ``changed`` of ``every`` pages are others than what the archive saw at ``archive``.

    At ``cut`` it is interrupted, and the archive has its visits.
    """
    store = MemoryStore()
    own: dict[str, LastSeen] = {}

    def seen(_: CaptureSpec, url: str, before: float) -> LastSeen:
        last = own.get(url)
        return last if last and last.time < before else LastSeen(archive, "old", "sha1:old")

    parts = Parts(rates=lambda _: known or Known(), seen=seen)
    frontier = Frontier(Politeness(delay=1.0, obey_robots=False), store, parts)
    capture = frontier.open(CaptureSpec("h", ("http://h/0",), sitemaps=(), discover=False, resources=False), 0.0)
    frontier.schedule([Sighting(f"http://h/{page}", hints=hints) for page in range(pages)], 0.0)
    now, visited = 0.0, list[str]()
    while not isinstance(what := frontier.next(now), Done):
        if isinstance(what, Wait):
            now = what.until
            continue
        if now == cut:
            frontier = Frontier(Politeness(delay=1.0, obey_robots=False), store, parts)
            own = dict.fromkeys(visited, LastSeen(0.5, "new"))
            frontier.restore(store.load(), now)
            capture = frontier.ledger.capture
            now += 1.0
            continue
        visited.append(what.url)
        digest = "new" if int(what.url.rpartition("/")[2]) % every < changed else "old"
        validators = Validators(None, modified)
        content = f"sha1:{digest}{masks}"
        frontier.finished(what, Outcome(Result.OK, now, now, 200, digest, content, validators, date=now), [])
        now += 1.0
    notes = [note for note in store.load().captures[0].notes if "change rates were" in note]
    assert capture.mode._tests.failed is bool(notes)
    return notes


def test_after_an_interruption_its_own_visits_are_no_former_captures() -> None:
    (whole,), (cut,) = captured(-50.0, 1, pages=40), captured(-50.0, 1, pages=40, cut=15.0)
    assert [note.partition(" visits")[0] for note in (cut, whole)] == [whole.partition(" visits")[0]] * 2


@pytest.mark.slow
def test_a_reader_is_told() -> None:
    assert captured(-50.0, 1)
    assert not captured(-50.0, 0)


def test_a_reader_is_told_that_the_order_was_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sharc_crawler.rates.tested.rate_trust", lambda *_: RateTrust(0.7))
    assert captured(-50.0, 1, pages=25)[0].startswith("the pages differ less in how often they change than they did")


def test_those_that_changed_before_change_again_however_calm_they_were_held() -> None:
    assert not captured(-100.0, 2, every=5, pages=35, known=TooCalm())


def test_what_other_masks_see_is_not_compared() -> None:
    assert not captured(-50.0, 1, masks="+0a1b2c3d")


def test_a_rebuild_of_all_pages_is_no_test_of_the_order() -> None:
    assert not captured(-50.0, 3)


@pytest.mark.slow
def test_what_the_sitemap_had_told_of_is_no_surprise() -> None:
    """Pages that changed between the archive's look and the sitemap's tell nothing, unless the server dates them."""
    assert not captured(-1e6, 1, Hints(-500.0))
    assert not captured(-1e6, 1, Hints(-500.0), "Wed, 31 Dec 1969 23:51:40 GMT")


# -- at its door -------------------------------------------------------------------------------------------------------


class Held:
    """Pages by the state they are in, and their rates."""

    def __init__(self, queued=(), visited=(), rates=(), urls=()) -> None:
        self._in, self.rates, self.urls = {State.QUEUED: list(queued), State.VISITED: list(visited)}, rates, urls

    def pages_in(self, state: State) -> list[int]:
        return self._in[state]


def testing(pages: Held | None = None, seen=None, strategy=None, started: float = 100.0) -> RateTests:
    """A capture's tests at their beginning."""
    return RateTests(SimpleNamespace(started=started, strategy=strategy), pages or Held(), seen or (lambda *_: None))


def found(trust: float, factor: float = 2.0, compared: int = 20, changed: int = 5) -> RateTests:
    """Tests that have found rates of a mean of 0.5 to be trusted so far."""
    tests = testing()
    tests._found, tests._mean, tests._level = RateTrust(trust, factor), 0.5, 1.0
    tests._compared = {page: (10.0, page < changed) for page in range(compared)}
    return tests


def test_at_first_rates_are_what_they_were_held_for():
    tests, rates = testing(), [0.1]
    assert (tests.failed, tests.note()) == (False, "")
    assert tests.planned([1], rates) is tests.learned([1], rates) is rates


@pytest.mark.parametrize(
    ("trust", "what", "how"),
    [
        (-0.7, "that change are not those that", "turned round"),
        (0.0, "that change are not those that", "moved towards equal ones"),
        (0.7, "differ less in how often", "moved towards equal ones"),
    ],
)
def test_a_reader_is_told_how_many_visits_speak_against_the_rates(trust, what, how):
    tests = found(trust, compared=3_000, changed=1_200)
    assert tests.failed is True
    assert f"the pages {what}" in tests.note()
    assert tests.note().endswith(f": change rates were {how}")
    assert "(1,200 of 3,000 visits compared with the archive found another page)" in tests.note()


LASTMODS = Hints(lastmod=50.0, lastmod_precision=10.0)
MODIFIED = "Thu, 01 Jan 1970 00:01:{:02} GMT"


@pytest.mark.parametrize(
    ("said", "seen_at", "content", "modified", "compared"),
    [
        (None, 40.0, "old", None, (80.0, False)),
        (None, 40.0, "new", None, (80.0, True)),
        (None, 119.0, "new", None, (1.0, True)),
        (None, 120.0, "new", None, None),  # it was seen no earlier
        # a sitemap that was read at the capture's beginning: it had not changed since the archive saw it
        (LASTMODS, 60.0, "new", None, (20.0, True)),
        (LASTMODS, 110.0, "new", None, (10.0, True)),
        (LASTMODS, 59.0, "new", None, (61.0, True)),  # it may have
        (LASTMODS, 50.0, "new", None, (70.0, True)),
        # it had: has it changed once more since?
        (LASTMODS, 49.0, "new", None, None),
        (LASTMODS, 49.0, "new", MODIFIED.format(2), (20.0, False)),
        (LASTMODS, 49.0, "new", MODIFIED.format(3), (20.0, True)),
        (LASTMODS, 49.0, "old", MODIFIED.format(3), (20.0, True)),
        (Hints(changefreq="daily"), 40.0, "new", None, (80.0, True)),
    ],
)
def test_a_visit_is_held_against_what_the_archive_saw_and_the_sitemap_said(said, seen_at, content, modified, compared):
    asked = []
    tests = testing(
        Held(urls={4: "http://h/4"}), lambda *given: asked.append(given) or LastSeen(seen_at, "old", "sha1:old")
    )
    tests.stated(4, said)
    outcome = Outcome(Result.OK, 120.0, 121.0, 200, content, f"sha1:{content}", Validators(None, modified))
    tests.visited(4, outcome._replace(result=Result.FAILED))
    assert not asked
    tests.visited(4, outcome)
    assert asked == [("http://h/4", 100.0)], "before the capture began"
    assert tests._compared == ({} if compared is None else {4: compared})


def test_what_a_sitemap_says_once_visits_are_made_is_no_news_of_before():
    tests = testing(strategy="door")
    tests.stated(4, LASTMODS)
    assert not tests._latest
    never = testing(Held(urls={4: "http://h/4"}))
    never.visited(4, Outcome(Result.OK, 120.0, 121.0, 200, "new"))
    assert not never._compared, "the archive never saw it"


def test_rates_are_tested_after_twenty_visits_then_after_half_as_many_more():
    tests, made = testing(), []
    tests._test = lambda: made.append(len(tests._compared))
    for page in range(100):
        tests._compared[page] = 10.0, False
        tests.test(SimpleNamespace(first_visits_left=100 - page))
        tests.test(SimpleNamespace(first_visits_left=100 - page))
    assert made == [20, 30, 45, 67, 100]


def test_rates_are_tested_at_the_last_visit_by_all_that_was_seen():
    for pages, times in ((19, []), (20, [20]), (50, [20, 30, 45, 50])):
        tests, made = testing(), []
        tests._test = lambda made=made, tests=tests: made.append(len(tests._compared))
        for page in range(pages):
            tests._compared[page] = 10.0, False
            for _ in range(2):
                tests.test(SimpleNamespace(first_visits_left=pages - page))
        assert made == times


def test_pages_that_wait_are_told_their_rates_anew_where_the_trust_is_another():
    for news in (False, True):
        noted = Noted()
        tests = testing(Held(queued=[7, 8], visited=[1], rates={7: 0.1, 8: 0.2}))
        tests._compared = dict.fromkeys(range(20), (10.0, False))
        tests._test = lambda found=news: found
        tests.planned = lambda pages, rates: [page + rate for page, rate in zip(pages, rates, strict=True)]
        tests.test(SimpleNamespace(reprice=noted.one("told"), first_visits_left=2))
        assert noted.calls == [("told", 7, 7.1), ("told", 8, 8.2)] * news


def tried(monkeypatch, trust: float, changed: list[bool], before: float | None = None, pages: int = 0, ends=(0.1, 0.3)):
    """Is it news that rates are to be trusted so far; what is found then; what it was asked of."""
    asked = []
    monkeypatch.setattr("sharc_crawler.rates.tested.rate_trust", lambda *given: asked.append(given) or RateTrust(trust))
    pages = pages or len(changed)
    tests = testing(Held(queued=[0], visited=range(1, pages), rates=np.linspace(*ends, pages)))
    tests._compared = {page: (float(page), changed[page % len(changed)]) for page in range(pages)}
    tests._found = None if before is None else RateTrust(before)
    return tests._test(), tests, asked


CALM = [False] * 25


def test_the_trust_is_found_by_all_that_was_compared_and_the_mean_is_of_all_pages(monkeypatch):
    news, tests, ((rates, periods, changed, everywhere),) = tried(monkeypatch, 0.5, [True, *CALM], ends=(0.0, 0.3))
    assert news is True
    assert rates.tolist() == everywhere.tolist() == np.linspace(0.0, 0.3, 26).tolist()
    assert (periods.tolist(), changed.tolist()) == ([float(page) for page in range(26)], [True, *CALM])
    assert tests._found == RateTrust(0.5)
    assert tests._mean == pytest.approx(0.15)
    assert tests._level == pytest.approx(np.mean(np.maximum(everywhere, 1e-3 * 0.15) ** 0.5)), "no page is colder"


@pytest.mark.parametrize(
    ("trust", "before", "news"), [(1.0, None, False), (0.9, None, True), (0.5, 0.5, False), (0.6, 0.5, True)]
)
def test_a_trust_that_hardly_moves_is_no_news(monkeypatch, trust, before, news):
    assert tried(monkeypatch, trust, CALM, before)[0] is news


@pytest.mark.parametrize("rate", [0.0, 1e-5])
def test_where_all_rates_are_alike_there_is_no_order_to_test(monkeypatch, rate):
    news, tests, asked = tried(monkeypatch, 0.5, CALM, ends=(rate, rate))
    assert news is False
    assert not asked
    assert tests.failed is False


@pytest.mark.parametrize(("last", "asks"), [(16, True), (17, False)])
def test_where_more_than_four_of_five_of_the_last_twenty_have_changed_nothing_is_concluded(monkeypatch, last, asks):
    changed = [True] * 30 + [place < last for place in range(20)]
    news, _, asked = tried(monkeypatch, 0.5, changed)
    assert news is bool(asked) is asks


@pytest.mark.parametrize(("pages", "some"), [(1_999, 1_999), (2_000, 1_000), (4_001, 1_334)])
def test_a_test_looks_at_two_thousand_pages_at_most(monkeypatch, pages, some):
    ((rates, *_),) = tried(monkeypatch, 0.5, CALM, pages=pages)[2]
    assert len(rates) == some


# -- pages held for hot, asked before their turn -----------------------------------------------------------------------

CALM_PAGES, HOT_PAGES = 150, 110


def busy(hot: int = HOT_PAGES) -> tuple[RateTests, Held, Noted, SimpleNamespace]:
    """Calm pages were visited, and changed four times as often as held; hot ones, ever hotter, wait."""
    every = range(CALM_PAGES + hot)
    pages = Held(every[CALM_PAGES:], every[:CALM_PAGES], np.r_[np.full(CALM_PAGES, 5e-5), np.linspace(3e-4, 4e-4, hot)])
    pages.urls = [f"http://h/{page}" for page in every]
    tests, noted = testing(pages, lambda *_: LastSeen(100.0, "old", "sha1:old")), Noted()
    tests._compared = {page: (600.0, page % 8 == 0) for page in range(CALM_PAGES)}
    return tests, pages, noted, SimpleNamespace(reprice=noted.one("told"), first_visits_left=2 + hot)


def visit(tests: RateTests, pages: Held, some: list[int], changed: bool) -> None:
    for page in some:
        pages.pages_in(State.QUEUED).remove(page)
        pages.pages_in(State.VISITED).append(page)
        content = "new" if changed else "old"
        tests.visited(page, Outcome(Result.OK, 700.0, 701.0, 200, content, f"sha1:{content}"))


def ahead(noted: Noted) -> list[int]:
    """Pages that were put before all others."""
    return [page for _, page, rate in noted.take() if rate == 0.0]


def test_far_more_changes_than_held_have_the_hottest_pages_asked_whether_others_are_hot_now():
    """Five at a time, until they tell: calm ones of before change most."""
    tests, pages, noted, door = busy()
    last = CALM_PAGES + HOT_PAGES
    for begin in (last - 5, last - 10, last - 15):
        tests.test(door)
        assert ahead(noted) == list(range(begin, begin + 5))
        visit(tests, pages, [*range(begin, begin + 4)], changed=False)
        tests.test(door)
        assert noted.take() == [], "the fifth is waited for"
        visit(tests, pages, [begin + 4], changed=False)
        if tests._test():
            break
    assert tests._found is not None
    assert tests._found.trust < 0.0


def test_where_the_hottest_pages_change_most_the_order_holds_and_no_more_are_asked():
    tests, pages, noted, door = busy()
    tests.test(door)
    visit(tests, pages, ahead(noted)[:4], changed=True)
    visit(tests, pages, [CALM_PAGES + HOT_PAGES - 1], changed=False)
    tests.test(door)
    assert (noted.take(), tests.failed) == ([], False)


def test_twenty_pages_are_asked_before_their_turn_at_most(monkeypatch):
    monkeypatch.setattr("sharc_crawler.rates.tested.rate_trust", lambda *_: RateTrust(hidden=True))
    tests, pages, noted, door = busy(300)
    asked = []
    for _ in range(6):
        tests.test(door)
        asked.append(ahead(noted))
        visit(tests, pages, asked[-1], changed=False)
    assert [len(some) for some in asked] == [5, 5, 5, 5, 0, 0]


@pytest.mark.parametrize(("hot", "asked"), [(100, 0), (101, 5)])
def test_where_few_pages_wait_the_hottest_come_soon_anyway(hot, asked):
    tests, _, noted, door = busy(hot)
    tests.test(door)
    assert len(ahead(noted)) == asked


def test_as_many_changes_as_held_ask_nobody():
    tests, _, noted, door = busy()
    tests._compared = {page: (600.0, page % 20 == 0) for page in range(CALM_PAGES)}
    tests.test(door)
    assert noted.take() == []


def test_rates_are_planned_as_far_as_they_are_trusted():
    assert found(1.0).planned([3, 4], [0.1, 0.2]) == pytest.approx([0.05, 0.1])
    assert found(0.5).planned([3, 4], [0.25, 0.01]) == pytest.approx([0.25, 0.05])
    assert found(-1.0).planned([3, 4], [0.25, 0.5]) == pytest.approx([2.0, 1.0]), "calm ones of before come to be hot"


def test_where_nothing_tells_pages_apart_those_found_first_come_first():
    """In sixteen levels, the first colder than the last by a third."""
    planned = np.array(found(0.0).planned(range(64)[::-1], [0.1] * 64))[::-1]
    assert planned == pytest.approx(0.5 * np.exp(0.3 * (np.arange(64) // 4 / 16 - 0.5)))


def test_pages_that_were_visited_have_learned_what_their_visits_said():
    """A page whose visit showed a change is hotter, one that did not is colder, one that was not compared as it was."""
    tests = found(1.0, factor=3.0, compared=2, changed=1)
    learned = tests.learned([0, 1, 9], np.array([0.1, 0.1, 0.1]))
    by_visits = since(tests._found, np.array([0.05, 0.05]), np.array([10.0, 10.0]), np.array([True, False]))
    assert learned == pytest.approx([*3.0 * by_visits, 3.0 * 0.05])
    assert learned[0] > learned[2] > learned[1]
    calm = found(1.0, factor=0.5, compared=0)
    assert calm.learned([9], np.array([0.1])) == pytest.approx([0.05]), "no calmer than they were held"
    assert calm.learned([], np.zeros(0)).tolist() == []


def test_neighbours_are_asked_about_what_was_compared():
    tests, compared = testing(), {1: (10.0, True)}
    tests._compared = compared
    tests._neighbours = SimpleNamespace(edited=lambda *given: given, looked=lambda *given: given)
    assert tests.edited(9.0) == (compared, 9.0)
    assert tests.looked(4, 5.0, 9.0) == (4, 5.0, 9.0)
