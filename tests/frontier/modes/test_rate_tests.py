"""A capture holds the rates that it was planned by against the archive, visit by visit."""

import csv
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.modes.rate_tests import RateTests
from sharc_crawler.frontier.parts import LastSeen, Parts
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.lab.experiment import RunSpec, run
from sharc_crawler.lab.history import HistorySpec
from sharc_crawler.model import Done, Hints, Outcome, RateEstimate, Result, Sighting, Validators, Wait
from sharc_crawler.rates.tested import RateTrust
from sharc_crawler.storage.memory import MemoryStore

DAY, START, PAGES = 86_400.0, 1.4e9, 240
COLD, HOT = 1 / (400 * DAY), 3 / (30 * DAY)


def world(folder: Path, swapped: bool, seed: int = 0) -> HistorySpec:
    """A quarter of the pages was hot in the year before; in the month that follows, these or all others."""
    rng = np.random.default_rng(seed)
    hot = rng.random(PAGES) < 0.25
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


@pytest.mark.slow
def test_where_the_past_holds_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = world(tmp_path, swapped=False)
    found = lost(spec, "sharc-selective")
    monkeypatch.setattr(RateTests, "test", lambda self, strategy: None)
    assert found == lost(spec, "sharc-selective")


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
    notes = [note for note in store.load().captures[0].notes if "moved towards equal" in note]
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


@pytest.mark.parametrize("rates", [[0.0] * 6, [1e-5] * 6])
def test_where_all_rates_are_alike_there_is_no_order_to_test(rates):
    tests = RateTests.__new__(RateTests)
    told = []
    tests._compared, tests._due = dict.fromkeys(range(4), (100.0, True)), 4
    tests._pages = SimpleNamespace(pages_in=lambda state: range(3))
    tests._rates = lambda pages: np.array(rates[: len(pages)])
    tests._found = None
    tests.test(SimpleNamespace(reprice=lambda *given: told.append(given)))
    assert tests._found is None
    assert not told
    assert tests._due == 6
