"""A mode and a strategy are told again of all that those before them had been told, in its order."""

from __future__ import annotations

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.modes import Mode
from sharc_crawler.frontier.modes.two_visits import TwoVisits
from sharc_crawler.live.former.rebuilding import visit_again
from sharc_crawler.model import Fetch, Kind, Outcome, Slot
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.strategies.door import Door
from tests.frontier.cut_off import LINKS, ROOT, answer, run, run_answered

MAP = f"{ROOT}map.xml"


@pytest.fixture
def told(monkeypatch) -> list[tuple[object, ...]]:
    """What is told, by whom it is told of."""
    found: list[tuple[object, ...]] = []

    def listen(kind: type, verb: str) -> None:
        ask = getattr(kind, verb)

        def tells(self, *given, **more):
            found.append((verb, *(one for one in (*given, *more.values()) if not isinstance(one, Outcome))))
            return ask(self, *given, **more)

        monkeypatch.setattr(kind, verb, tells)

    listen(Mode, "went_on")
    listen(Door, "finished")
    listen(Door, "linked")
    for verb in ("visited", "revisited", "sitemap_read"):
        listen(TwoVisits, verb)
    return found


def of(told: list[tuple[object, ...]], verb: str) -> list[tuple[object, ...]]:
    """But for what was refused, which tells nothing."""
    return [one for one in told if one[0] == verb and not (verb == "visited" and not one[1].attempt)]


@pytest.mark.parametrize(
    ("strategy", "fetches"), [("bfs", 6), ("bfs", 10), ("bfs", 18), ("bfs:revisits=none", 6), ("bfs:revisits=none", 10)]
)
def test_what_was_told_is_told_again(told, strategy, fetches, monkeypatch):
    monkeypatch.setattr(TwoVisits, "tells_nobody", False)
    store = MemoryStore()
    first, second = (Frontier(Politeness(delay=0.0), store) for _ in range(2))
    first.open(CaptureSpec("a.example", (ROOT,), strategy=strategy), 1000.0)
    now = run_answered(first, 1000.0, fetches, lambda fetch, now: (answer(fetch, now), LINKS.get(fetch.url, [])))
    before = list(told)
    told.clear()
    second.restore(store.load(), now)
    for verb in ("visited", "revisited", "sitemap_read"):
        assert of(told, verb) == of(before, verb)
    finished = [[one[1:] for one in of(some, "finished")] for some in (before, told)]
    assert sorted(finished[0]) == sorted(finished[1])
    assert of(told, "went_on") == [("went_on", second.capture.strategy)]
    visiting = fetches < 18  # links tell nothing of revisits
    pages = [[list(one[1]) for one in of(some, "linked")] for some in (before, told)]
    assert pages[1] == ([list(dict.fromkeys(one)) for one in pages[0] if one] if visiting else [])


@pytest.mark.parametrize("strategy", ["bfs", "bfs:revisits=none", "sharc-selective"])
@pytest.mark.parametrize("fetches", [6, 10, 18])
def test_a_mode_that_is_told_at_once_comes_to_what_it_comes_to_one_by_one(strategy, fetches, monkeypatch):
    store = MemoryStore()
    first, *others = (Frontier(Politeness(delay=0.0), store) for _ in range(3))
    first.open(CaptureSpec("a.example", (ROOT,), strategy=strategy), 1000.0)
    now = run_answered(first, 1000.0, fetches, lambda fetch, now: (answer(fetch, now), LINKS.get(fetch.url, [])))
    for second in others:
        second.restore(store.load(), now)
        monkeypatch.setattr(TwoVisits, "tells_nobody", False)
    at_once, one_by_one = (second.capture.mode for second in others)
    for name in ("_contents", "_latest", "_drew", "apex"):
        assert getattr(at_once, name) == getattr(one_by_one, name), name


@pytest.mark.parametrize("url", [MAP, ROOT])
def test_a_sitemap_or_page_is_visited_again_and_pages_wait_for_a_sitemap(url):
    kind = Kind.SITEMAP if url == MAP else Kind.PAGE
    frontier = Frontier(Politeness(delay=0.0, concurrency=3))
    frontier.open(CaptureSpec("a.example", (ROOT,), strategy="bfs"), 1000.0)
    now, _ = run(frontier, 1000.0, 7)
    assert not visit_again(frontier, f"{ROOT}nobody", kind)
    assert not visit_again(frontier, url, Kind.RESOURCE)
    assert visit_again(frontier, url, kind)
    again = frontier.next(now + 1.0)
    assert (again.url, again.slot) == (url, Slot.SECOND if url == MAP else Slot.FIRST)
    assert isinstance(frontier.next(now + 1.0), Fetch) is (url == ROOT)
